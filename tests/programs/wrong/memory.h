/* Allocations: of the device, of the host, managed; facts about pointers; memory of other processes. */
#pragma once
#include "kit.h"

USE(malloc_null)
{
    return cudaMalloc((void **)0, 16);
}
USE(malloc_zero)
{
    void *p;
    return cudaMalloc(&p, 0);
}
USE(malloc_too_much)
{
    void *p;
    return cudaMalloc(&p, (size_t)1 << 50);
}
USE(malloc_all_addresses)
{
    void *p;
    return cudaMalloc(&p, ~(size_t)0);
}
USE(free_host)
{
    return cudaFree(malloc(4096));
}
USE(free_inner)
{
    return cudaFree(new_memory() + 256);
}
USE(free_twice)
{
    char *p = new_memory();
    NEED(cudaFree(p));
    return cudaFree(p);
}
USE(free_pinned)
{
    return cudaFree(new_pinned());
}
USE(free_null)
{
    return cudaFree(0);
}
USE(free_number)
{
    return cudaFree((void *)12345);
}
USE(free_symbol)
{
    void *p;
    NEED(cudaGetSymbolAddress(&p, device_table));
    return cudaFree(p);
}
USE(free_array_null)
{
    return cudaFreeArray(0);
}
USE(malloc_host_null)
{
    return cudaMallocHost((void **)0, 16);
}
USE(malloc_host_zero)
{
    void *p;
    return cudaMallocHost(&p, 0);
}
USE(malloc_host_too_much)
{
    void *p;
    return cudaMallocHost(&p, (size_t)1 << 50);
}
USE(host_alloc_unknown_flags)
{
    void *p;
    return cudaHostAlloc(&p, 4096, 0x100);
}
USE(host_alloc_null)
{
    return cudaHostAlloc((void **)0, 4096, 0);
}
USE(free_host_null)
{
    return cudaFreeHost(0);
}
USE(free_host_not_pinned)
{
    return cudaFreeHost(malloc(4096));
}
USE(free_host_device)
{
    return cudaFreeHost(new_memory());
}
USE(free_host_inner)
{
    return cudaFreeHost(new_pinned() + 16);
}
USE(free_host_twice)
{
    char *p = new_pinned();
    NEED(cudaFreeHost(p));
    return cudaFreeHost(p);
}
USE(free_host_registered)
{
    void *p = aligned_alloc(4096, 4096);
    NEED(cudaHostRegister(p, 4096, 0));
    return cudaFreeHost(p);
}
USE(register_null)
{
    return cudaHostRegister(0, 4096, 0);
}
USE(register_zero)
{
    return cudaHostRegister(aligned_alloc(4096, 4096), 0, 0);
}
USE(register_unknown_flags)
{
    return cudaHostRegister(aligned_alloc(4096, 4096), 4096, 0x100);
}
USE(register_twice)
{
    void *p = aligned_alloc(4096, 4096);
    NEED(cudaHostRegister(p, 4096, 0));
    return cudaHostRegister(p, 4096, 0);
}
USE(register_overlap)
{
    char *p = (char *)aligned_alloc(4096, 4 * 4096);
    NEED(cudaHostRegister(p, 2 * 4096, 0));
    return cudaHostRegister(p + 4096, 2 * 4096, 0);
}
USE(register_pinned)
{
    return cudaHostRegister(new_pinned(), 4096, 0);
}
USE(register_device)
{
    return cudaHostRegister(new_memory(), 4096, 0);
}
USE(unregister_null)
{
    return cudaHostUnregister(0);
}
USE(unregister_not_registered)
{
    return cudaHostUnregister(aligned_alloc(4096, 4096));
}
USE(unregister_pinned)
{
    return cudaHostUnregister(new_pinned());
}
USE(unregister_inner)
{
    char *p = (char *)aligned_alloc(4096, 8192);
    NEED(cudaHostRegister(p, 8192, 0));
    return cudaHostUnregister(p + 4096);
}
USE(device_pointer_null)
{
    return cudaHostGetDevicePointer((void **)0, new_pinned(), 0);
}
USE(device_pointer_not_pinned)
{
    void *p;
    return cudaHostGetDevicePointer(&p, malloc(64), 0);
}
USE(device_pointer_flags)
{
    void *p;
    return cudaHostGetDevicePointer(&p, new_pinned(), 1);
}
USE(device_pointer_of_device)
{
    void *p;
    return cudaHostGetDevicePointer(&p, new_memory(), 0);
}
USE(host_flags_null)
{
    return cudaHostGetFlags(0, new_pinned());
}
USE(host_flags_not_pinned)
{
    unsigned flags;
    return cudaHostGetFlags(&flags, malloc(64));
}
USE(host_flags_device)
{
    unsigned flags;
    return cudaHostGetFlags(&flags, new_memory());
}
USE(managed_null)
{
    return cudaMallocManaged((void **)0, 16);
}
USE(managed_zero)
{
    void *p;
    return cudaMallocManaged(&p, 0);
}
USE(managed_unknown_flags)
{
    void *p;
    return cudaMallocManaged(&p, 4096, 0x40);
}
USE(managed_single)
{
    void *p;
    return cudaMallocManaged(&p, 4096, cudaMemAttachSingle);
}
USE(managed_two_flags)
{
    void *p;
    return cudaMallocManaged(&p, 4096, cudaMemAttachHost | cudaMemAttachGlobal);
}
USE(managed_too_much)
{
    void *p;
    return cudaMallocManaged(&p, (size_t)1 << 55);
}
USE(pitch_null)
{
    size_t pitch;
    return cudaMallocPitch((void **)0, &pitch, 16, 16);
}
USE(pitch_no_pitch)
{
    void *p;
    return cudaMallocPitch(&p, 0, 16, 16);
}
USE(pitch_zero_width)
{
    void *p;
    size_t pitch;
    return cudaMallocPitch(&p, &pitch, 0, 16);
}
USE(pitch_zero_height)
{
    void *p;
    size_t pitch;
    return cudaMallocPitch(&p, &pitch, 16, 0);
}
USE(pitch_too_much)
{
    void *p;
    size_t pitch;
    return cudaMallocPitch(&p, &pitch, (size_t)1 << 40, (size_t)1 << 20);
}
USE(malloc_3d_zero)
{
    cudaPitchedPtr p;
    return cudaMalloc3D(&p, make_cudaExtent(0, 1, 1));
}
USE(malloc_3d_null)
{
    return cudaMalloc3D(0, make_cudaExtent(1, 1, 1));
}
USE(memory_info_null)
{
    return cudaMemGetInfo(0, 0);
}
USE(pointer_attributes_null)
{
    return cudaPointerGetAttributes(0, new_memory());
}
USE(pointer_attributes_of_null)
{
    cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, 0);
}
USE(pointer_attributes_of_host)
{
    cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, malloc(64));
}
static cudaMemLocation location(cudaMemLocationType type, int id)
{
    cudaMemLocation place = {};
    place.type = type;
    place.id = id;
    return place;
}
USE(advise_not_managed)
{
    return cudaMemAdvise(new_memory(), 4096, cudaMemAdviseSetReadMostly,
                         location(cudaMemLocationTypeDevice, 0));
}
USE(advise_unknown)
{
    return cudaMemAdvise(new_managed(), 4096, (cudaMemoryAdvise)77, location(cudaMemLocationTypeDevice, 0));
}
USE(advise_zero)
{
    return cudaMemAdvise(new_managed(), 0, cudaMemAdviseSetReadMostly,
                         location(cudaMemLocationTypeDevice, 0));
}
USE(advise_null)
{
    return cudaMemAdvise(0, 4096, cudaMemAdviseSetReadMostly, location(cudaMemLocationTypeDevice, 0));
}
USE(advise_too_long)
{
    return cudaMemAdvise(new_managed(), (size_t)1 << 40, cudaMemAdviseSetReadMostly,
                         location(cudaMemLocationTypeDevice, 0));
}
USE(advise_beyond_last_device)
{
    return cudaMemAdvise(new_managed(), 4096, cudaMemAdviseSetPreferredLocation,
                         location(cudaMemLocationTypeDevice, 1000));
}
USE(advise_unknown_location)
{
    return cudaMemAdvise(new_managed(), 4096, cudaMemAdviseSetPreferredLocation,
                         location((cudaMemLocationType)77, 0));
}
USE(prefetch_not_managed)
{
    return cudaMemPrefetchAsync(new_memory(), 4096, location(cudaMemLocationTypeDevice, 0), 0, 0);
}
USE(prefetch_zero)
{
    return cudaMemPrefetchAsync(new_managed(), 0, location(cudaMemLocationTypeDevice, 0), 0, 0);
}
USE(prefetch_null)
{
    return cudaMemPrefetchAsync(0, 4096, location(cudaMemLocationTypeDevice, 0), 0, 0);
}
USE(prefetch_flags)
{
    return cudaMemPrefetchAsync(new_managed(), 4096, location(cudaMemLocationTypeDevice, 0), 1, 0);
}
USE(prefetch_beyond_last_device)
{
    return cudaMemPrefetchAsync(new_managed(), 4096, location(cudaMemLocationTypeDevice, 1000), 0, 0);
}
USE(prefetch_too_long)
{
    return cudaMemPrefetchAsync(new_managed(), (size_t)1 << 40, location(cudaMemLocationTypeDevice, 0), 0, 0);
}
USE(range_attribute_null)
{
    return cudaMemRangeGetAttribute(0, 4, cudaMemRangeAttributeReadMostly, new_managed(), 4096);
}
USE(range_attribute_wrong_size)
{
    char value[3];
    return cudaMemRangeGetAttribute(value, 3, cudaMemRangeAttributeReadMostly, new_managed(), 4096);
}
USE(range_attribute_unknown)
{
    int value;
    return cudaMemRangeGetAttribute(&value, 4, (cudaMemRangeAttribute)77, new_managed(), 4096);
}
USE(range_attribute_not_managed)
{
    int value;
    return cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, new_memory(), 4096);
}
USE(attach_not_managed)
{
    return cudaStreamAttachMemAsync(new_stream(), new_memory(), 0, cudaMemAttachSingle);
}
USE(attach_length)
{
    return cudaStreamAttachMemAsync(new_stream(), new_managed(), 100, cudaMemAttachSingle);
}
USE(attach_unknown_flags)
{
    return cudaStreamAttachMemAsync(new_stream(), new_managed(), 0, 0x80);
}
USE(attach_single_to_default)
{
    return cudaStreamAttachMemAsync(0, new_managed(), 0, cudaMemAttachSingle);
}
USE(symbol_address_null)
{
    return cudaGetSymbolAddress((void **)0, device_table);
}
USE(symbol_address_of_host)
{
    void *p;
    return cudaGetSymbolAddress(&p, (const void *)fake_object);
}
USE(symbol_address_of_kernel)
{
    void *p;
    return cudaGetSymbolAddress(&p, (const void *)store);
}
USE(symbol_size_of_host)
{
    size_t size;
    return cudaGetSymbolSize(&size, (const void *)fake_object);
}
USE(symbol_size_null)
{
    return cudaGetSymbolSize(0, device_table);
}
USE(ipc_memory_of_host)
{
    cudaIpcMemHandle_t handle;
    return cudaIpcGetMemHandle(&handle, malloc(4096));
}
USE(ipc_memory_null)
{
    return cudaIpcGetMemHandle(0, new_memory());
}
USE(ipc_memory_managed)
{
    cudaIpcMemHandle_t handle;
    return cudaIpcGetMemHandle(&handle, new_managed());
}
USE(ipc_memory_pinned)
{
    cudaIpcMemHandle_t handle;
    return cudaIpcGetMemHandle(&handle, new_pinned());
}
USE(ipc_memory_open_nonsense)
{
    cudaIpcMemHandle_t handle = {};
    void *p;
    return cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess);
}
USE(ipc_memory_open_own)
{
    cudaIpcMemHandle_t handle;
    void *p;
    NEED(cudaIpcGetMemHandle(&handle, new_memory(4 << 20)));
    return cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess);
}
USE(ipc_memory_open_no_flag)
{
    cudaIpcMemHandle_t handle;
    void *p;
    NEED(cudaIpcGetMemHandle(&handle, new_memory(4 << 20)));
    return cudaIpcOpenMemHandle(&p, handle, 0);
}
USE(ipc_memory_close_not_open)
{
    return cudaIpcCloseMemHandle(new_memory());
}
USE(ipc_memory_close_null)
{
    return cudaIpcCloseMemHandle(0);
}
USE(ipc_event_not_shared)
{
    cudaIpcEventHandle_t handle;
    return cudaIpcGetEventHandle(&handle, new_event());
}
USE(ipc_event_null)
{
    cudaIpcEventHandle_t handle;
    return cudaIpcGetEventHandle(&handle, 0);
}
USE(ipc_event_open_nonsense)
{
    cudaIpcEventHandle_t handle = {};
    cudaEvent_t event;
    return cudaIpcOpenEventHandle(&event, handle);
}
USE(ipc_event_open_own)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event;
    NEED(cudaIpcGetEventHandle(&handle, new_event(cudaEventInterprocess | cudaEventDisableTiming)));
    return cudaIpcOpenEventHandle(&event, handle);
}
