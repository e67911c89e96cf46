/* Latency and throughput of the tensor cores: chains of wmma m16n16k16, one a warp. */
#include "micro.h"

enum { MICRO_TENSOR_STEPS = 8 }; /* of a round */

enum { MICRO_TENSOR_KIND, MICRO_TENSOR_ROUNDS };
static const struct workload_option micro_tensor_options[] = {
    {"kind", 0, 0, 2, "0: halves to floats, 1: halves to halves, 2: bytes to integers"},
    {"rounds", 8, 1, 1u << 16, "rounds of 8 products"},
    {0, 0, 0, 0, 0},
};

static void micro_tensor_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_mma_f32", "micro_mma_f16", "micro_mma_s32"};
    static const uint32_t warps[] = {1, 4, 8, 16, 32};
    static const char *const figures[] = {"latency_cycles", "steps_per_cycle_4", "steps_per_cycle_8",
                                          "steps_per_cycle_16", "steps_per_cycle_32"};
    uint32_t rounds = (uint32_t)options[MICRO_TENSOR_ROUNDS];
    double steps = (double)rounds * MICRO_TENSOR_STEPS;
    void *out = dev_alloc(gpu, 1024 * sizeof(float));
    void *times = dev_alloc(gpu, 32 * sizeof(struct micro_time));
    for (size_t i = 0; i < sizeof warps / sizeof *warps; i++) {
        DEV_LAUNCH(gpu, kernels[options[MICRO_TENSOR_KIND]], dev_dim(1, 1, 1), dev_dim(warps[i] * 32, 1, 1),
                   0, &rounds, &out, &times);
        double cycles = micro_span(
            (struct micro_time *)micro_fetch(gpu, times, 32 * sizeof(struct micro_time)), warps[i]);
        dev_figure(gpu, figures[i], i ? steps * warps[i] / cycles : cycles / steps);
        const float *got = (const float *)micro_fetch(gpu, out, 1024 * sizeof(float));
        for (uint32_t t = 0; t < warps[i] * 32; t++) /* zeros and ones: an element grows by 16 in a product */
            dev_expect(gpu, got[t] == (options[MICRO_TENSOR_KIND] == 1 ? 0 : (float)(32 * steps)),
                       "the products' sum");
    }
}

const struct workload micro_tensor_workload = {"micro_tensor", "latency and throughput of tensor cores",
                                               micro_tensor_options, micro_tensor_run};
