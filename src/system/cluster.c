#include "system/cluster.h"
#include "base/text.h"
#include "net/graph.h"

PARAM_GROUP(cluster_params, "cluster", "what joins the nodes of a system (system.nodes)", cluster_spec,
            CLUSTER_PARAMS, SHOWS_IN_TIME);

static void join(struct net_graph *graph, struct net_link link)
{
    struct text name = {0};
    text_add(&name, "%s-%s", graph->nodes[link.ends[0]].name, graph->nodes[link.ends[1]].name);
    link.name = name.at;
    net_add_link(graph, &link);
    text_fini(&name);
}

/* The latency of a whole way is the description's: two links and what is between. */
static uint64_t half_of_rest(uint64_t latency_ps, uint64_t switch_ps)
{
    return (latency_ps - switch_ps + 1) / 2;
}

static void add_node_of_gpus(const struct system *system, uint32_t node, struct net_graph *graph)
{
    const struct fabric_spec *fabric = &system->fabric;
    uint32_t gpus = system_node_devices(system);
    char name[32];
    snprintf(name, sizeof name, "node%u", node);
    uint32_t center = net_add_node(
        graph, &(struct net_node){.name = name, .forwards = true, .latency_ps = fabric->switch_latency});
    for (uint32_t i = 0; i < gpus; i++)
        join(graph, (struct net_link){.ends = {node * gpus + i, center},
                                      .latency_ps = half_of_rest(fabric->latency, fabric->switch_latency),
                                      .bytes_per_s = fabric->bandwidth,
                                      .overhead_bytes = (uint32_t)fabric->overhead_bytes,
                                      .flit_bytes = (uint32_t)fabric->flit,
                                      .credits = (uint32_t)fabric->credits});
}

static void add_network(const struct system *system, struct net_graph *graph)
{
    const struct cluster_spec *network = &system->cluster;
    uint32_t center = net_add_node(
        graph,
        &(struct net_node){.name = "network", .forwards = true, .latency_ps = network->switch_latency});
    for (uint32_t i = 0; i < system->spec.gpus; i++)
        join(graph, (struct net_link){.ends = {i, center},
                                      .latency_ps = half_of_rest(network->latency, network->switch_latency),
                                      .bytes_per_s = network->bandwidth,
                                      .overhead_bytes = (uint32_t)network->overhead_bytes,
                                      .flit_bytes = (uint32_t)network->flit});
}

bool cluster_graph(const struct system *system, struct net_graph *graph, struct err *err)
{
    if (system->fabric.switch_latency >= system->fabric.latency)
        return err_set(err, "fabric.switch_latency is a part of fabric.latency, and not less than that");
    if (system->cluster.switch_latency >= system->cluster.latency)
        return err_set(err, "cluster.switch_latency is a part of cluster.latency, and not less than that");
    for (uint32_t node = 0; node < system->spec.nodes && system_node_devices(system) > 1; node++)
        add_node_of_gpus(system, node, graph);
    if (system->spec.nodes > 1)
        add_network(system, graph);
    return true;
}

bool cluster_check(const struct system *system, struct err *err)
{
    const struct system_spec *spec = &system->spec;
    if (spec->nodes == 1)
        return true;
    if (spec->gpus % spec->nodes)
        return err_set(err, "system.nodes: %llu GPUs are not %llu nodes with as many each",
                       (unsigned long long)spec->gpus, (unsigned long long)spec->nodes);
    return !(spec->unified || spec->space) ||
           err_set(err, "system.nodes: a system of several nodes cannot be unified, or have memory that GPUs "
                        "and the host share (system.space)");
}

uint32_t cluster_node_of_rank(const struct system *system, uint32_t rank, uint32_t ranks)
{
    uint64_t nodes = system->spec.nodes;
    return ranks && rank < ranks ? (uint32_t)(rank * nodes / ranks) : 0;
}

uint64_t cluster_message_ps(const struct system *system, bool is_far, uint64_t bytes, uint32_t steps)
{
    const struct cluster_spec *network = &system->cluster;
    uint64_t rate = is_far ? network->bandwidth : network->near_bandwidth;
    uint64_t start_ps = is_far ? network->message_time : network->near_time;
    return steps * start_ps + (uint64_t)((double)bytes * 1e12 / (double)rate);
}
