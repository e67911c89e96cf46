// What the driver API says about pools, ranges of managed memory, textures and surfaces.
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include "check.h"

static void pools()
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE};
    CUmemPoolProps properties = {};
    CUmemoryPool pool, current;
    CUmemAccess_flags flags;
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = here;
    GOOD(cuMemPoolCreate(&pool, &properties));
    GOOD(cuMemPoolGetAccess(&flags, pool, &here));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAccess(nullptr, pool, &here));
    GOOD(cuMemGetDefaultMemPool(&current, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CUmemoryPool usual = current;
    GOOD(cuMemGetMemPool(&current, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(current == usual);
    GOOD(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    GOOD(cuMemGetMemPool(&current, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(current == pool);
    GOOD(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, usual));
    GOOD(cuMemPoolDestroy(pool));
}

static void ranges()
{
    enum { BYTES = 1 << 21 };
    CUdeviceptr managed;
    int read_mostly = -1, preferred = -1;
    void *data[] = {&read_mostly, &preferred};
    size_t bytes[] = {sizeof read_mostly, sizeof preferred};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE};
    GOOD(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    GOOD(cuMemRangeGetAttributes(data, bytes, attributes, 2, managed, BYTES));
    CHECK(read_mostly == 0 && preferred == CU_DEVICE_INVALID);
    GOOD(cuMemAdvise(managed, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    GOOD(cuMemAdvise(managed, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    GOOD(cuMemRangeGetAttributes(data, bytes, attributes, 2, managed, BYTES));
    CHECK(read_mostly == 1 && preferred == 0);
    GOOD(cuMemFree(managed));
}

static void textures()
{
    CUdeviceptr memory;
    CUDA_RESOURCE_DESC resource = {}, told;
    CUDA_TEXTURE_DESC sampling = {}, told_sampling;
    CUDA_RESOURCE_VIEW_DESC view;
    CUtexObject texture;
    CUsurfObject surface;
    CUDA_ARRAY3D_DESCRIPTOR shape = {16, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    GOOD(cuMemAlloc(&memory, 4096));
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
    resource.res.linear.numChannels = 4;
    resource.res.linear.sizeInBytes = 4096;
    sampling.flags = CU_TRSF_READ_AS_INTEGER;
    sampling.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
    GOOD(cuTexObjectCreate(&texture, &resource, &sampling, nullptr));
    GOOD(cuTexObjectGetResourceDesc(&told, texture));
    CHECK(told.resType == resource.resType && told.res.linear.devPtr == memory);
    CHECK(told.res.linear.format == CU_AD_FORMAT_UNSIGNED_INT8 && told.res.linear.numChannels == 4);
    CHECK(told.res.linear.sizeInBytes == 4096);
    GOOD(cuTexObjectGetTextureDesc(&told_sampling, texture));
    CHECK(told_sampling.flags == CU_TRSF_READ_AS_INTEGER && told_sampling.addressMode[0] == CU_TR_ADDRESS_MODE_CLAMP);
    GOOD(cuTexObjectDestroy(texture));
    GOOD(cuArray3DCreate(&array, &shape));
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    GOOD(cuSurfObjectCreate(&surface, &resource));
    GOOD(cuSurfObjectGetResourceDesc(&told, surface));
    CHECK(told.resType == CU_RESOURCE_TYPE_ARRAY && told.res.array.hArray == array);
    GOOD(cuSurfObjectDestroy(surface));
    sampling.flags = CU_TRSF_NORMALIZED_COORDINATES;
    sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
    sampling.maxMipmapLevelClamp = 3;
    memset(&view, 0, sizeof view);
    view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
    view.width = 16;
    view.height = 8;
    GOOD(cuTexObjectCreate(&texture, &resource, &sampling, &view));
    GOOD(cuTexObjectGetTextureDesc(&told_sampling, texture));
    CHECK(told_sampling.flags == CU_TRSF_NORMALIZED_COORDINATES && told_sampling.maxMipmapLevelClamp == 3);
    CHECK(told_sampling.filterMode == CU_TR_FILTER_MODE_LINEAR);
    memset(&view, 0, sizeof view);
    GOOD(cuTexObjectGetResourceViewDesc(&view, texture));
    CHECK(view.format == CU_RES_VIEW_FORMAT_FLOAT_1X32 && view.width == 16 && view.height == 8);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(nullptr, texture));
    GOOD(cuTexObjectDestroy(texture));
    GOOD(cuArrayDestroy(array));
    GOOD(cuMemFree(memory));
}

int main()
{
    CUcontext context;
    CUdevice device;
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    pools();
    ranges();
    textures();
    return check_end("queries");
}
