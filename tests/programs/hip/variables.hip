/* Variables of modules that kernels read and write: of the device, constant, and managed. */
#include "../check.h"

#include <hip/hip_runtime.h>

__device__ int counter = 5;
__device__ float table[64];
__constant__ float weights[4] = {1, 2, 3, 4};
__managed__ int seen[2] = {10, 20};

__global__ void use(void)
{
    atomicAdd(&counter, 2);
    table[threadIdx.x] += weights[threadIdx.x % 4];
    if (!threadIdx.x)
        seen[1] += seen[0];
}

int main(void)
{
    float got[64], changed[4] = {10, 20, 30, 40};
    int count = 0;
    use<<<1, 64>>>();
    GOOD(hipGetLastError());
    GOOD(hipDeviceSynchronize());
    CHECK(seen[1] == 30);
    seen[0] = 100;
    GOOD(hipMemcpyToSymbol(HIP_SYMBOL(weights), changed, sizeof changed));
    use<<<1, 64>>>();
    GOOD(hipGetLastError());
    GOOD(hipMemcpyFromSymbol(got, HIP_SYMBOL(table), sizeof got));
    GOOD(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
    CHECK(count == 5 + 2 * 128);
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == (float)(i % 4 + 1) * 11);
    CHECK(seen[1] == 130);
    return check_end("variables");
}
