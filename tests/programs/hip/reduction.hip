/* Sums in LDS, static and dynamic, and across the lanes of a wavefront. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <vector>

__device__ static unsigned grid_sum(const unsigned *in, int n)
{
    unsigned sum = 0;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x))
        sum += in[i];
    return sum;
}

__global__ void sum_static(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned part[256];
    part[threadIdx.x] = grid_sum(in, n);
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (!threadIdx.x)
        out[blockIdx.x] = part[0];
}

extern __shared__ unsigned dynamic_part[];

__global__ void sum_dynamic(const unsigned *in, unsigned *out, int n)
{
    dynamic_part[threadIdx.x] = grid_sum(in, n);
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step; step /= 2) {
        if (threadIdx.x < step)
            dynamic_part[threadIdx.x] += dynamic_part[threadIdx.x + step];
        __syncthreads();
    }
    if (!threadIdx.x)
        out[blockIdx.x] = dynamic_part[0];
}

__global__ void sum_shuffled(const unsigned *in, unsigned *out, int n)
{
    unsigned sum = grid_sum(in, n);
    for (int step = warpSize / 2; step; step /= 2)
        sum += __shfl_down(sum, step);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(&out[blockIdx.x], sum);
}

int main(void)
{
    const int n = 54321, blocks = 13, threads = 256;
    std::vector<unsigned> in(n), out(blocks);
    unsigned *device_in, *device_out, want = 0;
    for (int i = 0; i < n; i++)
        want += in[i] = (unsigned)i * 2654435761u >> 7;
    GOOD(hipMalloc((void **)&device_in, n * sizeof(unsigned)));
    GOOD(hipMalloc((void **)&device_out, blocks * sizeof(unsigned)));
    GOOD(hipMemcpy(device_in, in.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    for (int kind = 0; kind < 3; kind++) {
        unsigned sum = 0;
        GOOD(hipMemset(device_out, 0, blocks * sizeof(unsigned)));
        if (kind == 0)
            sum_static<<<blocks, threads>>>(device_in, device_out, n);
        else if (kind == 1)
            sum_dynamic<<<blocks, threads, threads * sizeof(unsigned)>>>(device_in, device_out, n);
        else
            sum_shuffled<<<blocks, threads>>>(device_in, device_out, n);
        GOOD(hipGetLastError());
        GOOD(hipMemcpy(out.data(), device_out, blocks * sizeof(unsigned), hipMemcpyDeviceToHost));
        for (unsigned one : out)
            sum += one;
        CHECK(sum == want);
    }
    return check_end("reduction");
}
