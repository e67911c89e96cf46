/* Branches: a loop's own cost, ways that lanes of a warp take one after the other, calls. */
#include "micro.h"

enum { MICRO_BRANCH_CHAIN = 8 /* instructions of a way */ };

enum { MICRO_BRANCH_KIND, MICRO_BRANCH_WAYS, MICRO_BRANCH_WARPS, MICRO_BRANCH_STEPS };
static const struct workload_option micro_branch_options[] = {
    {"kind", 0, 0, 3,
     "0: a loop of one instruction, 1: ways, 2: calls, 3: one way or the other, by the lane"},
    {"ways", 2, 1, 32,
     "kinds 1 and 3: ways that the lanes of a warp take, each a chain of 8 instructions; 1 or 2 of kind 3"},
    {"warps", 1, 1, 32, "warps"},
    {"steps", 64, 1, 1u << 20, "times"},
    {0, 0, 0, 0, 0},
};

/* What a lane has in the end: its way multiplies by an odd number of its own, and adds one. */
static inline uint32_t micro_branch_of(uint32_t kind, uint32_t lane, uint32_t ways, uint32_t steps)
{
    uint32_t a = lane, way = lane % ways, added = kind == 3 && !way ? 7 : way;
    for (uint32_t i = 0; i < steps * MICRO_BRANCH_CHAIN; i++)
        a = a * (2 * way + 3) + added;
    return a;
}

static void micro_branch_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_loop", "micro_ways", "micro_calls", "micro_either"};
    uint32_t kind = (uint32_t)options[MICRO_BRANCH_KIND], ways = (uint32_t)options[MICRO_BRANCH_WAYS];
    uint32_t warps = (uint32_t)options[MICRO_BRANCH_WARPS], steps = (uint32_t)options[MICRO_BRANCH_STEPS];
    void *times = dev_alloc(gpu, warps * sizeof(struct micro_time)), *out = dev_alloc(gpu, 4096);
    DEV_LAUNCH(gpu, kernels[kind], dev_dim(1, 1, 1), dev_dim(warps * 32, 1, 1), 0, &ways, &steps, &out,
               &times);
    dev_figure(
        gpu, "cycles_per_step",
        micro_span((struct micro_time *)micro_fetch(gpu, times, warps * sizeof(struct micro_time)), warps) /
            steps);
    const uint32_t *got = (const uint32_t *)micro_fetch(gpu, out, 4096);
    for (uint32_t lane = 0; lane < 32 && (kind == 1 || (kind == 3 && ways <= 2)); lane++) {
        uint32_t expected = micro_branch_of(kind, lane, ways, 2 * steps);
        dev_expect_bytes(gpu, "a lane's result", &got[lane], &expected, sizeof expected);
    }
}

const struct workload micro_branch_workload = {"micro_branch", "branches that part the lanes, calls",
                                               micro_branch_options, micro_branch_run};
