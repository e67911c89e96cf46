/* Networks of a regular shape between agents, as graphs of src/net. */
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
};

/* Where agents are: the first `cpus`, then the GPU's L2 if there is one, homes, and the GPU's L1s. */
struct topology_agents {
    uint32_t count, cpus, homes, first_home;
};

/* Endpoints are the nodes 0 to count - 1. The caller's, until net_graph_fini. */
void topology_make(const struct topology_spec *spec, const struct topology_agents *agents,
                   struct net_graph *graph);

#endif
