#include "native.cuh"
#include "histogram.c"

extern "C" __global__ void histogram(unsigned n, unsigned bins, const unsigned *in, unsigned *counts)
{
    extern __shared__ unsigned local[]; /* [bins] */
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
        if (local[i])
            atomicAdd(&counts[i], local[i]);
}

WORKLOAD_MAIN(histogram, KERNEL(histogram))
