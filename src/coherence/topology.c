#include "coherence/topology.h"

#include <stdio.h>

#define TOPOLOGY_NAME(id, name) name,
const char *const topology_names[] = {TOPOLOGIES(TOPOLOGY_NAME) NULL};

static void join(struct net_graph *graph, const struct topology_spec *spec, uint32_t a, uint32_t b)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s", graph->nodes[a].name, graph->nodes[b].name);
    net_add_link(graph, &(struct net_link){.ends = {a, b},
                                           .latency_ps = spec->latency_ps,
                                           .bytes_per_s = spec->bytes_per_s,
                                           .overhead_bytes = spec->overhead_bytes,
                                           .flit_bytes = spec->flit_bytes ? spec->flit_bytes : 1,
                                           .credits = spec->credits,
                                           .name = name});
}

static uint32_t add_switch(struct net_graph *graph, const char *name)
{
    return net_add_node(graph, &(struct net_node){.name = name, .forwards = true});
}

/* A router for each agent, in rows and columns; a torus is closed both ways, a ring is one row of it. */
static void make_grid(const struct topology_spec *spec, uint32_t count, uint32_t columns, bool closed,
                      struct net_graph *graph)
{
    uint32_t rows = (count + columns - 1) / columns, first = (uint32_t)graph->node_count;
    for (uint32_t i = 0; i < rows * columns; i++) {
        char name[32];
        snprintf(name, sizeof name, "router%u", i);
        add_switch(graph, name);
        if (i < count)
            join(graph, spec, i, first + i);
    }
    for (uint32_t i = 0; i < rows * columns; i++) {
        uint32_t column = i % columns, row = i / columns;
        if (column + 1 < columns || (closed && columns > 2))
            join(graph, spec, first + i, first + row * columns + (column + 1) % columns);
        if (row + 1 < rows || (closed && rows > 2))
            join(graph, spec, first + i, first + (row + 1) % rows * columns + column);
    }
}

static void make_cluster(const struct topology_spec *spec, const struct topology_agents *agents,
                         struct net_graph *graph)
{
    uint32_t root = add_switch(graph, "root"), cpus = add_switch(graph, "cpus"),
             gpu = add_switch(graph, "gpu");
    join(graph, spec, cpus, root);
    join(graph, spec, gpu, root);
    for (uint32_t i = 0; i < agents->count; i++) {
        bool is_home = i >= agents->first_home && i < agents->first_home + agents->homes;
        join(graph, spec, i, is_home ? root : i < agents->cpus ? cpus : gpu);
    }
}

/* The least number whose square is no less. */
static uint32_t side_of(uint32_t count)
{
    uint32_t side = 1;
    while (side * side < count)
        side++;
    return side;
}

void topology_make(const struct topology_spec *spec, const struct topology_agents *agents,
                   struct net_graph *graph)
{
    *graph = (struct net_graph){0};
    for (uint32_t i = 0; i < agents->count; i++) {
        char name[32];
        bool is_home = i >= agents->first_home && i < agents->first_home + agents->homes;
        snprintf(name, sizeof name, "%s%u", is_home ? "home" : i < agents->cpus ? "cpu" : "gpu", i);
        net_add_node(graph, &(struct net_node){.name = name, .is_endpoint = true});
    }
    switch (spec->shape) {
    case TOPOLOGY_POINT_TO_POINT:
        for (uint32_t a = 0; a < agents->count; a++)
            for (uint32_t b = a + 1; b < agents->count; b++)
                join(graph, spec, a, b);
        break;
    case TOPOLOGY_RING:
        make_grid(spec, agents->count, agents->count, true, graph);
        break;
    case TOPOLOGY_MESH:
    case TOPOLOGY_TORUS:
        make_grid(spec, agents->count, side_of(agents->count), spec->shape == TOPOLOGY_TORUS, graph);
        break;
    case TOPOLOGY_CLUSTER:
        make_cluster(spec, agents, graph);
        break;
    case TOPOLOGY_CROSSBAR:
    case TOPOLOGY_COUNT: {
        uint32_t center = add_switch(graph, "switch");
        for (uint32_t i = 0; i < agents->count; i++)
            join(graph, spec, i, center);
    }
    }
}
