/* Arrays and mipmapped arrays. */
#pragma once
#include "kit.h"

static cudaError_t make_array(cudaChannelFormatDesc format, size_t width, size_t height, unsigned flags)
{
    cudaArray_t array;
    return cudaMallocArray(&array, &format, width, height, flags);
}
static cudaError_t make_array_3d(cudaExtent extent, unsigned flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMalloc3DArray(&array, &format, extent, flags);
}
USE(array_null)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMallocArray(0, &format, 16, 16);
}
USE(array_no_format)
{
    cudaArray_t array;
    return cudaMallocArray(&array, 0, 16, 16);
}
USE(array_zero_width)
{
    return make_array(cudaCreateChannelDesc<float>(), 0, 16, 0);
}
USE(array_too_wide)
{
    return make_array(cudaCreateChannelDesc<float>(), 1 << 20, 16, 0);
}
USE(array_too_high)
{
    return make_array(cudaCreateChannelDesc<float>(), 16, 1 << 20, 0);
}
USE(array_three_channels)
{
    return make_array(cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat), 16, 16, 0);
}
USE(array_odd_bits)
{
    return make_array(cudaCreateChannelDesc(7, 0, 0, 0, cudaChannelFormatKindUnsigned), 16, 16, 0);
}
USE(array_unequal_channels)
{
    return make_array(cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned), 16, 16, 0);
}
USE(array_no_bits)
{
    return make_array(cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindFloat), 16, 16, 0);
}
USE(array_float_of_8_bits)
{
    return make_array(cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat), 16, 16, 0);
}
USE(array_unknown_kind)
{
    return make_array(cudaCreateChannelDesc(32, 0, 0, 0, (cudaChannelFormatKind)99), 16, 16, 0);
}
USE(array_unknown_flags)
{
    return make_array(cudaCreateChannelDesc<float>(), 16, 16, 0x1000);
}
USE(array_cubemap_by_2d)
{
    return make_array(cudaCreateChannelDesc<float>(), 16, 16, cudaArrayCubemap);
}
USE(array_3d_cubemap_not_square)
{
    return make_array_3d(make_cudaExtent(16, 8, 6), cudaArrayCubemap);
}
USE(array_3d_cubemap_five_faces)
{
    return make_array_3d(make_cudaExtent(16, 16, 5), cudaArrayCubemap);
}
USE(array_3d_depth_without_height)
{
    return make_array_3d(make_cudaExtent(16, 0, 4), 0);
}
USE(array_3d_too_deep)
{
    return make_array_3d(make_cudaExtent(16, 16, 20000), 0);
}
USE(array_3d_too_many_layers)
{
    return make_array_3d(make_cudaExtent(16, 16, 3000), cudaArrayLayered);
}
USE(array_3d_no_layers)
{
    return make_array_3d(make_cudaExtent(16, 16, 0), cudaArrayLayered);
}
USE(array_gather_3d)
{
    return make_array_3d(make_cudaExtent(16, 16, 4), cudaArrayTextureGather);
}
USE(array_info_null)
{
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags;
    return cudaArrayGetInfo(&format, &extent, &flags, 0);
}
USE(array_info_nothing_asked)
{
    return cudaArrayGetInfo(0, 0, 0, new_array());
}
USE(channel_format_null)
{
    return cudaGetChannelDesc(0, new_array());
}
USE(channel_format_of_null)
{
    cudaChannelFormatDesc format;
    return cudaGetChannelDesc(&format, 0);
}
USE(array_freed_twice)
{
    cudaArray_t array = new_array();
    NEED(cudaFreeArray(array));
    return cudaFreeArray(array);
}
static cudaError_t make_mipmap(cudaExtent extent, unsigned levels, unsigned flags,
                               cudaMipmappedArray_t *array)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMallocMipmappedArray(array, &format, extent, levels, flags);
}
USE(mipmap_null)
{
    return make_mipmap(make_cudaExtent(16, 16, 0), 2, 0, 0);
}
USE(mipmap_no_levels)
{
    cudaMipmappedArray_t array;
    return make_mipmap(make_cudaExtent(16, 16, 0), 0, 0, &array);
}
USE(mipmap_too_many_levels)
{
    cudaMipmappedArray_t array;
    return make_mipmap(make_cudaExtent(16, 16, 0), 20, 0, &array);
}
USE(mipmap_level_beyond_last)
{
    cudaMipmappedArray_t array;
    cudaArray_t level;
    NEED(make_mipmap(make_cudaExtent(16, 16, 0), 2, 0, &array));
    return cudaGetMipmappedArrayLevel(&level, array, 2);
}
USE(mipmap_level_null)
{
    cudaMipmappedArray_t array;
    NEED(make_mipmap(make_cudaExtent(16, 16, 0), 2, 0, &array));
    return cudaGetMipmappedArrayLevel(0, array, 0);
}
USE(mipmap_level_freed)
{
    cudaMipmappedArray_t array;
    cudaArray_t level;
    NEED(make_mipmap(make_cudaExtent(16, 16, 0), 2, 0, &array));
    NEED(cudaGetMipmappedArrayLevel(&level, array, 0));
    return cudaFreeArray(level);
}
USE(mipmap_free_null)
{
    return cudaFreeMipmappedArray(0);
}
USE(array_plane_of_one)
{
    cudaArray_t plane;
    return cudaArrayGetPlane(&plane, new_array(), 0);
}
USE(array_sparse_of_plain)
{
    cudaArraySparseProperties properties;
    return cudaArrayGetSparseProperties(&properties, new_array());
}
