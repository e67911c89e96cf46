/* Barriers and branches of one work-group. */
#include "micro.h"

enum { MICRO_GCN3_CONTROL_LANES = 64, MICRO_GCN3_CONTROL_STEPS = 16 };

enum {
    MICRO_GCN3_CONTROL_KIND,
    MICRO_GCN3_CONTROL_WAYS,
    MICRO_GCN3_CONTROL_WAVEFRONTS,
    MICRO_GCN3_CONTROL_ROUNDS
};
static const struct workload_option micro_gcn3_control_options[] = {
    {"kind", 0, 0, 3,
     "0: barriers; branches 1: that are taken, 2: that are not, 3: that lanes take differently"},
    {"ways", 2, 1, MICRO_GCN3_CONTROL_LANES, "kind 3: how many different ones"},
    {"wavefronts", 1, 1, 16, "wavefronts"},
    {"rounds", 16, 1, 1u << 16, "rounds of 16 steps"},
    {0, 0, 0, 0, 0},
};

static void micro_gcn3_control_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_gcn3_barrier", "micro_gcn3_branch_taken",
                                          "micro_gcn3_branch_not_taken", "micro_gcn3_diverge"};
    uint32_t ways = (uint32_t)options[MICRO_GCN3_CONTROL_WAYS];
    uint32_t rounds = (uint32_t)options[MICRO_GCN3_CONTROL_ROUNDS];
    uint32_t wavefronts = (uint32_t)options[MICRO_GCN3_CONTROL_WAVEFRONTS];
    uint32_t items = wavefronts * MICRO_GCN3_CONTROL_LANES;
    size_t times_bytes = wavefronts * sizeof(struct micro_time);
    void *out = dev_alloc(gpu, items * sizeof(uint32_t)), *times = dev_alloc(gpu, times_bytes);
    DEV_LAUNCH(gpu, kernels[options[MICRO_GCN3_CONTROL_KIND]], dev_dim(1, 1, 1), dev_dim(items, 1, 1), 0,
               &rounds, &ways, &out, &times);
    const uint32_t *got = (const uint32_t *)micro_fetch(gpu, out, items * sizeof *got);
    for (uint32_t i = 0; i < items; i++)
        dev_expect(gpu, got[i] == rounds, "a work-item's rounds");
    double cycles = micro_span((struct micro_time *)micro_fetch(gpu, times, times_bytes), wavefronts);
    dev_figure(gpu, "cycles_per_step", cycles / ((double)rounds * MICRO_GCN3_CONTROL_STEPS));
}

const struct workload micro_gcn3_control_workload = {"micro_gcn3_control", "barriers and branches",
                                                     micro_gcn3_control_options, micro_gcn3_control_run};
