/* Faults of kernels: each loses the context. */
#pragma once
#include "kit.h"
#include "copies.h"
#include "launches.h"

__global__ void store_misaligned(char *p)
{
    *(volatile int *)(p + 1) = 1;
}
__global__ void trap()
{
    asm volatile("trap;");
}
__global__ void break_point()
{
    asm volatile("brkpt;");
}
__global__ void store_shared_out_of_bounds(int index)
{
    extern __shared__ int s[];
    ((volatile int *)s)[index] = 1;
}
__global__ void store_misaligned_shared(int index)
{
    extern __shared__ int s[];
    *(volatile int *)((char *)s + index) = 1;
}
__global__ void load(volatile int *p)
{
    (void)*p;
}
__global__ void add_atomically(int *p)
{
    atomicAdd(p, 1);
}
__global__ void assert_false()
{
    assert(false);
}
static volatile int *volatile nowhere = (int *)0x10;

USE(fault_store_null)
{
    store<<<1, 1>>>(0);
    return cudaDeviceSynchronize();
}
USE(fault_store_nowhere)
{
    store<<<1, 1>>>((int *)nowhere);
    return cudaDeviceSynchronize();
}
USE(fault_load_null)
{
    load<<<1, 1>>>(0);
    return cudaDeviceSynchronize();
}
USE(fault_atomic_null)
{
    add_atomically<<<1, 1>>>(0);
    return cudaDeviceSynchronize();
}
USE(fault_store_freed)
{
    char *p = new_memory(64 << 20);
    NEED(cudaFree(p));
    store<<<1, 1>>>((int *)p);
    return cudaDeviceSynchronize();
}
USE(fault_misaligned)
{
    store_misaligned<<<1, 1>>>(new_memory());
    return cudaDeviceSynchronize();
}
USE(fault_trap)
{
    trap<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
USE(fault_break_point)
{
    break_point<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
USE(fault_assert)
{
    assert_false<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
USE(fault_shared_out_of_bounds)
{
    store_shared_out_of_bounds<<<1, 1, 64>>>(1 << 20);
    return cudaDeviceSynchronize();
}
USE(fault_shared_misaligned)
{
    store_misaligned_shared<<<1, 1, 64>>>(1);
    return cudaDeviceSynchronize();
}
USE(fault_then_malloc)
{
    void *p;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaMalloc(&p, 16);
}
USE(fault_then_launch)
{
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    cudaGetLastError();
    nothing<<<1, 1>>>();
    return launched();
}
USE(fault_then_last_error_twice)
{
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    cudaGetLastError();
    return cudaGetLastError();
}
USE(fault_then_event_query)
{
    cudaEvent_t event = new_event();
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaEventQuery(event);
}
USE(fault_then_stream_create)
{
    cudaStream_t stream;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaStreamCreate(&stream);
}
USE(fault_then_stream_destroy)
{
    cudaStream_t stream = new_stream();
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaStreamDestroy(stream);
}
USE(fault_then_event_destroy)
{
    cudaEvent_t event = new_event();
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaEventDestroy(event);
}
USE(fault_then_free)
{
    char *p = new_memory();
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaFree(p);
}
USE(fault_then_free_host)
{
    char *p = new_pinned();
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaFreeHost(p);
}
USE(fault_then_device_count)
{
    int count;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaGetDeviceCount(&count);
}
USE(fault_then_get_device)
{
    int device;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaGetDevice(&device);
}
USE(fault_then_set_device)
{
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaSetDevice(0);
}
USE(fault_then_properties)
{
    cudaDeviceProp properties;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaGetDeviceProperties(&properties, 0);
}
USE(fault_then_attribute)
{
    int value;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
}
USE(fault_then_memory_info)
{
    size_t a, b;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaMemGetInfo(&a, &b);
}
USE(fault_then_graph_create)
{
    cudaGraph_t graph;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaGraphCreate(&graph, 0);
}
USE(fault_then_driver_version)
{
    int version;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaDriverGetVersion(&version);
}
USE(fault_then_bad_argument)
{
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaMalloc((void **)0, 16);
}
USE(fault_then_can_access_peer)
{
    int can;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaDeviceCanAccessPeer(&can, 0, 0);
}
USE(fault_then_function_attributes)
{
    cudaFuncAttributes attributes;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaFuncGetAttributes(&attributes, (const void *)nothing);
}
USE(fault_then_pointer_attributes)
{
    cudaPointerAttributes attributes;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaPointerGetAttributes(&attributes, on_host);
}
USE(fault_then_driver_malloc)
{
    CUdeviceptr p;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cuMemAlloc(&p, 16);
}
USE(fault_then_driver_context)
{
    CUcontext context;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cuCtxGetCurrent(&context);
}
USE(fault_then_driver_get_device)
{
    CUdevice device;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cuCtxGetDevice(&device);
}
FRESH(fault_then_reset)
{
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    return cudaDeviceReset();
}
FRESH(fault_then_reset_then_malloc)
{
    void *p;
    store<<<1, 1>>>(0);
    (void)cudaDeviceSynchronize();
    (void)cudaDeviceReset();
    return cudaMalloc(&p, 16);
}
FRESH(reset_then_old_memory)
{
    char *p = new_memory();
    NEED(cudaDeviceReset());
    return cudaFree(p);
}
FRESH(reset_then_old_stream)
{
    cudaStream_t stream = new_stream();
    NEED(cudaDeviceReset());
    NEED(cudaFree(0));
    return cudaStreamQuery(stream);
}
