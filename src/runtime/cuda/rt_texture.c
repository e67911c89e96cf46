/* Texture and surface objects: what is said about them becomes exec's struct texture. */
#include "runtime/cuda/array.h"
#include "base/mem.h"
#include "exec/texture.h"

#include <string.h>

_Static_assert((int)MOST_LEVELS == (int)TEXTURE_LEVELS, "all levels of an array fit into a texture");

/* The image gives the texture back for a handle; it is the first member, so this is what it is of. */
struct texture_object {
    struct texture texture;
    struct texture_source source;
};

static void set_channels(struct texture *texture, enum array_format format, unsigned channels)
{
    static const enum texture_channel map[] = {
        [ARRAY_U8] = CHANNEL_U8,   [ARRAY_U16] = CHANNEL_U16, [ARRAY_U32] = CHANNEL_U32,
        [ARRAY_S8] = CHANNEL_S8,   [ARRAY_S16] = CHANNEL_S16, [ARRAY_S32] = CHANNEL_S32,
        [ARRAY_F16] = CHANNEL_F16, [ARRAY_F32] = CHANNEL_F32,
    };
    texture->channel = map[format];
    texture->channels = channels;
}

static void add_level(struct texture *texture, const struct array *array)
{
    const struct array_shape *shape = &array->shape;
    bool stacked = shape->flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
    texture->levels[texture->level_count++] =
        (struct texture_level){.memory = (unsigned char *)(uintptr_t)array->address,
                               .width = (uint32_t)shape->width,
                               .height = (uint32_t)(shape->height ? shape->height : 1),
                               .depth = (uint32_t)(shape->depth && !stacked ? shape->depth : 1),
                               .row_pitch = array->pitch,
                               .slice_pitch = array->pitch * array->rows};
}

static void set_arrays(struct texture *texture, struct array *const *levels, unsigned count)
{
    const struct array_shape *shape = &levels[0]->shape;
    bool layered = shape->flags & ARRAY_LAYERED, cube = shape->flags & ARRAY_CUBEMAP;
    set_channels(texture, shape->format, shape->channels);
    texture->layers = layered || cube ? (uint32_t)shape->depth : 0;
    texture->kind = cube            ? layered ? TEXTURE_CUBE_LAYERED : TEXTURE_CUBE
                    : layered       ? shape->height ? TEXTURE_2D_LAYERED : TEXTURE_1D_LAYERED
                    : shape->depth  ? TEXTURE_3D
                    : shape->height ? TEXTURE_2D
                                    : TEXTURE_1D;
    for (unsigned i = 0; i < count; i++)
        add_level(texture, levels[i]);
}

static bool set_memory(struct texture *texture, const void *memory, const struct cudaChannelFormatDesc *desc,
                       struct texture_level level)
{
    enum array_format format;
    unsigned channels;
    if (!memory || !cuda_format(desc, &format, &channels))
        return false;
    level.memory = (unsigned char *)(uintptr_t)memory;
    level.depth = 1;
    texture->levels[texture->level_count++] = level;
    set_channels(texture, format, channels);
    return true;
}

/* What the resource is made of; an H200 looks at it before all else. */
static cudaError_t check_resource(const struct cudaResourceDesc *resource)
{
    const struct gpu_spec *gpu = device_spec(cuda_device());
    struct memory_facts facts;
    bool linear = resource->resType == RESOURCE_LINEAR;
    const void *memory = linear ? resource->res.linear.devPtr : resource->res.pitch2D.devPtr;
    if (resource->resType == RESOURCE_ARRAY || resource->resType == RESOURCE_MIPMAPPED)
        return resource->res.array ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (!memory_find(cuda_driver(), (uint64_t)(uintptr_t)memory, &facts))
        return cudaErrorInvalidValue;
    const struct cudaChannelFormatDesc *desc =
        linear ? &resource->res.linear.desc : &resource->res.pitch2D.desc;
    uint64_t element = (uint64_t)(desc->x + desc->y + desc->z + desc->w) / 8;
    bool fits = linear ? (uint64_t)(uintptr_t)memory % gpu->texture_alignment == 0 &&
                             resource->res.linear.sizeInBytes <= element * gpu->texture_1d_linear
                       : resource->res.pitch2D.pitchInBytes % gpu->texture_pitch_alignment == 0;
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

/* The bytes of an element of a view's format; 0: of blocks. */
static uint64_t view_bytes(int format)
{
    enum { PLAIN = 24 };
    static const uint8_t channel[] = {1, 1, 2, 2, 4, 4, 2, 4}, channels[] = {1, 2, 4};
    return format >= 1 && format <= PLAIN ? (uint64_t)channel[(format - 1) / 3] * channels[(format - 1) % 3]
                                          : 0;
}

static cudaError_t check_view(const struct cudaResourceDesc *resource,
                              const struct cudaResourceViewDesc *view)
{
    const struct array *array = resource->resType == RESOURCE_ARRAY       ? resource->res.array
                                : resource->resType == RESOURCE_MIPMAPPED ? resource->res.mipmap->levels[0]
                                                                          : NULL;
    uint64_t bytes = view_bytes(view->format);
    return array && bytes && bytes != array->element_bytes ? cudaErrorInvalidValue : cudaSuccess;
}

static bool set_resource(struct texture *texture, const struct cudaResourceDesc *resource)
{
    const struct cudaChannelFormatDesc *desc;
    switch (resource->resType) {
    case RESOURCE_ARRAY:
        if (resource->res.array)
            set_arrays(texture, &resource->res.array, 1);
        return resource->res.array != NULL;
    case RESOURCE_MIPMAPPED:
        if (resource->res.mipmap)
            set_arrays(texture, resource->res.mipmap->levels, resource->res.mipmap->count);
        return resource->res.mipmap != NULL;
    case RESOURCE_LINEAR: {
        desc = &resource->res.linear.desc;
        uint64_t element = (uint64_t)(desc->x + desc->y + desc->z + desc->w) / 8;
        texture->kind = TEXTURE_BUFFER;
        return element && set_memory(texture, resource->res.linear.devPtr, desc,
                                     (struct texture_level){
                                         .width = (uint32_t)(resource->res.linear.sizeInBytes / element),
                                         .height = 1,
                                         .row_pitch = resource->res.linear.sizeInBytes,
                                         .slice_pitch = resource->res.linear.sizeInBytes});
    }
    case RESOURCE_PITCH2D: {
        uint64_t pitch = resource->res.pitch2D.pitchInBytes, height = resource->res.pitch2D.height;
        texture->kind = TEXTURE_2D;
        return set_memory(texture, resource->res.pitch2D.devPtr, &resource->res.pitch2D.desc,
                          (struct texture_level){.width = (uint32_t)resource->res.pitch2D.width,
                                                 .height = (uint32_t)height,
                                                 .row_pitch = pitch,
                                                 .slice_pitch = pitch * height});
    }
    default:
        return false;
    }
}

static cudaError_t set_sampling(struct texture *texture, const struct cudaTextureDesc *desc)
{
    bool integer = texture->channel != CHANNEL_F16 && texture->channel != CHANNEL_F32;
    bool wide = texture->channel == CHANNEL_U32 || texture->channel == CHANNEL_S32;
    enum { LAST_ADDRESS_MODE = 3 };
    for (int i = 0; i < 3; i++) {
        if (desc->addressMode[i] < 0 || desc->addressMode[i] > LAST_ADDRESS_MODE)
            return cudaErrorInvalidValue;
    }
    if (desc->filterMode < 0 || desc->filterMode > 1)
        return cudaErrorInvalidValue;
    if (desc->readMode == 1 && (wide || !integer))
        return cudaErrorInvalidNormSetting;
    if (desc->filterMode && integer && !desc->readMode)
        return cudaErrorInvalidFilterSetting;
    for (int i = 0; i < 3; i++)
        texture->address[i] = (enum texture_address)desc->addressMode[i];
    texture->filter = desc->filterMode ? FILTER_LINEAR : FILTER_POINT;
    texture->level_filter = desc->mipmapFilterMode ? FILTER_LINEAR : FILTER_POINT;
    texture->normalized = desc->normalizedCoords;
    texture->normalized_float = desc->readMode && integer;
    texture->srgb = desc->sRGB;
    memcpy(texture->border, desc->borderColor, sizeof texture->border);
    texture->level_bias = desc->mipmapLevelBias;
    texture->level_min = desc->minMipmapLevelClamp;
    texture->level_max = desc->maxMipmapLevelClamp;
    return cudaSuccess;
}

static cudaError_t make(unsigned long long *handle, const struct texture_source *source, bool is_surface)
{
    cudaError_t error = check_resource(&source->resource);
    if (!error)
        error = check_view(&source->resource, &source->view);
    if (error)
        return error;
    struct texture_object *object = mem_alloc(1, sizeof *object);
    object->source = *source;
    error = set_resource(&object->texture, &source->resource) ? cudaSuccess : cudaErrorInvalidValue;
    if (!error && !is_surface)
        error = set_sampling(&object->texture, &source->texture);
    if (error)
        mem_free(object);
    else
        *handle = image_add_texture(device_image(cuda_device()), &object->texture);
    return error;
}

cudaError_t cuda_texture_new(unsigned long long *handle, const struct texture_source *source)
{
    return handle ? make(handle, source, false) : cudaErrorInvalidValue;
}

cudaError_t cuda_surface_new(unsigned long long *handle, const struct cudaResourceDesc *resource)
{
    struct texture_source source = {.resource = *resource};
    return handle && resource->resType == RESOURCE_ARRAY ? make(handle, &source, true)
                                                         : cudaErrorInvalidValue;
}

static struct texture_object *object_of(struct device *device, unsigned long long handle)
{
    return (struct texture_object *)(uintptr_t)image_texture(device_image(device), handle);
}

cudaError_t cuda_object_free(struct device *device, unsigned long long handle)
{
    struct texture_object *object = object_of(device, handle);
    if (!object)
        return handle ? cudaErrorInvalidValue : cudaSuccess;
    device_synchronize(device); /* kernels that still use it were launched before: CUDA lets them */
    image_remove_texture(device_image(device), handle);
    mem_free(object);
    return cudaSuccess;
}

const struct texture_source *cuda_object_source(unsigned long long handle)
{
    struct texture_object *object = object_of(cuda_device(), handle);
    return object ? &object->source : NULL;
}

API(cudaCreateTextureObject, (handle, resource, texture, view), cudaTextureObject_t *handle,
    const struct cudaResourceDesc *resource, const struct cudaTextureDesc *texture,
    const struct cudaResourceViewDesc *view)
{
    struct texture_source source = {0};
    if (!resource)
        return cudaErrorInvalidValue;
    if (!texture)
        return cudaErrorInvalidResourceHandle;
    source.texture = *texture;
    source.resource = *resource;
    if (view)
        source.view = *view;
    return cuda_texture_new(handle, &source);
}

API(cudaDestroyTextureObject, (handle), cudaTextureObject_t handle)
{
    return cuda_object_free(cuda_device(), handle);
}

API(cudaCreateSurfaceObject, (handle, resource), cudaSurfaceObject_t *handle,
    const struct cudaResourceDesc *resource)
{
    return resource ? cuda_surface_new(handle, resource) : cudaErrorInvalidValue;
}

API(cudaDestroySurfaceObject, (handle), cudaSurfaceObject_t handle)
{
    return cuda_object_free(cuda_device(), handle);
}

API(cudaGetTextureObjectResourceDesc, (desc, handle), struct cudaResourceDesc *desc,
    cudaTextureObject_t handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (source)
        *desc = source->resource;
    return source ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaGetTextureObjectTextureDesc, (desc, handle), struct cudaTextureDesc *desc, cudaTextureObject_t handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (source)
        *desc = source->texture;
    return source ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaGetTextureObjectResourceViewDesc, (desc, handle), struct cudaResourceViewDesc *desc,
    cudaTextureObject_t handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (source)
        *desc = source->view;
    return source ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaGetSurfaceObjectResourceDesc, (desc, handle), struct cudaResourceDesc *desc,
    cudaSurfaceObject_t handle)
{
    const struct texture_source *source = cuda_object_source(handle);
    if (source)
        *desc = source->resource;
    return source ? cudaSuccess : cudaErrorInvalidValue;
}
