#include "coherence/topology.h"
#include "base/mem.h"
#include "net/routes.h"
#include "net/sections.h"

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

/* Agents are endpoints: the first nodes. */
static void add_agents(const struct topology_agents *agents, struct net_graph *graph)
{
    uint32_t first_l1 = agents->first_home + agents->homes;
    for (uint32_t i = 0; i < agents->count; i++) {
        char name[32];
        if (i < agents->cpus)
            snprintf(name, sizeof name, "cpu%u", i);
        else if (i < agents->first_home)
            snprintf(name, sizeof name, "gpu_l2");
        else if (i < first_l1)
            snprintf(name, sizeof name, "home%u", i - agents->first_home);
        else
            snprintf(name, sizeof name, "gpu_l1_%u", i - first_l1);
        net_add_node(graph, &(struct net_node){.name = name, .is_endpoint = true});
    }
}

/* A part of a graph: nodes that are kept have numbers, in order. */
static void copy_part(const struct net_graph *from, const int *numbers, struct net_graph *to)
{
    for (size_t i = 0; i < from->node_count; i++)
        if (numbers[i] != NET_NONE)
            net_add_node(to, &from->nodes[i]);
    for (size_t i = 0; i < from->link_count; i++) {
        struct net_link link = from->links[i];
        int ends[2] = {numbers[link.ends[0]], numbers[link.ends[1]]};
        if (ends[0] == NET_NONE || ends[1] == NET_NONE)
            continue;
        link.ends[0] = (uint32_t)ends[0], link.ends[1] = (uint32_t)ends[1];
        net_add_link(to, &link);
    }
}

static void copy_all(const struct net_graph *from, struct net_graph *to)
{
    int *numbers = mem_alloc(from->node_count + 1, sizeof *numbers);
    for (size_t i = 0; i < from->node_count; i++)
        numbers[i] = (int)i;
    copy_part(from, numbers, to);
    mem_free(numbers);
}

void topology_make(const struct topology_spec *spec, const struct topology_agents *agents,
                   struct net_graph *graph)
{
    *graph = (struct net_graph){0};
    if (spec->graph) {
        copy_all(spec->graph, graph);
        return;
    }
    add_agents(agents, graph);
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

/* ---- from a file ---- */

struct topology_file {
    TOPOLOGY_AGENTS_PARAMS(PARAM_FIELD, topology_file)
};
PARAM_GROUP(topology_agents_params, "agents", "how many agents there are", topology_file,
            TOPOLOGY_AGENTS_PARAMS, SHOWS_IN_TIME);
static const struct param_group *const file_groups[] = {&topology_agents_params, &net_switch_params,
                                                        &net_link_params, NULL};

static struct topology_agents agents_of(const struct topology_file *file, bool has_gpu)
{
    uint32_t l1s = has_gpu ? (uint32_t)file->l1s : 0;
    struct topology_agents agents = {.cpus = (uint32_t)file->cpus, .homes = (uint32_t)file->homes};
    agents.first_home = agents.cpus + (l1s > 0);
    agents.count = agents.first_home + agents.homes + l1s;
    return agents;
}

/* Of a graph with a GPU: without its agents. */
static void leave_out_gpu(const struct topology_agents *all, struct net_graph *graph)
{
    struct net_graph rest = {0};
    uint32_t first_l1 = all->first_home + all->homes;
    int *numbers = mem_alloc(graph->node_count + 1, sizeof *numbers), next = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        bool is_l2 = i >= all->cpus && i < all->first_home, is_l1 = i >= first_l1 && i < all->count;
        numbers[i] = is_l2 || is_l1 ? NET_NONE : next++;
    }
    copy_part(graph, numbers, &rest);
    mem_free(numbers);
    net_graph_fini(graph);
    *graph = rest;
}

static bool check_file(const char *path, const struct topology_agents *agents, const struct net_graph *graph,
                       struct err *err)
{
    struct net_routes routes;
    struct err why;
    for (uint32_t i = 0; i < agents->count; i++)
        if (!net_degree(graph, i))
            return err_set(err, "%s: no link leads to '%s'", path, graph->nodes[i].name);
    if (!net_check(graph, err))
        return false;
    if (!net_routes_find(&routes, graph, &why))
        return err_set(err, "%s: %s; agents pass nothing on: links or switches between them are missing",
                       path, why.text);
    net_routes_fini(&routes);
    return true;
}

bool topology_read(const char *path, bool has_gpu, struct topology_agents *agents, struct net_graph *graph,
                   struct err *err)
{
    struct config config;
    struct topology_file file;
    config_init(&config, file_groups);
    *graph = (struct net_graph){0};
    bool good = config_read(&config, path, err);
    if (good) {
        config_fill(&config, &topology_agents_params, "agents", &file);
        struct topology_agents all = agents_of(&file, true);
        *agents = agents_of(&file, has_gpu);
        add_agents(&all, graph);
        good = net_from_sections(&config, "cpu0, home0, gpu_l2, gpu_l1_0 or another agent, or a switch",
                                 graph, err);
        if (good && agents->count < all.count)
            leave_out_gpu(&all, graph);
        good = good && check_file(path, agents, graph, err);
    }
    config_fini(&config);
    if (!good)
        net_graph_fini(graph);
    return good;
}
