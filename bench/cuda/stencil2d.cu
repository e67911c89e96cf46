#include "native.cuh"
#include "stencil2d.c"

enum { WIDE = STENCIL2D_X + 2, HIGH = STENCIL2D_Y + 2 }; /* of a tile with its halo */

extern "C" __global__ void stencil2d(int width, int height, const float *from, float *to)
{
    __shared__ float tile[HIGH][WIDE];
    int left = blockIdx.x * STENCIL2D_X, top = blockIdx.y * STENCIL2D_Y;
    int column = threadIdx.x, row = threadIdx.y;
    for (int i = row * STENCIL2D_X + column; i < HIGH * WIDE; i += STENCIL2D_X * STENCIL2D_Y) {
        int x = left + i % WIDE - 1, y = top + i / WIDE - 1;
        if (x >= 0 && x < width && y >= 0 && y < height)
            tile[i / WIDE][i % WIDE] = from[y * width + x];
    }
    __syncthreads();
    int x = left + column, y = top + row;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        float sides = (tile[row + 1][column] + tile[row + 1][column + 2]) +
                      (tile[row][column + 1] + tile[row + 2][column + 1]);
        to[y * width + x] = fmaf(STENCIL2D_CENTER, tile[row + 1][column + 1], STENCIL2D_SIDE * sides);
    }
}

WORKLOAD_MAIN(stencil2d, KERNEL(stencil2d))
