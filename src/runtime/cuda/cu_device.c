/* The driver API: devices. */
#include "runtime/cuda/api.h"
#include "driver/region.h"

#include <stdio.h>
#include <string.h>

EXPORT CUresult cuInit(unsigned flags), cuDriverGetVersion(int *version);

CUresult cuInit(unsigned flags)
{
    return flags ? cudaErrorInvalidValue : cuda_initialize();
}

CUresult cuDriverGetVersion(int *version)
{
    if (version)
        *version = CUDA_VERSION;
    return version ? cudaSuccess : cudaErrorInvalidValue;
}

CU_ANY(cuDeviceGetCount, (count), int *count)
{
    if (!count)
        return cudaErrorInvalidValue;
    *count = (int)driver_device_count(cuda_driver());
    return cudaSuccess;
}

CU_ANY(cuDeviceGet, (device, index), CUdevice *device, int index)
{
    if (!device || !cuda_device_at(index))
        return device ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *device = index;
    return cudaSuccess;
}

CU_ANY(cuDeviceGetName, (name, bytes, device), char *name, int bytes, CUdevice device)
{
    if (!name || bytes <= 0)
        return cudaErrorInvalidValue;
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    snprintf(name, (size_t)bytes, "%s", device_spec(cuda_device_at(device))->name);
    return cudaSuccess;
}

CU_ANY(cuDeviceGetUuid_v2, (uuid, device), struct cudaUUID *uuid, CUdevice device)
{
    if (!uuid || !cuda_device_at(device))
        return uuid ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    common_uuid(cuda_device_at(device), uuid->bytes);
    return cudaSuccess;
}
CU_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);

CU_ANY(cuDeviceTotalMem_v2, (bytes, device), size_t *bytes, CUdevice device)
{
    if (!bytes || !cuda_device_at(device))
        return bytes ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *bytes = device_spec(cuda_device_at(device))->memory;
    return cudaSuccess;
}

CU_ANY(cuDeviceGetAttribute, (value, attribute, device), int *value, int attribute, CUdevice device)
{
    if (!value || !cuda_device_at(device))
        return value ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    return cuda_attribute(cuda_device_at(device), attribute, value) ? cudaSuccess : cudaErrorInvalidValue;
}

CU_ANY(cuDeviceGetProperties, (properties, device), struct CUdevprop *properties, CUdevice device)
{
    if (!properties || !cuda_device_at(device))
        return properties ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    const struct gpu_spec *gpu = device_spec(cuda_device_at(device));
    *properties = (struct CUdevprop){
        .maxThreadsPerBlock = (int)gpu->threads_per_block,
        .maxThreadsDim = {(int)gpu->block_x, (int)gpu->block_y, (int)gpu->block_z},
        .maxGridSize = {(int)gpu->grid_x, (int)gpu->grid_y, (int)gpu->grid_z},
        .sharedMemPerBlock = (int)gpu->shared_per_block,
        .totalConstantMemory = (int)gpu->const_memory,
        .SIMDWidth = (int)gpu->warp_lanes,
        .memPitch = (int)gpu->pitch_max,
        .regsPerBlock = (int)gpu->registers_per_block,
        .clockRate = (int)(gpu->clock / 1000),
        .textureAlign = (int)gpu->texture_alignment,
    };
    return cudaSuccess;
}

CU_ANY(cuDeviceComputeCapability, (major, minor, device), int *major, int *minor, CUdevice device)
{
    if (!major || !minor || !cuda_device_at(device))
        return major && minor ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *major = (int)device_spec(cuda_device_at(device))->major;
    *minor = (int)device_spec(cuda_device_at(device))->minor;
    return cudaSuccess;
}

CU_ANY(cuDeviceGetPCIBusId, (name, bytes, device), char *name, int bytes, CUdevice device)
{
    if (!name || bytes < 13)
        return cudaErrorInvalidValue;
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    common_pci_name(cuda_device_at(device), name, (size_t)bytes);
    return cudaSuccess;
}

CU_ANY(cuDeviceGetByPCIBusId, (device, name), CUdevice *device, const char *name)
{
    return device && name ? cuda_find_pci(name, device) : cudaErrorInvalidValue;
}

CU_ANY(cuDeviceGetTexture1DLinearMaxWidth, (width, format, channels, device), size_t *width, int format,
       unsigned channels, CUdevice device)
{
    (void)format, (void)channels;
    if (!width || !cuda_device_at(device))
        return width ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *width = device_spec(cuda_device_at(device))->texture_1d_linear;
    return cudaSuccess;
}

/* Whether a context can be bound to some of the SMs: it cannot. */
CU_ANY(cuDeviceGetExecAffinitySupport, (supported, type, device), int *supported, int type, CUdevice device)
{
    (void)type;
    if (!supported || !cuda_device_at(device))
        return supported ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *supported = 0;
    return cudaSuccess;
}

CU_ANY(cuDeviceCanAccessPeer, (can, device, peer), int *can, CUdevice device, CUdevice peer)
{
    if (!can)
        return cudaErrorInvalidValue;
    if (!cuda_device_at(device) || !cuda_device_at(peer))
        return cudaErrorInvalidDevice;
    *can = device != peer && device_can_access_peer(cuda_device_at(device), cuda_device_at(peer));
    return cudaSuccess;
}

CU_ANY(cuDeviceGetP2PAttribute, (value, attribute, from, to), int *value, int attribute, CUdevice from,
       CUdevice to)
{
    return cuda_peer_attribute(value, attribute, from, to);
}

EXPORT CUresult cuProfilerStart(void), cuProfilerStop(void);
EXPORT CUresult cuProfilerInitialize(const char *configuration, const char *output, int mode);

/* Its files are those of a profiler that is not there. */
CUresult cuProfilerInitialize(const char *configuration, const char *output, int mode)
{
    (void)configuration, (void)output, (void)mode;
    return cudaSuccess;
}

CUresult cuProfilerStart(void)
{
    region_profile(true);
    return cudaSuccess;
}

CUresult cuProfilerStop(void)
{
    region_profile(false);
    return cudaSuccess;
}
