/* Devices: which there are, what they are like, and what is set for them. */
#include "runtime/cuda/api.h"
#include "runtime/cuda/texref.h"
#include "driver/region.h"

#include <stdio.h>
#include <string.h>

enum { FLAGS_KNOWN = 0x1f, FLAG_MAP_HOST = 8 }; /* of cudaSetDeviceFlags; host memory is always mapped */

bool cuda_attribute(const struct device *device, int attribute, int *value)
{
    const struct gpu_spec *g = device_spec(device);
    int64_t index = device_index(device), wide;
    switch (attribute) {
#define ATTRIBUTE(number, field, expression)                                                                 \
    case number:                                                                                             \
        wide = (int64_t)(expression);                                                                        \
        break;
#include "runtime/cuda/device.def"
#undef ATTRIBUTE
    default:
        return false;
    }
    *value = wide > INT32_MAX ? INT32_MAX : (int)wide;
    return true;
}

static void fill_properties(const struct device *device, struct cudaDeviceProp *properties)
{
    const struct gpu_spec *g = device_spec(device);
    int64_t index = device_index(device);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "%s", g->name);
    common_uuid(device, properties->uuid.bytes);
    properties->totalGlobalMem = g->memory;
#define none                                 reserved[0] /* where values go that have no field */
#define ATTRIBUTE(number, field, expression) properties->field = (__typeof__(properties->field))(expression);
#include "runtime/cuda/device.def"
#undef ATTRIBUTE
#undef none
    properties->reserved[0] = 0;
}

struct device *cuda_device_at(int index)
{
    struct context *context = index < 0 ? NULL : cuda_primary((unsigned)index);
    return context ? context->device : NULL;
}

API_ANY(cudaGetDeviceCount, (count), int *count)
{
    if (!count)
        return cudaErrorInvalidValue;
    cudaError_t error = cuda_known();
    *count = error ? 0 : (int)driver_device_count(cuda_driver());
    return error;
}

API_ANY(cudaGetDevice, (index), int *index)
{
    if (!index)
        return cudaErrorInvalidValue;
    struct context *context = cuda_context();
    *index = context ? (int)device_index(context->device) : 0;
    return cuda_initialize();
}

API_ANY(cudaSetDevice, (index), int index)
{
    cudaError_t error = cuda_initialize();
    if (error)
        return error;
    if (!cuda_device_at(index))
        return cudaErrorInvalidDevice;
    cuda_set_context(cuda_primary((unsigned)index));
    return cudaSuccess;
}

/* Of the ways to wait, one at most. */
static bool flags_are_valid(unsigned flags)
{
    enum { WAYS = 7 };
    unsigned way = flags & WAYS;
    return !(flags & ~(unsigned)FLAGS_KNOWN) && !(way & (way - 1));
}

API_ANY(cudaInitDevice, (index, device_flags, flags), int index, unsigned device_flags, unsigned flags)
{
    enum { DEVICE_FLAGS_ARE_VALID = 1 };
    cudaError_t error = cuda_initialize();
    if (!error && !cuda_device_at(index))
        error = cudaErrorInvalidDevice;
    bool bad = flags & DEVICE_FLAGS_ARE_VALID && !flags_are_valid(device_flags);
    return error ? error : bad ? cudaErrorInvalidValue : cudaSuccess;
}

/* Which device fits best: all are alike. */
API_ANY(cudaChooseDevice, (index, wanted), int *index, const struct cudaDeviceProp *wanted)
{
    if (!index || !wanted)
        return cudaErrorInvalidValue;
    *index = 0;
    return cuda_initialize();
}

API_ANY(cudaSetValidDevices, (indexes, count), const int *indexes, int count)
{
    cudaError_t error = cuda_initialize();
    if (!error && (count < 0 || (count && !indexes) || (unsigned)count > driver_device_count(cuda_driver())))
        error = cudaErrorInvalidValue;
    for (int i = 0; !error && i < count; i++)
        error = cuda_device_at(indexes[i]) ? cudaSuccess : cudaErrorInvalidDevice;
    return error;
}

API_ANY(cudaGetDeviceProperties, (properties, index), struct cudaDeviceProp *properties, int index)
{
    cudaError_t error = cuda_known();
    if (error || !properties)
        return error ? error : cudaErrorInvalidValue;
    if (!cuda_device_at(index))
        return cudaErrorInvalidDevice;
    fill_properties(cuda_device_at(index), properties);
    return cudaSuccess;
}

API_ANY(cudaDeviceGetAttribute, (value, attribute, index), int *value, int attribute, int index)
{
    cudaError_t error = cuda_initialize();
    if (error || !value)
        return error ? error : cudaErrorInvalidValue;
    if (!cuda_device_at(index))
        return cudaErrorInvalidDevice;
    return cuda_attribute(cuda_device_at(index), attribute, value) ? cudaSuccess : cudaErrorInvalidValue;
}

API_ANY(cudaDriverGetVersion, (version), int *version)
{
    if (version)
        *version = CUDA_VERSION;
    return version ? cudaSuccess : cudaErrorInvalidValue;
}

API_ANY(cudaRuntimeGetVersion, (version), int *version)
{
    if (version)
        *version = CUDA_VERSION;
    return version ? cudaSuccess : cudaErrorInvalidValue;
}

API_ANY(cudaDeviceGetPCIBusId, (name, bytes, index), char *name, int bytes, int index)
{
    cudaError_t error = cuda_initialize();
    if (error || !name || bytes < 13)
        return error ? error : cudaErrorInvalidValue;
    if (!cuda_device_at(index))
        return cudaErrorInvalidDevice;
    common_pci_name(cuda_device_at(index), name, (size_t)bytes);
    return cudaSuccess;
}

cudaError_t cuda_find_pci(const char *name, int *index)
{
    unsigned domain = 0, bus, device;
    if (sscanf(name, "%x:%x:%x", &domain, &bus, &device) != 3) {
        domain = 0;
        if (sscanf(name, "%x:%x", &bus, &device) != 2)
            return cudaErrorInvalidValue;
    }
    int found = common_find_pci(cuda_driver(), domain, bus, device);
    *index = found < 0 ? *index : found;
    return found < 0 ? cudaErrorInvalidDevice : cudaSuccess;
}

API(cudaDeviceGetByPCIBusId, (index, name), int *index, const char *name)
{
    return index && name ? cuda_find_pci(name, index) : cudaErrorInvalidValue;
}

API(cudaDeviceSynchronize, (), void)
{
    cudaError_t error = capture_check_device(cuda_driver());
    return error ? error : (cudaError_t)device_synchronize(cuda_device());
}

API_ANY(cudaDeviceReset, (), void)
{
    cudaError_t error = runtime_device();
    if (error)
        return error;
    bool lost = device_error(cuda_device()); /* an H200 cannot be used by the process any more */
    texref_lost(cuda_device());
    error = device_reset(cuda_device());
    if (lost)
        cuda_context()->error = cudaErrorDevicesUnavailable;
    return error;
}

API(cudaDeviceGetLimit, (value, limit), size_t *value, int limit)
{
    return common_limit(cuda_device(), limit, value);
}

API_WAITS(cudaDeviceSetLimit, (limit, value), int limit, size_t value)
{
    enum { PERSISTING_L2 = 6 };
    if (limit == PERSISTING_L2 && value > device_spec(cuda_device())->l2_persisting_max)
        return cudaErrorInvalidValue;
    return device_limit_set(cuda_device(), limit, value);
}

API(cudaDeviceGetStreamPriorityRange, (least, greatest), int *least, int *greatest)
{
    if (least)
        *least = PRIORITY_LEAST;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return cudaSuccess;
}

/* ---- what is set for a device and changes no result ---- */

API(cudaSetDeviceFlags, (flags), unsigned flags)
{
    if (!flags_are_valid(flags))
        return cudaErrorInvalidValue;
    cuda_context()->flags = flags;
    return cudaSuccess;
}

API(cudaGetDeviceFlags, (flags), unsigned *flags)
{
    if (flags)
        *flags = cuda_context()->flags | FLAG_MAP_HOST;
    return flags ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaDeviceSetCacheConfig, (config), int config)
{
    enum { LAST = 3 };
    if (config < 0 || config > LAST)
        return cudaErrorInvalidValue;
    cuda_context()->cache_config = config;
    return cudaSuccess;
}

API(cudaDeviceGetCacheConfig, (config), int *config)
{
    if (config)
        *config = cuda_context()->cache_config;
    return config ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaDeviceSetSharedMemConfig, (config), int config)
{
    (void)config;
    return cudaSuccess;
}

API(cudaDeviceGetSharedMemConfig, (config), int *config)
{
    *config = 1; /* banks of four bytes, as all GPUs since Maxwell have them */
    return cudaSuccess;
}

API(cudaCtxResetPersistingL2Cache, (), void)
{
    return cudaSuccess;
}

API(cudaDeviceFlushGPUDirectRDMAWrites, (target, scope), int target, int scope)
{
    enum { TO_OWNER = 100, TO_ALL = 200 };
    return !target && (scope == TO_OWNER || scope == TO_ALL) ? cudaSuccess : cudaErrorInvalidValue;
}

CU(cuFlushGPUDirectRDMAWrites, (target, scope), int target, int scope)
{
    return cudaDeviceFlushGPUDirectRDMAWrites_body(target, scope);
}

API_ANY(cudaProfilerStart, (), void)
{
    region_profile(true);
    return cudaSuccess;
}

API_ANY(cudaProfilerStop, (), void)
{
    region_profile(false);
    return cudaSuccess;
}

API(cudaDeviceGetTexture1DLinearMaxWidth, (width, desc, index), size_t *width,
    const struct cudaChannelFormatDesc *desc, int index)
{
    if (!cuda_device_at(index))
        return cudaErrorInvalidDevice;
    if (!width || !desc)
        return cudaErrorInvalidValue;
    *width = device_spec(cuda_device_at(index))->texture_1d_linear;
    return cudaSuccess;
}

/* ---- peers ---- */

API_ANY(cudaDeviceCanAccessPeer, (can, index, peer), int *can, int index, int peer)
{
    cudaError_t error = cuda_initialize();
    if (error || !can)
        return error ? error : cudaErrorInvalidValue;
    if (!cuda_device_at(index) || !cuda_device_at(peer))
        return cudaErrorInvalidDevice;
    *can = index != peer && device_can_access_peer(cuda_device_at(index), cuda_device_at(peer));
    return cudaSuccess;
}

API(cudaDeviceEnablePeerAccess, (peer, flags), int peer, unsigned flags)
{
    if (!cuda_device_at(peer))
        return cudaErrorInvalidDevice;
    return flags ? cudaErrorInvalidValue : device_enable_peer(cuda_device(), cuda_device_at(peer));
}

API(cudaDeviceDisablePeerAccess, (peer), int peer)
{
    return cuda_device_at(peer) ? device_disable_peer(cuda_device(), cuda_device_at(peer))
                                : cudaErrorInvalidDevice;
}

/* Of a link between two devices: its rank, whether there is access, atomics, and arrays. */
cudaError_t cuda_peer_attribute(int *value, int attribute, int from, int to)
{
    enum { RANK = 1, ACCESS, ATOMICS, ARRAYS };
    if (!cuda_device_at(from) || !cuda_device_at(to) || from == to)
        return cudaErrorInvalidDevice;
    if (!value || attribute < RANK || attribute > ARRAYS)
        return cudaErrorInvalidValue;
    *value = attribute == RANK ? 0 : device_can_access_peer(cuda_device_at(from), cuda_device_at(to));
    return cudaSuccess;
}

API(cudaDeviceGetP2PAttribute, (value, attribute, from, to), int *value, int attribute, int from, int to)
{
    return cuda_peer_attribute(value, attribute, from, to);
}
