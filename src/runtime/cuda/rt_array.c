/* Arrays: memory that textures and surfaces are made over. */
#include "runtime/cuda/array.h"
#include "base/mem.h"

struct format_row {
    enum array_format format;
    int bits, kind;
};

static const struct format_row formats[] = {
    {ARRAY_U8, 8, FORMAT_UNSIGNED}, {ARRAY_U16, 16, FORMAT_UNSIGNED}, {ARRAY_U32, 32, FORMAT_UNSIGNED},
    {ARRAY_S8, 8, FORMAT_SIGNED},   {ARRAY_S16, 16, FORMAT_SIGNED},   {ARRAY_S32, 32, FORMAT_SIGNED},
    {ARRAY_F16, 16, FORMAT_FLOAT},  {ARRAY_F32, 32, FORMAT_FLOAT},
};

bool cuda_format(const struct cudaChannelFormatDesc *desc, enum array_format *format, unsigned *channels)
{
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    *channels = 0;
    while (*channels < 4 && bits[*channels])
        ++*channels;
    for (unsigned i = 0; i < 4; i++) {
        if (bits[i] != (i < *channels ? bits[0] : 0))
            return false;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        *format = formats[i].format;
        if (formats[i].bits == bits[0] && formats[i].kind == desc->f)
            return *channels != 3;
    }
    return false;
}

struct cudaChannelFormatDesc cuda_channels(enum array_format format, unsigned channels)
{
    size_t i = 0;
    while (formats[i].format != format)
        i++;
    int bits = formats[i].bits;
    return (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                          channels > 3 ? bits : 0, formats[i].kind};
}

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* Which extents go with which flags. */
static bool extent_fits(struct cudaExtent extent, unsigned flags)
{
    enum { SURFACE = 2, GATHER = 8, COLOR = 0x20, SPARSE = 0x40, DEFERRED = 0x80, FACES = 6 };
    const unsigned all = ARRAY_LAYERED | SURFACE | ARRAY_CUBEMAP | GATHER | COLOR | SPARSE | DEFERRED;
    bool layered = flags & ARRAY_LAYERED, cube = flags & ARRAY_CUBEMAP,
         solid = extent.depth && !layered && !cube;
    if (flags & ~all || (layered && !extent.depth) || (solid && !extent.height) || (flags & GATHER && solid))
        return false;
    return !cube || (extent.width == extent.height && extent.depth && extent.depth % FACES == 0 &&
                     (layered || extent.depth == FACES));
}

static cudaError_t shape_of(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                            unsigned flags, struct array_shape *shape)
{
    *shape = (struct array_shape){
        .width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
    if (!desc || !extent.width || !extent_fits(extent, flags))
        return cudaErrorInvalidValue;
    return cuda_format(desc, &shape->format, &shape->channels) ? cudaSuccess
                                                               : cudaErrorInvalidChannelDescriptor;
}

API_WAITS(cudaMallocArray, (array, desc, width, height, flags), cudaArray_t *array,
          const struct cudaChannelFormatDesc *desc, size_t width, size_t height, unsigned flags)
{
    struct array_shape shape;
    cudaError_t error =
        array ? shape_of(desc, (struct cudaExtent){width, height, 0}, flags, &shape) : cudaErrorInvalidValue;
    return error ? error : (cudaError_t)array_new(cuda_device(), &shape, array);
}

API_WAITS(cudaMalloc3DArray, (array, desc, extent, flags), cudaArray_t *array,
          const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned flags)
{
    struct array_shape shape;
    cudaError_t error = array ? shape_of(desc, extent, flags, &shape) : cudaErrorInvalidValue;
    return error ? error : (cudaError_t)array_new(cuda_device(), &shape, array);
}

API_WAITS(cudaFreeArray, (array), cudaArray_t array)
{
    return array ? (cudaError_t)array_free(cuda_driver(), array) : cudaSuccess;
}

API(cudaGetChannelDesc, (desc, array), struct cudaChannelFormatDesc *desc, cudaArray_t array)
{
    if (!desc || !array)
        return desc ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *desc = cuda_channels(array->shape.format, array->shape.channels);
    return cudaSuccess;
}

API(cudaArrayGetInfo, (desc, extent, flags, array), struct cudaChannelFormatDesc *desc,
    struct cudaExtent *extent, unsigned *flags, cudaArray_t array)
{
    if (!array)
        return cudaErrorInvalidResourceHandle;
    if (desc)
        *desc = cuda_channels(array->shape.format, array->shape.channels);
    if (extent)
        *extent = (struct cudaExtent){array->shape.width, array->shape.height, array->shape.depth};
    if (flags)
        *flags = array->shape.flags;
    return cudaSuccess;
}

/* No array has planes, and none is sparse. */
API(cudaArrayGetPlane, (plane, array, index), cudaArray_t *plane, cudaArray_t array, unsigned index)
{
    (void)plane, (void)array, (void)index;
    return cudaErrorInvalidValue;
}

API(cudaArrayGetSparseProperties, (properties, array), void *properties, cudaArray_t array)
{
    (void)properties, (void)array;
    return cudaErrorInvalidValue;
}

API(cudaMipmappedArrayGetSparseProperties, (properties, mipmaps), void *properties,
    cudaMipmappedArray_t mipmaps)
{
    (void)properties, (void)mipmaps;
    return cudaErrorInvalidValue;
}

/* Memory is asked for of arrays that get it later, of which there are none. */
API(cudaArrayGetMemoryRequirements, (requirements, array, device), void *requirements, cudaArray_t array,
    int device)
{
    (void)requirements, (void)array, (void)device;
    return cudaErrorInvalidValue;
}

API(cudaMipmappedArrayGetMemoryRequirements, (requirements, mipmaps, device), void *requirements,
    cudaMipmappedArray_t mipmaps, int device)
{
    (void)requirements, (void)mipmaps, (void)device;
    return cudaErrorInvalidValue;
}

/* ---- mipmaps ---- */

static uint64_t half(uint64_t side, bool whole)
{
    return whole || side <= 1 ? side : side / 2;
}

cudaError_t cuda_mipmaps_new(struct mipmaps **mipmaps, const struct array_shape *shape, unsigned levels)
{
    struct array_shape level = *shape;
    bool layers = shape->flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
    cudaError_t error = cudaSuccess;
    uint64_t longest = shape->width > shape->height ? shape->width : shape->height;
    unsigned most = 1;
    if (!mipmaps)
        return cudaErrorInvalidValue;
    longest = !layers && shape->depth > longest ? shape->depth : longest;
    while (most < MOST_LEVELS && longest >> most)
        most++;
    levels = !levels ? 1 : levels > most ? most : levels; /* as many as there can be, at least one */
    *mipmaps = mem_alloc(1, sizeof **mipmaps);
    while (!error && (*mipmaps)->count < levels) {
        error = array_new(cuda_device(), &level, &(*mipmaps)->levels[(*mipmaps)->count]);
        (*mipmaps)->count += !error;
        level.width = half(level.width, false);
        level.height = half(level.height, false);
        level.depth = half(level.depth, layers);
    }
    if (error) {
        cuda_mipmaps_free(*mipmaps);
        *mipmaps = NULL;
    }
    return error;
}

cudaError_t cuda_mipmaps_free(struct mipmaps *mipmaps)
{
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; mipmaps && i < mipmaps->count; i++) {
        cudaError_t one = array_free(cuda_driver(), mipmaps->levels[i]);
        error = error ? error : one;
    }
    mem_free(mipmaps);
    return error;
}

cudaError_t cuda_mipmaps_level(struct mipmaps *mipmaps, unsigned level, struct array **array)
{
    if (!mipmaps || !array || level >= mipmaps->count)
        return mipmaps ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    *array = mipmaps->levels[level];
    return cudaSuccess;
}

API_WAITS(cudaMallocMipmappedArray, (mipmaps, desc, extent, levels, flags), cudaMipmappedArray_t *mipmaps,
          const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned levels, unsigned flags)
{
    struct array_shape shape;
    cudaError_t error = shape_of(desc, extent, flags, &shape);
    return error ? error : cuda_mipmaps_new(mipmaps, &shape, levels);
}

API(cudaGetMipmappedArrayLevel, (array, mipmaps, level), cudaArray_t *array, cudaMipmappedArray_t mipmaps,
    unsigned level)
{
    return cuda_mipmaps_level(mipmaps, level, array);
}

API_WAITS(cudaFreeMipmappedArray, (mipmaps), cudaMipmappedArray_t mipmaps)
{
    return cuda_mipmaps_free(mipmaps);
}
