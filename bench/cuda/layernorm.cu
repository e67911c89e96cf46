#include "native.cuh"
#include "layernorm.c"

static __device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

extern "C" __global__ void layernorm(unsigned rows, unsigned columns, const float *in, const float *scale,
                                     const float *shift, float *out)
{
    unsigned row = blockIdx.x * LAYERNORM_WARPS + threadIdx.y;
    float sum = 0, squares = 0;
    if (row >= rows) /* a whole warp */
        return;
    const float *in_row = in + row * columns;
    for (unsigned i = threadIdx.x; i < columns; i += 32)
        sum += in_row[i];
    float mean = warp_sum(sum) / columns;
    for (unsigned i = threadIdx.x; i < columns; i += 32)
        squares = fmaf(in_row[i] - mean, in_row[i] - mean, squares);
    float inverse = rsqrtf(warp_sum(squares) / columns + LAYERNORM_EPSILON);
    for (unsigned i = threadIdx.x; i < columns; i += 32)
        out[row * columns + i] = fmaf((in_row[i] - mean) * inverse, scale[i], shift[i]);
}

WORKLOAD_MAIN(layernorm, KERNEL(layernorm))
