/* Memory of devices and of the host: allocating, freeing, asking about a pointer. */
#include "runtime/cuda/external.h"
#include "runtime/cuda/memory.h"
#include "driver/managed.h"
#include "runtime/cuda/register.h"
#include "runtime/cuda/stream.h"

#include <string.h>

enum { HOST_FLAGS = HOST_PORTABLE | HOST_MAPPED | HOST_WRITE_COMBINED };
enum { REGISTER_FLAGS = HOST_PORTABLE | HOST_MAPPED | 4 /* of a device's own memory */ | HOST_READ_ONLY };
enum { NO_DEVICE = -2 /* cudaInvalidDeviceId */ };

/* Its argument is looked at before all else, even a fault. */
API_ANY(cudaMalloc, (pointer, bytes), void **pointer, size_t bytes)
{
    uint64_t address = 0;
    cudaError_t error = pointer ? runtime_may_wait() : cudaErrorInvalidValue;
    if (error)
        return error;
    error = memory_alloc(cuda_device(), bytes, &address);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

API_WAITS(cudaMallocPitch, (pointer, pitch, width, height), void **pointer, size_t *pitch, size_t width,
          size_t height)
{
    uint64_t address = 0, row = 0;
    if (!pointer || !pitch)
        return cudaErrorInvalidValue;
    cudaError_t error =
        width && height ? memory_alloc_pitch(cuda_device(), width, height, &address, &row) : RESULT_SUCCESS;
    *pointer = (void *)(uintptr_t)address;
    *pitch = row;
    return error;
}

API_WAITS(cudaMalloc3D, (pointer, extent), struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    uint64_t address = 0, pitch = 0, rows;
    if (!pointer || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return cudaErrorInvalidValue;
    cudaError_t error = extent.width && rows
                            ? memory_alloc_pitch(cuda_device(), extent.width, rows, &address, &pitch)
                            : RESULT_SUCCESS;
    *pointer = (struct cudaPitchedPtr){(void *)(uintptr_t)address, pitch, extent.width, extent.height};
    return error;
}

API_WAITS(cudaFree, (pointer), void *pointer)
{
    if (external_free((uint64_t)(uintptr_t)pointer))
        return cudaSuccess;
    return memory_free(cuda_driver(), (uint64_t)(uintptr_t)pointer);
}

API(cudaMemGetInfo, (free_bytes, total_bytes), size_t *free_bytes, size_t *total_bytes)
{
    uint64_t available = 0, total = 0;
    cudaError_t error = memory_info(cuda_device(), &available, &total);
    if (free_bytes)
        *free_bytes = available;
    if (total_bytes)
        *total_bytes = total;
    return error;
}

/* ---- of the host ---- */

API_WAITS(cudaHostAlloc, (pointer, bytes, flags), void **pointer, size_t bytes, unsigned flags)
{
    if (!pointer || flags & ~(unsigned)HOST_FLAGS)
        return cudaErrorInvalidValue;
    return memory_host_alloc(cuda_driver(), bytes, flags | HOST_MAPPED, pointer);
}

API_WAITS(cudaMallocHost, (pointer, bytes), void **pointer, size_t bytes)
{
    return pointer ? memory_host_alloc(cuda_driver(), bytes, HOST_MAPPED, pointer) : cudaErrorInvalidValue;
}

API_WAITS(cudaFreeHost, (pointer), void *pointer)
{
    return pointer ? memory_host_free(cuda_driver(), pointer) : cudaSuccess;
}

API_WAITS(cudaHostRegister, (pointer, bytes, flags), void *pointer, size_t bytes, unsigned flags)
{
    struct memory_facts facts;
    if (!pointer || !bytes || flags & ~(unsigned)REGISTER_FLAGS)
        return cudaErrorInvalidValue;
    if (memory_find(cuda_driver(), (uint64_t)(uintptr_t)pointer, &facts) && facts.kind != MEMORY_REGISTERED)
        return cudaErrorInvalidValue;
    return memory_host_register(cuda_driver(), pointer, bytes, flags | HOST_MAPPED);
}

API_WAITS(cudaHostUnregister, (pointer), void *pointer)
{
    return pointer ? memory_host_unregister(cuda_driver(), pointer) : cudaErrorInvalidValue;
}

bool cuda_is_pinned(const void *pointer, struct memory_facts *facts)
{
    return memory_find(cuda_driver(), (uint64_t)(uintptr_t)pointer, facts) &&
           (facts->kind == MEMORY_HOST || facts->kind == MEMORY_REGISTERED);
}

API(cudaHostGetDevicePointer, (device_pointer, pointer, flags), void **device_pointer, void *pointer,
    unsigned flags)
{
    struct memory_facts facts;
    if (!device_pointer || flags || !cuda_is_pinned(pointer, &facts))
        return cudaErrorInvalidValue;
    *device_pointer = pointer;
    return cudaSuccess;
}

API(cudaHostGetFlags, (flags, pointer), unsigned *flags, void *pointer)
{
    struct memory_facts facts;
    if (!flags || !cuda_is_pinned(pointer, &facts))
        return cudaErrorInvalidValue;
    *flags = facts.flags;
    return cudaSuccess;
}

/* ---- managed ---- */

API_WAITS(cudaMallocManaged, (pointer, bytes, flags), void **pointer, size_t bytes, unsigned flags)
{
    enum { GLOBAL = 1, HOST = 2 };
    uint64_t address = 0;
    if (!pointer || (flags != GLOBAL && flags != HOST))
        return cudaErrorInvalidValue;
    cudaError_t error =
        bytes ? (cudaError_t)memory_managed_alloc(cuda_driver(), bytes, flags, &address) : cudaSuccess;
    *pointer = (void *)(uintptr_t)address;
    return error;
}

/* What advice and prefetches name must be managed. */
cudaError_t cuda_managed_range(const void *pointer, size_t bytes)
{
    struct memory_facts facts;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!bytes || !memory_find(cuda_driver(), address, &facts) || bytes > facts.base + facts.bytes - address)
        return cudaErrorInvalidValue;
    bool managed = facts.kind == MEMORY_MANAGED || (facts.kind == MEMORY_VARIABLE && !facts.device);
    return managed ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cuda_location(struct cudaMemLocation location)
{
    bool known = location.type == LOCATION_DEVICE
                     ? cuda_device_at(location.id) != NULL
                     : location.type > LOCATION_DEVICE && location.type <= LOCATION_HOST_NUMA_CURRENT;
    return known ? cudaSuccess : cudaErrorInvalidDevice;
}

struct cudaMemLocation cuda_location_of(int device)
{
    enum { CPU = -1 };
    return device == CPU ? (struct cudaMemLocation){.type = LOCATION_HOST}
                         : (struct cudaMemLocation){.type = LOCATION_DEVICE, .id = device};
}

/* Of one that there is. */
static uint32_t place_of(struct cudaMemLocation location)
{
    return location.type == LOCATION_DEVICE ? (uint32_t)location.id : (uint32_t)MANAGED_ON_HOST;
}

cudaError_t cuda_advise(const void *pointer, size_t bytes, int advice, struct cudaMemLocation location)
{
    enum { FIRST = 1, LAST = 6, UNSET_PREFERRED = 4 }; /* to be set is odd, no more is even */
    if (advice < FIRST || advice > LAST)
        return cudaErrorInvalidValue;
    enum managed_advice kind = (enum managed_advice)((advice - FIRST) / 2);
    bool placed = kind != ADVICE_READ_MOSTLY && advice != UNSET_PREFERRED;
    cudaError_t error = placed && cuda_location(location) ? cudaErrorInvalidValue : cudaSuccess;
    if (!error)
        error = cuda_managed_range(pointer, bytes);
    if (!error)
        managed_advise(cuda_driver(), (uint64_t)(uintptr_t)pointer, bytes, kind, advice % 2,
                       placed ? place_of(location) : (uint32_t)MANAGED_ON_HOST);
    return error;
}

API(cudaMemAdvise, (pointer, bytes, advice, location), const void *pointer, size_t bytes, int advice,
    struct cudaMemLocation location)
{
    return cuda_advise(pointer, bytes, advice, location);
}

cudaError_t cuda_prefetch(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags,
                          cudaStream_t stream)
{
    cudaError_t error = flags ? cudaErrorInvalidValue : cuda_location(location);
    if (!error)
        error = cuda_managed_range(pointer, bytes);
    if (!error)
        error = cuda_refuse_captured(stream);
    return error ? error
                 : (cudaError_t)managed_prefetch(cuda_stream(stream), (uint64_t)(uintptr_t)pointer, bytes,
                                                 place_of(location));
}

API_PTSZ(cudaMemPrefetchAsync, (pointer, bytes, location, flags, stream), const void *pointer, size_t bytes,
         struct cudaMemLocation location, unsigned flags, cudaStream_t stream)
{
    return cuda_prefetch(pointer, bytes, location, flags, stream);
}

/* All of an allocation, to no stream, to the host, or to this one, which is not a default one. */
cudaError_t cuda_attach(cudaStream_t stream, const void *pointer, size_t bytes, unsigned flags)
{
    enum { GLOBAL = 1, HOST = 2, SINGLE = 4 };
    struct memory_facts facts;
    cudaError_t error = cuda_managed_range(pointer, bytes ? bytes : 1);
    if (error)
        return error;
    memory_find(cuda_driver(), (uint64_t)(uintptr_t)pointer, &facts);
    bool whole = !bytes || (facts.base == (uint64_t)(uintptr_t)pointer && facts.bytes == bytes);
    bool known = flags == GLOBAL || flags == HOST || (flags == SINGLE && !cuda_is_default(stream));
    return whole && known ? cuda_refuse_captured(stream) : cudaErrorInvalidValue;
}

API_PTSZ(cudaStreamAttachMemAsync, (stream, pointer, bytes, flags), cudaStream_t stream, void *pointer,
         size_t bytes, unsigned flags)
{
    return cuda_attach(stream, pointer, bytes, flags);
}

/* A place, as attributes tell it: the device, or one of these. */
static int device_of(uint8_t place)
{
    enum { CPU = -1 };
    return place == AREA_NOWHERE ? NO_DEVICE : place == MANAGED_ON_HOST ? CPU : place;
}

static int location_type_of(uint8_t place)
{
    return place == AREA_NOWHERE ? 0 : place == MANAGED_ON_HOST ? LOCATION_HOST : LOCATION_DEVICE;
}

/* All who access it, then none. */
static void list_devices(uint64_t accessed_by, char *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int device = accessed_by ? device_of((uint8_t)__builtin_ctzll(accessed_by)) : NO_DEVICE;
        memcpy(data + i * sizeof device, &device, sizeof device);
        accessed_by &= accessed_by - 1;
    }
}

cudaError_t cuda_range_attribute(void *data, size_t bytes, int attribute, const void *pointer, size_t range)
{
    enum {
        READ_MOSTLY = 1,
        PREFERRED,
        ACCESSED_BY,
        PREFETCHED,
        PREFERRED_TYPE,
        PREFERRED_ID,
        PREFETCHED_TYPE,
        PREFETCHED_ID
    };
    cudaError_t error = cuda_managed_range(pointer, range);
    if (error || !data || bytes < sizeof(int) || attribute < READ_MOSTLY || attribute > PREFETCHED_ID ||
        (attribute != ACCESSED_BY ? bytes != sizeof(int) : bytes % sizeof(int)))
        return cudaErrorInvalidValue;
    struct area_advice advice = managed_advice_of(cuda_driver(), (uint64_t)(uintptr_t)pointer, range);
    const int values[] = {[READ_MOSTLY] = advice.read_mostly,
                          [PREFERRED] = device_of(advice.preferred),
                          [PREFETCHED] = device_of(advice.prefetched),
                          [PREFERRED_TYPE] = location_type_of(advice.preferred),
                          [PREFERRED_ID] = device_of(advice.preferred),
                          [PREFETCHED_TYPE] = location_type_of(advice.prefetched),
                          [PREFETCHED_ID] = device_of(advice.prefetched)};
    if (attribute == ACCESSED_BY)
        list_devices(advice.accessed_by, data, bytes / sizeof(int));
    else
        memcpy(data, &values[attribute], sizeof(int));
    return cudaSuccess;
}

API(cudaMemRangeGetAttribute, (data, bytes, attribute, pointer, range), void *data, size_t bytes,
    int attribute, const void *pointer, size_t range)
{
    return cuda_range_attribute(data, bytes, attribute, pointer, range);
}

API(cudaMemRangeGetAttributes, (data, bytes, attributes, count, pointer, range), void **data, size_t *bytes,
    int *attributes, size_t count, const void *pointer, size_t range)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; !error && i < count; i++)
        error = cuda_range_attribute(data[i], bytes[i], attributes[i], pointer, range);
    return error;
}

CU(cuMemRangeGetAttributes, (data, bytes, attributes, count, address, range), void **data, size_t *bytes,
   int *attributes, size_t count, CUdeviceptr address, size_t range)
{
    return cudaMemRangeGetAttributes_body(data, bytes, attributes, count, (const void *)(uintptr_t)address,
                                          range);
}

/* ---- about a pointer ---- */

API_ANY(cudaPointerGetAttributes, (attributes, pointer), struct cudaPointerAttributes *attributes,
        const void *pointer)
{
    struct memory_facts facts;
    void *p = (void *)(uintptr_t)pointer;
    cudaError_t error = attributes ? runtime_device() : cudaErrorInvalidValue;
    if (error)
        return error;
    attributes->type = POINTER_UNREGISTERED;
    attributes->device = NO_DEVICE;
    attributes->devicePointer = NULL;
    attributes->hostPointer = p;
    if (!memory_find(cuda_driver(), (uint64_t)(uintptr_t)pointer, &facts))
        return cudaSuccess;
    attributes->device = (int)device_index(facts.device ? facts.device : cuda_device());
    attributes->devicePointer = p;
    if (facts.kind == MEMORY_HOST || facts.kind == MEMORY_REGISTERED) {
        attributes->type = POINTER_HOST;
    } else if (facts.kind == MEMORY_MANAGED || (facts.kind == MEMORY_VARIABLE && !facts.device)) {
        attributes->type = POINTER_MANAGED;
    } else {
        attributes->type = POINTER_DEVICE;
        attributes->hostPointer = NULL;
    }
    return cudaSuccess;
}

API(cudaGetSymbolAddress, (pointer, key), void **pointer, const void *key)
{
    struct symbol symbol;
    if (!pointer)
        return cudaErrorInvalidValue;
    cudaError_t error = cuda_symbol(key, &symbol);
    *pointer = error ? NULL : (void *)(uintptr_t)symbol.address;
    return error;
}

API(cudaGetSymbolSize, (bytes, key), size_t *bytes, const void *key)
{
    struct symbol symbol;
    if (!bytes)
        return cudaErrorInvalidValue;
    cudaError_t error = cuda_symbol(key, &symbol);
    *bytes = error ? 0 : symbol.bytes;
    return error;
}
