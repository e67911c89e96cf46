/* c = a b on tensor cores: halves in, floats out, a warp to a tile of c. The inputs are small whole numbers,
 * so that every sum is exact, in whatever order the hardware takes it. */
#include "workload.h"

enum { MATMUL_TENSOR_SIDE = 16, MATMUL_TENSOR_WARPS = 4 }; /* of a tile; of a block */

enum { MATMUL_TENSOR_M, MATMUL_TENSOR_N, MATMUL_TENSOR_K };
static const struct workload_option matmul_tensor_options[] = {
    {"m", 16, 1, 512, "rows of a and c, in tiles of 16"},
    {"n", 16, 1, 512, "columns of b and c, in tiles of 16"},
    {"k", 16, 1, 512, "columns of a and rows of b, in tiles of 16"},
    {0, 0, 0, 0, 0},
};

/* The bits of a half that is a whole number from -8 to 8. */
static uint16_t matmul_tensor_half(int value)
{
    unsigned magnitude = (unsigned)abs(value), exponent = 0;
    if (!magnitude)
        return 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (15 + exponent) << 10 |
                      ((magnitude << (10 - exponent)) & 0x3ff));
}

static int8_t *matmul_tensor_input(struct dev *gpu, size_t count, uint64_t seed, void **device)
{
    int8_t *matrix = (int8_t *)dev_host(gpu, count);
    uint16_t *halves = (uint16_t *)dev_host(gpu, count * sizeof *halves);
    for (size_t i = 0; i < count; i++) {
        matrix[i] = (int8_t)((int)(workload_random(&seed) % 17) - 8);
        halves[i] = matmul_tensor_half(matrix[i]);
    }
    *device = dev_alloc(gpu, count * sizeof *halves);
    dev_upload(gpu, *device, halves, count * sizeof *halves);
    return matrix;
}

static void matmul_tensor_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t m = MATMUL_TENSOR_SIDE * (uint32_t)options[MATMUL_TENSOR_M];
    uint32_t n = MATMUL_TENSOR_SIDE * (uint32_t)options[MATMUL_TENSOR_N];
    uint32_t k = MATMUL_TENSOR_SIDE * (uint32_t)options[MATMUL_TENSOR_K];
    size_t count = (size_t)m * n, bytes = count * sizeof(float);
    void *device_a, *device_b, *device_c = dev_alloc(gpu, bytes);
    int8_t *a = matmul_tensor_input(gpu, (size_t)m * k, 1, &device_a);
    int8_t *b = matmul_tensor_input(gpu, (size_t)k * n, 2, &device_b);
    int32_t *sums = (int32_t *)dev_host(gpu, count * sizeof *sums);
    float *c = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    for (size_t row = 0; row < m; row++)
        for (size_t i = 0; i < k; i++)
            for (size_t column = 0; column < n; column++)
                sums[row * n + column] += a[row * k + i] * b[i * n + column];
    for (size_t i = 0; i < count; i++)
        expected[i] = (float)sums[i];
    uint32_t across = MATMUL_TENSOR_SIDE * MATMUL_TENSOR_WARPS; /* columns of a block: a tile for each warp */
    DEV_LAUNCH(gpu, "matmul_tensor", dev_dim((n + across - 1) / across, m / MATMUL_TENSOR_SIDE, 1),
               dev_dim(32 * MATMUL_TENSOR_WARPS, 1, 1), 0, &n, &k, &device_a, &device_b, &device_c);
    dev_download(gpu, c, device_c, bytes);
    dev_expect_bytes(gpu, "c", c, expected, bytes);
}

const struct workload matmul_tensor_workload = {"matmul_tensor", "c = a b on tensor cores",
                                                matmul_tensor_options, matmul_tensor_run};
