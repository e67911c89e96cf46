/* c = a b by wgmma: halves in, floats out, a group of four warps to a tile of c. */
#include "matmul_halves.h"

enum {
    MATMUL_WGMMA_ROWS = 64,     /* of a tile */
    MATMUL_WGMMA_COLUMNS = 128, /* of a tile */
    MATMUL_WGMMA_DEPTH = 64,    /* of a step */
    MATMUL_WGMMA_THREADS = 128,
};

enum { MATMUL_WGMMA_M, MATMUL_WGMMA_N, MATMUL_WGMMA_K };
static const struct workload_option matmul_wgmma_options[] = {
    {"m", 2, 1, 512, "rows of a and c, in tiles of 64"},
    {"n", 2, 1, 512, "columns of b and c, in tiles of 128"},
    {"k", 4, 1, 512, "columns of a and rows of b, in steps of 64"},
    {0, 0, 0, 0, 0},
};

static void matmul_wgmma_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t m = (uint32_t)options[MATMUL_WGMMA_M], n = (uint32_t)options[MATMUL_WGMMA_N],
             k = (uint32_t)options[MATMUL_WGMMA_K];
    matmul_halves_run(gpu, "matmul_wgmma", m * MATMUL_WGMMA_ROWS, n * MATMUL_WGMMA_COLUMNS,
                      k * MATMUL_WGMMA_DEPTH, dev_dim(n, m, 1), MATMUL_WGMMA_THREADS);
}

const struct workload matmul_wgmma_workload = {"matmul_wgmma", "c = a b by products of four warps",
                                               matmul_wgmma_options, matmul_wgmma_run};
