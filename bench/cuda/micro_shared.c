/* Shared memory: the latency of loads, and what one SM takes in of loads, stores and atomics, by the width of
 * an access, the bytes between the lanes' addresses (which decide the bank conflicts) and the number of
 * warps. */
#include "micro.h"

enum { MICRO_SHARED_BYTES = 16384, MICRO_SHARED_STEPS = 16 /* of a round */ };

enum { MICRO_SHARED_KIND, MICRO_SHARED_WIDTH, MICRO_SHARED_STRIDE, MICRO_SHARED_WARPS, MICRO_SHARED_ROUNDS };
static const struct workload_option micro_shared_options[] = {
    {"kind", 0, 0, 4, "0: dependent loads, 1: loads, 2: stores, 3: atomics with a result, 4: without"},
    {"width", 4, 4, 16, "bytes of an access: 4, 8 or 16"},
    {"stride", 4, 0, 128, "bytes between the addresses of lanes"},
    {"warps", 1, 1, 32, "warps"},
    {"rounds", 16, 1, 1u << 16, "rounds of 16 accesses"},
    {0, 0, 0, 0, 0},
};

static void micro_shared_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[5][3] = {
        {"micro_chase4", "micro_chase8", "micro_chase16"}, {"micro_load4", "micro_load8", "micro_load16"},
        {"micro_store4", "micro_store8", "micro_store16"}, {"micro_atom", "micro_atom", "micro_atom"},
        {"micro_red", "micro_red", "micro_red"},
    };
    uint32_t kind = (uint32_t)options[MICRO_SHARED_KIND], width = (uint32_t)options[MICRO_SHARED_WIDTH];
    uint32_t stride = (uint32_t)options[MICRO_SHARED_STRIDE], warps = (uint32_t)options[MICRO_SHARED_WARPS];
    uint32_t rounds = (uint32_t)options[MICRO_SHARED_ROUNDS];
    stride -= stride % width; /* aligned */
    void *out = dev_alloc(gpu, 1024 * sizeof(uint32_t));
    void *times = dev_alloc(gpu, 32 * sizeof(struct micro_time));
    DEV_LAUNCH(gpu, kernels[kind][width / 8], dev_dim(1, 1, 1), dev_dim(warps * 32, 1, 1), 0, &rounds,
               &stride, &out, &times);
    double cycles =
        micro_span((struct micro_time *)micro_fetch(gpu, times, 32 * sizeof(struct micro_time)), warps);
    dev_figure(gpu, "cycles_per_access", cycles / ((double)rounds * MICRO_SHARED_STEPS * (kind ? warps : 1)));
    const uint32_t *got = (const uint32_t *)micro_fetch(gpu, out, 1024 * sizeof(uint32_t));
    if (kind >= 3 && stride) /* a word for each lane, to which each warp added */
        for (uint32_t lane = 0; lane < 32; lane++)
            dev_expect(gpu, got[lane] == 2 * rounds * MICRO_SHARED_STEPS * warps, "a sum");
    if (kind == 0)
        for (uint32_t lane = 0; lane < 32; lane++)
            dev_expect(gpu, got[lane] == lane * stride, "the end of a chain");
}

const struct workload micro_shared_workload = {"micro_shared", "latency and throughput of shared memory",
                                               micro_shared_options, micro_shared_run};
