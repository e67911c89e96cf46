/* The driver API: memory that a program maps itself. */
#pragma once
#include "kit.h"
#include "driver.h"

static CUmemAllocationProp mapping_of(int device)
{
    CUmemAllocationProp what = {};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.location.id = device;
    return what;
}
static CUmemGenericAllocationHandle some_handle;
enum { MAP_BYTES = 2 << 20 };
USE(driver_mapping_odd_size)
{
    CUmemAllocationProp what = mapping_of(0);
    return cuMemCreate(&some_handle, 4096, &what, 0);
}
USE(driver_mapping_zero)
{
    CUmemAllocationProp what = mapping_of(0);
    return cuMemCreate(&some_handle, 0, &what, 0);
}
USE(driver_mapping_beyond_last)
{
    CUmemAllocationProp what = mapping_of(1000);
    return cuMemCreate(&some_handle, MAP_BYTES, &what, 0);
}
USE(driver_mapping_null)
{
    return cuMemCreate(&some_handle, MAP_BYTES, 0, 0);
}
USE(driver_mapping_flags)
{
    CUmemAllocationProp what = mapping_of(0);
    return cuMemCreate(&some_handle, MAP_BYTES, &what, 1);
}
USE(driver_granularity_null)
{
    CUmemAllocationProp what = mapping_of(0);
    return cuMemGetAllocationGranularity(0, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}
USE(driver_reserve_zero)
{
    return cuMemAddressReserve(&some_address, 0, 0, 0, 0);
}
USE(driver_reserve_odd_size)
{
    return cuMemAddressReserve(&some_address, 5000, 0, 0, 0);
}
USE(driver_reserve_odd_alignment)
{
    return cuMemAddressReserve(&some_address, MAP_BYTES, 3, 0, 0);
}
USE(driver_reserve_flags)
{
    return cuMemAddressReserve(&some_address, MAP_BYTES, 0, 0, 1);
}
static CUdeviceptr reserved()
{
    CUdeviceptr address = 0;
    NEED(cuMemAddressReserve(&address, MAP_BYTES, 0, 0, 0));
    return address;
}
static CUmemGenericAllocationHandle created()
{
    CUmemAllocationProp what = mapping_of(0);
    CUmemGenericAllocationHandle handle = 0;
    NEED(cuMemCreate(&handle, MAP_BYTES, &what, 0));
    return handle;
}
USE(driver_unreserve_other_size)
{
    return cuMemAddressFree(reserved(), MAP_BYTES * 2);
}
USE(driver_unreserve_mapped)
{
    CUdeviceptr address = reserved();
    NEED(cuMemMap(address, MAP_BYTES, 0, created(), 0));
    return cuMemAddressFree(address, MAP_BYTES);
}
USE(driver_map_not_reserved)
{
    return cuMemMap(MAP_BYTES, MAP_BYTES, 0, created(), 0);
}
USE(driver_map_offset)
{
    return cuMemMap(reserved(), MAP_BYTES, 4096, created(), 0);
}
USE(driver_map_too_long)
{
    return cuMemMap(reserved(), 2 * MAP_BYTES, 0, created(), 0);
}
USE(driver_map_twice)
{
    CUdeviceptr address = reserved();
    NEED(cuMemMap(address, MAP_BYTES, 0, created(), 0));
    return cuMemMap(address, MAP_BYTES, 0, created(), 0);
}
USE(driver_map_no_handle)
{
    return cuMemMap(reserved(), MAP_BYTES, 0, 0, 0);
}
USE(driver_unmap_not_mapped)
{
    return cuMemUnmap(reserved(), MAP_BYTES);
}
USE(driver_access_not_mapped)
{
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return cuMemSetAccess(reserved(), MAP_BYTES, &access, 1);
}
USE(driver_access_copy_without)
{
    CUdeviceptr address = reserved();
    NEED(cuMemMap(address, MAP_BYTES, 0, created(), 0));
    return cuMemcpyHtoD(address, on_host, 16);
}
USE(driver_release_zero)
{
    return cuMemRelease(0);
}
USE(driver_export_not_asked_for)
{
    int file;
    return cuMemExportToShareableHandle(&file, created(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}
