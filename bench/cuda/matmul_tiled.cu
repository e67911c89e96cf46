#include "native.cuh"
#include "matmul_tiled.c"

enum { SIDE = MATMUL_SIDE };

extern "C" __global__ void matmul_tiled(unsigned m, unsigned n, unsigned k, const float *a, const float *b,
                                        float *c)
{
    __shared__ float tile_a[SIDE][SIDE], tile_b[SIDE][SIDE];
    unsigned row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
    for (unsigned start = 0; start < k; start += SIDE) {
        unsigned a_column = start + threadIdx.x, b_row = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0;
        tile_b[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0;
        __syncthreads();
        for (unsigned i = 0; i < SIDE; i++)
            sum = fmaf(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

WORKLOAD_MAIN(matmul_tiled, KERNEL(matmul_tiled))
