/* Fabrics of a regular shape: a row of `shapes` each. */
#include "system/fabric.h"
#include "system/cluster.h"
#include "base/text.h"
#include "net/routes.h"
#include "net/sections.h"

#include <string.h>

PARAM_GROUP(fabric_params, "fabric", "what GPUs reach each other by", fabric_spec, FABRIC_PARAMS,
            SHOWS_IN_TIME);

/* A link between two nodes, one of `share` that a GPU has. */
static void join(struct net_graph *graph, const struct fabric_spec *spec, uint32_t a, uint32_t b,
                 uint64_t latency_ps, uint32_t share)
{
    struct text name = {0};
    text_add(&name, "%s-%s", graph->nodes[a].name, graph->nodes[b].name);
    net_add_link(graph, &(struct net_link){.ends = {a, b},
                                           .latency_ps = latency_ps,
                                           .bytes_per_s = spec->bandwidth / share,
                                           .overhead_bytes = (uint32_t)spec->overhead_bytes,
                                           .flit_bytes = (uint32_t)spec->flit,
                                           .credits = (uint32_t)spec->credits,
                                           .name = name.at});
    text_fini(&name);
}

/* The latency of the whole way is the description's. */
static bool make_switch(const struct fabric_spec *spec, uint32_t gpus, struct net_graph *graph,
                        struct err *err)
{
    if (spec->switch_latency >= spec->latency)
        return err_set(err, "fabric.switch_latency is a part of fabric.latency, and not less than that");
    uint32_t center = net_add_node(
        graph, &(struct net_node){.name = "switch", .forwards = true, .latency_ps = spec->switch_latency});
    for (uint32_t i = 0; i < gpus; i++)
        join(graph, spec, i, center, (spec->latency - spec->switch_latency + 1) / 2, 1);
    return true;
}

static bool make_full(const struct fabric_spec *spec, uint32_t gpus, struct net_graph *graph, struct err *err)
{
    (void)err;
    for (uint32_t a = 0; a < gpus; a++)
        for (uint32_t b = a + 1; b < gpus; b++)
            join(graph, spec, a, b, spec->latency, gpus - 1);
    return true;
}

/* Rows and columns of GPUs, each beside its neighbours; a torus is closed to rings both ways. */
static bool make_grid(const struct fabric_spec *spec, uint32_t gpus, uint32_t columns, bool closed,
                      struct net_graph *graph, struct err *err)
{
    if (gpus % columns)
        return err_set(err, "fabric.columns: %u GPUs are not rows of %u", gpus, columns);
    uint32_t rows = gpus / columns;
    uint32_t share = (columns > 2 ? 2 : columns > 1) + (rows > 2 ? 2 : rows > 1);
    for (uint32_t i = 0; i < gpus; i++) {
        uint32_t column = i % columns, row = i / columns;
        bool wraps_row = closed && columns > 2 && column + 1 == columns;
        bool wraps_column = closed && rows > 2 && row + 1 == rows;
        if (column + 1 < columns || wraps_row)
            join(graph, spec, i, row * columns + (column + 1) % columns, spec->latency, share);
        if (row + 1 < rows || wraps_column)
            join(graph, spec, i, (row + 1) % rows * columns + column, spec->latency, share);
    }
    return true;
}

/* The largest divisor that is no more than the square root. */
static uint32_t columns_of(const struct fabric_spec *spec, uint32_t gpus)
{
    if (spec->columns)
        return (uint32_t)spec->columns;
    uint32_t best = 1;
    for (uint32_t i = 1; i * i <= gpus; i++)
        best = gpus % i ? best : i;
    return gpus / best;
}

static bool make_ring(const struct fabric_spec *spec, uint32_t gpus, struct net_graph *graph, struct err *err)
{
    return make_grid(spec, gpus, gpus, true, graph, err);
}

static bool make_mesh(const struct fabric_spec *spec, uint32_t gpus, struct net_graph *graph, struct err *err)
{
    return make_grid(spec, gpus, columns_of(spec, gpus), false, graph, err);
}

static bool make_torus(const struct fabric_spec *spec, uint32_t gpus, struct net_graph *graph,
                       struct err *err)
{
    return make_grid(spec, gpus, columns_of(spec, gpus), true, graph, err);
}

/* In the order of the parameter's words; behind them are what is made from sections, and nodes. */
static bool (*const shapes[])(const struct fabric_spec *spec, uint32_t gpus, struct net_graph *graph,
                              struct err *err) = {make_switch, make_ring, make_mesh, make_torus, make_full};

enum { GRAPH = sizeof shapes / sizeof *shapes, NODES };

static bool is_graph(const struct system *system)
{
    return system->fabric.topology == GRAPH;
}

/* The host is in the network if some link leads to it. Else each GPU has a link of its own to it ([noc]). */
static bool make_described(const struct config *config, struct net_graph *graph, struct err *err)
{
    if (net_sections_name(config, FABRIC_HOST))
        net_add_node(graph, &(struct net_node){.name = FABRIC_HOST, .is_endpoint = true});
    return net_from_sections(config, "gpu0 or another GPU, host, or a switch", graph, err);
}

bool fabric_graph(const struct system *system, struct net_graph *graph, struct err *err)
{
    const struct fabric_spec *spec = &system->fabric;
    uint32_t gpus = (uint32_t)system->spec.gpus;
    *graph = (struct net_graph){0};
    for (uint32_t i = 0; i < gpus; i++) {
        char name[32];
        snprintf(name, sizeof name, "gpu%u", i);
        net_add_node(graph, &(struct net_node){.name = name, .is_endpoint = true, .forwards = spec->forward});
    }
    bool good = is_graph(system)          ? make_described(&system->config, graph, err)
                : spec->topology == NODES ? cluster_graph(system, graph, err)
                                          : shapes[spec->topology](spec, gpus, graph, err);
    if (good)
        return true;
    net_graph_fini(graph);
    return false;
}

bool fabric_described_link(const struct net_graph *graph, size_t number, struct fabric_link *link)
{
    const struct net_link *one = &graph->links[number];
    if (graph->nodes[one->ends[0]].is_bus)
        return false;
    *link = (struct fabric_link){.ends = {one->ends[0], one->ends[1]},
                                 .latency_ps = one->latency_ps,
                                 .bytes_per_s = one->bytes_per_s,
                                 .is_half_duplex = graph->nodes[one->ends[1]].is_bus};
    if (link->is_half_duplex) {
        const struct net_link *second = one + 1; /* as net/sections.c adds them */
        link->ends[1] = second->ends[1];
        link->latency_ps += second->latency_ps;
    }
    return true;
}

/* ---- what cannot be ---- */

/* Sets the error to the file that the graph is from. */
static void name_file(const struct system *system, struct err *err)
{
    const char *path = config_next(&system->config, &net_link_params, NULL);
    const char *where =
        path ? config_where(&system->config, path) : config_where_key(&system->config, "fabric", "topology");
    const char *line = strrchr(where, ':');
    err_set(err, "%.*s: ", (int)(line ? (size_t)(line - where) : strlen(where)), where);
}

static bool check_graph(const struct system *system, struct err *err);

/* Not all can be reached. It may be that GPUs would have to pass messages on. */
static bool is_in_pieces(const struct system *system, const struct err *why, struct err *err)
{
    struct system forwarding = *system;
    struct err unused;
    name_file(system, err);
    err_add(err, "%s; ", why->text);
    forwarding.fabric.forward = true;
    if (!system->fabric.forward && check_graph(&forwarding, &unused))
        err_add(err, "with forward = yes in [fabric], GPUs pass on messages for others");
    else
        err_add(err, "links or switches between them are missing ([fabric.link.*], [fabric.switch.*])");
    return false;
}

static bool check_graph(const struct system *system, struct err *err)
{
    struct net_graph graph;
    struct net_routes routes = {0};
    struct err why;
    if (!fabric_graph(system, &graph, err))
        return false;
    bool good = net_check(&graph, err);
    if (good && !net_routes_find(&routes, &graph, &why))
        good = is_graph(system) ? is_in_pieces(system, &why, err) : err_set(err, "%s", why.text);
    net_routes_fini(&routes);
    net_graph_fini(&graph);
    return good;
}

/* Whether it could be, were there as many GPUs as the description has. */
static bool is_for_other_count(const struct system *system)
{
    struct system described = *system;
    struct err unused;
    described.spec.gpus = system->described_gpus;
    return is_graph(system) && system->spec.gpus != system->described_gpus && system->described_gpus > 1 &&
           check_graph(&described, &unused);
}

bool fabric_check(const struct system *system, struct err *err)
{
    if (system->spec.gpus == 1 || check_graph(system, err))
        return true;
    if (is_for_other_count(system)) {
        name_file(system, err);
        err_add(
            err,
            "its fabric is drawn for %llu GPUs, and cannot be that of %llu; choose a regular one, such as "
            "--set fabric.topology=switch, or another system",
            (unsigned long long)system->described_gpus, (unsigned long long)system->spec.gpus);
    }
    return false;
}
