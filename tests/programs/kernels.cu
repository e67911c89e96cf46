/* What kernels can call: printf, malloc, function pointers, virtual functions; attributes and occupancy; the ways of
 * launching. */
#include <cooperative_groups.h>
#include <string.h>
#include "check.h"

typedef int operation(int, int);

__device__ int plus(int a, int b)
{
    return a + b;
}

__device__ int times(int a, int b)
{
    return a * b;
}

__device__ operation *const operations[] = {plus, times};

struct shape {
    __device__ virtual int area() const = 0;
};

struct square : shape {
    int side;
    __device__ square(int s) : side(s) {}
    __device__ int area() const override
    {
        return side * side;
    }
};

__global__ void calls(int *out)
{
    int i = threadIdx.x;
    int *heap = (int *)malloc(sizeof(int));
    *heap = operations[i & 1](i, 3);
    square s(i);
    const shape *p = &s;
    out[i] = *heap + 1000 * p->area();
    free(heap);
    if (i == 5)
        printf("thread %d of %s: %.2f %5u|%-5s|\n", i, "calls", 1.5, 7u, "ab");
}

template <typename T> __global__ void scale(T *p, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= by;
}

__global__ void __launch_bounds__(128) meet(int *p)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = (int)grid.thread_rank();
    p[i] = i;
    grid.sync();
    int other = p[(i + 1) % (int)grid.size()];
    grid.sync();
    p[i] += other;
}

static void about()
{
    cudaFuncAttributes a;
    int blocks, grid, block;
    size_t shared;
    GOOD(cudaFuncGetAttributes(&a, meet));
    CHECK(a.maxThreadsPerBlock == 128 && a.sharedSizeBytes == 0 && a.numRegs > 0);
    CHECK(a.maxDynamicSharedSizeBytes == 49152 && a.preferredShmemCarveout == -1);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 256, 0));
    CHECK(blocks == 8);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 2048, 0));
    CHECK(blocks == 0);
    GOOD(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<float>));
    CHECK(block == 1024 && grid == 2 * 132);
    GOOD(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, scale<float>, 8, 256));
    CHECK(shared > 0);
}

static void launches()
{
    float *f, got[64];
    int n = 64;
    float by = 2;
    GOOD(cudaMalloc(&f, sizeof got));
    for (int i = 0; i < n; i++)
        got[i] = (float)i;
    GOOD(cudaMemcpy(f, got, sizeof got, cudaMemcpyHostToDevice));
    scale<<<2, 32>>>(f, by, n);
    void *arguments[] = {&f, &by, &n};
    GOOD(cudaLaunchKernel(scale<float>, dim3(2), dim3(32), arguments, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    GOOD(cudaLaunchKernelEx(&config, scale<float>, f, by, n));
    GOOD(cudaMemcpy(got, f, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[1] == 8 && got[63] == 504);
    GOOD(cudaFree(f));
}

int main()
{
    int *d, h[256];
    GOOD(cudaMalloc(&d, sizeof h));
    calls<<<1, 8>>>(d);
    GOOD(cudaMemcpy(h, d, 32, cudaMemcpyDeviceToHost));
    CHECK(h[4] == 7 + 16000 && h[5] == 15 + 25000);

    void *arguments[] = {&d};
    GOOD(cudaLaunchCooperativeKernel(meet, dim3(4), dim3(64), arguments, 0, 0));
    GOOD(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 1 && h[100] == 201 && h[255] == 255);
    GIVES(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel(meet, dim3(100000), dim3(64), arguments, 0, 0));
    cudaGetLastError();

    about();
    launches();
    GOOD(cudaFree(d));
    return check_end("kernels");
}
