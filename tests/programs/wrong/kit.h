/* What the wrong uses share: how one is written, and what several need: kernels, variables, handles of
 * nothing. */
#ifndef TESTS_PROGRAMS_WRONG_KIT_H
#define TESTS_PROGRAMS_WRONG_KIT_H

#include <assert.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct use {
    const char *name;
    int (*run)();
    bool fresh; /* before this process has called CUDA */
    struct use *next;
};

/* In the order of the files. */
static struct use *first_use, **last_use = &first_use;

struct use_added {
    struct use use;
    use_added(const char *name, int (*run)(), bool fresh) : use{name, run, fresh, 0}
    {
        *last_use = &use;
        last_use = &use.next;
    }
};

/* USE(name) { ...; return code; }: after other uses in the same process. FRESH(name): in a process of its
 * own. */
#define USE_OF(name, fresh)                                                                                  \
    static int use_##name();                                                                                 \
    static use_added added_##name(#name, use_##name, fresh);                                                 \
    static int use_##name()
#define USE(name)   USE_OF(name, false)
#define FRESH(name) USE_OF(name, true)

/* What has to be right before the wrong call. */
#define NEED(call)                                                                                           \
    do {                                                                                                     \
        int need_code = (int)(call);                                                                         \
        if (need_code)                                                                                       \
            fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, need_code);                   \
    } while (0)

/* A handle that no call has given; what is there can be read. */
static uint64_t fake_object[512];
#define FAKE(type) ((type)(void *)fake_object)

__constant__ int constant_table[16];
__device__ int device_table[16];
__managed__ int managed_table[16];

__global__ void nothing()
{
}

__global__ void store(int *p)
{
    p[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(128) bounded(int *p)
{
    p[threadIdx.x] = 2;
}

__global__ void dynamic(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}

__global__ void wait_for(volatile int *flag)
{
    while (!*flag) {
    }
}

static void host_nothing(void *)
{
}

static void callback_nothing(cudaStream_t, cudaError_t, void *)
{
}

static inline char *new_memory(size_t bytes = 4096)
{
    void *p = 0;
    NEED(cudaMalloc(&p, bytes));
    return (char *)p;
}

static inline char *new_managed(size_t bytes = 4096)
{
    void *p = 0;
    NEED(cudaMallocManaged(&p, bytes));
    return (char *)p;
}

static inline char *new_pinned(size_t bytes = 4096)
{
    void *p = 0;
    NEED(cudaMallocHost(&p, bytes));
    return (char *)p;
}

static inline cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking)
{
    cudaStream_t stream = 0;
    NEED(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static inline cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming)
{
    cudaEvent_t event = 0;
    NEED(cudaEventCreateWithFlags(&event, flags));
    return event;
}

static inline cudaArray_t new_array(size_t width = 32, size_t height = 32, unsigned flags = 0)
{
    cudaArray_t array = 0;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    NEED(cudaMallocArray(&array, &format, width, height, flags));
    return array;
}

/* A stream that is busy for as long as this lives. */
struct busy_stream {
    volatile int *flag;
    cudaStream_t stream;
    explicit busy_stream(unsigned flags = cudaStreamNonBlocking)
    {
        flag = (volatile int *)new_pinned();
        *flag = 0;
        stream = new_stream(flags);
        wait_for<<<1, 1, 0, stream>>>(flag);
    }
    ~busy_stream()
    {
        *flag = 1;
        cudaStreamSynchronize(stream);
    }
};

static inline cudaKernelNodeParams kernel_node_of(void (*kernel)(int *), void **arguments)
{
    cudaKernelNodeParams what = {};
    what.func = (void *)kernel;
    what.gridDim = what.blockDim = dim3(1);
    what.kernelParams = arguments;
    return what;
}

#endif
