/* The sum of an array: threads in a strided loop, warps by shuffles, blocks through shared memory, and the
 * blocks' sums by a second launch of one block. Whole numbers modulo 2^32: exact in any order. */
#include "workload.h"

enum { REDUCTION_BLOCK = 1024 }; /* threads of a block, at most */

enum { REDUCTION_N, REDUCTION_BLOCKS, REDUCTION_WARPS };
static const struct workload_option reduction_options[] = {
    {"n", 524288, 1, 1u << 28, "elements"},
    {"blocks", 64, 1, 65535, "blocks of the first launch"},
    {"warps", 8, 1, 32, "warps of a block"},
    {0, 0, 0, 0, 0},
};

static void reduction_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[REDUCTION_N], blocks = (uint32_t)options[REDUCTION_BLOCKS];
    uint32_t threads = dev_lanes(gpu) * (uint32_t)options[REDUCTION_WARPS];
    struct dev_dim block = dev_dim(threads < REDUCTION_BLOCK ? threads : REDUCTION_BLOCK, 1, 1);
    uint32_t *in = (uint32_t *)dev_host(gpu, n * sizeof *in), sum = 0, expected = 0;
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        expected += in[i] = workload_random(&seed);
    void *device_in = dev_alloc(gpu, n * sizeof *in), *device_partial = dev_alloc(gpu, blocks * sizeof sum);
    void *device_sum = dev_alloc(gpu, sizeof sum);
    dev_upload(gpu, device_in, in, n * sizeof *in);
    DEV_LAUNCH(gpu, "reduction", dev_dim(blocks, 1, 1), block, 0, &n, &device_in, &device_partial);
    DEV_LAUNCH(gpu, "reduction", dev_dim(1, 1, 1), block, 0, &blocks, &device_partial, &device_sum);
    dev_download(gpu, &sum, device_sum, sizeof sum);
    dev_expect_bytes(gpu, "sum", &sum, &expected, sizeof sum);
}

const struct workload reduction_workload = {"reduction", "sum by warp shuffles and shared memory",
                                            reduction_options, reduction_run};
