/* Green contexts: parts of a device's SMs, and kernels that run in one. */
#include "check.h"
#include <cuda.h>

__global__ void fill(int *p, int value)
{
    p[blockIdx.x] = value;
}

int main()
{
    CUdevice device;
    CUcontext context, made;
    CUdevResource all, part[2], rest, again;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUstream stream;
    unsigned count = 2, possible = 0;
    int *p, host[64];
    GOOD(cudaSetDevice(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(all.sm.smCount == 132 && all.sm.minSmPartitionSize == 8 && all.sm.smCoscheduledAlignment == 8);
    GOOD(cuDevSmResourceSplitByCount(NULL, &possible, &all, NULL, 0, 10));
    CHECK(possible == 8);
    GOOD(cuDevSmResourceSplitByCount(part, &count, &all, &rest, 0, 10));
    CHECK(count == 2 && part[0].sm.smCount == 16 && part[1].sm.smCount == 16 && rest.sm.smCount == 100);
    GIVES(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, cuDevSmResourceSplitByCount(part, &count, &all, NULL, 0, 133));
    GOOD(cuDevResourceGenerateDesc(&description, part, 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGreenCtxCreate(&green, description, device, 0));
    GOOD(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
    GOOD(cuGreenCtxGetDevResource(green, &again, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(again.sm.smCount == 32);
    GOOD(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    GOOD(cudaMalloc(&p, sizeof host));
    fill<<<64, 1, 0, stream>>>(p, 7);
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 7 && host[63] == 7);
    GOOD(cuStreamDestroy(stream));
    GOOD(cuCtxGetCurrent(&context));
    GOOD(cuCtxFromGreenCtx(&made, green));
    GOOD(cuCtxSetCurrent(made));
    GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    GOOD(cuStreamDestroy(stream));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuGreenCtxDestroy(green));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGreenCtxDestroy(green));
    return check_end("green");
}
