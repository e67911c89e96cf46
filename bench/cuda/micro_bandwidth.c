/* Bandwidth: blocks read, write or copy a footprint, 4 to 16 bytes a thread; or the warps of one block load
 * the same few lines of L1 again and again, by the bytes between the lanes' addresses. */
#include "micro.h"

enum { MICRO_READ, MICRO_WRITE, MICRO_COPY, MICRO_READ_RANDOM, MICRO_READ_L1 };
enum { MICRO_BANDWIDTH_UNROLL = 8, MICRO_BANDWIDTH_L1_BYTES = 20480 };

enum {
    MICRO_BANDWIDTH_KIND,
    MICRO_BANDWIDTH_KIB,
    MICRO_BANDWIDTH_BLOCKS,
    MICRO_BANDWIDTH_BLOCK,
    MICRO_BANDWIDTH_WIDTH,
    MICRO_BANDWIDTH_STRIDE,
    MICRO_BANDWIDTH_PASSES,
    MICRO_BANDWIDTH_WARM
};
static const struct workload_option micro_bandwidth_options[] = {
    {"kind", 0, 0, 4, "0: read through L2, 1: write, 2: copy, 3: read 32-byte sectors at random, 4: read L1"},
    {"kib", 1024, 64, 1u << 21, "footprint in KiB (kinds 0 to 3), a power of two for kind 3"},
    {"blocks", 132, 1, 65535, "blocks; of kind 4, one"},
    {"block", 512, 32, 1024, "threads of a block"},
    {"width", 16, 4, 16, "bytes of an access: 4, 8 or 16 (kinds 0 and 4)"},
    {"stride", 16, 0, 128, "kind 4: bytes between the addresses of lanes"},
    {"passes", 1, 1, 1u << 16, "times that the footprint is gone through; of kind 4, rounds of 8 loads"},
    {"warm", 1, 0, 1,
     "1: one more pass, before the time is taken; 0: for caches that are empty before a launch"},
    {0, 0, 0, 0, 0},
};

static void micro_bandwidth_l1(struct dev *gpu, const uint64_t *options, void *out, void *times)
{
    static const char *const kernels[] = {"micro_l1_read4", "micro_l1_read8", "micro_l1_read16"};
    uint32_t width = (uint32_t)options[MICRO_BANDWIDTH_WIDTH],
             block = (uint32_t)options[MICRO_BANDWIDTH_BLOCK];
    uint32_t stride = (uint32_t)options[MICRO_BANDWIDTH_STRIDE] / width * width;
    uint32_t passes = (uint32_t)options[MICRO_BANDWIDTH_PASSES], warps = block / 32;
    void *memory = dev_alloc(gpu, MICRO_BANDWIDTH_L1_BYTES);
    dev_fill(gpu, memory, 0, MICRO_BANDWIDTH_L1_BYTES);
    DEV_LAUNCH(gpu, kernels[width / 8], dev_dim(1, 1, 1), dev_dim(warps * 32, 1, 1), 0, &memory, &stride,
               &passes, &out, &times);
    double cycles =
        micro_span((struct micro_time *)micro_fetch(gpu, times, warps * sizeof(struct micro_time)), warps);
    dev_figure(gpu, "cycles_per_load", cycles / ((double)passes * MICRO_BANDWIDTH_UNROLL * warps));
}

static void micro_bandwidth_check(struct dev *gpu, uint32_t kind, const void *to, size_t bytes)
{
    const uint32_t *got = (const uint32_t *)micro_fetch(gpu, to, bytes);
    for (size_t i = 0; i < bytes / 4; i++)
        if (got[i] != (kind == MICRO_COPY ? 0x11111111u : 7u)) {
            dev_expect(gpu, false, "what was written");
            return;
        }
}

static void micro_bandwidth_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_read16", "micro_write16", "micro_copy16",
                                          "micro_read_random"};
    uint32_t kind = (uint32_t)options[MICRO_BANDWIDTH_KIND], width = (uint32_t)options[MICRO_BANDWIDTH_WIDTH];
    uint32_t blocks = (uint32_t)options[MICRO_BANDWIDTH_BLOCKS], passes, warm;
    uint32_t block = (uint32_t)options[MICRO_BANDWIDTH_BLOCK] / 32 * 32;
    size_t bytes = options[MICRO_BANDWIDTH_KIB] * 1024, warps = (size_t)blocks * (block / 32);
    void *times = dev_alloc(gpu, warps * sizeof(struct micro_time)), *out = dev_alloc(gpu, 64);
    if (kind == MICRO_READ_L1) {
        micro_bandwidth_l1(gpu, options, out, times);
        return;
    }
    passes = (uint32_t)options[MICRO_BANDWIDTH_PASSES], warm = (uint32_t)options[MICRO_BANDWIDTH_WARM];
    void *from = dev_alloc(gpu, bytes), *to = kind == MICRO_COPY ? dev_alloc(gpu, bytes) : from;
    uint64_t accesses = bytes / 16;
    dev_fill(gpu, from, 0x11, bytes);
    const char *kernel = kernels[kind];
    if (kind == MICRO_READ && width < 16)
        kernel = width == 4 ? "micro_read4" : "micro_read8", accesses = bytes / width;
    DEV_LAUNCH(gpu, kernel, dev_dim(blocks, 1, 1), dev_dim(block, 1, 1), 0, &from, &to, &accesses, &passes,
               &warm, &out, &times);
    double cycles =
        micro_longest((struct micro_time *)micro_fetch(gpu, times, warps * sizeof(struct micro_time)), warps);
    double moved = (double)bytes * passes * (kind == MICRO_COPY ? 2 : 1);
    dev_figure(gpu, "bytes_per_cycle", moved / cycles);
    if (kind == MICRO_WRITE || kind == MICRO_COPY)
        micro_bandwidth_check(gpu, kind, to, bytes);
}

const struct workload micro_bandwidth_workload = {"micro_bandwidth", "bandwidth of caches and memory",
                                                  micro_bandwidth_options, micro_bandwidth_run};
