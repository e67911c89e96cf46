#include "native.cuh"
#include "fir.c"

extern "C" __global__ void fir(unsigned n, unsigned taps, const float *weights, const float *in, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i >= n)
        return;
    for (unsigned tap = 0; tap < taps && tap <= i; tap++)
        sum = fmaf(weights[tap], in[i - tap], sum);
    out[i] = sum;
}

WORKLOAD_MAIN(fir, KERNEL(fir))
