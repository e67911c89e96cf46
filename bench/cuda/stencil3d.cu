#include "native.cuh"
#include "stencil3d.c"

extern "C" __global__ void stencil3d(unsigned width, unsigned height, unsigned depth, const float *from,
                                     float *to)
{
    unsigned x = blockIdx.x * STENCIL3D_X + threadIdx.x, y = blockIdx.y * STENCIL3D_Y + threadIdx.y;
    unsigned plane = width * height, i = y * width + x;
    if (x == 0 || x >= width - 1 || y == 0 || y >= height - 1)
        return;
    float below, here = from[i], above = from[i + plane];
    for (unsigned z = 1; z < depth - 1; z++) {
        i += plane;
        below = here, here = above, above = from[i + plane];
        float sides = (from[i - 1] + from[i + 1]) + (from[i - width] + from[i + width]);
        to[i] = fmaf(STENCIL3D_CENTER, here, STENCIL3D_SIDE * (sides + (below + above)));
    }
}

WORKLOAD_MAIN(stencil3d, KERNEL(stencil3d))
