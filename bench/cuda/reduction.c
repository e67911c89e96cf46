/* The sum of an array: threads in a strided loop, warps by shuffles, blocks through shared memory, and the
 * blocks' sums by a second launch of one block. Whole numbers modulo 2^32: exact in any order. */
#include "workload.h"

enum { REDUCTION_N, REDUCTION_BLOCKS, REDUCTION_WARPS };
static const struct workload_option reduction_options[] = {
    {"n", 524288, 1, 1u << 28, "elements"},
    {"blocks", 64, 1, 65535, "blocks of the first launch"},
    {"warps", 8, 1, 32, "warps of a block"},
    {0, 0, 0, 0, 0},
};

static void reduction_run(struct gpu *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[REDUCTION_N], blocks = (uint32_t)options[REDUCTION_BLOCKS];
    struct gpu_dim block = gpu_dim(32 * (uint32_t)options[REDUCTION_WARPS], 1, 1);
    uint32_t *in = (uint32_t *)gpu_host(gpu, n * sizeof *in), sum = 0, expected = 0;
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        expected += in[i] = workload_random(&seed);
    void *device_in = gpu_alloc(gpu, n * sizeof *in), *device_partial = gpu_alloc(gpu, blocks * sizeof sum);
    void *device_sum = gpu_alloc(gpu, sizeof sum);
    gpu_upload(gpu, device_in, in, n * sizeof *in);
    GPU_LAUNCH(gpu, "reduction", gpu_dim(blocks, 1, 1), block, 0, &n, &device_in, &device_partial);
    GPU_LAUNCH(gpu, "reduction", gpu_dim(1, 1, 1), block, 0, &blocks, &device_partial, &device_sum);
    gpu_download(gpu, &sum, device_sum, sizeof sum);
    gpu_expect_bytes(gpu, "sum", &sum, &expected, sizeof sum);
}

const struct workload reduction_workload = {"reduction", "sum by warp shuffles and shared memory",
                                            reduction_options, reduction_run};
