/* The driver API: memory that the program maps itself. None of it needs a context. */
#include "runtime/cuda/memory.h"

enum { HANDLE_FILE = 1, HANDLE_WIN32 = 2, HANDLE_KMT = 4, HANDLE_FABRIC = 8 };
enum { ALLOCATION_PINNED = 1 };

/* What is asked for means nothing here: it is the same for all. */
CU_ANY(cuMemGetAllocationGranularity, (granularity, properties, option), size_t *granularity,
       const struct CUmemAllocationProp *properties, unsigned option)
{
    if (!granularity || !properties || option > 1)
        return cudaErrorInvalidValue;
    *granularity = mapping_unit(cuda_driver());
    return cudaSuccess;
}

/* The hint is but a hint, and an H200 does not take it either. */
CU_ANY(cuMemAddressReserve, (address, bytes, alignment, hint, flags), CUdeviceptr *address, size_t bytes,
       size_t alignment, CUdeviceptr hint, unsigned long long flags)
{
    uint64_t made = 0;
    if (!address || flags || hint % mapping_unit(cuda_driver()))
        return cudaErrorInvalidValue;
    CUresult result = mapping_reserve(cuda_driver(), bytes, alignment, &made);
    if (!result)
        *address = made;
    return result;
}

CU_ANY(cuMemAddressFree, (address, bytes), CUdeviceptr address, size_t bytes)
{
    return mapping_unreserve(cuda_driver(), address, bytes);
}

/* ---- physical memory ---- */

static CUresult check_properties(const struct CUmemAllocationProp *properties)
{
    static const unsigned char zeros[sizeof properties->reserved];
    if (properties->type != ALLOCATION_PINNED || properties->location.type <= LOCATION_NONE ||
        properties->location.type > LOCATION_HOST_NUMA ||
        memcmp(properties->reserved, zeros, sizeof zeros) != 0)
        return cudaErrorInvalidValue;
    if (properties->location.type != LOCATION_DEVICE)
        return cudaErrorNotSupported;
    if (properties->requestedHandleTypes & ~HANDLE_FILE)
        return properties->requestedHandleTypes == HANDLE_FABRIC ? cudaErrorNotPermitted
                                                                 : cudaErrorInvalidValue;
    return cuda_device_at(properties->location.id) ? cudaSuccess : cudaErrorInvalidDevice;
}

CU_ANY(cuMemCreate, (handle, bytes, properties, flags), unsigned long long *handle, size_t bytes,
       const struct CUmemAllocationProp *properties, unsigned long long flags)
{
    uint64_t made = 0;
    if (!handle || !properties || flags)
        return cudaErrorInvalidValue;
    CUresult result = check_properties(properties);
    if (!result)
        result = mapping_physical_new(cuda_device_at(properties->location.id), bytes,
                                      properties->requestedHandleTypes & HANDLE_FILE, &made);
    if (!result)
        *handle = made;
    return result;
}

CU_ANY(cuMemRelease, (handle), unsigned long long handle)
{
    return mapping_physical_release(cuda_driver(), handle);
}

CU_ANY(cuMemRetainAllocationHandle, (handle, address), unsigned long long *handle, void *address)
{
    uint64_t found = 0;
    if (!handle)
        return cudaErrorInvalidValue;
    CUresult result = mapping_physical_retain(cuda_driver(), (uint64_t)(uintptr_t)address, &found);
    if (!result)
        *handle = found;
    return result;
}

/* Compression and the like are hints, which come to nothing here, and the program is told so. */
CU_ANY(cuMemGetAllocationPropertiesFromHandle, (properties, handle), struct CUmemAllocationProp *properties,
       unsigned long long handle)
{
    struct mapping_physical_facts facts;
    if (!properties)
        return cudaErrorInvalidValue;
    CUresult result = mapping_physical_find(cuda_driver(), handle, &facts);
    if (!result)
        *properties =
            (struct CUmemAllocationProp){.type = ALLOCATION_PINNED,
                                         .requestedHandleTypes = facts.shareable ? HANDLE_FILE : 0,
                                         .location = {LOCATION_DEVICE, (int)device_index(facts.device)}};
    return result;
}

CU_ANY(cuMemExportToShareableHandle, (shareable, handle, type, flags), void *shareable,
       unsigned long long handle, int type, unsigned long long flags)
{
    if (!shareable || type != HANDLE_FILE || flags)
        return cudaErrorInvalidValue;
    return mapping_physical_export(cuda_driver(), handle, shareable);
}

/* The file descriptor itself is in the place of a pointer. */
CU_ANY(cuMemImportFromShareableHandle, (handle, shareable, type), unsigned long long *handle, void *shareable,
       int type)
{
    uint64_t made = 0;
    if (!handle)
        return cudaErrorInvalidValue;
    if (type != HANDLE_FILE)
        return type == HANDLE_WIN32 || type == HANDLE_KMT || type == HANDLE_FABRIC ? cudaErrorNotSupported
                                                                                   : cudaErrorInvalidValue;
    CUresult result = mapping_physical_import(cuda_driver(), (int)(intptr_t)shareable, &made);
    if (!result)
        *handle = made;
    return result;
}

/* ---- mappings ---- */

CU_ANY(cuMemMap, (address, bytes, offset, handle, flags), CUdeviceptr address, size_t bytes, size_t offset,
       unsigned long long handle, unsigned long long flags)
{
    if (flags)
        return cudaErrorInvalidValue;
    return offset ? cudaErrorNotSupported : (CUresult)mapping_add(cuda_driver(), address, bytes, handle);
}

CU_ANY(cuMemUnmap, (address, bytes), CUdeviceptr address, size_t bytes)
{
    return mapping_remove(cuda_driver(), address, bytes);
}

static CUresult check_access(const struct cudaMemAccessDesc *access)
{
    bool known =
        access->flags == MAPPING_NONE || access->flags == MAPPING_READ || access->flags == MAPPING_READ_WRITE;
    if (known && access->location.type == LOCATION_HOST)
        return cudaErrorNotSupported;
    bool device = access->location.type == LOCATION_DEVICE && cuda_device_at(access->location.id);
    return known && device ? cudaSuccess : cudaErrorInvalidValue;
}

CU_ANY(cuMemSetAccess, (address, bytes, accesses, count), CUdeviceptr address, size_t bytes,
       const struct cudaMemAccessDesc *accesses, size_t count)
{
    CUresult result = accesses && count ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !result && i < count; i++)
        result = check_access(&accesses[i]);
    for (size_t i = 0; !result && i < count; i++)
        result = mapping_set_access(cuda_device_at(accesses[i].location.id), address, bytes,
                                    (enum mapping_access)accesses[i].flags);
    return result;
}

CU_ANY(cuMemGetAccess, (flags, location, address), unsigned long long *flags,
       const struct cudaMemLocation *location, CUdeviceptr address)
{
    enum mapping_access access = MAPPING_NONE;
    if (!flags || !location)
        return cudaErrorInvalidValue;
    bool of_device = location->type == LOCATION_DEVICE;
    if (of_device && !cuda_device_at(location->id))
        return cudaErrorInvalidDevice;
    struct device *device = cuda_device_at(of_device ? location->id : 0);
    CUresult result = mapping_access(device, address, &access);
    if (!result)
        *flags = of_device ? access : MAPPING_NONE; /* the host has none */
    return result;
}
