/* Devices: numbers, attributes, limits, flags, peers; and functions by address. */
#pragma once
#include "kit.h"

FRESH(set_device_beyond_last)
{
    return cudaSetDevice(1000);
}
FRESH(set_device_negative)
{
    return cudaSetDevice(-1);
}
FRESH(last_error_of_nothing)
{
    return cudaGetLastError();
}
FRESH(set_flags_unknown)
{
    return cudaSetDeviceFlags(0x1000);
}
FRESH(set_flags_two_ways_to_wait)
{
    return cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield);
}
USE(set_flags_in_use)
{
    return cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
}
FRESH(set_valid_devices_none)
{
    return cudaSetValidDevices(0, 0);
}
FRESH(set_valid_devices_null)
{
    return cudaSetValidDevices(0, 1);
}
FRESH(set_valid_devices_beyond_last)
{
    int devices[] = {1000};
    return cudaSetValidDevices(devices, 1);
}
FRESH(set_valid_devices_too_many)
{
    int devices[] = {0, 0, 0, 0};
    return cudaSetValidDevices(devices, 4);
}
FRESH(init_device_beyond_last)
{
    return cudaInitDevice(1000, 0, 0);
}
FRESH(init_device_unknown_flags)
{
    return cudaInitDevice(0, 0, 0x80);
}
FRESH(init_device_unknown_device_flags)
{
    return cudaInitDevice(0, 0x1000, cudaInitDeviceFlagsAreValid);
}
USE(get_device_null)
{
    return cudaGetDevice(0);
}
USE(get_device_count_null)
{
    return cudaGetDeviceCount(0);
}
USE(device_properties_null)
{
    return cudaGetDeviceProperties(0, 0);
}
USE(device_properties_beyond_last)
{
    cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, 1000);
}
USE(device_properties_negative)
{
    cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, -1);
}
USE(device_attribute_null)
{
    return cudaDeviceGetAttribute(0, cudaDevAttrWarpSize, 0);
}
USE(device_attribute_unknown)
{
    int value;
    return cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0);
}
USE(device_attribute_zero)
{
    int value;
    return cudaDeviceGetAttribute(&value, (cudaDeviceAttr)0, 0);
}
USE(device_attribute_beyond_last)
{
    int value;
    return cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1000);
}
USE(choose_device_null)
{
    cudaDeviceProp properties = {};
    return cudaChooseDevice(0, &properties);
}
USE(choose_device_no_properties)
{
    int device;
    return cudaChooseDevice(&device, 0);
}
USE(device_flags_null)
{
    return cudaGetDeviceFlags(0);
}
USE(limit_unknown)
{
    return cudaDeviceSetLimit((cudaLimit)99, 1);
}
USE(limit_get_null)
{
    return cudaDeviceGetLimit(0, cudaLimitStackSize);
}
USE(limit_get_unknown)
{
    size_t value;
    return cudaDeviceGetLimit(&value, (cudaLimit)99);
}
USE(limit_get_sync_depth)
{
    size_t value;
    return cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth);
}
USE(limit_set_sync_depth)
{
    return cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4);
}
USE(limit_stack_too_big)
{
    return cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40);
}
USE(limit_heap_too_big)
{
    return cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)1 << 50);
}
USE(limit_printf_too_big)
{
    return cudaDeviceSetLimit(cudaLimitPrintfFifoSize, (size_t)1 << 50);
}
USE(limit_l2_fetch_too_big)
{
    return cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 4096);
}
USE(limit_persisting_too_big)
{
    return cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)1 << 40);
}
USE(cache_config_unknown)
{
    return cudaDeviceSetCacheConfig((cudaFuncCache)9);
}
USE(cache_config_null)
{
    return cudaDeviceGetCacheConfig(0);
}
USE(priority_range_null)
{
    return cudaDeviceGetStreamPriorityRange(0, 0);
}
USE(pci_id_null)
{
    return cudaDeviceGetPCIBusId(0, 20, 0);
}
USE(pci_id_no_room)
{
    char id[4];
    return cudaDeviceGetPCIBusId(id, 4, 0);
}
USE(pci_id_zero_room)
{
    char id[4];
    return cudaDeviceGetPCIBusId(id, 0, 0);
}
USE(pci_id_beyond_last)
{
    char id[20];
    return cudaDeviceGetPCIBusId(id, 20, 1000);
}
USE(by_pci_id_null)
{
    int device;
    return cudaDeviceGetByPCIBusId(&device, 0);
}
USE(by_pci_id_nonsense)
{
    int device;
    return cudaDeviceGetByPCIBusId(&device, "nonsense");
}
USE(by_pci_id_absent)
{
    int device;
    return cudaDeviceGetByPCIBusId(&device, "00ff:ff:1f.0");
}
USE(peer_can_null)
{
    return cudaDeviceCanAccessPeer(0, 0, 0);
}
USE(peer_can_self)
{
    int can;
    return cudaDeviceCanAccessPeer(&can, 0, 0);
}
USE(peer_can_beyond_last)
{
    int can;
    return cudaDeviceCanAccessPeer(&can, 0, 1000);
}
USE(peer_enable_self)
{
    return cudaDeviceEnablePeerAccess(0, 0);
}
USE(peer_enable_beyond_last)
{
    return cudaDeviceEnablePeerAccess(1000, 0);
}
USE(peer_enable_flags)
{
    return cudaDeviceEnablePeerAccess(0, 1);
}
USE(peer_disable_self)
{
    return cudaDeviceDisablePeerAccess(0);
}
USE(peer_disable_beyond_last)
{
    return cudaDeviceDisablePeerAccess(1000);
}
USE(peer_attribute_self)
{
    int value;
    return cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0);
}
USE(peer_attribute_unknown)
{
    int value;
    return cudaDeviceGetP2PAttribute(&value, (cudaDeviceP2PAttr)99, 0, 0);
}
USE(peer_attribute_beyond_last)
{
    int value;
    return cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1000);
}
USE(peer_copy_beyond_last)
{
    char *p = new_memory();
    return cudaMemcpyPeer(p, 1000, p, 0, 16);
}
USE(peer_copy_self)
{
    char *p = new_memory();
    return cudaMemcpyPeer(p, 0, p + 64, 0, 16);
}
USE(peer_copy_null)
{
    return cudaMemcpyPeer(0, 0, new_memory(), 0, 16);
}
USE(graph_memory_beyond_last)
{
    return cudaDeviceGraphMemTrim(1000);
}
USE(graph_memory_unknown)
{
    uint64_t value = 0;
    return cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)99, &value);
}
USE(graph_memory_set_current)
{
    uint64_t value = 0;
    return cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value);
}
USE(graph_memory_set_high_not_zero)
{
    uint64_t value = 5;
    return cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value);
}
USE(driver_version_null)
{
    return cudaDriverGetVersion(0);
}
USE(runtime_version_null)
{
    return cudaRuntimeGetVersion(0);
}
USE(entry_point_unknown)
{
    void *function;
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, 0, &found);
}
USE(entry_point_null)
{
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion("cuInit", 0, 13000, 0, &found);
}
USE(entry_point_no_name)
{
    void *function;
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion(0, &function, 13000, 0, &found);
}
USE(flush_unknown_target)
{
    return cudaDeviceFlushGPUDirectRDMAWrites((cudaFlushGPUDirectRDMAWritesTarget)9,
                                              cudaFlushGPUDirectRDMAWritesToOwner);
}
USE(texture_width_null)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaDeviceGetTexture1DLinearMaxWidth(0, &format, 0);
}
