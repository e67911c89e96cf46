/* Networks between agents, as graphs of src/net: of a regular shape, or from a file. */
#ifndef COHERENCE_TOPOLOGY_H
#define COHERENCE_TOPOLOGY_H

#include "net/graph.h"

/* `crossbar`: one switch; `cluster`: a switch for CPUs, one for the GPU, and a root with the homes
 * (gem5-gpu's). In meshes, tori and rings every agent has a router of its own. */
#define TOPOLOGIES(X)                                                                                        \
    X(CROSSBAR, "crossbar")                                                                                  \
    X(POINT_TO_POINT, "point-to-point")                                                                      \
    X(RING, "ring")                                                                                          \
    X(MESH, "mesh")                                                                                          \
    X(TORUS, "torus")                                                                                        \
    X(CLUSTER, "cluster")
#define TOPOLOGY_ID(id, name) TOPOLOGY_##id,
enum topology { TOPOLOGIES(TOPOLOGY_ID) TOPOLOGY_COUNT };
extern const char *const topology_names[];

struct topology_spec {
    enum topology shape;
    uint64_t latency_ps;  /* of a link */
    uint64_t bytes_per_s; /* of a link, each way; 0: no limit */
    uint32_t flit_bytes, overhead_bytes, credits;
    const struct net_graph *graph; /* of topology_read, in place of the shape and of all links; or NULL */
};

/* Where agents are: the first `cpus`, then the GPU's L2 if there is one, homes, and the GPU's L1s. */
struct topology_agents {
    uint32_t count, cpus, homes, first_home;
};

/* Endpoints are the nodes 0 to count - 1: cpu0, ...; gpu_l2; home0, ...; gpu_l1_0, ... The caller's, until
 * net_graph_fini. */
void topology_make(const struct topology_spec *spec, const struct topology_agents *agents,
                   struct net_graph *graph);

/* Any graph, from a file: [agents] says how many there are, [fabric.switch.NAME] and [fabric.link.NAME] are
 * as in descriptions of systems. Without a GPU, its agents and their links are left out. Gives the agents,
 * and the graph with them as topology_make has it. False: some agent has no link, or cannot be reached. */
#define TOPOLOGY_AGENTS_PARAMS(P, S)                                                                         \
    P(S, count, cpus, "4", "1..32", "caches of CPUs: cpu0, cpu1 and so on")                                  \
    P(S, count, homes, "2", "1..16", "home nodes with memory: home0, home1 and so on")                       \
    P(S, count, l1s, "4", "0..32", "L1s of the GPU: gpu_l1_0 and so on, beside its L2, gpu_l2")
bool topology_read(const char *path, bool has_gpu, struct topology_agents *agents, struct net_graph *graph,
                   struct err *err);

#endif
