#include "native.cuh"
#include "transpose.c"

extern "C" __global__ void transpose_naive(unsigned width, unsigned height, const unsigned *in, unsigned *out)
{
    unsigned x = blockIdx.x * TRANSPOSE_TILE + threadIdx.x;
    for (unsigned row = threadIdx.y; row < TRANSPOSE_TILE; row += TRANSPOSE_ROWS) {
        unsigned y = blockIdx.y * TRANSPOSE_TILE + row;
        if (x < width && y < height)
            out[x * height + y] = in[y * width + x];
    }
}

extern "C" __global__ void transpose_tiled(unsigned width, unsigned height, const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[TRANSPOSE_TILE][TRANSPOSE_TILE + 1]; /* a column more: no bank conflicts */
    unsigned left = blockIdx.x * TRANSPOSE_TILE, top = blockIdx.y * TRANSPOSE_TILE;
    for (unsigned row = threadIdx.y; row < TRANSPOSE_TILE; row += TRANSPOSE_ROWS)
        if (left + threadIdx.x < width && top + row < height)
            tile[row][threadIdx.x] = in[(top + row) * width + left + threadIdx.x];
    __syncthreads();
    for (unsigned row = threadIdx.y; row < TRANSPOSE_TILE; row += TRANSPOSE_ROWS)
        if (top + threadIdx.x < height && left + row < width)
            out[(left + row) * height + top + threadIdx.x] = tile[threadIdx.x][row];
}

WORKLOAD_MAIN(transpose, KERNEL(transpose_naive) KERNEL(transpose_tiled))
