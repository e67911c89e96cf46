/* What it costs to wait: barriers by the number of warps, fences, and a barrier of all blocks. */
#include "micro.h"

enum { MICRO_SYNC_KIND, MICRO_SYNC_WARPS, MICRO_SYNC_BLOCKS, MICRO_SYNC_STEPS };
static const struct workload_option micro_sync_options[] = {
    {"kind", 0, 0, 6,
     "0 __syncthreads, 1 __syncwarp, 2-4 fence of block, GPU, system, 5 GPU alone, 6 all blocks"},
    {"warps", 1, 1, 32, "warps of a block"},
    {"blocks", 1, 1, 132, "blocks, all on the GPU at once"},
    {"steps", 64, 1, 1u << 20, "times"},
    {0, 0, 0, 0, 0},
};

static void micro_sync_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_barrier",     "micro_syncwarp",  "micro_fence_block",
                                          "micro_fence_gpu",   "micro_fence_sys", "micro_fence_only",
                                          "micro_grid_barrier"};
    uint32_t warps = (uint32_t)options[MICRO_SYNC_WARPS], blocks = (uint32_t)options[MICRO_SYNC_BLOCKS];
    uint32_t steps = (uint32_t)options[MICRO_SYNC_STEPS];
    size_t all = (size_t)warps * blocks;
    void *times = dev_alloc(gpu, all * sizeof(struct micro_time));
    void *words = dev_alloc(gpu, (all * 32 + 1) * sizeof(uint32_t));
    dev_fill(gpu, words, 0, (all * 32 + 1) * sizeof(uint32_t));
    DEV_LAUNCH(gpu, kernels[options[MICRO_SYNC_KIND]], dev_dim(blocks, 1, 1), dev_dim(warps * 32, 1, 1), 0,
               &steps, &words, &times);
    dev_figure(
        gpu, "cycles_per_step",
        micro_longest((struct micro_time *)micro_fetch(gpu, times, all * sizeof(struct micro_time)), all) /
            steps);
    if (options[MICRO_SYNC_KIND] == 6) {
        uint32_t arrived = 2 * steps * blocks;
        dev_expect_bytes(gpu, "arrivals", micro_fetch(gpu, words, sizeof arrived), &arrived, sizeof arrived);
    }
}

const struct workload micro_sync_workload = {"micro_sync", "barriers and fences", micro_sync_options,
                                             micro_sync_run};
