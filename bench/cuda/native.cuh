/* workload.h over the CUDA runtime, for a program that runs a workload on a real GPU. A .cu includes this
 * page and its host side, and ends in WORKLOAD_MAIN. All of it is host code: none of it reaches the PTX. */
#ifndef BENCH_CUDA_NATIVE_CUH
#define BENCH_CUDA_NATIVE_CUH

#include <cuda_runtime.h>
#include "native.h"

struct native_kernel {
    const char *name;
    const void *function;
};

static cudaEvent_t native_events[2]; /* before and after the last launch */

static bool native_check(struct dev *gpu, cudaError_t error, const char *doing)
{
    if (error == cudaSuccess)
        return true;
    fprintf(stderr, "%s: %s: %s\n", gpu->workload->name, doing, cudaGetErrorString(error));
    gpu->status = NATIVE_FAILED;
    return false;
}

static void native_free(void *device)
{
    cudaFree(device);
}

void *dev_alloc(struct dev *gpu, size_t bytes)
{
    void *device = 0;
    if (gpu->status == NATIVE_FAILED || !native_check(gpu, cudaMalloc(&device, bytes ? bytes : 1), "alloc"))
        return 0;
    native_keep(gpu, device, native_free);
    return device;
}

void dev_upload(struct dev *gpu, void *device, const void *host, size_t bytes)
{
    if (gpu->status != NATIVE_FAILED)
        native_check(gpu, cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "upload");
}

void dev_download(struct dev *gpu, void *host, const void *device, size_t bytes)
{
    if (gpu->status != NATIVE_FAILED)
        native_check(gpu, cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "download");
}

void dev_fill(struct dev *gpu, void *device, int byte, size_t bytes)
{
    if (gpu->status != NATIVE_FAILED)
        native_check(gpu, cudaMemset(device, byte, bytes), "fill");
}

void dev_launch(struct dev *gpu, const char *kernel, struct dev_dim grid, struct dev_dim block,
                size_t shared_bytes, void **arguments, const size_t *argument_bytes)
{
    const struct native_kernel *row = (const struct native_kernel *)gpu->backend; /* ends without a name */
    (void)argument_bytes; /* the runtime knows them */
    if (gpu->status == NATIVE_FAILED)
        return;
    while (row->name && strcmp(row->name, kernel) != 0)
        row++;
    gpu->launches++;
    for (int i = 0; i < 2 && !native_events[i]; i++)
        native_check(gpu, cudaEventCreate(&native_events[i]), "event");
    cudaEventRecord(native_events[0], 0);
    native_check(gpu,
                 row->name ? cudaLaunchKernel(row->function, dim3(grid.x, grid.y, grid.z),
                                              dim3(block.x, block.y, block.z), arguments, shared_bytes, 0)
                           : cudaErrorInvalidDeviceFunction,
                 kernel);
    cudaEventRecord(native_events[1], 0);
}

double dev_seconds(struct dev *gpu)
{
    float milliseconds = 0;
    if (gpu->status != NATIVE_FAILED && gpu->launches)
        native_check(gpu, cudaEventSynchronize(native_events[1]), "event");
    if (gpu->status != NATIVE_FAILED && gpu->launches)
        native_check(gpu, cudaEventElapsedTime(&milliseconds, native_events[0], native_events[1]), "event");
    return milliseconds * 1e-3;
}

unsigned dev_lanes(struct dev *gpu)
{
    (void)gpu;
    return 32; /* the kernels are written for as many */
}

/* WORKLOAD_MAIN(name, KERNEL(a) KERNEL(b)): the program, with every kernel that the host side may launch. */
#define KERNEL(function) {#function, (const void *)function},
#define WORKLOAD_MAIN(name, kernels)                                                                         \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        static const struct native_kernel table[] = {kernels{0, 0}};                                         \
        return native_main(&name##_workload, table, argc, argv);                                             \
    }

#endif
