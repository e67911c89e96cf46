/* Which calls fail, with which code, and what cudaGetLastError says then. The codes are those of an H200 with CUDA 13.0. */
#include "check.h"

__constant__ int table[16];

__global__ void plain(int *p)
{
    p[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(128) bounded(int *p)
{
    __shared__ int s[300];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[127 - threadIdx.x];
}

__global__ void dynamic(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}

static void memory()
{
    const size_t size = 1 << 20;
    char *d, *p;
    int here[4];
    void *host, *own = malloc(4096);
    p = (char *)1;
    GOOD(cudaMalloc((void **)&p, 0));
    CHECK(!p);
    GOOD(cudaMalloc((void **)&d, size));
    GOOD(cudaMallocHost(&host, 4096));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc((void **)&p, (size_t)1 << 50));
    GIVES(cudaErrorMemoryAllocation, cudaPeekAtLastError());
    GIVES(cudaErrorMemoryAllocation, cudaGetLastError());
    GOOD(cudaGetLastError());

    GIVES(cudaErrorInvalidValue, cudaFree(own));
    GIVES(cudaErrorInvalidValue, cudaFree(d + 4));
    GIVES(cudaErrorInvalidValue, cudaFree(host));
    GIVES(cudaErrorInvalidValue, cudaFreeHost(own));
    GIVES(cudaErrorInvalidValue, cudaFreeHost(d));
    GOOD(cudaFree(0));
    GOOD(cudaHostRegister(own, 4096, 0));
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own, 4096, 0));
    GOOD(cudaHostUnregister(own));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));

    GIVES(cudaErrorInvalidValue, cudaMemcpy(here, d, 16, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(d, here, 16, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(d, here, 16, (cudaMemcpyKind)9));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(d + size - 8, here, 16, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(0, here, 16, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy(d, here, 0, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemset(0, 0, 4));
    GIVES(cudaErrorInvalidValue, cudaMemset(d + size - 8, 0, 16));
    GIVES(cudaErrorInvalidValue, cudaMemcpy2D(d, 8, here, 16, 16, 1, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, here, 16, 60));
    GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol((const void *)here, here, 4));
    cudaGetLastError();
    GOOD(cudaFree(d));
    GOOD(cudaFreeHost(host));
    free(own);
}

#define LAUNCH_GIVES(code, ...)                                                                              \
    do {                                                                                                     \
        __VA_ARGS__;                                                                                         \
        GIVES(code, cudaGetLastError());                                                                     \
    } while (0)

static void launches()
{
    int *d;
    GOOD(cudaMalloc(&d, 4096));
    LAUNCH_GIVES(cudaErrorInvalidValue, plain<<<1, 2048>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, plain<<<0, 32>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, plain<<<1, 0>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, plain<<<dim3(1, 70000), 32>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, plain<<<1, dim3(1, 1, 128)>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, bounded<<<1, 256>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, dynamic<<<1, 32, 50000>>>(d));
    LAUNCH_GIVES(cudaSuccess, dynamic<<<1, 32, 49152>>>(d));
    GOOD(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    LAUNCH_GIVES(cudaSuccess, dynamic<<<1, 32, 100000>>>(d));
    LAUNCH_GIVES(cudaErrorInvalidValue, dynamic<<<1, 32, 100001>>>(d));
    GIVES(cudaErrorInvalidValue,
          cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24));
    GIVES(cudaErrorInvalidResourceHandle, cudaLaunchKernel((const void *)malloc, dim3(1), dim3(1), 0, 0, 0));
    GOOD(cudaDeviceSynchronize());
    GOOD(cudaFree(d));
}

static void others()
{
    cudaEvent_t from, to;
    cudaStream_t stream;
    float ms;
    int device;
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(1000));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(-1));
    GOOD(cudaGetDevice(&device));
    CHECK(device == 0);
    GOOD(cudaEventCreate(&from));
    GOOD(cudaEventCreate(&to));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, from, to));
    GOOD(cudaEventQuery(to));
    GIVES(cudaErrorInvalidResourceHandle, cudaEventRecord(0));
    GIVES(cudaErrorInvalidResourceHandle, cudaStreamDestroy(0));
    GIVES(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 8));
    GIVES(cudaErrorInvalidValue, cudaDeviceSetLimit((cudaLimit)99, 1));
    CHECK(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    CHECK(!strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"));
    CHECK(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
    cudaGetLastError();
}

/* A fault stays: every later call for the device gives it, but cudaGetLastError tells it once. */
static void fault()
{
    int *d, count;
    plain<<<1, 1>>>(0);
    GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    GIVES(cudaErrorIllegalAddress, cudaPeekAtLastError());
    GIVES(cudaErrorIllegalAddress, cudaGetLastError());
    GOOD(cudaGetLastError());
    GIVES(cudaErrorIllegalAddress, cudaMalloc(&d, 4));
    GOOD(cudaGetDeviceCount(&count));
    LAUNCH_GIVES(cudaErrorIllegalAddress, plain<<<1, 1>>>(0));
}

int main()
{
    memory();
    launches();
    others();
    fault();
    return check_end("errors");
}
