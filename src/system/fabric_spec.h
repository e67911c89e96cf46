/* The parameters of the fabric between GPUs, as rows. The defaults are the H200's on an HGX board;
 * systems/h200.ini has their sources. */
#ifndef SYSTEM_FABRIC_SPEC_H
#define SYSTEM_FABRIC_SPEC_H

#include "base/param.h"

#define FABRIC_PARAMS(P, S)                                                                                  \
    P(S, choice, topology, "switch", "switch|ring|mesh|torus|full|graph|nodes",                              \
      "how GPUs are connected; graph: as sections [fabric.link.NAME], [fabric.switch.NAME] say; nodes: a "   \
      "switch in each node, and [cluster] between nodes")                                                    \
    P(S, rate, bandwidth, "450GB/s", "1MB/s..", "of a GPU's links to the others together, each way")         \
    P(S, time, latency, "300ns", "1ns..1ms",                                                                 \
      "from a GPU's crossbar to another GPU's: over the switch, or over one link")                           \
    P(S, time, switch_latency, "100ns", "0..1ms", "how much of it is the switch")                            \
    P(S, count, overhead_bytes, "16", "0..1024", "of a message, beside its payload")                         \
    P(S, size, flit, "1B", "1B..1KiB", "messages are a whole number of these")                               \
    P(S, count, credits, "0", "0..1000000",                                                                  \
      "flits that the end of a link has room for; 0: as many as keep it busy")                               \
    P(S, flag, forward, "yes", "", "GPUs pass on messages for others, if that is the shortest way")          \
    P(S, count, columns, "0", "0..64", "of a mesh or torus; 0: as near to a square as can be")

struct fabric_spec {
    FABRIC_PARAMS(PARAM_FIELD, fabric_spec)
};

extern const struct param_group fabric_params;

#endif
