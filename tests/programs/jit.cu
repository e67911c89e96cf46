// Kernels made at run time: PTX of NVRTC runs, by itself and linked with cuLink; machine code of NVRTC and of nvJitLink is
// refused, as Heddle does not simulate it.
#include <cstring>
#include <vector>
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include "check.h"

static const char source[] = "extern \"C\" __global__ void twice(int *p) { p[threadIdx.x] *= 2; }\n";

static void compile(const char *arch, bool machine_code, std::vector<char> *out)
{
    nvrtcProgram program;
    size_t bytes;
    GOOD(nvrtcCreateProgram(&program, source, "twice.cu", 0, nullptr, nullptr));
    GOOD(nvrtcCompileProgram(program, 1, &arch));
    GOOD(machine_code ? nvrtcGetCUBINSize(program, &bytes) : nvrtcGetPTXSize(program, &bytes));
    out->resize(bytes);
    GOOD(machine_code ? nvrtcGetCUBIN(program, out->data()) : nvrtcGetPTX(program, out->data()));
    GOOD(nvrtcDestroyProgram(&program));
}

static bool runs(const void *image)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int values[32], good = 1;
    if (cuModuleLoadData(&module, image) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < 32; i++)
        values[i] = i;
    GOOD(cuModuleGetFunction(&function, module, "twice"));
    GOOD(cuMemAlloc(&memory, sizeof values));
    GOOD(cuMemcpyHtoD(memory, values, sizeof values));
    void *arguments[] = {&memory};
    GOOD(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    GOOD(cuMemcpyDtoH(values, memory, sizeof values));
    for (int i = 0; i < 32; i++)
        good &= values[i] == 2 * i;
    GOOD(cuMemFree(memory));
    GOOD(cuModuleUnload(module));
    return good;
}

int main(int count, char **)
{
    CUcontext context;
    CUdevice device;
    CUlinkState link;
    nvJitLinkHandle linker;
    std::vector<char> ptx, cubin, linked;
    void *image;
    size_t bytes;
    const char *options[] = {"-arch=sm_90"};
    bool machine_code_runs = count > 1; // on a GPU
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    compile("--gpu-architecture=compute_80", false, &ptx);
    CHECK(runs(ptx.data()));
    GOOD(cuLinkCreate(0, nullptr, nullptr, &link));
    GOOD(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), "twice", 0, nullptr, nullptr));
    GOOD(cuLinkComplete(link, &image, &bytes));
    CHECK(runs(image));
    GOOD(cuLinkDestroy(link));
    compile("--gpu-architecture=sm_90", true, &cubin);
    CHECK(runs(cubin.data()) == machine_code_runs);
    GOOD(nvJitLinkCreate(&linker, 1, options));
    GOOD(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, ptx.data(), ptx.size(), "twice"));
    GOOD(nvJitLinkComplete(linker));
    GOOD(nvJitLinkGetLinkedCubinSize(linker, &bytes));
    linked.resize(bytes);
    GOOD(nvJitLinkGetLinkedCubin(linker, linked.data()));
    GOOD(nvJitLinkDestroy(&linker));
    CHECK(runs(linked.data()) == machine_code_runs);
    return check_end("jit");
}
