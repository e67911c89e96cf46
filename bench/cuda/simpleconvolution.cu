#include "native.cuh"
#include "simpleconvolution.c"

extern "C" __global__ void simpleconvolution(int width, int height, int radius, const float *mask,
                                             const float *image, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (x >= width || y >= height)
        return;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++, mask++)
            if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
                sum = fmaf(*mask, image[(y + j) * width + x + i], sum);
    out[y * width + x] = sum;
}

WORKLOAD_MAIN(simpleconvolution, KERNEL(simpleconvolution))
