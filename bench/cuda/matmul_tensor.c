/* c = a b on tensor cores: halves in, floats out, a warp to a tile of c. */
#include "matmul_halves.h"

enum { MATMUL_TENSOR_SIDE = 16, MATMUL_TENSOR_WARPS = 4 }; /* of a tile; of a block */

enum { MATMUL_TENSOR_M, MATMUL_TENSOR_N, MATMUL_TENSOR_K };
static const struct workload_option matmul_tensor_options[] = {
    {"m", 16, 1, 512, "rows of a and c, in tiles of 16"},
    {"n", 16, 1, 512, "columns of b and c, in tiles of 16"},
    {"k", 16, 1, 512, "columns of a and rows of b, in tiles of 16"},
    {0, 0, 0, 0, 0},
};

static void matmul_tensor_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t m = MATMUL_TENSOR_SIDE * (uint32_t)options[MATMUL_TENSOR_M];
    uint32_t n = MATMUL_TENSOR_SIDE * (uint32_t)options[MATMUL_TENSOR_N];
    uint32_t k = MATMUL_TENSOR_SIDE * (uint32_t)options[MATMUL_TENSOR_K];
    uint32_t across = MATMUL_TENSOR_SIDE * MATMUL_TENSOR_WARPS; /* columns of a block: a tile for each warp */
    matmul_halves_run(gpu, "matmul_tensor", m, n, k,
                      dev_dim((n + across - 1) / across, m / MATMUL_TENSOR_SIDE, 1),
                      32 * MATMUL_TENSOR_WARPS);
}

const struct workload matmul_tensor_workload = {"matmul_tensor", "c = a b on tensor cores",
                                                matmul_tensor_options, matmul_tensor_run};
