/* The parameters of the dispatcher, as rows. The defaults are the H200's, measured: systems/h200.ini. */
#ifndef GPU_DISPATCH_SPEC_H
#define GPU_DISPATCH_SPEC_H

#include "base/param.h"

#define DISPATCH_PARAMS(P, S)                                                                                \
    P(S, count, launch_cycles, "600", "0..1000000", "from a kernel's launch to its first block's leaving")   \
    P(S, count, end_cycles, "1900", "200..1000000", "from the last block's end to the kernel's")             \
    P(S, real, block_cycles, "1.19", "0..10000", "from one block's end to the next one's, over all SMs")     \
    P(S, real, warp_cycles, "0", "0..10000", "the same for each warp of a block, where that is more")        \
    P(S, count, latency_cycles, "100", "1..100000", "from the dispatcher to an SM, and back")                \
    P(S, choice, order, "gpc", "gpc|round_robin|static",                                                     \
      "which SM gets a block: GPC by GPC; by number; block i always goes to SM i modulo their count")        \
    P(S, text, gpcs, "8+8 16 16 16 16 16 18 18", "",                                                         \
      "SMs of each GPC; +N: so many more that are numbered last and get blocks first")                       \
    P(S, count, sms_per_tpc, "2", "1..64", "SMs of a GPC that have numbers in a row")                        \
    P(S, count, first_gpc, "2", "0..63", "the GPC that gets the first blocks")

enum {
    DISPATCH_GPCS_MOST = 63,
    CLUSTER_BLOCKS_PER_SM =
        8 /* blocks of clusters that an SM holds, as an H200 says, however small they are */
};

struct dispatch_gpc {
    uint32_t sms,
        late; /* that it has; late ones have the GPU's last numbers, and are in no GPC for clusters */
};

struct dispatch_spec {
    DISPATCH_PARAMS(PARAM_FIELD, dispatch_spec)
};
extern const struct param_group dispatch_params;

/* SMs that can have blocks of one cluster are of one group: a GPC; each TPC of those that are numbered last;
 * all that are in none. Fills in the group of each SM, and gives their count. */
uint32_t dispatch_groups(const struct dispatch_spec *spec, uint32_t sm_count, uint32_t *group_of);

/* Their count; DISPATCH_GPCS_MOST + 1 when the text cannot be read. */
uint32_t dispatch_read_gpcs(const char *text, struct dispatch_gpc gpcs[static DISPATCH_GPCS_MOST + 1]);

#endif
