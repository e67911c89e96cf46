/* The parameters of the network between nodes, as rows. systems/cluster-2x4.ini has the sources of the
 * defaults. */
#ifndef SYSTEM_CLUSTER_SPEC_H
#define SYSTEM_CLUSTER_SPEC_H

#include "base/param.h"

#define CLUSTER_PARAMS(P, S)                                                                                 \
    P(S, rate, bandwidth, "50GB/s", "1MB/s..", "of the network card that each GPU has, each way")            \
    P(S, time, latency, "1500ns", "1ns..1s", "from a GPU's crossbar to that of a GPU in another node")       \
    P(S, time, switch_latency, "300ns", "0..1s", "how much of it is the network's switches")                 \
    P(S, count, overhead_bytes, "2", "0..1024", "of a message, beside its payload")                          \
    P(S, size, flit, "1B", "1B..1KiB", "messages are a whole number of these")                               \
    P(S, time, message_time, "1200ns", "0..1s",                                                              \
      "of MPI between nodes: what a message takes beside its bytes")                                         \
    P(S, time, near_time, "300ns", "0..1s", "of MPI within a node: likewise")                                \
    P(S, rate, near_bandwidth, "10GB/s", "1MB/s..", "of MPI within a node")

struct cluster_spec {
    CLUSTER_PARAMS(PARAM_FIELD, cluster_spec)
};

extern const struct param_group cluster_params;

#endif
