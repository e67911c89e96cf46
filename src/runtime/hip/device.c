/* Devices: which there are, what they are like, and what is set for them. */
#include "runtime/hip/api.h"
#include "driver/region.h"

#include <stdlib.h>
#include <string.h>

static __thread unsigned device_flags;

/* ---- properties ---- */

/* 803 of "gfx803" */
static int target_number(const char *target)
{
    return !strncmp(target, "gfx", 3) ? (int)strtol(target + 3, NULL, 10) : 0;
}

static bool attribute(const struct device *device, int number, int *value)
{
    const struct gpu_spec *g = device_spec(device);
    int64_t index = device_index(device), wide;
    switch (number) {
#define ATTRIBUTE(row, field, expression)                                                                    \
    case row:                                                                                                \
        wide = (int64_t)(expression);                                                                        \
        break;
#include "runtime/hip/device.def"
#undef ATTRIBUTE
    default:
        return false;
    }
    *value = wide > INT32_MAX ? INT32_MAX : (int)wide;
    return true;
}

/* All that GCN has; it lacks funnel shifts, surfaces in HIP, and kernels that launch kernels. */
static const struct hipDeviceArch features = {.hasGlobalInt32Atomics = 1,
                                              .hasGlobalFloatAtomicExch = 1,
                                              .hasSharedInt32Atomics = 1,
                                              .hasSharedFloatAtomicExch = 1,
                                              .hasFloatAtomicAdd = 1,
                                              .hasGlobalInt64Atomics = 1,
                                              .hasSharedInt64Atomics = 1,
                                              .hasDoubles = 1,
                                              .hasWarpVote = 1,
                                              .hasWarpBallot = 1,
                                              .hasWarpShuffle = 1,
                                              .hasThreadFenceSystem = 1,
                                              .has3dGrid = 1};

static void fill_properties(const struct device *device, struct hipDeviceProp *properties)
{
    const struct gpu_spec *g = device_spec(device);
    int64_t index = device_index(device);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "%s", g->name);
    snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", hip_target(device));
    properties->arch = features;
#define none                                 asicRevision /* where values go that have no field */
#define ATTRIBUTE(number, field, expression) properties->field = (__typeof__(properties->field))(expression);
#include "runtime/hip/device.def"
#undef ATTRIBUTE
#undef none
    properties->asicRevision = 0;
}

HIP_KNOWN(hipGetDeviceProperties, (properties, index), struct hipDeviceProp *properties, int index)
{
    if (!properties)
        return hipErrorInvalidValue;
    if (!hip_device_at(index))
        return hipErrorInvalidDevice;
    fill_properties(hip_device_at(index), properties);
    return hipSuccess;
}

HIP_KNOWN(hipDeviceGetAttribute, (value, number, index), int *value, int number, int index)
{
    if (!value)
        return hipErrorInvalidValue;
    if (!hip_device_at(index))
        return hipErrorInvalidDevice;
    return attribute(hip_device_at(index), number, value) ? hipSuccess : hipErrorInvalidValue;
}

HIP_KNOWN(hipDeviceGetName, (name, bytes, device), char *name, int bytes, hipDevice_t device)
{
    if (!name || bytes <= 0)
        return hipErrorInvalidValue;
    if (!hip_device_at(device))
        return hipErrorInvalidDevice;
    snprintf(name, (size_t)bytes, "%s", device_spec(hip_device_at(device))->name);
    return hipSuccess;
}

HIP_KNOWN(hipDeviceGetUuid, (uuid, device), struct hipUUID *uuid, hipDevice_t device)
{
    if (!uuid || !hip_device_at(device))
        return uuid ? hipErrorInvalidDevice : hipErrorInvalidValue;
    common_uuid(hip_device_at(device), uuid->bytes);
    return hipSuccess;
}

HIP_KNOWN(hipDeviceTotalMem, (bytes, device), size_t *bytes, hipDevice_t device)
{
    if (!bytes || !hip_device_at(device))
        return bytes ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *bytes = device_spec(hip_device_at(device))->memory;
    return hipSuccess;
}

HIP_KNOWN(hipDeviceComputeCapability, (major, minor, device), int *major, int *minor, hipDevice_t device)
{
    if (!major || !minor || !hip_device_at(device))
        return major && minor ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *major = (int)device_spec(hip_device_at(device))->major;
    *minor = (int)device_spec(hip_device_at(device))->minor;
    return hipSuccess;
}

/* ---- by their place on the PCI bus ---- */

HIP_KNOWN(hipDeviceGetPCIBusId, (name, bytes, index), char *name, int bytes, int index)
{
    if (!name || bytes < 13)
        return hipErrorInvalidValue;
    if (!hip_device_at(index))
        return hipErrorInvalidDevice;
    common_pci_name(hip_device_at(index), name, (size_t)bytes);
    return hipSuccess;
}

HIP_KNOWN(hipDeviceGetByPCIBusId, (index, name), int *index, const char *name)
{
    unsigned domain, bus, device;
    if (!index || !name || sscanf(name, "%x:%x:%x", &domain, &bus, &device) != 3)
        return hipErrorInvalidValue;
    int found = common_find_pci(hip_driver(), domain, bus, device);
    *index = found < 0 ? *index : found;
    return found < 0 ? hipErrorInvalidValue : hipSuccess;
}

/* ---- which there are, and which is current ---- */

HIP_ANY(hipInit, (flags), unsigned flags)
{
    return flags ? hipErrorInvalidValue : hip_known();
}

HIP_ANY(hipGetDeviceCount, (count), int *count)
{
    if (!count)
        return hipErrorInvalidValue;
    *count = hip_driver() ? (int)driver_device_count(hip_driver()) : 0;
    return *count ? hipSuccess : hipErrorNoDevice;
}

HIP_ANY(hipGetDevice, (index), int *index)
{
    if (!index)
        return hipErrorInvalidValue;
    hipError_t error = hip_device_set();
    *index = error ? 0 : (int)device_index(hip_device());
    return error;
}

HIP_KNOWN(hipSetDevice, (index), int index)
{
    if (!hip_device_at(index))
        return hipErrorInvalidDevice;
    hip_set_device(hip_device_at(index));
    return hipSuccess;
}

HIP_KNOWN(hipDeviceGet, (device, index), hipDevice_t *device, int index)
{
    if (!device || !hip_device_at(index))
        return device ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *device = index;
    return hipSuccess;
}

/* Which device fits best: all are alike. */
HIP_KNOWN(hipChooseDevice, (index, wanted), int *index, const struct hipDeviceProp *wanted)
{
    if (!index || !wanted)
        return hipErrorInvalidValue;
    *index = 0;
    return hipSuccess;
}

HIP_ANY(hipDriverGetVersion, (version), int *version)
{
    if (version)
        *version = HIP_VERSION;
    return version ? hipSuccess : hipErrorInvalidValue;
}
HIP_ALIAS(hipRuntimeGetVersion, hipDriverGetVersion);

HIP(hipDeviceSynchronize, (), void)
{
    return device_synchronize(hip_device());
}

HIP_ANY(hipDeviceReset, (), void)
{
    hipError_t error = hip_device_set();
    return error ? error : (hipError_t)device_reset(hip_device());
}

/* ---- what is set for a device and changes no result ---- */

HIP(hipDeviceGetLimit, (value, limit), size_t *value, int limit)
{
    return common_limit(hip_device(), limit, value);
}

HIP(hipSetDeviceFlags, (flags), unsigned flags)
{
    device_flags = flags;
    return hipSuccess;
}

HIP(hipGetDeviceFlags, (flags), unsigned *flags)
{
    if (flags)
        *flags = device_flags;
    return flags ? hipSuccess : hipErrorInvalidValue;
}

HIP(hipDeviceSetCacheConfig, (config), int config)
{
    (void)config; /* GCN's L1 and LDS are separate memories */
    return hipSuccess;
}

HIP(hipDeviceGetCacheConfig, (config), int *config)
{
    if (config)
        *config = 0; /* no preference */
    return config ? hipSuccess : hipErrorInvalidValue;
}

HIP(hipDeviceSetSharedMemConfig, (config), int config)
{
    (void)config; /* LDS banks have four bytes */
    return hipSuccess;
}

HIP(hipDeviceGetSharedMemConfig, (config), int *config)
{
    if (config)
        *config = 1; /* banks of four bytes */
    return config ? hipSuccess : hipErrorInvalidValue;
}

HIP_ANY(hipProfilerStart, (), void)
{
    region_profile(true);
    return hipSuccess;
}

HIP_ANY(hipProfilerStop, (), void)
{
    region_profile(false);
    return hipSuccess;
}

/* ---- peers ---- */

HIP_KNOWN(hipDeviceCanAccessPeer, (can, index, peer), int *can, int index, int peer)
{
    if (!can)
        return hipErrorInvalidValue;
    if (!hip_device_at(index) || !hip_device_at(peer))
        return hipErrorInvalidDevice;
    *can = index != peer && device_can_access_peer(hip_device_at(index), hip_device_at(peer));
    return hipSuccess;
}

HIP(hipDeviceEnablePeerAccess, (peer, flags), int peer, unsigned flags)
{
    if (!hip_device_at(peer) || flags)
        return flags ? hipErrorInvalidValue : hipErrorInvalidDevice;
    return device_enable_peer(hip_device(), hip_device_at(peer));
}

HIP(hipDeviceDisablePeerAccess, (peer), int peer)
{
    return hip_device_at(peer) ? (int)device_disable_peer(hip_device(), hip_device_at(peer))
                               : hipErrorInvalidDevice;
}
