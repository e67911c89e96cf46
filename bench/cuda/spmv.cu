#include "native.cuh"
#include "spmv.c"

enum { SPMV_WARP = 32 };

extern "C" __global__ void spmv_thread(unsigned rows, const unsigned *starts, const unsigned *columns,
                                       const float *values, const float *x, float *y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= rows)
        return;
    for (unsigned i = starts[row]; i < starts[row + 1]; i++)
        sum = fmaf(values[i], x[columns[i]], sum);
    y[row] = sum;
}

extern "C" __global__ void spmv_warp(unsigned rows, const unsigned *starts, const unsigned *columns,
                                     const float *values, const float *x, float *y)
{
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / SPMV_WARP, lane = threadIdx.x % SPMV_WARP;
    float sum = 0;
    if (row >= rows) /* a whole warp */
        return;
    for (unsigned i = starts[row] + lane; i < starts[row + 1]; i += SPMV_WARP)
        sum = fmaf(values[i], x[columns[i]], sum);
    for (int distance = SPMV_WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        y[row] = sum;
}

WORKLOAD_MAIN(spmv, KERNEL(spmv_thread) KERNEL(spmv_warp))
