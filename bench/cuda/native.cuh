/* workload.h over the CUDA runtime, for a program that runs a workload on a real GPU. A .cu includes this
 * page and its host side, and ends in WORKLOAD_MAIN. All of it is host code: none of it reaches the PTX. */
#ifndef BENCH_CUDA_NATIVE_CUH
#define BENCH_CUDA_NATIVE_CUH

#include <cuda.h>
#include <cuda_runtime.h>
#include <time.h>
#include "native.h"

struct native_kernel {
    const char *name;
    const void *function;
};

enum { NATIVE_GPUS = 64 };
static cudaEvent_t native_events[NATIVE_GPUS][2]; /* of each GPU: before and after the last launch */
static int native_gpu;                            /* the selected one */
static double native_span_from; /* by the host's clock: when all GPUs had last done all */

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
    cudaEvent_t *events = native_events[native_gpu];
    for (int i = 0; i < 2 && !events[i]; i++)
        native_check(gpu, cudaEventCreate(&events[i]), "event");
    if (row->name && shared_bytes > 48 << 10)
        native_check(gpu, cudaFuncSetAttribute(row->function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes), kernel);
    cudaEventRecord(events[0], 0);
    native_check(gpu,
                 row->name ? cudaLaunchKernel(row->function, dim3(grid.x, grid.y, grid.z),
                                              dim3(block.x, block.y, block.z), arguments, shared_bytes, 0)
                           : cudaErrorInvalidDeviceFunction,
                 kernel);
    cudaEventRecord(events[1], 0);
}

#if CUDART_VERSION >= 12050
void dev_tensor(struct dev *gpu, struct dev_tensor *map, bool brain, void *device, uint64_t inner, uint64_t outer,
                uint32_t box_inner, uint32_t box_outer)
{
    decltype(&cuTensorMapEncodeTiled) encode = 0;
    cudaDriverEntryPointQueryResult found;
    const cuuint64_t dims[] = {inner, outer}, strides[] = {inner * 2};
    const cuuint32_t box[] = {box_inner, box_outer}, steps[] = {1, 1};
    if (gpu->status == NATIVE_FAILED ||
        !native_check(gpu, cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found), "tensor map"))
        return;
    if (!encode || encode((CUtensorMap *)map, brain ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                          device, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        native_check(gpu, cudaErrorInvalidValue, "tensor map");
}
#endif

double dev_seconds(struct dev *gpu)
{
    float milliseconds = 0;
    cudaEvent_t *events = native_events[native_gpu];
    if (gpu->status != NATIVE_FAILED && gpu->launches)
        native_check(gpu, cudaEventSynchronize(events[1]), "event");
    if (gpu->status != NATIVE_FAILED && gpu->launches)
        native_check(gpu, cudaEventElapsedTime(&milliseconds, events[0], events[1]), "event");
    return milliseconds * 1e-3;
}

static double native_now(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

unsigned dev_count(struct dev *gpu)
{
    int count = 1;
    if (gpu->status != NATIVE_FAILED)
        native_check(gpu, cudaGetDeviceCount(&count), "devices");
    return count < NATIVE_GPUS ? (unsigned)count : NATIVE_GPUS;
}

/* Peers that cannot be accessed show when a kernel tries to. */
void dev_select(struct dev *gpu, unsigned index)
{
    native_gpu = (int)index;
    if (gpu->status == NATIVE_FAILED || !native_check(gpu, cudaSetDevice(native_gpu), "select"))
        return;
    for (unsigned peer = 0; peer < dev_count(gpu); peer++)
        if (peer != index)
            cudaDeviceEnablePeerAccess((int)peer, 0);
    cudaGetLastError(); /* access that was enabled before is an error */
}

void dev_wait(struct dev *gpu)
{
    int selected = native_gpu;
    for (unsigned i = 0; i < dev_count(gpu) && gpu->status != NATIVE_FAILED; i++) {
        native_check(gpu, cudaSetDevice((int)i), "select");
        native_check(gpu, cudaDeviceSynchronize(), "wait");
    }
    cudaSetDevice(selected);
    native_span_from = native_now();
}

/* By the host's clock, since the last dev_wait. */
double dev_span(struct dev *gpu, unsigned launches)
{
    double from = native_span_from;
    (void)launches;
    dev_wait(gpu);
    return native_span_from - from;
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
