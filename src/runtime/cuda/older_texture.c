/* Texture and surface references of programs of CUDA 11: `texture<float, 2> t;` is a variable of the host
 * that says how it is read, and a variable of the same name in the module. */
#include "runtime/cuda/register.h"
#include "runtime/cuda/texref.h"

struct textureReference {
    int normalized, filterMode, addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int reserved[14];
};
_Static_assert(sizeof(struct textureReference) == 124, "as CUDA 11 has it");

struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
};

/* What the program says of it now. */
static cudaError_t take(const struct textureReference *said, struct texref **ref)
{
    bool reads_floats;
    cudaError_t error = cuda_texref(said, false, ref, &reads_floats);
    if (error)
        return error;
    struct cudaTextureDesc *desc = &(*ref)->source.texture;
    *desc = (struct cudaTextureDesc){.filterMode = said->filterMode,
                                     .readMode = reads_floats,
                                     .sRGB = said->sRGB,
                                     .normalizedCoords = said->normalized,
                                     .maxAnisotropy = said->maxAnisotropy,
                                     .mipmapFilterMode = said->mipmapFilterMode,
                                     .mipmapLevelBias = said->mipmapLevelBias,
                                     .minMipmapLevelClamp = said->minMipmapLevelClamp,
                                     .maxMipmapLevelClamp = said->maxMipmapLevelClamp,
                                     .disableTrilinearOptimization = said->disableTrilinearOptimization};
    memcpy(desc->addressMode, said->addressMode, sizeof desc->addressMode);
    (*ref)->by_runtime = true;
    return cudaSuccess;
}

/* Floats are floats, whatever the template says. */
static cudaError_t bind(struct texref *ref, const struct cudaChannelFormatDesc *desc)
{
    if (desc->f == FORMAT_FLOAT)
        ref->source.texture.readMode = 0;
    return texref_bind(ref);
}

static cudaError_t bind_memory(size_t *offset, const struct textureReference *said, const void *memory,
                               const struct cudaChannelFormatDesc *desc, struct cudaResourceDesc *resource)
{
    struct texref *ref;
    enum array_format format;
    unsigned channels;
    if (!memory || !desc || !cuda_format(desc, &format, &channels))
        return cudaErrorInvalidValue;
    cudaError_t error = take(said, &ref);
    if (error)
        return error;
    void *from = texref_align(ref, memory);
    if (ref->offset && !offset)
        return cudaErrorInvalidValue;
    if (resource->resType == RESOURCE_LINEAR) {
        uint64_t element = (uint64_t)(desc->x + desc->y + desc->z + desc->w) / 8;
        uint64_t most = device_spec(ref->device)->texture_1d_linear * element - ref->offset;
        size_t *bytes = &resource->res.linear.sizeInBytes;
        *bytes = (*bytes > most ? most : *bytes) + ref->offset;
        resource->res.linear.devPtr = from;
        resource->res.linear.desc = *desc;
    } else {
        resource->res.pitch2D.devPtr = from;
        resource->res.pitch2D.desc = *desc;
        resource->res.pitch2D.width += ref->offset * 8 / (uint64_t)(desc->x + desc->y + desc->z + desc->w);
    }
    ref->source.resource = *resource;
    if (offset)
        *offset = ref->offset;
    return bind(ref, desc);
}

API(cudaBindTexture, (offset, said, memory, desc, bytes), size_t *offset, const struct textureReference *said,
    const void *memory, const struct cudaChannelFormatDesc *desc, size_t bytes)
{
    struct memory_facts facts;
    struct cudaResourceDesc resource = {.resType = RESOURCE_LINEAR, .res.linear = {.sizeInBytes = bytes}};
    uint64_t at = (uintptr_t)memory;
    if (memory_find(cuda_driver(), at, &facts) && bytes > facts.base + facts.bytes - at)
        resource.res.linear.sizeInBytes = facts.base + facts.bytes - at; /* UINT_MAX: all of it */
    return bind_memory(offset, said, memory, desc, &resource);
}

API(cudaBindTexture2D, (offset, said, memory, desc, width, height, pitch), size_t *offset,
    const struct textureReference *said, const void *memory, const struct cudaChannelFormatDesc *desc,
    size_t width, size_t height, size_t pitch)
{
    struct cudaResourceDesc resource = {
        .resType = RESOURCE_PITCH2D,
        .res.pitch2D = {.width = width, .height = height, .pitchInBytes = pitch}};
    return width && height ? bind_memory(offset, said, memory, desc, &resource) : cudaErrorInvalidValue;
}

API(cudaBindTextureToArray, (said, array, desc), const struct textureReference *said, cudaArray_t array,
    const struct cudaChannelFormatDesc *desc)
{
    struct texref *ref;
    cudaError_t error = take(said, &ref);
    if (error)
        return error;
    if (!array || !desc)
        return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    ref->source.resource = (struct cudaResourceDesc){.resType = RESOURCE_ARRAY, .res.array = array};
    ref->offset = 0;
    return bind(ref, desc);
}

API(cudaBindTextureToMipmappedArray, (said, mipmaps, desc), const struct textureReference *said,
    cudaMipmappedArray_t mipmaps, const struct cudaChannelFormatDesc *desc)
{
    struct texref *ref;
    cudaError_t error = take(said, &ref);
    if (error)
        return error;
    if (!mipmaps || !desc)
        return mipmaps ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    ref->source.resource = (struct cudaResourceDesc){.resType = RESOURCE_MIPMAPPED, .res.mipmap = mipmaps};
    ref->offset = 0;
    return bind(ref, desc);
}

API(cudaUnbindTexture, (said), const struct textureReference *said)
{
    struct texref *ref;
    cudaError_t error = cuda_texref(said, false, &ref, NULL);
    if (!error)
        texref_unbind(ref);
    return error;
}

API(cudaGetTextureAlignmentOffset, (offset, said), size_t *offset, const struct textureReference *said)
{
    struct texref *ref;
    cudaError_t error = offset ? cuda_texref(said, false, &ref, NULL) : cudaErrorInvalidValue;
    if (!error && !ref->is_bound)
        return cudaErrorInvalidTextureBinding;
    if (!error)
        *offset = ref->offset;
    return error;
}

API(cudaGetTextureReference, (said, symbol), const struct textureReference **said, const void *symbol)
{
    struct texref *ref;
    cudaError_t error = said ? cuda_texref(symbol, false, &ref, NULL) : cudaErrorInvalidValue;
    if (!error)
        *said = symbol;
    return error;
}

API(cudaBindSurfaceToArray, (said, array, desc), const struct surfaceReference *said, cudaArray_t array,
    const struct cudaChannelFormatDesc *desc)
{
    struct texref *ref;
    cudaError_t error = cuda_texref(said, true, &ref, NULL);
    if (error)
        return error;
    if (!array || !desc)
        return array ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    ref->source.resource = (struct cudaResourceDesc){.resType = RESOURCE_ARRAY, .res.array = array};
    return texref_bind(ref);
}

API(cudaGetSurfaceReference, (said, symbol), const struct surfaceReference **said, const void *symbol)
{
    struct texref *ref;
    cudaError_t error = said ? cuda_texref(symbol, true, &ref, NULL) : cudaErrorInvalidValue;
    if (!error)
        *said = symbol;
    return error;
}
