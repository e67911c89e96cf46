/* The code that module.hip loads. */
#include <hip/hip_runtime.h>

extern "C" __device__ int offset = 100;

extern "C" __global__ void scale(int *numbers, int count, int factor)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        numbers[i] = numbers[i] * factor + offset;
}
