#include <mma.h>
#include "native.cuh"
#include "matmul_tensor.c"

enum { SIDE = MATMUL_TENSOR_SIDE };

using namespace nvcuda;

/* The blocks of a row of the grid make a row of tiles; sides are multiples of 16. */
extern "C" __global__ void matmul_tensor(unsigned n, unsigned k, const half *a, const half *b, float *c)
{
    unsigned row = blockIdx.y * SIDE, column = (blockIdx.x * MATMUL_TENSOR_WARPS + threadIdx.x / 32) * SIDE;
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, half, wmma::row_major> tile_a;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, half, wmma::row_major> tile_b;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> sum;
    if (column >= n) /* a whole warp */
        return;
    wmma::fill_fragment(sum, 0);
    for (unsigned i = 0; i < k; i += SIDE) {
        wmma::load_matrix_sync(tile_a, a + row * k + i, k);
        wmma::load_matrix_sync(tile_b, b + i * n + column, n);
        wmma::mma_sync(sum, tile_a, tile_b, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

WORKLOAD_MAIN(matmul_tensor, KERNEL(matmul_tensor))
