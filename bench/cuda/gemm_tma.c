/* c = a b by wgmma, as Hopper's own libraries do it: tiles come by TMA into stages of shared memory, one
 * group of warps starts the copies, two multiply. b is stored by columns. Halves or bfloat16 in, floats out.
 * The inputs are small whole numbers, so that every sum is exact, in whatever order the hardware takes it. */
#include "halves.h"

enum {
    GEMM_TMA_ROWS = 128,    /* of a tile */
    GEMM_TMA_COLUMNS = 256, /* of a tile */
    GEMM_TMA_DEPTH = 64,    /* of a step */
    GEMM_TMA_STAGES = 4,
    GEMM_TMA_GROUPS = 2, /* of four warps, that multiply: each has half of the rows */
    GEMM_TMA_THREADS = (GEMM_TMA_GROUPS + 1) * 128,
    GEMM_TMA_A = GEMM_TMA_ROWS * GEMM_TMA_DEPTH * 2, /* bytes of a stage */
    GEMM_TMA_B = GEMM_TMA_COLUMNS * GEMM_TMA_DEPTH * 2,
    /* Stages begin at multiples of 1024, which what the launch asks for need not. */
    GEMM_TMA_SHARED = GEMM_TMA_STAGES * (GEMM_TMA_A + GEMM_TMA_B) + 1024,
};

enum { GEMM_TMA_M, GEMM_TMA_N, GEMM_TMA_K, GEMM_TMA_TYPE, GEMM_TMA_CLUSTER, GEMM_TMA_PAIRS };
static const struct workload_option gemm_tma_options[] = {
    {"m", 1, 1, 64, "rows of a and c, in pairs of tiles of 128"},
    {"n", 1, 1, 64, "columns of b and c, in tiles of 256"},
    {"k", 6, 1, 512, "columns of a and rows of b, in steps of 64"},
    {"type", 0, 0, 1, "f16|bf16: of a and b"},
    {"cluster", 2, 1, 2, "blocks that share tiles of b: 2, each of which reads a half for both, or 1"},
    {"pairs", 66, 1, 4096, "of blocks, at most; they take pairs of tiles in turn"},
    {0, 0, 0, 0, 0},
};

/* A matrix of rows along k, its numbers also as whole ones. The tensor map's box: rows of a copy. */
static int16_t *gemm_tma_input(struct dev *gpu, uint32_t rows, uint32_t k, uint64_t seed, bool brain,
                               uint32_t box_rows, struct dev_tensor *map)
{
    size_t count = (size_t)rows * k;
    int16_t *matrix = (int16_t *)dev_host(gpu, count * sizeof *matrix);
    uint16_t *bits = (uint16_t *)dev_host(gpu, count * sizeof *bits);
    for (size_t i = 0; i < count; i++) {
        matrix[i] = (int16_t)((int)(workload_random(&seed) % 17) - 8);
        bits[i] = brain ? matmul_brain(matrix[i]) : matmul_half(matrix[i]);
    }
    void *device = dev_alloc(gpu, count * sizeof *bits);
    dev_upload(gpu, device, bits, count * sizeof *bits);
    dev_tensor(gpu, map, brain, device, k, rows, GEMM_TMA_DEPTH, box_rows);
    return matrix;
}

static void gemm_tma_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[2][2] = {{"gemm_tma_f16_1", "gemm_tma_f16_2"},
                                              {"gemm_tma_bf16_1", "gemm_tma_bf16_2"}};
    uint32_t cluster = (uint32_t)options[GEMM_TMA_CLUSTER];
    bool brain = options[GEMM_TMA_TYPE];
    uint32_t tiles_m = 2 * (uint32_t)options[GEMM_TMA_M], tiles_n = (uint32_t)options[GEMM_TMA_N];
    uint32_t steps = (uint32_t)options[GEMM_TMA_K], blocks = 2 * (uint32_t)options[GEMM_TMA_PAIRS];
    uint32_t m = tiles_m * GEMM_TMA_ROWS, n = tiles_n * GEMM_TMA_COLUMNS, k = steps * GEMM_TMA_DEPTH;
    size_t count = (size_t)m * n, bytes = count * sizeof(float);
    struct dev_tensor map_a, map_b;
    int16_t *a = gemm_tma_input(gpu, m, k, 1, brain, GEMM_TMA_ROWS, &map_a);
    int16_t *b = gemm_tma_input(gpu, n, k, 2, brain, GEMM_TMA_COLUMNS / cluster, &map_b);
    void *device_c = dev_alloc(gpu, bytes);
    float *c = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            const int16_t *x = a + (size_t)row * k, *y = b + (size_t)column * k;
            int32_t sum = 0;
            for (uint32_t i = 0; i < k; i++)
                sum += x[i] * y[i];
            expected[(size_t)row * n + column] = (float)sum;
        }
    if (blocks > tiles_m * tiles_n)
        blocks = tiles_m * tiles_n;
    DEV_LAUNCH(gpu, kernels[brain][cluster - 1], dev_dim(blocks, 1, 1), dev_dim(GEMM_TMA_THREADS, 1, 1),
               GEMM_TMA_SHARED, &map_a, &map_b, &device_c, &tiles_m, &tiles_n, &steps);
    if (dev_seconds(gpu) > 0)
        dev_figure(gpu, "tflops", 2e-12 * (double)count * k / dev_seconds(gpu));
    dev_download(gpu, c, device_c, bytes);
    dev_expect_bytes(gpu, "c", c, expected, bytes);
}

const struct workload gemm_tma_workload = {"gemm_tma", "c = a b by wgmma and TMA, with a pipeline",
                                           gemm_tma_options, gemm_tma_run};
