/* How kernels get their arguments and their places, what is known of them, and what is refused. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <vector>

struct mixed {
    char letter;
    double real;
    short numbers[3];
};

__global__ void arguments(char a, double b, mixed c, short d, long long e, double *out)
{
    if (threadIdx.x == 0)
        out[0] = a + b + c.letter + c.real + c.numbers[2] + d + (double)e;
}

__global__ void places(unsigned *out)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
    out[(z * height + y) * width + x] = x | y << 8 | z << 16;
}

__global__ void __launch_bounds__(128) bounded(int *out)
{
    __shared__ int part[128];
    part[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[127 - threadIdx.x];
}

int main(void)
{
    double *sum, got = 0;
    unsigned *where;
    mixed c = {3, 0.25, {1, 2, 300}};
    GOOD(hipMalloc((void **)&sum, sizeof *sum));
    arguments<<<1, 64>>>(1, 0.5, c, -7, 1LL << 40, sum);
    GOOD(hipGetLastError());
    GOOD(hipMemcpy(&got, sum, sizeof got, hipMemcpyDeviceToHost));
    CHECK(got == 1 + 0.5 + 3 + 0.25 + 300 - 7 + (double)(1LL << 40));

    const dim3 grid(3, 2, 4), block(5, 7, 3);
    const unsigned width = 15, height = 14, depth = 12;
    std::vector<unsigned> all(width * height * depth);
    GOOD(hipMalloc((void **)&where, all.size() * sizeof(unsigned)));
    places<<<grid, block>>>(where);
    GOOD(hipGetLastError());
    GOOD(hipMemcpy(all.data(), where, all.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
    unsigned wrong = 0;
    for (unsigned i = 0; i < all.size(); i++)
        wrong += all[i] != (i % width | i / width % height << 8 | i / width / height << 16);
    CHECK(!wrong);

    hipFuncAttributes facts;
    int blocks = 0, best = 0, count = 0;
    GOOD(hipFuncGetAttributes(&facts, (const void *)bounded));
    CHECK(facts.maxThreadsPerBlock == 128 && facts.sharedSizeBytes == 512 && facts.numRegs > 0);
    GOOD(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)bounded, 128, 0));
    CHECK(blocks > 0);
    GOOD(hipOccupancyMaxPotentialBlockSize(&count, &best, (const void *)bounded, 0, 0));
    CHECK(best > 0 && best <= 128 && count >= best / 128);

    bounded<<<1, 256>>>((int *)where); /* more than it is built for */
    CHECK(hipGetLastError() != hipSuccess);
    bounded<<<1, 2048>>>((int *)where);
    GIVES(hipErrorInvalidConfiguration, hipGetLastError());
    bounded<<<0, 64>>>((int *)where);
    GIVES(hipErrorInvalidConfiguration, hipGetLastError());
    GOOD(hipDeviceSynchronize());
    return check_end("launch");
}
