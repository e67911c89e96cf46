#include "native.cuh"
#include "reduction.c"

static __device__ unsigned warp_sum(unsigned value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

/* out[b] = the sum of what block b read */
extern "C" __global__ void reduction(unsigned n, const unsigned *in, unsigned *out)
{
    __shared__ unsigned sums[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}

WORKLOAD_MAIN(reduction, KERNEL(reduction))
