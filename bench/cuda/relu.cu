#include "native.cuh"
#include "relu.c"

extern "C" __global__ void relu(unsigned n, const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] > 0 ? x[i] : 0;
}

WORKLOAD_MAIN(relu, KERNEL(relu))
