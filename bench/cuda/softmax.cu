#include "native.cuh"
#include "softmax.c"

static __device__ float larger(float a, float b)
{
    return fmaxf(a, b);
}

static __device__ float sum_of(float a, float b)
{
    return a + b;
}

/* What `join` makes of the values of a block; `none` changes nothing. All of its threads get it. */
template <float join(float, float)> static __device__ float of_block(float value, float none)
{
    __shared__ float parts[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 16; distance > 0; distance /= 2)
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    if (lane == 0)
        parts[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? parts[lane] : none;
    for (int distance = 16; distance > 0; distance /= 2)
        value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

extern "C" __global__ void softmax(unsigned columns, const float *in, float *out)
{
    const float *row = in + blockIdx.x * columns;
    float *out_row = out + blockIdx.x * columns, most = -INFINITY, sum = 0;
    for (unsigned i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    most = of_block<larger>(most, -INFINITY);
    for (unsigned i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(row[i] - most);
    sum = of_block<sum_of>(sum, 0);
    for (unsigned i = threadIdx.x; i < columns; i += blockDim.x)
        out_row[i] = expf(row[i] - most) / sum;
}

WORKLOAD_MAIN(softmax, KERNEL(softmax))
