/* The driver API: texture and surface references. */
#include "runtime/cuda/texref.h"
#include "runtime/cuda/library.h"

#include <string.h>

enum { OVERRIDE_FORMAT = 1 }; /* CUDA's bits, */
enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16, NO_TRILINEAR = 32, SEAMLESS = 64 };
#define BAD_REF(ref, is_texture) (!texref_is_known(ref) || (ref)->is_surface == (is_texture))

static CUresult find(struct texref **ref, struct module *module, const char *name, bool is_surface)
{
    if (!ref || !name)
        return cudaErrorInvalidValue;
    return module ? texref_find(module, name, is_surface, ref) : cudaErrorInvalidResourceHandle;
}

CU(cuModuleGetTexRef, (ref, module, name), struct texref **ref, CUmodule module, const char *name)
{
    return find(ref, module, name, false);
}

CU(cuModuleGetSurfRef, (ref, module, name), struct texref **ref, CUmodule module, const char *name)
{
    return find(ref, module, name, true);
}

CU(cuTexRefCreate, (ref), struct texref **ref)
{
    if (!ref)
        return cudaErrorInvalidValue;
    *ref = texref_new();
    return cudaSuccess;
}

CU(cuTexRefDestroy, (ref), struct texref *ref)
{
    if (BAD_REF(ref, true) || ref->module)
        return cudaErrorInvalidValue;
    texref_free(ref);
    return cudaSuccess;
}

/* Of a kernel, in the launches of CUDA 3: it uses the reference anyway. */
CU(cuParamSetTexRef, (function, unit, ref), CUfunction function, int unit, struct texref *ref)
{
    enum { DEFAULT_UNIT = -1 };
    return function && unit == DEFAULT_UNIT && !BAD_REF(ref, true) ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- what it is bound to ---- */

static void take_format(struct texref *ref, const struct array *array)
{
    ref->format = array->shape.format;
    ref->channels = array->shape.channels;
}

CU(cuTexRefSetArray, (ref, array, flags), struct texref *ref, cudaArray_t array, unsigned flags)
{
    if (BAD_REF(ref, true) || !array || flags & ~(unsigned)OVERRIDE_FORMAT)
        return cudaErrorInvalidValue;
    ref->source.resource = (struct cudaResourceDesc){.resType = RESOURCE_ARRAY, .res.array = array};
    take_format(ref, array);
    return texref_bind(ref);
}

CU(cuTexRefSetMipmappedArray, (ref, mipmaps, flags), struct texref *ref, cudaMipmappedArray_t mipmaps,
   unsigned flags)
{
    if (BAD_REF(ref, true) || !mipmaps || flags & ~(unsigned)OVERRIDE_FORMAT)
        return cudaErrorInvalidValue;
    ref->source.resource = (struct cudaResourceDesc){.resType = RESOURCE_MIPMAPPED, .res.mipmap = mipmaps};
    take_format(ref, mipmaps->levels[0]);
    return texref_bind(ref);
}

/* More bytes than a texture has are passed over. */
static CUresult bind_linear(size_t *offset, struct texref *ref, CUdeviceptr memory, size_t bytes)
{
    const struct gpu_spec *gpu = device_spec(ref->device);
    struct cudaResourceDesc *resource = &ref->source.resource;
    void *from = texref_align(ref, (void *)(uintptr_t)memory);
    struct cudaChannelFormatDesc desc = cuda_channels(ref->format, ref->channels);
    uint64_t most = gpu->texture_1d_linear * (uint64_t)(desc.x + desc.y + desc.z + desc.w) / 8;
    if (ref->offset && !offset)
        return cudaErrorInvalidValue;
    bytes = bytes > most - ref->offset ? most - ref->offset : bytes;
    *resource = (struct cudaResourceDesc){
        .resType = RESOURCE_LINEAR,
        .res.linear = {.devPtr = from, .desc = desc, .sizeInBytes = bytes + ref->offset}};
    if (offset)
        *offset = ref->offset;
    return texref_bind(ref);
}

CU(cuTexRefSetAddress_v2, (offset, ref, memory, bytes), size_t *offset, struct texref *ref,
   CUdeviceptr memory, size_t bytes)
{
    if (BAD_REF(ref, true))
        return cudaErrorInvalidValue;
    if (memory || bytes)
        return bind_linear(offset, ref, memory, bytes);
    texref_unbind(ref);
    return cudaSuccess;
}

CU(cuTexRefSetAddress2D_v3, (ref, desc, memory, pitch), struct texref *ref,
   const struct CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr memory, size_t pitch)
{
    if (BAD_REF(ref, true) || !desc || !cuda_is_format((int)desc->Format, desc->NumChannels) ||
        !desc->Width || !desc->Height || memory % device_spec(ref->device)->texture_alignment)
        return cudaErrorInvalidValue;
    ref->format = (enum array_format)desc->Format;
    ref->channels = desc->NumChannels;
    ref->source.resource =
        (struct cudaResourceDesc){.resType = RESOURCE_PITCH2D,
                                  .res.pitch2D = {.devPtr = (void *)(uintptr_t)memory,
                                                  .desc = cuda_channels(ref->format, ref->channels),
                                                  .width = desc->Width,
                                                  .height = desc->Height,
                                                  .pitchInBytes = pitch}};
    return texref_bind(ref);
}
CU_ALIAS(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3);

CU(cuSurfRefSetArray, (ref, array, flags), struct texref *ref, cudaArray_t array, unsigned flags)
{
    if (BAD_REF(ref, false) || !array || flags)
        return cudaErrorInvalidValue;
    ref->source.resource = (struct cudaResourceDesc){.resType = RESOURCE_ARRAY, .res.array = array};
    return texref_bind(ref);
}

CU(cuTexRefGetAddress_v2, (memory, ref), CUdeviceptr *memory, struct texref *ref)
{
    const struct cudaResourceDesc *resource = BAD_REF(ref, true) ? NULL : &ref->source.resource;
    if (!resource || !memory || !ref->is_bound || resource->resType < RESOURCE_LINEAR)
        return cudaErrorInvalidValue;
    *memory = resource->resType == RESOURCE_LINEAR ? (uintptr_t)resource->res.linear.devPtr
                                                   : (uintptr_t)resource->res.pitch2D.devPtr;
    return cudaSuccess;
}

static CUresult tell_array(cudaArray_t *array, struct texref *ref, bool is_texture)
{
    if (BAD_REF(ref, is_texture) || !array || !ref->is_bound ||
        ref->source.resource.resType != RESOURCE_ARRAY)
        return cudaErrorInvalidValue;
    *array = ref->source.resource.res.array;
    return cudaSuccess;
}

CU(cuTexRefGetArray, (array, ref), cudaArray_t *array, struct texref *ref)
{
    return tell_array(array, ref, true);
}

CU(cuSurfRefGetArray, (array, ref), cudaArray_t *array, struct texref *ref)
{
    return tell_array(array, ref, false);
}

CU(cuTexRefGetMipmappedArray, (mipmaps, ref), cudaMipmappedArray_t *mipmaps, struct texref *ref)
{
    if (BAD_REF(ref, true) || !mipmaps || !ref->is_bound ||
        ref->source.resource.resType != RESOURCE_MIPMAPPED)
        return cudaErrorInvalidValue;
    *mipmaps = ref->source.resource.res.mipmap;
    return cudaSuccess;
}

/* ---- how it is read ---- */

CU(cuTexRefSetFormat, (ref, format, channels), struct texref *ref, int format, int channels)
{
    if (BAD_REF(ref, true) || channels < 0 || !cuda_is_format(format, (unsigned)channels))
        return cudaErrorInvalidValue;
    ref->format = (enum array_format)format;
    ref->channels = (unsigned)channels;
    if (ref->is_bound && ref->source.resource.resType == RESOURCE_LINEAR)
        ref->source.resource.res.linear.desc = cuda_channels(ref->format, ref->channels);
    texref_change(ref);
    return cudaSuccess;
}

CU(cuTexRefGetFormat, (format, channels, ref), int *format, int *channels, struct texref *ref)
{
    if (BAD_REF(ref, true))
        return cudaErrorInvalidValue;
    if (format)
        *format = (int)ref->format;
    if (channels)
        *channels = (int)ref->channels;
    return cudaSuccess;
}

CU(cuTexRefSetFlags, (ref, flags), struct texref *ref, unsigned flags)
{
    const unsigned known = READ_AS_INTEGER | NORMALIZED | SRGB | NO_TRILINEAR | SEAMLESS;
    if (BAD_REF(ref, true) || flags & ~known)
        return cudaErrorInvalidValue;
    ref->flags = flags;
    ref->source.texture.normalizedCoords = !!(flags & NORMALIZED);
    ref->source.texture.sRGB = !!(flags & SRGB);
    texref_change(ref);
    return cudaSuccess;
}

CU(cuTexRefSetAddressMode, (ref, dimension, mode), struct texref *ref, int dimension, int mode)
{
    enum { LAST = 3 };
    if (BAD_REF(ref, true) || dimension < 0 || dimension > 2 || mode < 0 || mode > LAST)
        return cudaErrorInvalidValue;
    ref->source.texture.addressMode[dimension] = mode;
    texref_change(ref);
    return cudaSuccess;
}

CU(cuTexRefGetAddressMode, (mode, ref, dimension), int *mode, struct texref *ref, int dimension)
{
    if (BAD_REF(ref, true) || !mode || dimension < 0 || dimension > 2)
        return cudaErrorInvalidValue;
    *mode = ref->source.texture.addressMode[dimension];
    return cudaSuccess;
}

CU(cuTexRefSetBorderColor, (ref, color), struct texref *ref, const float *color)
{
    if (BAD_REF(ref, true) || !color)
        return cudaErrorInvalidValue;
    memcpy(ref->source.texture.borderColor, color, sizeof ref->source.texture.borderColor);
    texref_change(ref);
    return cudaSuccess;
}

CU(cuTexRefGetBorderColor, (color, ref), float *color, struct texref *ref)
{
    if (BAD_REF(ref, true) || !color)
        return cudaErrorInvalidValue;
    memcpy(color, ref->source.texture.borderColor, sizeof ref->source.texture.borderColor);
    return cudaSuccess;
}

CU(cuTexRefSetMipmapLevelClamp, (ref, least, most), struct texref *ref, float least, float most)
{
    if (BAD_REF(ref, true))
        return cudaErrorInvalidValue;
    ref->source.texture.minMipmapLevelClamp = least;
    ref->source.texture.maxMipmapLevelClamp = most;
    texref_change(ref);
    return cudaSuccess;
}

CU(cuTexRefGetMipmapLevelClamp, (least, most, ref), float *least, float *most, struct texref *ref)
{
    if (BAD_REF(ref, true) || !least || !most)
        return cudaErrorInvalidValue;
    *least = ref->source.texture.minMipmapLevelClamp;
    *most = ref->source.texture.maxMipmapLevelClamp;
    return cudaSuccess;
}

/* Single values: which field, and which are good. */
#define VALUE(name, type, told, field, good)                                                                 \
    CU(cuTexRefSet##name, (ref, value), struct texref *ref, type value)                                      \
    {                                                                                                        \
        if (BAD_REF(ref, true) || !(good))                                                                   \
            return cudaErrorInvalidValue;                                                                    \
        ref->field = value;                                                                                  \
        texref_change(ref);                                                                                  \
        return cudaSuccess;                                                                                  \
    }                                                                                                        \
    CU(cuTexRefGet##name, (value, ref), told *value, struct texref *ref)                                     \
    {                                                                                                        \
        if (BAD_REF(ref, true) || !value)                                                                    \
            return cudaErrorInvalidValue;                                                                    \
        *value = (told)ref->field;                                                                           \
        return cudaSuccess;                                                                                  \
    }

VALUE(FilterMode, int, int, source.texture.filterMode, value == 0 || value == 1)
VALUE(MipmapFilterMode, int, int, source.texture.mipmapFilterMode, value == 0 || value == 1)
VALUE(MipmapLevelBias, float, float, source.texture.mipmapLevelBias, true)
VALUE(MaxAnisotropy, unsigned, int, source.texture.maxAnisotropy, true)

CU(cuTexRefGetFlags, (flags, ref), unsigned *flags, struct texref *ref)
{
    if (BAD_REF(ref, true) || !flags)
        return cudaErrorInvalidValue;
    *flags = ref->flags;
    return cudaSuccess;
}
