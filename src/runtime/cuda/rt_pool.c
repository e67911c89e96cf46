/* Stream-ordered memory and the pools it comes from. */
#include "runtime/cuda/memory.h"
#include "driver/ipc.h"

enum { POSIX_FILE = 1 }; /* a type of handles: the one that there is */

API_PTSZ(cudaMallocAsync, (pointer, bytes, stream), void **pointer, size_t bytes, cudaStream_t stream)
{
    uint64_t address = 0;
    if (!pointer)
        return cudaErrorInvalidValue;
    cudaError_t error = memory_alloc_async(cuda_stream(stream), NULL, bytes, &address);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

API_PTSZ(cudaMallocFromPoolAsync, (pointer, bytes, pool, stream), void **pointer, size_t bytes,
         cudaMemPool_t pool, cudaStream_t stream)
{
    uint64_t address = 0;
    if (!pointer || !pool)
        return cudaErrorInvalidValue;
    cudaError_t error = memory_alloc_async(cuda_stream(stream), pool, bytes, &address);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

API_PTSZ(cudaFreeAsync, (pointer, stream), void *pointer, cudaStream_t stream)
{
    return memory_free_async(cuda_stream(stream), (uint64_t)(uintptr_t)pointer);
}

cudaError_t cuda_pool_new(struct memory_pool **pool, const struct cudaMemPoolProps *properties)
{
    struct device *device = properties && properties->location.type == LOCATION_DEVICE
                                ? cuda_device_at(properties->location.id)
                                : NULL;
    enum { PINNED = 1 };
    if (properties && properties->handleTypes & ~POSIX_FILE)
        return cudaErrorNotSupported;
    if (!pool || !device || properties->allocType != PINNED)
        return cudaErrorInvalidValue;
    cudaError_t error = memory_pool_new(device, properties->maxSize, pool);
    if (!error && properties->handleTypes)
        error = memory_pool_share(*pool);
    return error;
}

API(cudaMemPoolCreate, (pool, properties), cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    return cuda_pool_new(pool, properties);
}

/* ---- pools of several processes; codes of wrong uses are as CUDA's manual has them, not compared with a GPU
 * ---- */

API(cudaMemPoolExportToShareableHandle, (handle, pool, type, flags), void *handle, cudaMemPool_t pool,
    int type, unsigned flags)
{
    if (!handle || !pool || type != POSIX_FILE || flags)
        return cudaErrorInvalidValue;
    return memory_pool_export(pool, handle);
}

API(cudaMemPoolImportFromShareableHandle, (pool, handle, type, flags), cudaMemPool_t *pool, void *handle,
    int type, unsigned flags)
{
    if (!pool || type != POSIX_FILE || flags)
        return cudaErrorInvalidValue;
    return memory_pool_import(cuda_driver(), (int)(intptr_t)handle, pool);
}

API(cudaMemPoolExportPointer, (data, pointer), struct ipc_handle *data, void *pointer)
{
    return data && pointer ? memory_pool_export_pointer(cuda_driver(), (uint64_t)(uintptr_t)pointer, data)
                           : cudaErrorInvalidValue;
}

API(cudaMemPoolImportPointer, (pointer, pool, data), void **pointer, cudaMemPool_t pool,
    struct ipc_handle *data)
{
    uint64_t address = 0;
    if (!pointer || !pool || !data)
        return cudaErrorInvalidValue;
    cudaError_t error = memory_pool_import_pointer(pool, data, &address);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

CU(cuMemPoolExportToShareableHandle, (handle, pool, type, flags), void *handle, cudaMemPool_t pool, int type,
   unsigned long long flags)
{
    return cudaMemPoolExportToShareableHandle_body(handle, pool, type, (unsigned)flags);
}

CU(cuMemPoolImportFromShareableHandle, (pool, handle, type, flags), cudaMemPool_t *pool, void *handle,
   int type, unsigned long long flags)
{
    return cudaMemPoolImportFromShareableHandle_body(pool, handle, type, (unsigned)flags);
}

CU(cuMemPoolExportPointer, (data, pointer), struct ipc_handle *data, unsigned long long pointer)
{
    return cudaMemPoolExportPointer_body(data, (void *)(uintptr_t)pointer);
}

CU(cuMemPoolImportPointer, (pointer, pool, data), unsigned long long *pointer, cudaMemPool_t pool,
   struct ipc_handle *data)
{
    return cudaMemPoolImportPointer_body((void **)pointer, pool, data);
}

API(cudaMemPoolDestroy, (pool), cudaMemPool_t pool)
{
    return pool ? memory_pool_free(pool) : cudaErrorInvalidValue;
}

/* Memory that is freed goes back at once, so there is nothing to trim. */
API(cudaMemPoolTrimTo, (pool, bytes), cudaMemPool_t pool, size_t bytes)
{
    (void)bytes;
    return pool ? cudaSuccess : cudaErrorInvalidValue;
}

enum pool_attribute { /* CUDA's numbers */
                      POOL_REUSE_FIRST = 1,
                      POOL_REUSE_LAST = 3, /* when freed memory may be used again: at once, here */
                      POOL_THRESHOLD,
                      POOL_RESERVED,
                      POOL_RESERVED_HIGH,
                      POOL_USED,
                      POOL_USED_HIGH
};

cudaError_t cuda_pool_attribute(struct memory_pool *pool, int attribute, void *value)
{
    struct memory_pool_facts facts;
    if (!pool || !value || attribute < POOL_REUSE_FIRST || attribute > POOL_USED_HIGH)
        return cudaErrorInvalidValue;
    memory_pool_facts(pool, &facts);
    const uint64_t values[] = {[POOL_THRESHOLD] = facts.release_threshold,
                               [POOL_RESERVED] = facts.reserved,
                               [POOL_RESERVED_HIGH] = facts.reserved_high,
                               [POOL_USED] = facts.used,
                               [POOL_USED_HIGH] = facts.used_high};
    if (attribute <= POOL_REUSE_LAST)
        *(int *)value = 1;
    else
        *(uint64_t *)value = values[attribute];
    return cudaSuccess;
}

cudaError_t cuda_pool_set_attribute(struct memory_pool *pool, int attribute, const void *value)
{
    if (!pool || !value || attribute < POOL_REUSE_FIRST || attribute == POOL_RESERVED ||
        attribute == POOL_USED || attribute > POOL_USED_HIGH)
        return cudaErrorInvalidValue;
    bool high = attribute == POOL_RESERVED_HIGH || attribute == POOL_USED_HIGH;
    if (high && *(const uint64_t *)value) /* they can only begin anew */
        return cudaErrorInvalidValue;
    if (attribute == POOL_THRESHOLD)
        memory_pool_set_threshold(pool, *(const uint64_t *)value);
    else if (attribute > POOL_THRESHOLD)
        memory_pool_reset_high(pool);
    return cudaSuccess;
}

API(cudaMemPoolGetAttribute, (pool, attribute, value), cudaMemPool_t pool, int attribute, void *value)
{
    return cuda_pool_attribute(pool, attribute, value);
}

API(cudaMemPoolSetAttribute, (pool, attribute, value), cudaMemPool_t pool, int attribute, void *value)
{
    return cuda_pool_set_attribute(pool, attribute, value);
}

cudaError_t cuda_pool_set_access(struct memory_pool *pool, const struct cudaMemAccessDesc *accesses,
                                 size_t count)
{
    cudaError_t error = pool && accesses ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < count; i++) {
        struct cudaMemLocation location = accesses[i].location;
        error = cuda_location(location);
        if (!error && location.type == LOCATION_DEVICE && !accesses[i].flags &&
            cuda_device_at(location.id) == memory_pool_device(pool))
            error = cudaErrorInvalidDevice; /* its own */
        if (!error && location.type == LOCATION_DEVICE)
            error = memory_pool_set_access(pool, cuda_device_at(location.id), accesses[i].flags != 0);
    }
    return error;
}

API(cudaMemPoolSetAccess, (pool, accesses, count), cudaMemPool_t pool,
    const struct cudaMemAccessDesc *accesses, size_t count)
{
    return cuda_pool_set_access(pool, accesses, count);
}

API(cudaMemPoolGetAccess, (flags, pool, location), int *flags, cudaMemPool_t pool,
    const struct cudaMemLocation *location)
{
    enum { NONE = 0, READ_WRITE = 3 };
    if (!flags || !pool || !location)
        return cudaErrorInvalidValue;
    cudaError_t error = cuda_location(*location);
    bool has = !error && (location->type != LOCATION_DEVICE ||
                          memory_pool_has_access(pool, cuda_device_at(location->id)));
    *flags = has ? READ_WRITE : NONE;
    return error;
}

API(cudaDeviceGetDefaultMemPool, (pool, index), cudaMemPool_t *pool, int index)
{
    if (!pool || !cuda_device_at(index))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *pool = memory_pool_default(cuda_device_at(index));
    return cudaSuccess;
}

API(cudaDeviceGetMemPool, (pool, index), cudaMemPool_t *pool, int index)
{
    if (!pool || !cuda_device_at(index))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *pool = memory_pool_current(cuda_device_at(index));
    return cudaSuccess;
}

API(cudaDeviceSetMemPool, (index, pool), int index, cudaMemPool_t pool)
{
    if (!pool || !cuda_device_at(index))
        return cudaErrorInvalidValue;
    return memory_pool_set_current(cuda_device_at(index), pool);
}

/* The same by a location, which may only be a device here. */
static struct device *device_of(const struct cudaMemLocation *location)
{
    return location && location->type == LOCATION_DEVICE ? cuda_device_at(location->id) : NULL;
}

API(cudaMemGetDefaultMemPool, (pool, location, type), cudaMemPool_t *pool, struct cudaMemLocation *location,
    int type)
{
    (void)type;
    if (!pool || !device_of(location))
        return cudaErrorInvalidValue;
    *pool = memory_pool_default(device_of(location));
    return cudaSuccess;
}

API(cudaMemGetMemPool, (pool, location, type), cudaMemPool_t *pool, struct cudaMemLocation *location,
    int type)
{
    (void)type;
    if (!pool || !device_of(location))
        return cudaErrorInvalidValue;
    *pool = memory_pool_current(device_of(location));
    return cudaSuccess;
}

API(cudaMemSetMemPool, (location, type, pool), struct cudaMemLocation *location, int type, cudaMemPool_t pool)
{
    (void)type;
    return pool && device_of(location) ? memory_pool_set_current(device_of(location), pool)
                                       : cudaErrorInvalidValue;
}

/* ---- the driver API's names for the same ---- */

CU(cuMemPoolGetAccess, (flags, pool, location), int *flags, cudaMemPool_t pool,
   const struct cudaMemLocation *location)
{
    return cudaMemPoolGetAccess_body(flags, pool, location);
}

CU(cuMemGetDefaultMemPool, (pool, location, type), cudaMemPool_t *pool, struct cudaMemLocation *location,
   int type)
{
    return cudaMemGetDefaultMemPool_body(pool, location, type);
}

CU(cuMemGetMemPool, (pool, location, type), cudaMemPool_t *pool, struct cudaMemLocation *location, int type)
{
    return cudaMemGetMemPool_body(pool, location, type);
}

CU(cuMemSetMemPool, (location, type, pool), struct cudaMemLocation *location, int type, cudaMemPool_t pool)
{
    return cudaMemSetMemPool_body(location, type, pool);
}
