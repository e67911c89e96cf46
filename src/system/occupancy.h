/* How many blocks of a kernel an SM holds: pure functions, exactly as CUDA's occupancy API (compared with an
 * H200's answers in tests/unit/test_occupancy.c). */
#ifndef SYSTEM_OCCUPANCY_H
#define SYSTEM_OCCUPANCY_H

#include "system/system.h"

struct occupancy_need {
    uint64_t threads;       /* of a block */
    uint64_t registers;     /* of a thread */
    uint64_t shared_static; /* of a block */
    uint64_t shared_dynamic;
    uint64_t dynamic_limit; /* what the kernel was allowed beyond the usual; 0: nothing */
    int carveout;           /* percent of the SM's shared memory that the kernel prefers; -1: all */
};

struct occupancy {
    uint64_t blocks;                            /* of an SM; 0 when not even one fits */
    uint64_t by_warps, by_registers, by_shared; /* what each alone would allow */
};

struct occupancy occupancy_of(const struct gpu_spec *gpu, const struct occupancy_need *need);

/* Registers that a block takes: its warps are spread over the parts of an SM. */
uint64_t occupancy_block_registers(const struct gpu_spec *gpu, const struct occupancy_need *need);

/* Threads of a block that registers allow, in whole warps. */
uint64_t occupancy_threads(const struct gpu_spec *gpu, uint64_t registers);

/* Dynamic shared memory that a block may have so that `blocks` of them are on an SM; need->shared_dynamic
 * does not count. False when there cannot be so many. */
bool occupancy_shared(const struct gpu_spec *gpu, const struct occupancy_need *need, uint64_t blocks,
                      uint64_t *bytes);

/* Clusters of so many blocks that the GPU holds, of which an SM holds blocks_per_sm. A cluster is on SMs of
 * one GPC; those that are numbered last are TPCs of none. */
uint64_t occupancy_clusters(const struct gpu_spec *gpu, const struct dispatch_spec *dispatch,
                            uint64_t blocks_per_sm, uint64_t cluster_blocks);

#endif
