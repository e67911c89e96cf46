/* Clusters of blocks: latency and bandwidth of other blocks' shared memory, the cluster's barrier, copies
 * that one read of memory brings to all blocks. */
#include "micro.h"

enum { MICRO_CLUSTER_WORDS = 4096, MICRO_CLUSTER_STRIDE = 8, MICRO_CLUSTER_BYTES = 32768 };

enum {
    MICRO_CLUSTER_KIND,
    MICRO_CLUSTER_LOG,
    MICRO_CLUSTER_CLUSTERS,
    MICRO_CLUSTER_WARPS,
    MICRO_CLUSTER_COPY,
    MICRO_CLUSTER_STEPS
};
static const struct workload_option micro_cluster_options[] = {
    {"kind", 0, 0, 4, "0 latency, 1 bandwidth of loads, 2 barrier, 3 multicast copies, 4 latency of atomics"},
    {"log", 1, 1, 3, "clusters of 2, 4 or 8 blocks"},
    {"clusters", 1, 1, 66, "clusters"},
    {"warps", 16, 1, 16, "warps of a block, of kinds 1 and 2"},
    {"copy", 16, 1, 32, "KiB that each block gets in a step, of kind 3"},
    {"steps", 32, 1, 1u << 16, "times"},
    {0, 0, 0, 0, 0},
};

static void micro_cluster_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[][3] = {
        {"micro_cluster_load_2", "micro_cluster_load_4", "micro_cluster_load_8"},
        {"micro_cluster_stream_2", "micro_cluster_stream_4", "micro_cluster_stream_8"},
        {"micro_cluster_barrier_2", "micro_cluster_barrier_4", "micro_cluster_barrier_8"},
        {"micro_cluster_multicast_2", "micro_cluster_multicast_4", "micro_cluster_multicast_8"},
        {"micro_cluster_atomic_2", "micro_cluster_atomic_4", "micro_cluster_atomic_8"}};
    const uint64_t kind = options[MICRO_CLUSTER_KIND];
    uint32_t size = 1u << options[MICRO_CLUSTER_LOG], steps = (uint32_t)options[MICRO_CLUSTER_STEPS];
    uint32_t blocks = size * (uint32_t)options[MICRO_CLUSTER_CLUSTERS];
    uint32_t warps = kind == 1 || kind == 2 ? (uint32_t)options[MICRO_CLUSTER_WARPS] : 1;
    uint32_t bytes = (uint32_t)options[MICRO_CLUSTER_COPY] << 10;
    size_t all = (size_t)blocks * warps;
    uint32_t *ones = (uint32_t *)dev_host(gpu, MICRO_CLUSTER_BYTES);
    for (uint32_t i = 0; i < MICRO_CLUSTER_BYTES / 4; i++)
        ones[i] = 1;
    void *in = dev_alloc(gpu, MICRO_CLUSTER_BYTES);
    void *out = dev_alloc(gpu, all * 32 * sizeof(uint32_t));
    void *times = dev_alloc(gpu, all * sizeof(struct micro_time));
    dev_upload(gpu, in, ones, MICRO_CLUSTER_BYTES);
    DEV_LAUNCH(gpu, kernels[kind][options[MICRO_CLUSTER_LOG] - 1], dev_dim(blocks, 1, 1),
               dev_dim(warps * 32, 1, 1), 0, &steps, &bytes, &in, &out, &times);
    double cycles =
        micro_longest((struct micro_time *)micro_fetch(gpu, times, all * sizeof(struct micro_time)), all);
    dev_figure(gpu, "cycles_per_step", cycles / steps);
    if (kind == 1)
        dev_figure(gpu, "bytes_per_cycle_sm", 16.0 * 32 * warps * steps / cycles);
    if (kind == 3)
        dev_figure(gpu, "bytes_per_cycle_sm", (double)bytes * steps / cycles);
    const uint32_t expected[] = {4 * (MICRO_CLUSTER_STRIDE * steps % MICRO_CLUSTER_WORDS), 4 * steps, steps,
                                 bytes / 4, steps};
    const uint32_t *got = (const uint32_t *)micro_fetch(gpu, out, all * 32 * sizeof(uint32_t));
    for (size_t i = 0; i < all * 32; i += 32)
        dev_expect(gpu, got[i] == expected[kind], "what the first thread of each warp found");
}

const struct workload micro_cluster_workload = {"micro_cluster", "clusters of blocks", micro_cluster_options,
                                                micro_cluster_run};
