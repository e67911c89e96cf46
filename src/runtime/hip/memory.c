/* Memory of devices and of the host: allocating, freeing, asking about a pointer. */
#include "runtime/hip/register.h"

#include <string.h>

enum { HOST_FLAGS = HOST_PORTABLE | HOST_MAPPED | HOST_WRITE_COMBINED }; /* the driver's have HIP's bits */
/* Hints of hipHostMalloc, which change no result: NUMA policy, coherent or not. */
static const unsigned HOST_HINTS = 0x20000000u | 0x40000000u | 0x80000000u;
enum {
    REGISTER_FLAGS = HOST_PORTABLE | HOST_MAPPED | 4 /* of a device's own memory */ | 8 /* coarse-grained */
};

static bool find(const void *pointer, struct memory_facts *facts)
{
    return pointer && memory_find(hip_driver(), (uint64_t)(uintptr_t)pointer, facts);
}

static bool is_pinned(const void *pointer, struct memory_facts *facts)
{
    return find(pointer, facts) && (facts->kind == MEMORY_HOST || facts->kind == MEMORY_REGISTERED);
}

static bool is_managed(const struct memory_facts *facts)
{
    return facts->kind == MEMORY_MANAGED || (facts->kind == MEMORY_VARIABLE && !facts->device);
}

/* ---- of devices ---- */

HIP(hipMalloc, (pointer, bytes), void **pointer, size_t bytes)
{
    uint64_t address = 0;
    if (!pointer)
        return hipErrorInvalidValue;
    enum result result = memory_alloc(hip_device(), bytes, &address);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

HIP(hipExtMallocWithFlags, (pointer, bytes, flags), void **pointer, size_t bytes, unsigned flags)
{
    enum { FINE_GRAINED = 1, SIGNAL = 2 };
    uint64_t address = 0;
    if (!pointer || flags & ~(unsigned)(FINE_GRAINED | SIGNAL))
        return hipErrorInvalidValue;
    enum result result = memory_alloc(hip_device(), bytes, &address);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

static int alloc_rows(void **pointer, size_t *pitch, size_t width, size_t height)
{
    uint64_t address = 0, row = 0;
    if (!pointer || !pitch)
        return hipErrorInvalidValue;
    enum result result =
        width && height ? memory_alloc_pitch(hip_device(), width, height, &address, &row) : RESULT_SUCCESS;
    *pointer = (void *)(uintptr_t)address;
    *pitch = row;
    return result;
}

HIP(hipMallocPitch, (pointer, pitch, width, height), void **pointer, size_t *pitch, size_t width,
    size_t height)
{
    return alloc_rows(pointer, pitch, width, height);
}

HIP(hipMemAllocPitch, (pointer, pitch, width, height, element_bytes), hipDeviceptr_t *pointer, size_t *pitch,
    size_t width, size_t height, unsigned element_bytes)
{
    (void)element_bytes;
    return alloc_rows(pointer, pitch, width, height);
}

HIP(hipMalloc3D, (pointer, extent), struct hipPitchedPtr *pointer, struct hipExtent extent)
{
    size_t rows;
    if (!pointer || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return hipErrorInvalidValue;
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return alloc_rows(&pointer->ptr, &pointer->pitch, extent.width, rows);
}

/* AMD's library takes either kind of memory here and in hipHostFree. */
static int free_any(void *pointer)
{
    struct memory_facts facts;
    if (find(pointer, &facts) && facts.kind == MEMORY_HOST)
        return memory_host_free(hip_driver(), pointer);
    return memory_free(hip_driver(), (uint64_t)(uintptr_t)pointer);
}

HIP(hipFree, (pointer), void *pointer)
{
    return free_any(pointer);
}

HIP_STREAM(hipMallocAsync, (pointer, bytes, stream), void **pointer, size_t bytes, hipStream_t stream)
{
    uint64_t address = 0;
    if (!pointer)
        return hipErrorInvalidValue;
    enum result result = memory_alloc_async(hip_stream(stream), NULL, bytes, &address);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

HIP_STREAM(hipFreeAsync, (pointer, stream), void *pointer, hipStream_t stream)
{
    return memory_free_async(hip_stream(stream), (uint64_t)(uintptr_t)pointer);
}

HIP(hipMemGetInfo, (free_bytes, total_bytes), size_t *free_bytes, size_t *total_bytes)
{
    uint64_t available = 0, total = 0;
    enum result result = memory_info(hip_device(), &available, &total);
    if (free_bytes)
        *free_bytes = available;
    if (total_bytes)
        *total_bytes = total;
    return result;
}

/* ---- of the host ---- */

HIP(hipHostMalloc, (pointer, bytes, flags), void **pointer, size_t bytes, unsigned flags)
{
    if (!pointer || flags & ~(HOST_FLAGS | HOST_HINTS))
        return hipErrorInvalidValue;
    *pointer = NULL;
    return bytes ? memory_host_alloc(hip_driver(), bytes, (flags & HOST_FLAGS) | HOST_MAPPED, pointer)
                 : RESULT_SUCCESS;
}
HIP_ALIAS(hipHostAlloc, hipHostMalloc);

HIP(hipMallocHost, (pointer, bytes), void **pointer, size_t bytes)
{
    return pointer ? (int)memory_host_alloc(hip_driver(), bytes, HOST_MAPPED, pointer) : hipErrorInvalidValue;
}
HIP_ALIAS(hipMemAllocHost, hipMallocHost);

HIP(hipHostFree, (pointer), void *pointer)
{
    return free_any(pointer);
}
HIP_ALIAS(hipFreeHost, hipHostFree);

HIP(hipHostRegister, (pointer, bytes, flags), void *pointer, size_t bytes, unsigned flags)
{
    if (!pointer || !bytes || flags & ~(unsigned)REGISTER_FLAGS)
        return hipErrorInvalidValue;
    return memory_host_register(hip_driver(), pointer, bytes,
                                (flags & (HOST_PORTABLE | HOST_MAPPED)) | HOST_MAPPED);
}

HIP(hipHostUnregister, (pointer), void *pointer)
{
    return pointer ? (int)memory_host_unregister(hip_driver(), pointer) : hipErrorInvalidValue;
}

HIP(hipHostGetDevicePointer, (device_pointer, pointer, flags), void **device_pointer, void *pointer,
    unsigned flags)
{
    struct memory_facts facts;
    (void)flags;
    if (!device_pointer || !is_pinned(pointer, &facts))
        return hipErrorInvalidValue;
    *device_pointer = pointer;
    return hipSuccess;
}

HIP(hipHostGetFlags, (flags, pointer), unsigned *flags, void *pointer)
{
    struct memory_facts facts;
    if (!flags || !is_pinned(pointer, &facts))
        return hipErrorInvalidValue;
    *flags = facts.flags;
    return hipSuccess;
}

/* ---- managed ---- */

HIP(hipMallocManaged, (pointer, bytes, flags), void **pointer, size_t bytes, unsigned flags)
{
    enum { GLOBAL = 1, HOST = 2 };
    uint64_t address = 0;
    if (!pointer || !bytes || (flags != GLOBAL && flags != HOST))
        return hipErrorInvalidValue;
    enum result result = memory_managed_alloc(hip_driver(), bytes, flags, &address);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

/* Advice and prefetches move nothing here: memory has one place. What they name must be managed, though. */
static int managed_range(const void *pointer, size_t bytes)
{
    struct memory_facts facts;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!bytes || !find(pointer, &facts) || bytes > facts.base + facts.bytes - address)
        return hipErrorInvalidValue;
    return is_managed(&facts) ? hipSuccess : hipErrorInvalidValue;
}

HIP(hipMemAdvise, (pointer, bytes, advice, device), const void *pointer, size_t bytes, int advice, int device)
{
    (void)advice, (void)device;
    return managed_range(pointer, bytes);
}

HIP_STREAM(hipMemPrefetchAsync, (pointer, bytes, device, stream), const void *pointer, size_t bytes,
           int device, hipStream_t stream)
{
    enum { CPU = -1 };
    (void)stream;
    if (device != CPU && !hip_device_at(device))
        return hipErrorInvalidDevice;
    return managed_range(pointer, bytes);
}

HIP_STREAM(hipStreamAttachMemAsync, (stream, pointer, bytes, flags), hipStream_t stream, void *pointer,
           size_t bytes, unsigned flags)
{
    (void)stream, (void)flags;
    return managed_range(pointer, bytes ? bytes : 1);
}

/* ---- about a pointer ---- */

HIP(hipPointerGetAttributes, (attributes, pointer), struct hipPointerAttribute *attributes,
    const void *pointer)
{
    struct memory_facts facts;
    void *p = (void *)(uintptr_t)pointer;
    if (!attributes || !find(pointer, &facts))
        return hipErrorInvalidValue;
    bool of_host = facts.kind == MEMORY_HOST || facts.kind == MEMORY_REGISTERED;
    bool managed = is_managed(&facts);
    *attributes =
        (struct hipPointerAttribute){.memoryType = of_host || managed ? HIP_MEMORY_HOST : HIP_MEMORY_DEVICE,
                                     .device = (int)device_index(facts.device ? facts.device : hip_device()),
                                     .devicePointer = p,
                                     .hostPointer = of_host || managed ? p : NULL,
                                     .isManaged = managed,
                                     .allocationFlags = facts.flags};
    return hipSuccess;
}

HIP(hipMemGetAddressRange, (base, bytes, pointer), hipDeviceptr_t *base, size_t *bytes,
    hipDeviceptr_t pointer)
{
    struct memory_facts facts;
    if (!find(pointer, &facts))
        return hipErrorInvalidDevicePointer;
    if (base)
        *base = (void *)(uintptr_t)facts.base;
    if (bytes)
        *bytes = facts.bytes;
    return hipSuccess;
}

HIP(hipMemPtrGetInfo, (pointer, bytes), void *pointer, size_t *bytes)
{
    struct memory_facts facts;
    if (!bytes || !find(pointer, &facts))
        return hipErrorInvalidValue;
    *bytes = facts.bytes;
    return hipSuccess;
}

HIP(hipGetSymbolAddress, (pointer, key), void **pointer, const void *key)
{
    struct symbol symbol;
    if (!pointer)
        return hipErrorInvalidValue;
    int error = hip_symbol(key, &symbol);
    *pointer = error ? NULL : (void *)(uintptr_t)symbol.address;
    return error;
}

HIP(hipGetSymbolSize, (bytes, key), size_t *bytes, const void *key)
{
    struct symbol symbol;
    if (!bytes)
        return hipErrorInvalidValue;
    int error = hip_symbol(key, &symbol);
    *bytes = error ? 0 : symbol.bytes;
    return error;
}
