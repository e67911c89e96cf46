#include "native.cuh"
#include "vecadd.c"

extern "C" __global__ void vecadd(unsigned n, const float *a, const float *b, float *c)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

WORKLOAD_MAIN(vecadd, KERNEL(vecadd))
