/* The driver API: arrays, textures and surfaces. Descriptions are turned into the runtime API's form. */
#include "runtime/cuda/array.h"

#include <string.h>

static CUresult array_of(struct array **array, size_t width, size_t height, size_t depth, int format,
                         unsigned channels, unsigned flags)
{
    struct array_shape shape = {.width = width,
                                .height = height,
                                .depth = depth,
                                .format = (enum array_format)format,
                                .channels = channels,
                                .flags = flags};
    CUresult result =
        array && width ? (CUresult)array_new(cuda_device(), &shape, array) : cudaErrorInvalidValue;
    return result == cudaErrorInvalidChannelDescriptor ? cudaErrorInvalidValue : result;
}

CU(cuArrayCreate_v2, (array, desc), cudaArray_t *array, const struct CUDA_ARRAY_DESCRIPTOR *desc)
{
    return desc ? array_of(array, desc->Width, desc->Height, 0, desc->Format, desc->NumChannels, 0)
                : cudaErrorInvalidValue;
}

CU(cuArray3DCreate_v2, (array, desc), cudaArray_t *array, const struct CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return desc ? array_of(array, desc->Width, desc->Height, desc->Depth, desc->Format, desc->NumChannels,
                           desc->Flags)
                : cudaErrorInvalidValue;
}

CU(cuArrayDestroy, (array), cudaArray_t array)
{
    return array ? (CUresult)array_free(cuda_driver(), array) : cudaErrorInvalidResourceHandle;
}

CU(cuArrayGetDescriptor_v2, (desc, array), struct CUDA_ARRAY_DESCRIPTOR *desc, cudaArray_t array)
{
    if (!desc || !array)
        return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *desc = (struct CUDA_ARRAY_DESCRIPTOR){array->shape.width, array->shape.height, array->shape.format,
                                           array->shape.channels};
    return cudaSuccess;
}

CU(cuArray3DGetDescriptor_v2, (desc, array), struct CUDA_ARRAY3D_DESCRIPTOR *desc, cudaArray_t array)
{
    if (!desc || !array)
        return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    const struct array_shape *shape = &array->shape;
    *desc = (struct CUDA_ARRAY3D_DESCRIPTOR){shape->width,  shape->height,   shape->depth,
                                             shape->format, shape->channels, shape->flags};
    return cudaSuccess;
}

/* No array has planes, is sparse, or gets its memory later. */
CU(cuArrayGetPlane, (plane, array, index), cudaArray_t *plane, cudaArray_t array, unsigned index)
{
    (void)plane, (void)array, (void)index;
    return cudaErrorInvalidValue;
}

CU(cuArrayGetSparseProperties, (properties, array), void *properties, cudaArray_t array)
{
    (void)properties, (void)array;
    return cudaErrorInvalidValue;
}

CU(cuMipmappedArrayGetSparseProperties, (properties, mipmaps), void *properties, cudaMipmappedArray_t mipmaps)
{
    (void)properties, (void)mipmaps;
    return cudaErrorInvalidValue;
}

CU(cuArrayGetMemoryRequirements, (requirements, array, device), void *requirements, cudaArray_t array,
   CUdevice device)
{
    (void)requirements, (void)array, (void)device;
    return cudaErrorInvalidValue;
}

CU(cuMipmappedArrayGetMemoryRequirements, (requirements, mipmaps, device), void *requirements,
   cudaMipmappedArray_t mipmaps, CUdevice device)
{
    (void)requirements, (void)mipmaps, (void)device;
    return cudaErrorInvalidValue;
}

CU(cuMipmappedArrayCreate, (mipmaps, desc, levels), cudaMipmappedArray_t *mipmaps,
   const struct CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels)
{
    if (!desc)
        return cudaErrorInvalidValue;
    struct array_shape shape = {.width = desc->Width,
                                .height = desc->Height,
                                .depth = desc->Depth,
                                .format = (enum array_format)desc->Format,
                                .channels = desc->NumChannels,
                                .flags = desc->Flags};
    return cuda_mipmaps_new(mipmaps, &shape, levels);
}

CU(cuMipmappedArrayGetLevel, (array, mipmaps, level), cudaArray_t *array, cudaMipmappedArray_t mipmaps,
   unsigned level)
{
    return cuda_mipmaps_level(mipmaps, level, array);
}

CU(cuMipmappedArrayDestroy, (mipmaps), cudaMipmappedArray_t mipmaps)
{
    return mipmaps ? cuda_mipmaps_free(mipmaps) : cudaErrorInvalidResourceHandle;
}

/* ---- objects ---- */

bool cuda_is_format(int format, unsigned channels)
{
    bool known = (format >= ARRAY_U8 && format <= ARRAY_U32) || (format >= ARRAY_S8 && format <= ARRAY_S32) ||
                 format == ARRAY_F16 || format == ARRAY_F32;
    return known && (channels == 1 || channels == 2 || channels == 4);
}

static bool resource_of(const struct CUDA_RESOURCE_DESC *desc, struct cudaResourceDesc *resource)
{
    *resource = (struct cudaResourceDesc){.resType = desc->resType, .flags = desc->flags};
    switch (desc->resType) {
    case RESOURCE_ARRAY:
        resource->res.array = desc->res.array;
        return true;
    case RESOURCE_MIPMAPPED:
        resource->res.mipmap = desc->res.mipmap;
        return true;
    case RESOURCE_LINEAR:
        if (!cuda_is_format(desc->res.linear.format, desc->res.linear.numChannels))
            return false;
        resource->res.linear.devPtr = (void *)(uintptr_t)desc->res.linear.devPtr;
        resource->res.linear.desc =
            cuda_channels((enum array_format)desc->res.linear.format, desc->res.linear.numChannels);
        resource->res.linear.sizeInBytes = desc->res.linear.sizeInBytes;
        return true;
    case RESOURCE_PITCH2D:
        if (!cuda_is_format(desc->res.pitch2D.format, desc->res.pitch2D.numChannels))
            return false;
        resource->res.pitch2D.devPtr = (void *)(uintptr_t)desc->res.pitch2D.devPtr;
        resource->res.pitch2D.desc =
            cuda_channels((enum array_format)desc->res.pitch2D.format, desc->res.pitch2D.numChannels);
        resource->res.pitch2D.width = desc->res.pitch2D.width;
        resource->res.pitch2D.height = desc->res.pitch2D.height;
        resource->res.pitch2D.pitchInBytes = desc->res.pitch2D.pitchInBytes;
        return true;
    default:
        return false;
    }
}

/* Small integers are read as floats unless the flag says otherwise; all others as they are. */
int cuda_read_mode(const struct cudaResourceDesc *resource, unsigned flags)
{
    struct cudaChannelFormatDesc desc = {0};
    if (resource->resType == RESOURCE_LINEAR)
        desc = resource->res.linear.desc;
    else if (resource->resType == RESOURCE_PITCH2D)
        desc = resource->res.pitch2D.desc;
    else {
        const struct array *array =
            resource->resType == RESOURCE_ARRAY ? resource->res.array : resource->res.mipmap->levels[0];
        desc = cuda_channels(array->shape.format, array->shape.channels);
    }
    return !(flags & CU_TEXTURE_READ_AS_INTEGER) && desc.f != FORMAT_FLOAT && desc.x < 32;
}

CU(cuTexObjectCreate, (handle, resource, texture, view), cudaTextureObject_t *handle,
   const struct CUDA_RESOURCE_DESC *resource, const struct CUDA_TEXTURE_DESC *texture,
   const struct cudaResourceViewDesc *view)
{
    struct texture_source source = {0};
    if (!resource || !texture || !resource_of(resource, &source.resource))
        return cudaErrorInvalidValue;
    if (resource->resType <= RESOURCE_MIPMAPPED && !resource->res.array)
        return cudaErrorInvalidResourceHandle;
    struct cudaTextureDesc *desc = &source.texture;
    memcpy(desc->addressMode, texture->addressMode, sizeof desc->addressMode);
    desc->filterMode = texture->filterMode;
    desc->readMode = cuda_read_mode(&source.resource, texture->flags);
    desc->sRGB = !!(texture->flags & CU_TEXTURE_SRGB);
    memcpy(desc->borderColor, texture->borderColor, sizeof desc->borderColor);
    desc->normalizedCoords = !!(texture->flags & CU_TEXTURE_NORMALIZED_COORDINATES);
    desc->maxAnisotropy = texture->maxAnisotropy;
    desc->mipmapFilterMode = texture->mipmapFilterMode;
    desc->mipmapLevelBias = texture->mipmapLevelBias;
    desc->minMipmapLevelClamp = texture->minMipmapLevelClamp;
    desc->maxMipmapLevelClamp = texture->maxMipmapLevelClamp;
    source.driver_flags = texture->flags + 1;
    if (view)
        source.view = *view;
    return cuda_texture_new(handle, &source);
}

/* ---- what they are of: back into the driver API's form ---- */

static void tell_format(const struct cudaChannelFormatDesc *desc, int *format, unsigned *channels)
{
    enum array_format found;
    if (cuda_format(desc, &found, channels))
        *format = (int)found;
}

static CUresult tell_resource(struct CUDA_RESOURCE_DESC *desc, unsigned long long handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (!desc || !source)
        return cudaErrorInvalidValue;
    const struct cudaResourceDesc *of = &source->resource;
    *desc = (struct CUDA_RESOURCE_DESC){.resType = of->resType, .flags = of->flags};
    switch (of->resType) {
    case RESOURCE_ARRAY:
        desc->res.array = of->res.array;
        break;
    case RESOURCE_MIPMAPPED:
        desc->res.mipmap = of->res.mipmap;
        break;
    case RESOURCE_LINEAR:
        desc->res.linear.devPtr = (uintptr_t)of->res.linear.devPtr;
        tell_format(&of->res.linear.desc, &desc->res.linear.format, &desc->res.linear.numChannels);
        desc->res.linear.sizeInBytes = of->res.linear.sizeInBytes;
        break;
    default:
        desc->res.pitch2D.devPtr = (uintptr_t)of->res.pitch2D.devPtr;
        tell_format(&of->res.pitch2D.desc, &desc->res.pitch2D.format, &desc->res.pitch2D.numChannels);
        desc->res.pitch2D.width = of->res.pitch2D.width;
        desc->res.pitch2D.height = of->res.pitch2D.height;
        desc->res.pitch2D.pitchInBytes = of->res.pitch2D.pitchInBytes;
    }
    return cudaSuccess;
}

CU(cuTexObjectGetResourceDesc, (desc, handle), struct CUDA_RESOURCE_DESC *desc, cudaTextureObject_t handle)
{
    return tell_resource(desc, handle);
}

CU(cuSurfObjectGetResourceDesc, (desc, handle), struct CUDA_RESOURCE_DESC *desc, cudaSurfaceObject_t handle)
{
    return tell_resource(desc, handle);
}

CU(cuTexObjectGetResourceViewDesc, (desc, handle), struct cudaResourceViewDesc *desc,
   cudaTextureObject_t handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (!desc || !source)
        return cudaErrorInvalidValue;
    *desc = source->view;
    return cudaSuccess;
}

CU(cuTexObjectGetTextureDesc, (desc, handle), struct CUDA_TEXTURE_DESC *desc, cudaTextureObject_t handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (!desc || !source)
        return cudaErrorInvalidValue;
    const struct cudaTextureDesc *of = &source->texture;
    unsigned flags =
        (of->normalizedCoords ? CU_TEXTURE_NORMALIZED_COORDINATES : 0) | (of->sRGB ? CU_TEXTURE_SRGB : 0);
    *desc = (struct CUDA_TEXTURE_DESC){.filterMode = of->filterMode,
                                       .flags = flags | (of->readMode ? 0 : CU_TEXTURE_READ_AS_INTEGER),
                                       .maxAnisotropy = of->maxAnisotropy,
                                       .mipmapFilterMode = of->mipmapFilterMode,
                                       .mipmapLevelBias = of->mipmapLevelBias,
                                       .minMipmapLevelClamp = of->minMipmapLevelClamp,
                                       .maxMipmapLevelClamp = of->maxMipmapLevelClamp};
    if (source->driver_flags) /* as they were given: for floats they say nothing else */
        desc->flags = source->driver_flags - 1;
    memcpy(desc->addressMode, of->addressMode, sizeof desc->addressMode);
    memcpy(desc->borderColor, of->borderColor, sizeof desc->borderColor);
    return cudaSuccess;
}

CU(cuTexObjectDestroy, (handle), cudaTextureObject_t handle)
{
    return cuda_object_free(cuda_device(), handle);
}

CU(cuSurfObjectCreate, (handle, resource), cudaSurfaceObject_t *handle,
   const struct CUDA_RESOURCE_DESC *resource)
{
    struct cudaResourceDesc converted;
    return resource && resource_of(resource, &converted) ? cuda_surface_new(handle, &converted)
                                                         : cudaErrorInvalidValue;
}

CU(cuSurfObjectDestroy, (handle), cudaSurfaceObject_t handle)
{
    return cuda_object_free(cuda_device(), handle);
}
