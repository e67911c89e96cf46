/* What memory is like, by rows, and what it counts. The defaults are the H200's. */
#ifndef MEM_SPEC_H
#define MEM_SPEC_H

#include "base/param.h"
#include "base/stat.h"

#define L2_PARAMS(P, S) P(S, size, bytes, "60MiB", "0..64GiB", "capacity, over all partitions")
#define DRAM_PARAMS(P, S) P(S, choice, model, "banks", "banks|simple|fixed", "how it is modelled")
#define NOC_PARAMS(P, S) P(S, count, latency_cycles, "100", "1..100000", "from an SM to an L2 slice, and back")

struct l2_spec {
    L2_PARAMS(PARAM_FIELD, l2_spec)
};
struct dram_spec {
    DRAM_PARAMS(PARAM_FIELD, dram_spec)
};
struct noc_spec {
    NOC_PARAMS(PARAM_FIELD, noc_spec)
};
extern const struct param_group l2_params, dram_params, noc_params;

#define MEM_COUNTERS(X, S)                                                                                   \
    X(S, l2_sectors_read, "sectors", "sectors that requests asked to read")                                  \
    X(S, l2_sectors_written, "sectors", "sectors that requests wrote")                                       \
    X(S, l2_sectors_atomic, "sectors", "sectors that atomic operations went to")                             \
    X(S, l2_sectors_hit, "sectors", "sectors that were there when asked for")                                \
    X(S, dram_bytes_read, "bytes", "bytes read from memory")                                                 \
    X(S, dram_bytes_written, "bytes", "bytes written to memory")                                             \
    X(S, dram_row_hits, "accesses", "accesses that found their row open")                                    \
    X(S, dram_row_misses, "accesses", "accesses that had to open a row")

struct mem_counters {
    MEM_COUNTERS(STAT_FIELD, mem_counters)
};
#endif
