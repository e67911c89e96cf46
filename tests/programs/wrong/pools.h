/* Memory in the order of streams. */
#pragma once
#include "kit.h"

static cudaMemPoolProps pool_properties(cudaMemLocationType type = cudaMemLocationTypeDevice, int id = 0)
{
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = type;
    properties.location.id = id;
    return properties;
}
static cudaMemPool_t new_pool()
{
    cudaMemPoolProps properties = pool_properties();
    cudaMemPool_t pool = 0;
    NEED(cudaMemPoolCreate(&pool, &properties));
    return pool;
}
USE(malloc_async_null)
{
    return cudaMallocAsync((void **)0, 16, 0);
}
USE(malloc_async_zero)
{
    void *p;
    return cudaMallocAsync(&p, 0, 0);
}
USE(malloc_async_too_much)
{
    void *p;
    return cudaMallocAsync(&p, (size_t)1 << 50, 0);
}
USE(malloc_async_bad_stream)
{
    void *p;
    return cudaMallocAsync(&p, 16, FAKE(cudaStream_t));
}
USE(free_async_null)
{
    return cudaFreeAsync(0, 0);
}
USE(free_async_host)
{
    return cudaFreeAsync(malloc(64), 0);
}
USE(free_async_malloc)
{
    return cudaFreeAsync(new_memory(), 0);
}
USE(free_async_twice)
{
    void *p;
    NEED(cudaMallocAsync(&p, 4096, 0));
    NEED(cudaFreeAsync(p, 0));
    return cudaFreeAsync(p, 0);
}
USE(free_async_inner)
{
    void *p;
    NEED(cudaMallocAsync(&p, 4096, 0));
    return cudaFreeAsync((char *)p + 512, 0);
}
USE(free_sync_of_async)
{
    void *p;
    NEED(cudaMallocAsync(&p, 4096, 0));
    return cudaFree(p);
}
USE(pool_create_null)
{
    cudaMemPoolProps properties = pool_properties();
    return cudaMemPoolCreate(0, &properties);
}
USE(pool_create_no_properties)
{
    cudaMemPool_t pool;
    return cudaMemPoolCreate(&pool, 0);
}
USE(pool_create_no_type)
{
    cudaMemPool_t pool;
    cudaMemPoolProps properties = pool_properties();
    properties.allocType = cudaMemAllocationTypeInvalid;
    return cudaMemPoolCreate(&pool, &properties);
}
USE(pool_create_beyond_last_device)
{
    cudaMemPool_t pool;
    cudaMemPoolProps properties = pool_properties(cudaMemLocationTypeDevice, 1000);
    return cudaMemPoolCreate(&pool, &properties);
}
USE(pool_create_no_location)
{
    cudaMemPool_t pool;
    cudaMemPoolProps properties = pool_properties(cudaMemLocationTypeInvalid);
    return cudaMemPoolCreate(&pool, &properties);
}
USE(pool_destroy_null)
{
    return cudaMemPoolDestroy(0);
}
USE(pool_destroy_default)
{
    cudaMemPool_t pool;
    NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
    return cudaMemPoolDestroy(pool);
}
USE(pool_default_beyond_last)
{
    cudaMemPool_t pool;
    return cudaDeviceGetDefaultMemPool(&pool, 1000);
}
USE(pool_default_null)
{
    return cudaDeviceGetDefaultMemPool(0, 0);
}
USE(pool_set_null)
{
    return cudaDeviceSetMemPool(0, 0);
}
USE(pool_set_beyond_last)
{
    return cudaDeviceSetMemPool(1000, new_pool());
}
USE(pool_attribute_unknown)
{
    uint64_t value = 0;
    return cudaMemPoolGetAttribute(new_pool(), (cudaMemPoolAttr)99, &value);
}
USE(pool_attribute_null)
{
    return cudaMemPoolGetAttribute(new_pool(), cudaMemPoolAttrReleaseThreshold, 0);
}
USE(pool_attribute_set_current)
{
    uint64_t value = 0;
    return cudaMemPoolSetAttribute(new_pool(), cudaMemPoolAttrUsedMemCurrent, &value);
}
USE(pool_attribute_set_high_not_zero)
{
    uint64_t value = 7;
    return cudaMemPoolSetAttribute(new_pool(), cudaMemPoolAttrUsedMemHigh, &value);
}
USE(pool_trim_null)
{
    return cudaMemPoolTrimTo(0, 0);
}
USE(pool_access_own_none)
{
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.flags = cudaMemAccessFlagsProtNone;
    return cudaMemPoolSetAccess(new_pool(), &access, 1);
}
USE(pool_access_beyond_last)
{
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = 1000;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    return cudaMemPoolSetAccess(new_pool(), &access, 1);
}
USE(pool_access_null)
{
    return cudaMemPoolSetAccess(new_pool(), 0, 1);
}
USE(pool_export_not_shared)
{
    int handle;
    return cudaMemPoolExportToShareableHandle(&handle, new_pool(), cudaMemHandleTypePosixFileDescriptor, 0);
}
USE(pool_export_pointer_of_malloc)
{
    cudaMemPoolPtrExportData data;
    return cudaMemPoolExportPointer(&data, new_memory());
}
USE(malloc_from_pool_null)
{
    return cudaMallocFromPoolAsync((void **)0, 16, new_pool(), 0);
}
USE(malloc_from_no_pool)
{
    void *p;
    return cudaMallocFromPoolAsync(&p, 16, 0, 0);
}
USE(malloc_from_pool_zero)
{
    void *p;
    return cudaMallocFromPoolAsync(&p, 0, new_pool(), 0);
}
