/* How often each value occurs: a block counts in shared memory, then adds its counts to those of all. Small
 * values are more frequent, so that lanes of a warp meet in a bin. */
#include "workload.h"

enum { HISTOGRAM_N, HISTOGRAM_BINS, HISTOGRAM_BLOCKS, HISTOGRAM_BLOCK };
static const struct workload_option histogram_options[] = {
    {"n", 262144, 1, 1u << 28, "elements"},
    {"bins", 256, 1, 8192, "different values"},
    {"blocks", 32, 1, 65535, "blocks"},
    {"block", 256, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static void histogram_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[HISTOGRAM_N], bins = (uint32_t)options[HISTOGRAM_BINS];
    struct dev_dim grid = dev_dim((uint32_t)options[HISTOGRAM_BLOCKS], 1, 1);
    struct dev_dim block = dev_dim((uint32_t)options[HISTOGRAM_BLOCK], 1, 1);
    size_t bytes = bins * sizeof(uint32_t);
    uint32_t *in = (uint32_t *)dev_host(gpu, n * sizeof *in);
    uint32_t *counts = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t below = workload_random(&seed) % bins + 1;
        in[i] = workload_random(&seed) % below;
        expected[in[i]]++;
    }
    void *device_in = dev_alloc(gpu, n * sizeof *in), *device_counts = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_in, in, n * sizeof *in);
    dev_fill(gpu, device_counts, 0, bytes);
    DEV_LAUNCH(gpu, "histogram", grid, block, bytes, &n, &bins, &device_in, &device_counts);
    dev_download(gpu, counts, device_counts, bytes);
    dev_expect_bytes(gpu, "counts", counts, expected, bytes);
}

const struct workload histogram_workload = {"histogram", "counts by shared, then global atomics",
                                            histogram_options, histogram_run};
