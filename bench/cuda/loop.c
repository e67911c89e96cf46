/* Loops that do nothing but compute, to measure the simulator itself: integers, fused multiply-adds, or a
 * number of rounds that differs from lane to lane. */
#include "workload.h"

enum { LOOP_KIND, LOOP_ROUNDS, LOOP_BLOCKS, LOOP_BLOCK };
static const struct workload_option loop_options[] = {
    {"kind", 0, 0, 2, "0: integers, 1: fused multiply-adds, 2: divergent"},
    {"rounds", 200, 1, 1u << 24, "rounds of each thread"},
    {"blocks", 64, 1, 1u << 20, "blocks"},
    {"block", 128, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static inline uint32_t loop_int_of(uint32_t thread, uint32_t rounds)
{
    uint32_t a = thread, b = thread ^ 0x9e3779b9u, c = 1, d = 7;
    for (uint32_t i = 0; i < rounds; i++) {
        a = a * 1664525u + b;
        b = (b >> 3 ^ c) + i;
        c = (c << 1) + (a & d);
        d = d ^ (a + c);
    }
    return a ^ b ^ c ^ d;
}

static inline float loop_fma_of(uint32_t thread, uint32_t rounds)
{
    float a = (float)thread, b = 1.0f, c = 0.5f, d = 0.25f;
    for (uint32_t i = 0; i < rounds; i++) {
        a = fmaf(a, 0.999f, b);
        b = fmaf(b, 0.998f, c);
        c = fmaf(c, 0.997f, d);
        d = fmaf(d, 0.996f, 0.001f);
    }
    return a + b + c + d;
}

/* Steps of Collatz' rule until 1. */
static inline uint32_t loop_diverge_of(uint32_t thread, uint32_t rounds)
{
    uint32_t steps = 0;
    for (uint64_t x = thread + 1; x != 1 && steps < rounds; steps++)
        x = x & 1 ? 3 * x + 1 : x >> 1;
    return steps;
}

static void loop_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"loop_int", "loop_fma", "loop_diverge"};
    uint32_t rounds = (uint32_t)options[LOOP_ROUNDS], blocks = (uint32_t)options[LOOP_BLOCKS];
    uint32_t block = (uint32_t)options[LOOP_BLOCK], kind = (uint32_t)options[LOOP_KIND];
    size_t bytes = (size_t)blocks * block * sizeof(uint32_t);
    uint32_t *got = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    void *device = dev_alloc(gpu, bytes);
    DEV_LAUNCH(gpu, kernels[kind], dev_dim(blocks, 1, 1), dev_dim(block, 1, 1), 0, &rounds, &device);
    dev_download(gpu, got, device, bytes);
    for (uint32_t i = 0; i < blocks * block; i++) {
        float sum = kind == 1 ? loop_fma_of(i, rounds) : 0;
        memcpy(&expected[i], &sum, sizeof sum);
        if (kind != 1)
            expected[i] = kind ? loop_diverge_of(i, rounds) : loop_int_of(i, rounds);
    }
    dev_expect_bytes(gpu, "the result", got, expected, bytes);
}

const struct workload loop_workload = {"loop", "loops that only compute", loop_options, loop_run};
