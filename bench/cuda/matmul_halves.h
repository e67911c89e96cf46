/* The host side of the products of halves: c = a b, with sums of floats. The inputs are small whole numbers,
 * so that every sum is exact, in whatever order the hardware takes it. */
#ifndef BENCH_CUDA_MATMUL_HALVES_H
#define BENCH_CUDA_MATMUL_HALVES_H

#include "halves.h"

static int8_t *matmul_halves_input(struct dev *gpu, size_t count, uint64_t seed, void **device)
{
    int8_t *matrix = (int8_t *)dev_host(gpu, count);
    uint16_t *halves = (uint16_t *)dev_host(gpu, count * sizeof *halves);
    for (size_t i = 0; i < count; i++) {
        matrix[i] = (int8_t)((int)(workload_random(&seed) % 17) - 8);
        halves[i] = matmul_half(matrix[i]);
    }
    *device = dev_alloc(gpu, count * sizeof *halves);
    dev_upload(gpu, *device, halves, count * sizeof *halves);
    return matrix;
}

/* Rows of a, columns of b, and what is summed; the grid and threads of a block. */
static void matmul_halves_run(struct dev *gpu, const char *kernel, uint32_t m, uint32_t n, uint32_t k,
                              struct dev_dim grid, unsigned threads)
{
    size_t count = (size_t)m * n, bytes = count * sizeof(float);
    void *device_a, *device_b, *device_c = dev_alloc(gpu, bytes);
    int8_t *a = matmul_halves_input(gpu, (size_t)m * k, 1, &device_a);
    int8_t *b = matmul_halves_input(gpu, (size_t)k * n, 2, &device_b);
    int32_t *sums = (int32_t *)dev_host(gpu, count * sizeof *sums);
    float *c = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    for (size_t row = 0; row < m; row++)
        for (size_t i = 0; i < k; i++)
            for (size_t column = 0; column < n; column++)
                sums[row * n + column] += a[row * k + i] * b[i * n + column];
    for (size_t i = 0; i < count; i++)
        expected[i] = (float)sums[i];
    DEV_LAUNCH(gpu, kernel, grid, dev_dim(threads, 1, 1), 0, &n, &k, &device_a, &device_b, &device_c);
    dev_download(gpu, c, device_c, bytes);
    dev_expect_bytes(gpu, "c", c, expected, bytes);
}

#endif
