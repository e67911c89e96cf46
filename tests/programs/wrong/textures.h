/* Textures and surfaces. */
#pragma once
#include "kit.h"

static cudaResourceDesc array_resource(cudaArray_t array)
{
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    return what;
}
static cudaResourceDesc linear_resource(void *p, size_t bytes)
{
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeLinear;
    what.res.linear.devPtr = p;
    what.res.linear.desc = cudaCreateChannelDesc<float>();
    what.res.linear.sizeInBytes = bytes;
    return what;
}
static cudaResourceDesc pitch_resource(void *p, size_t width, size_t height, size_t pitch)
{
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypePitch2D;
    what.res.pitch2D.devPtr = p;
    what.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    what.res.pitch2D.width = width;
    what.res.pitch2D.height = height;
    what.res.pitch2D.pitchInBytes = pitch;
    return what;
}
static cudaError_t make_texture(cudaResourceDesc resource, cudaTextureDesc how = {},
                                cudaResourceViewDesc *view = 0)
{
    cudaTextureObject_t texture;
    return cudaCreateTextureObject(&texture, &resource, &how, view);
}
USE(texture_null)
{
    cudaResourceDesc what = array_resource(new_array());
    cudaTextureDesc how = {};
    return cudaCreateTextureObject(0, &what, &how, 0);
}
USE(texture_no_resource)
{
    cudaTextureObject_t texture;
    cudaTextureDesc how = {};
    return cudaCreateTextureObject(&texture, 0, &how, 0);
}
USE(texture_no_description)
{
    cudaTextureObject_t texture;
    cudaResourceDesc what = array_resource(new_array());
    return cudaCreateTextureObject(&texture, &what, 0, 0);
}
USE(texture_no_array)
{
    return make_texture(array_resource(0));
}
USE(texture_unknown_resource)
{
    cudaResourceDesc what = array_resource(new_array());
    what.resType = (cudaResourceType)9;
    return make_texture(what);
}
USE(texture_linear_host)
{
    return make_texture(linear_resource(malloc(4096), 4096));
}
USE(texture_linear_null)
{
    return make_texture(linear_resource(0, 4096));
}
USE(texture_linear_unaligned)
{
    return make_texture(linear_resource(new_memory() + 4, 64));
}
USE(texture_linear_too_long)
{
    return make_texture(linear_resource(new_memory(), (size_t)1 << 40));
}
USE(texture_linear_past_end)
{
    return make_texture(linear_resource(new_memory(1 << 21), 1 << 22));
}
USE(texture_linear_zero)
{
    return make_texture(linear_resource(new_memory(), 0));
}
USE(texture_linear_filter)
{
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModeLinear;
    return make_texture(linear_resource(new_memory(), 4096), how);
}
USE(texture_linear_normalized)
{
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    return make_texture(linear_resource(new_memory(), 4096), how);
}
USE(texture_pitch_unaligned)
{
    return make_texture(pitch_resource(new_memory(), 16, 2, 100));
}
USE(texture_pitch_below_width)
{
    return make_texture(pitch_resource(new_memory(), 64, 2, 32));
}
USE(texture_pitch_zero)
{
    return make_texture(pitch_resource(new_memory(), 0, 2, 64));
}
USE(texture_wrap_not_normalized)
{
    cudaTextureDesc how = {};
    how.addressMode[0] = cudaAddressModeWrap;
    return make_texture(array_resource(new_array()), how);
}
USE(texture_unknown_address_mode)
{
    cudaTextureDesc how = {};
    how.addressMode[0] = (cudaTextureAddressMode)9;
    return make_texture(array_resource(new_array()), how);
}
USE(texture_unknown_filter)
{
    cudaTextureDesc how = {};
    how.filterMode = (cudaTextureFilterMode)9;
    return make_texture(array_resource(new_array()), how);
}
USE(texture_unknown_read_mode)
{
    cudaTextureDesc how = {};
    how.readMode = (cudaTextureReadMode)9;
    return make_texture(array_resource(new_array()), how);
}
USE(texture_normalized_float_of_float)
{
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    return make_texture(array_resource(new_array()), how);
}
static cudaArray_t integer_array(int bits)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(bits, 0, 0, 0, cudaChannelFormatKindUnsigned);
    NEED(cudaMallocArray(&array, &format, 16, 16));
    return array;
}
USE(texture_normalized_float_of_32_bits)
{
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    return make_texture(array_resource(integer_array(32)), how);
}
USE(texture_filter_of_integers)
{
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModeLinear;
    return make_texture(array_resource(integer_array(8)), how);
}
USE(texture_srgb_of_float)
{
    cudaTextureDesc how = {};
    how.sRGB = 1;
    return make_texture(array_resource(new_array()), how);
}
USE(texture_anisotropy_too_much)
{
    cudaTextureDesc how = {};
    how.maxAnisotropy = 99;
    return make_texture(array_resource(new_array()), how);
}
USE(texture_view_of_linear)
{
    cudaResourceViewDesc view = {};
    view.format = cudaResViewFormatFloat1;
    return make_texture(linear_resource(new_memory(), 4096), {}, &view);
}
USE(texture_view_other_size)
{
    cudaResourceViewDesc view = {};
    view.format = cudaResViewFormatFloat4;
    view.width = view.height = 32;
    return make_texture(array_resource(new_array()), {}, &view);
}
USE(texture_of_mipmap_null)
{
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeMipmappedArray;
    return make_texture(what);
}
USE(texture_destroy_zero)
{
    return cudaDestroyTextureObject(0);
}
USE(texture_resource_null)
{
    return cudaGetTextureObjectResourceDesc(0, 0);
}
USE(surface_null)
{
    cudaResourceDesc what = array_resource(new_array(16, 16, cudaArraySurfaceLoadStore));
    return cudaCreateSurfaceObject(0, &what);
}
USE(surface_of_plain_array)
{
    cudaSurfaceObject_t surface;
    cudaResourceDesc what = array_resource(new_array());
    return cudaCreateSurfaceObject(&surface, &what);
}
USE(surface_of_linear)
{
    cudaSurfaceObject_t surface;
    cudaResourceDesc what = linear_resource(new_memory(), 4096);
    return cudaCreateSurfaceObject(&surface, &what);
}
USE(surface_no_array)
{
    cudaSurfaceObject_t surface;
    cudaResourceDesc what = array_resource(0);
    return cudaCreateSurfaceObject(&surface, &what);
}
USE(surface_no_resource)
{
    cudaSurfaceObject_t surface;
    return cudaCreateSurfaceObject(&surface, 0);
}
USE(surface_destroy_zero)
{
    return cudaDestroySurfaceObject(0);
}
