/* The parameters of the fabric between GPUs, as rows. The defaults are the H200's on an HGX board;
 * systems/h200.ini has their sources. */
#ifndef SYSTEM_FABRIC_SPEC_H
#define SYSTEM_FABRIC_SPEC_H

#include "base/param.h"

#define FABRIC_PARAMS(P, S)                                                                                  \
    P(S, rate, bandwidth, "450GB/s", "1MB/s..", "of a GPU's links to the others together, each way")         \
    P(S, time, latency, "300ns", "1ns..1ms", "from a GPU's crossbar to another GPU's")                       \
    P(S, count, overhead_bytes, "16", "0..1024", "of a message, beside its payload")

struct fabric_spec {
    FABRIC_PARAMS(PARAM_FIELD, fabric_spec)
};

extern const struct param_group fabric_params;

#endif
