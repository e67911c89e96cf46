/* The counters of a kernel after it ran in timing mode. */
#ifndef GPU_STATS_H
#define GPU_STATS_H

#include "core/counters.h"
#include "mem/spec.h"

enum { GPU_MARKS = 32 };

struct gpu_kernel_stats {
    uint64_t start_ps, end_ps; /* simulated: from the command processor's start of it to its end */
    uint64_t cycles;           /* of the SMs' clock, in between */
    uint64_t marks[GPU_MARKS]; /* ps from its start on until 1/32, 2/32, ... of its blocks had ended */
    uint64_t clock_hz;
    uint32_t sm_count, warps_per_sm, warp_lanes, schedulers_per_sm;
    uint32_t sms_used;
    uint64_t busiest_sm_cycles, idlest_sm_cycles; /* cycles_active of one SM, of those used */
    uint64_t busiest_sm_instructions;
    struct sm_counters sm;      /* sums over all SMs */
    struct memsys_counters mem; /* of the whole GPU, while the kernel ran */
    struct op_profile
        *profile; /* by operation of the kernel's own code; or NULL. Freed by gpu_kernel_stats_fini */
    uint32_t profile_count;
};

void gpu_kernel_stats_fini(struct gpu_kernel_stats *stats);

#endif
