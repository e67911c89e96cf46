/* The driver API: memory. */
#pragma once
#include "kit.h"
#include "copies.h"
#include "driver.h"

USE(driver_malloc_null)
{
    return cuMemAlloc(0, 16);
}
USE(driver_malloc_zero)
{
    return cuMemAlloc(&some_address, 0);
}
USE(driver_malloc_too_much)
{
    return cuMemAlloc(&some_address, (size_t)1 << 50);
}
USE(driver_free_zero)
{
    return cuMemFree(0);
}
USE(driver_free_inner)
{
    NEED(cuMemAlloc(&some_address, 4096));
    return cuMemFree(some_address + 256);
}
USE(driver_free_number)
{
    return cuMemFree(12345);
}
USE(driver_free_twice)
{
    NEED(cuMemAlloc(&some_address, 4096));
    NEED(cuMemFree(some_address));
    return cuMemFree(some_address);
}
USE(driver_pitch_element_3)
{
    size_t pitch;
    return cuMemAllocPitch(&some_address, &pitch, 64, 4, 3);
}
USE(driver_pitch_zero_width)
{
    size_t pitch;
    return cuMemAllocPitch(&some_address, &pitch, 0, 4, 4);
}
USE(driver_host_alloc_zero)
{
    void *p;
    return cuMemHostAlloc(&p, 0, 0);
}
USE(driver_host_alloc_unknown_flags)
{
    void *p;
    return cuMemHostAlloc(&p, 64, 0x100);
}
USE(driver_managed_zero)
{
    return cuMemAllocManaged(&some_address, 0, CU_MEM_ATTACH_GLOBAL);
}
USE(driver_managed_no_flags)
{
    return cuMemAllocManaged(&some_address, 4096, 0);
}
USE(driver_address_range_of_number)
{
    size_t size;
    return cuMemGetAddressRange(&some_address, &size, 12345);
}
USE(driver_address_range_nothing_asked)
{
    return cuMemGetAddressRange(0, 0, (CUdeviceptr)new_memory());
}
USE(driver_pointer_attribute_unknown)
{
    uint64_t value[8];
    return cuPointerGetAttribute(value, (CUpointer_attribute)99, (CUdeviceptr)new_memory());
}
USE(driver_pointer_attribute_of_host)
{
    uint64_t value;
    return cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)on_host);
}
USE(driver_pointer_attribute_null)
{
    return cuPointerGetAttribute(0, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)new_memory());
}
USE(driver_pointer_set_read_only)
{
    int value = 1;
    return cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)new_memory());
}
USE(driver_copy_to_zero)
{
    return cuMemcpyHtoD(0, on_host, 16);
}
USE(driver_copy_from_null)
{
    return cuMemcpyHtoD((CUdeviceptr)new_memory(), 0, 16);
}
USE(driver_copy_past_end)
{
    return cuMemcpyHtoD((CUdeviceptr)new_memory(1 << 21), on_host, 1 << 22);
}
USE(driver_copy_zero_to_zero)
{
    return cuMemcpyHtoD(0, on_host, 0);
}
USE(driver_copy_2d_null)
{
    return cuMemcpy2D(0);
}
USE(driver_copy_2d_unknown_type)
{
    CUDA_MEMCPY2D what = {};
    what.srcMemoryType = (CUmemorytype)9;
    what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    what.dstDevice = (CUdeviceptr)new_memory();
    what.WidthInBytes = what.Height = 1;
    return cuMemcpy2D(&what);
}
USE(driver_fill_zero_address)
{
    return cuMemsetD32(0, 1, 4);
}
USE(driver_fill_unaligned)
{
    return cuMemsetD32((CUdeviceptr)new_memory() + 1, 1, 4);
}
USE(driver_fill_16_unaligned)
{
    return cuMemsetD16((CUdeviceptr)new_memory() + 1, 1, 4);
}
USE(driver_fill_2d_pitch_too_small)
{
    return cuMemsetD2D32((CUdeviceptr)new_memory(), 8, 1, 4, 2);
}
