/* The driver API: memory. */
#include "runtime/cuda/external.h"
#include "runtime/cuda/memory.h"

CU(cuMemGetInfo_v2, (free_bytes, total_bytes), size_t *free_bytes, size_t *total_bytes)
{
    uint64_t available = 0, total = 0;
    CUresult result = memory_info(cuda_device(), &available, &total);
    if (free_bytes)
        *free_bytes = available;
    if (total_bytes)
        *total_bytes = total;
    return result;
}

CU_WAITS(cuMemAlloc_v2, (address, bytes), CUdeviceptr *address, size_t bytes)
{
    uint64_t made = 0;
    if (!address || !bytes) /* unlike cudaMalloc, it refuses to allocate nothing */
        return cudaErrorInvalidValue;
    CUresult result = memory_alloc(cuda_device(), bytes, &made);
    *address = made;
    return result;
}

CU_WAITS(cuMemAllocPitch_v2, (address, pitch, width, height, element_bytes), CUdeviceptr *address,
         size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    uint64_t made = 0, row = 0;
    bool fits = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (!address || !pitch || !width || !height || !fits)
        return cudaErrorInvalidValue;
    CUresult result = memory_alloc_pitch(cuda_device(), width, height, &made, &row);
    *address = made;
    *pitch = row;
    return result;
}

CU_WAITS(cuMemFree_v2, (address), CUdeviceptr address)
{
    return external_free(address) ? cudaSuccess : (CUresult)memory_free(cuda_driver(), address);
}

/* What the current device may do with it. */
static enum mapping_access access_to(CUdeviceptr address, const struct memory_facts *facts)
{
    enum mapping_access access = MAPPING_READ_WRITE;
    if (facts->kind == MEMORY_MAPPED)
        mapping_access(cuda_device(), address, &access);
    return access;
}

CU(cuMemGetAddressRange_v2, (base, bytes, address), CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    struct memory_facts facts;
    if (!memory_find(cuda_driver(), address, &facts) || !access_to(address, &facts))
        return cudaErrorSymbolNotFound;
    if (base)
        *base = facts.base;
    if (bytes)
        *bytes = facts.bytes;
    return cudaSuccess;
}

CU_WAITS(cuMemAllocManaged, (address, bytes, flags), CUdeviceptr *address, size_t bytes, unsigned flags)
{
    uint64_t made = 0;
    if (!address || !bytes || (flags != 1 && flags != 2))
        return cudaErrorInvalidValue;
    CUresult result = memory_managed_alloc(cuda_driver(), bytes, flags, &made);
    *address = made;
    return result;
}

/* ---- of the host ---- */

CU_WAITS(cuMemHostAlloc, (pointer, bytes, flags), void **pointer, size_t bytes, unsigned flags)
{
    if (!pointer || flags & ~(unsigned)(HOST_PORTABLE | HOST_MAPPED | HOST_WRITE_COMBINED))
        return cudaErrorInvalidValue;
    return memory_host_alloc(cuda_driver(), bytes, flags | HOST_MAPPED, pointer);
}

CU_WAITS(cuMemAllocHost_v2, (pointer, bytes), void **pointer, size_t bytes)
{
    return pointer && bytes ? (CUresult)memory_host_alloc(cuda_driver(), bytes, HOST_MAPPED, pointer)
                            : cudaErrorInvalidValue;
}

CU_WAITS(cuMemFreeHost, (pointer), void *pointer)
{
    return pointer ? (CUresult)memory_host_free(cuda_driver(), pointer) : cudaErrorInvalidValue;
}

CU_WAITS(cuMemHostRegister_v2, (pointer, bytes, flags), void *pointer, size_t bytes, unsigned flags)
{
    return pointer && bytes
               ? (CUresult)memory_host_register(cuda_driver(), pointer, bytes, flags | HOST_MAPPED)
               : cudaErrorInvalidValue;
}
CU_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);

CU_WAITS(cuMemHostUnregister, (pointer), void *pointer)
{
    return pointer ? (CUresult)memory_host_unregister(cuda_driver(), pointer) : cudaErrorInvalidValue;
}

CU(cuMemHostGetDevicePointer_v2, (address, pointer, flags), CUdeviceptr *address, void *pointer,
   unsigned flags)
{
    struct memory_facts facts;
    if (!address || flags || !cuda_is_pinned(pointer, &facts))
        return cudaErrorInvalidValue;
    *address = (CUdeviceptr)(uintptr_t)pointer;
    return cudaSuccess;
}

CU(cuMemHostGetFlags, (flags, pointer), unsigned *flags, void *pointer)
{
    struct memory_facts facts;
    if (!flags || !cuda_is_pinned(pointer, &facts))
        return cudaErrorInvalidValue;
    *flags = facts.flags;
    return cudaSuccess;
}

/* ---- managed ---- */

CU(cuMemAdvise_v2, (address, bytes, advice, location), CUdeviceptr address, size_t bytes, int advice,
   struct cudaMemLocation location)
{
    return cuda_advise((const void *)(uintptr_t)address, bytes, advice, location);
}

CU(cuMemAdvise, (address, bytes, advice, device), CUdeviceptr address, size_t bytes, int advice,
   CUdevice device)
{
    return cuda_advise((const void *)(uintptr_t)address, bytes, advice, cuda_location_of(device));
}

CU_PTSZ(cuMemPrefetchAsync_v2, (address, bytes, location, flags, stream), CUdeviceptr address, size_t bytes,
        struct cudaMemLocation location, unsigned flags, cudaStream_t stream)
{
    return cuda_prefetch((const void *)(uintptr_t)address, bytes, location, flags, stream);
}

CU_PTSZ(cuMemPrefetchAsync, (address, bytes, device, stream), CUdeviceptr address, size_t bytes,
        CUdevice device, cudaStream_t stream)
{
    return cuda_prefetch((const void *)(uintptr_t)address, bytes, cuda_location_of(device), 0, stream);
}

CU_PTSZ(cuStreamAttachMemAsync, (stream, address, bytes, flags), cudaStream_t stream, CUdeviceptr address,
        size_t bytes, unsigned flags)
{
    (void)stream, (void)flags;
    return cuda_managed_range((const void *)(uintptr_t)address, bytes ? bytes : 1);
}

CU(cuMemRangeGetAttribute, (data, bytes, attribute, address, range), void *data, size_t bytes, int attribute,
   CUdeviceptr address, size_t range)
{
    return cuda_range_attribute(data, bytes, attribute, (const void *)(uintptr_t)address, range);
}

/* ---- stream-ordered ---- */

CU_PTSZ(cuMemAllocAsync, (address, bytes, stream), CUdeviceptr *address, size_t bytes, cudaStream_t stream)
{
    uint64_t made = 0;
    if (!address)
        return cudaErrorInvalidValue;
    CUresult result = memory_alloc_async(cuda_stream(stream), NULL, bytes, &made);
    *address = made;
    return result;
}

CU_PTSZ(cuMemAllocFromPoolAsync, (address, bytes, pool, stream), CUdeviceptr *address, size_t bytes,
        cudaMemPool_t pool, cudaStream_t stream)
{
    uint64_t made = 0;
    if (!address || !pool)
        return cudaErrorInvalidValue;
    CUresult result = memory_alloc_async(cuda_stream(stream), pool, bytes, &made);
    *address = made;
    return result;
}

CU_PTSZ(cuMemFreeAsync, (address, stream), CUdeviceptr address, cudaStream_t stream)
{
    return memory_free_async(cuda_stream(stream), address);
}

CU_ANY(cuMemPoolCreate, (pool, properties), cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    return cuda_pool_new(pool, properties);
}

CU_ANY(cuMemPoolDestroy, (pool), cudaMemPool_t pool)
{
    return pool ? (CUresult)memory_pool_free(pool) : cudaErrorInvalidValue;
}

CU_ANY(cuMemPoolTrimTo, (pool, bytes), cudaMemPool_t pool, size_t bytes)
{
    (void)bytes;
    return pool ? cudaSuccess : cudaErrorInvalidValue;
}

CU_ANY(cuMemPoolSetAttribute, (pool, attribute, value), cudaMemPool_t pool, int attribute, void *value)
{
    return cuda_pool_set_attribute(pool, attribute, value);
}

CU_ANY(cuMemPoolGetAttribute, (pool, attribute, value), cudaMemPool_t pool, int attribute, void *value)
{
    return cuda_pool_attribute(pool, attribute, value);
}

CU_ANY(cuMemPoolSetAccess, (pool, accesses, count), cudaMemPool_t pool,
       const struct cudaMemAccessDesc *accesses, size_t count)
{
    return cuda_pool_set_access(pool, accesses, count);
}

CU_ANY(cuDeviceGetDefaultMemPool, (pool, device), cudaMemPool_t *pool, CUdevice device)
{
    if (!pool || !cuda_device_at(device))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *pool = memory_pool_default(cuda_device_at(device));
    return cudaSuccess;
}

CU_ANY(cuDeviceGetMemPool, (pool, device), cudaMemPool_t *pool, CUdevice device)
{
    if (!pool || !cuda_device_at(device))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *pool = memory_pool_current(cuda_device_at(device));
    return cudaSuccess;
}

CU_ANY(cuDeviceSetMemPool, (device, pool), CUdevice device, cudaMemPool_t pool)
{
    if (!pool || !cuda_device_at(device))
        return pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    return memory_pool_set_current(cuda_device_at(device), pool);
}

/* ---- about a pointer ---- */

enum pointer_attribute { /* CUDA's numbers */
                         ABOUT_CONTEXT = 1,
                         ABOUT_MEMORY_TYPE,
                         ABOUT_DEVICE_POINTER,
                         ABOUT_HOST_POINTER,
                         ABOUT_SYNC_MEMOPS = 6,
                         ABOUT_BUFFER_ID,
                         ABOUT_IS_MANAGED,
                         ABOUT_DEVICE_ORDINAL,
                         ABOUT_IPC_CAPABLE,
                         ABOUT_RANGE_START,
                         ABOUT_RANGE_SIZE,
                         ABOUT_MAPPED,
                         ABOUT_HANDLE_TYPES,
                         ABOUT_RDMA_CAPABLE,
                         ABOUT_ACCESS,
                         ABOUT_POOL,
};

static bool is_managed(const struct memory_facts *facts)
{
    return facts->kind == MEMORY_MANAGED || (facts->kind == MEMORY_VARIABLE && !facts->device);
}

static CUresult about_pointer(void *data, int attribute, CUdeviceptr address)
{
    struct memory_facts facts;
    if (!data || !memory_find(cuda_driver(), address, &facts))
        return cudaErrorInvalidValue;
    bool mapped = facts.kind == MEMORY_MAPPED;
    if (mapped) /* the range is what was reserved */
        mapping_range(cuda_driver(), address, &facts.base, &facts.bytes);
    bool pinned = facts.kind == MEMORY_HOST || facts.kind == MEMORY_REGISTERED;
    unsigned device = device_index(facts.device ? facts.device : cuda_device());
    switch (attribute) {
    case ABOUT_CONTEXT:
        *(struct context **)data = mapped ? NULL : cuda_primary(device);
        return cudaSuccess;
    case ABOUT_MEMORY_TYPE:
        *(unsigned *)data = pinned ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
        return cudaSuccess;
    case ABOUT_DEVICE_POINTER:
        if (!access_to(address, &facts))
            return cudaErrorInvalidValue;
        *(CUdeviceptr *)data = address;
        return cudaSuccess;
    case ABOUT_HOST_POINTER:
        if (!pinned && !is_managed(&facts))
            return cudaErrorInvalidValue;
        *(void **)data = (void *)(uintptr_t)address;
        return cudaSuccess;
    case ABOUT_BUFFER_ID:
        *(unsigned long long *)data = facts.id;
        return cudaSuccess;
    case ABOUT_IS_MANAGED:
        *(unsigned *)data = is_managed(&facts);
        return cudaSuccess;
    case ABOUT_DEVICE_ORDINAL:
        *(int *)data = (int)device;
        return cudaSuccess;
    case ABOUT_RANGE_START:
        *(CUdeviceptr *)data = facts.base;
        return cudaSuccess;
    case ABOUT_RANGE_SIZE:
        *(size_t *)data = facts.bytes;
        return cudaSuccess;
    case ABOUT_MAPPED:
        *(unsigned *)data = 1;
        return cudaSuccess;
    case ABOUT_ACCESS:
        *(unsigned *)data = access_to(address, &facts);
        return cudaSuccess;
    case ABOUT_POOL:
        *(struct memory_pool **)data = facts.pool;
        return cudaSuccess;
    case ABOUT_HANDLE_TYPES:
        *(unsigned long long *)data = mapped ? facts.flags : 0;
        return cudaSuccess;
    case ABOUT_SYNC_MEMOPS:
    case ABOUT_IPC_CAPABLE:
    case ABOUT_RDMA_CAPABLE:
        *(unsigned *)data = 0;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

CU_ANY(cuPointerGetAttribute, (data, attribute, address), void *data, int attribute, CUdeviceptr address)
{
    return about_pointer(data, attribute, address);
}

/* What is not known about the pointer is told as zero. */
CU(cuPointerGetAttributes, (count, attributes, data, address), unsigned count, int *attributes, void **data,
   CUdeviceptr address)
{
    for (unsigned i = 0; i < count; i++) {
        bool small = attributes[i] == ABOUT_MEMORY_TYPE || attributes[i] == ABOUT_IS_MANAGED ||
                     attributes[i] == ABOUT_DEVICE_ORDINAL || attributes[i] == ABOUT_MAPPED;
        if (!about_pointer(data[i], attributes[i], address))
            continue;
        if (small)
            *(int *)data[i] = attributes[i] == ABOUT_DEVICE_ORDINAL ? -2 : 0;
        else
            *(uint64_t *)data[i] = 0;
    }
    return cudaSuccess;
}

CU(cuPointerSetAttribute, (value, attribute, address), const void *value, int attribute, CUdeviceptr address)
{
    struct memory_facts facts;
    (void)value;
    bool known = attribute == ABOUT_SYNC_MEMOPS && memory_find(cuda_driver(), address, &facts);
    return known ? cudaSuccess : cudaErrorInvalidValue;
}
