#include "native.cuh"
#include "matmul_naive.c"

extern "C" __global__ void matmul_naive(unsigned m, unsigned n, unsigned k, const float *a, const float *b,
                                        float *c)
{
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= m || column >= n)
        return;
    for (unsigned i = 0; i < k; i++)
        sum = fmaf(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}

WORKLOAD_MAIN(matmul_naive, KERNEL(matmul_naive))
