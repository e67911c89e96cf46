/* The driver API beside the runtime API: one state. Needs -lcuda. */
#include <cuda.h>
#include <string.h>
#include "check.h"

__device__ int counter = 3;

__global__ void bump(int *p)
{
    p[threadIdx.x] += counter;
}

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".global .u32 offset = 5;\n"
                          ".visible .entry raise(.param .u64 p, .param .u32 by)\n{\n"
                          ".reg .u64 %a; .reg .u32 %x, %y, %o; .reg .u64 %w;\n"
                          "ld.param.u64 %a, [p]; ld.param.u32 %y, [by]; cvta.to.global.u64 %a, %a;\n"
                          "mov.u32 %x, %tid.x; mul.wide.u32 %w, %x, 4; add.u64 %a, %a, %w;\n"
                          "ld.global.u32 %x, [%a]; add.u32 %x, %x, %y; ld.global.u32 %o, [offset];\n"
                          "add.u32 %x, %x, %o; st.global.u32 [%a], %x; ret;\n}\n";

static void of_runtime()
{
    CUcontext context, primary;
    CUfunction function;
    CUdevice device;
    int *d, h[4] = {1, 2, 3, 4}, value;
    GOOD(cudaMalloc(&d, sizeof h));
    GOOD(cuCtxGetCurrent(&context));
    GOOD(cuDevicePrimaryCtxRetain(&primary, 0));
    CHECK(context && context == primary);
    GOOD(cuCtxGetDevice(&device));
    CHECK(device == 0);
    GOOD(cuMemcpyHtoD((CUdeviceptr)d, h, sizeof h));
    GOOD(cudaGetFuncBySymbol(&function, (const void *)bump));
    void *arguments[] = {&d};
    GOOD(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, 0, arguments, 0));
    GOOD(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 4 && h[3] == 7);
    GOOD(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)d));
    CHECK(value == CU_MEMORYTYPE_DEVICE);
    GOOD(cuMemFree((CUdeviceptr)d));
    GIVES(cudaErrorInvalidValue, cudaFree(d));
    cudaGetLastError();
    GOOD(cuDevicePrimaryCtxRelease(0));
}

static void launch_both_ways(CUfunction raise)
{
    CUdeviceptr d;
    unsigned h[4] = {1, 2, 3, 4}, by = 10;
    GOOD(cuMemAlloc(&d, sizeof h));
    GOOD(cuMemsetD32(d, 7, 4));
    void *arguments[] = {&d, &by};
    GOOD(cuLaunchKernel(raise, 1, 1, 1, 4, 1, 1, 0, 0, arguments, 0));
    struct {
        CUdeviceptr p;
        unsigned by;
    } packed = {d, 100};
    size_t bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    GOOD(cuLaunchKernel(raise, 1, 1, 1, 4, 1, 1, 0, 0, 0, extra));
    GOOD(cuCtxSynchronize());
    GOOD(cuMemcpyDtoH(h, d, sizeof h));
    CHECK(h[0] == 127 && h[3] == 127);
    GOOD(cuMemFree(d));
}

static void modules()
{
    CUmodule module;
    CUfunction raise;
    CUdeviceptr offset;
    CUlinkState link;
    void *image, *entry = 0;
    size_t bytes;
    int threads;
    const char *name;
    GOOD(cuModuleLoadData(&module, ptx));
    GOOD(cuModuleGetFunction(&raise, module, "raise"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&raise, module, "lower"));
    GOOD(cuModuleGetFunction(&raise, module, "raise"));
    launch_both_ways(raise);
    GOOD(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
    CHECK(bytes == 4);
    GOOD(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, raise));
    CHECK(threads == 1024);
    GOOD(cuModuleUnload(module));
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".version 7.0\n.target sm_75\nnonsense\n"));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent.ptx"));

    GOOD(cuLinkCreate(0, 0, 0, &link));
    GOOD(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "raise", 0, 0, 0));
    GOOD(cuLinkComplete(link, &image, &bytes));
    GOOD(cuModuleLoadData(&module, image));
    GOOD(cuLinkDestroy(link));
    GOOD(cuModuleGetFunction(&raise, module, "raise"));
    launch_both_ways(raise);
    GOOD(cuModuleUnload(module));

    GOOD(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &name));
    CHECK(!strcmp(name, "CUDA_ERROR_INVALID_PTX"));
    GOOD(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 13000, cudaEnableDefault, NULL));
    CHECK(entry != NULL);
    CUdeviceptr d = 0;
    GOOD(((CUresult(*)(CUdeviceptr *, size_t))entry)(&d, 64));
    GOOD(cudaFree((void *)d));
}

int main()
{
    CUcontext context, popped;
    int count;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    GOOD(cuInit(0));
    GOOD(cuDeviceGetCount(&count));
    CHECK(count >= 1);
    CUdeviceptr d;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&d, 4));
    of_runtime();
    modules();
    GOOD(cuCtxCreate(&context, NULL, 0, 0));
    GOOD(cuMemAlloc(&d, 4));
    GOOD(cuMemFree(d));
    GOOD(cuCtxPopCurrent(&popped));
    CHECK(popped == context);
    GOOD(cuCtxDestroy(context));
    return check_end("driver");
}
