/* The host side of the float matrix products: c = a b. Kernels take each sum in the order of k, so it is
 * exact. */
#ifndef BENCH_CUDA_MATMUL_H
#define BENCH_CUDA_MATMUL_H

#include "each.h"
#include "placement.h"

enum { MATMUL_SIDE = 16 }; /* of a block, and of a tile */

enum { MATMUL_M, MATMUL_N, MATMUL_K, MATMUL_LOCALITY, MATMUL_EACH };
static const struct workload_option matmul_options[] = {
    {"m", 112, 1, 1u << 18, "rows of a and c"},
    {"n", 112, 1, 8192, "columns of b and c"},
    {"k", 112, 1, 8192, "columns of a, rows of b"},
    PLACEMENT_OPTION,
    EACH_OPTION,
    {0, 0, 0, 0, 0},
};

static float *matmul_input(struct dev *gpu, size_t count, uint64_t seed)
{
    float *matrix = (float *)dev_host(gpu, count * sizeof *matrix);
    for (size_t i = 0; i < count; i++)
        matrix[i] = workload_unit(&seed);
    return matrix;
}

/* Compiled for hosts with instructions for it, too: one thread does this while all others wait. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ &&         \
    !defined __SANITIZE_THREAD__
__attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
static void
matmul_add_row(float *__restrict sums, float a, const float *__restrict b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = fmaf(a, b[i], sums[i]);
}

static void matmul_run(struct dev *gpu, const uint64_t *options, const char *kernel)
{
    uint32_t m = (uint32_t)options[MATMUL_M], n = (uint32_t)options[MATMUL_N],
             k = (uint32_t)options[MATMUL_K];
    size_t a_count = (size_t)m * k, b_count = (size_t)k * n, c_bytes = (size_t)m * n * sizeof(float);
    float *a = matmul_input(gpu, a_count, 1), *b = matmul_input(gpu, b_count, 2);
    float *c = (float *)dev_host(gpu, c_bytes), *expected = (float *)dev_host(gpu, c_bytes);
    for (size_t row = 0; row < m; row++)
        for (size_t i = 0; i < k; i++)
            matmul_add_row(expected + row * n, a[row * k + i], b + i * n, n);
    void *device_a[EACH_MOST], *device_b[EACH_MOST], *device_c[EACH_MOST];
    unsigned count = each_count(gpu, options[MATMUL_EACH]);
    for (unsigned i = 0; i < count; i++) {
        dev_select(gpu, i);
        device_a[i] = dev_alloc(gpu, a_count * sizeof *a), device_b[i] = dev_alloc(gpu, b_count * sizeof *b);
        device_c[i] = dev_alloc(gpu, c_bytes);
        dev_upload(gpu, device_a[i], a, a_count * sizeof *a);
        dev_upload(gpu, device_b[i], b, b_count * sizeof *b);
    }
    struct dev_dim grid =
        dev_dim((n + MATMUL_SIDE - 1) / MATMUL_SIDE, (m + MATMUL_SIDE - 1) / MATMUL_SIDE, 1);
    for (unsigned i = 0; i < count; i++) {
        dev_select(gpu, i);
        /* Rows of a and c; all blocks read all of b, which stays spread. */
        struct placement placement = placement_of(gpu, options[MATMUL_LOCALITY], grid.y);
        placement_memory(&placement, device_a[i], a_count * sizeof *a, MATMUL_SIDE * k * sizeof *a);
        placement_memory(&placement, device_c[i], c_bytes, MATMUL_SIDE * n * sizeof *c);
        placement_blocks(&placement, grid.x);
        DEV_LAUNCH(gpu, kernel, grid, dev_dim(MATMUL_SIDE, MATMUL_SIDE, 1), 0, &m, &n, &k, &device_a[i],
                   &device_b[i], &device_c[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        dev_select(gpu, i);
        dev_download(gpu, c, device_c[i], c_bytes);
        dev_expect_bytes(gpu, "c", c, expected, c_bytes);
    }
}

#endif
