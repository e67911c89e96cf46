/* Arrays: linear memory of a device with a shape. */
#include "driver/internal.h"
#include "base/bits.h"
#include "base/mem.h"

static uint64_t format_bytes(enum array_format format)
{
    switch (format) {
    case ARRAY_U8:
    case ARRAY_S8:
        return 1;
    case ARRAY_U16:
    case ARRAY_S16:
    case ARRAY_F16:
        return 2;
    case ARRAY_U32:
    case ARRAY_S32:
    case ARRAY_F32:
        return 4;
    }
    return 0;
}

static enum result check(const struct gpu_spec *gpu, const struct array_shape *shape)
{
    bool layered = shape->flags & (ARRAY_LAYERED | ARRAY_CUBEMAP), solid = shape->depth && !layered;
    uint64_t x = layered ? gpu->texture_layered : solid ? gpu->texture_3d : gpu->texture_2d_x;
    uint64_t y = layered ? gpu->texture_layered : solid ? gpu->texture_3d : gpu->texture_2d_y;
    uint64_t z = layered ? gpu->texture_layers : gpu->texture_3d;
    if (!format_bytes(shape->format) ||
        (shape->channels != 1 && shape->channels != 2 && shape->channels != 4))
        return driver_fail(RESULT_INVALID_CHANNEL_DESCRIPTOR,
                           "an array has 1, 2 or 4 channels of 8, 16 or 32 bits");
    uint64_t longer = gpu->texture_3d / 2; /* flat and deep, in the place of a cube */
    if (solid && shape->depth > z && shape->width <= longer && shape->height <= longer)
        z = 2 * gpu->texture_3d;
    if (!shape->width || shape->width > x || shape->height > y || shape->depth > z)
        return driver_fail(RESULT_INVALID_VALUE, "arrays of this kind have 1 to %llu x %llu x %llu elements",
                           (unsigned long long)x, (unsigned long long)y, (unsigned long long)z);
    return RESULT_SUCCESS;
}

enum result array_new(struct device *device, const struct array_shape *shape, struct array **array)
{
    enum result result = device_usable(device);
    if (!result && shape->flags & (ARRAY_SPARSE | ARRAY_DEFERRED)) {
        result = driver_fail(RESULT_NOT_SUPPORTED,
                             "arrays that are sparse, or get their memory later, are not supported "
                             "(cudaArraySparse, cudaArrayDeferredMapping)");
        driver_report(device->driver, driver_detail());
    }
    if (!result)
        result = check(device->spec, shape);
    if (result)
        return result;
    struct array_entry *entry = mem_alloc(1, sizeof *entry);
    struct array *made = &entry->array;
    made->shape = *shape;
    made->device = device;
    made->element_bytes = format_bytes(shape->format) * shape->channels;
    made->rows = max_u64(shape->height, 1);
    made->pitch = shape->width * made->element_bytes;
    if (made->rows > 1) {
        uint64_t unit = device->spec->texture_pitch_alignment;
        made->pitch = (made->pitch + unit - 1) / unit * unit;
    }
    made->bytes = made->pitch * made->rows * max_u64(shape->depth, 1);
    struct memory_request request = {
        .kind = MEMORY_ARRAY, .bytes = made->bytes, .alignment = ARENA_UNIT, .what = "an array"};
    result = memory_take(device->driver, device, &request, &made->address);
    if (result) {
        mem_free(entry);
        return result;
    }
    pthread_mutex_lock(&device->driver->memory.lock);
    entry->next = device->arrays;
    device->arrays = entry;
    pthread_mutex_unlock(&device->driver->memory.lock);
    *array = made;
    return RESULT_SUCCESS;
}

/* Takes it out of the device's list: NULL when it is in no device's. */
static struct array_entry *take_out(struct driver *driver, const struct array *array)
{
    struct array_entry *found = NULL;
    pthread_mutex_lock(&driver->memory.lock);
    for (unsigned i = 0; i < driver->device_count && !found; i++) {
        for (struct array_entry **at = &driver->devices[i].arrays; *at; at = &(*at)->next) {
            if (&(*at)->array == array) {
                found = *at;
                *at = found->next;
                break;
            }
        }
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return found;
}

enum result array_free(struct driver *driver, struct array *array)
{
    if (!array)
        return RESULT_SUCCESS;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    struct array_entry *entry = take_out(driver, array);
    if (!entry)
        return driver_fail(RESULT_INVALID_HANDLE, "there is no such array");
    enum result result = device_synchronize(entry->array.device);
    memory_give(driver, entry->array.address);
    mem_free(entry);
    return result;
}

void arrays_fini(struct device *device)
{
    for (struct array_entry *next, *entry = device->arrays; entry; entry = next) {
        next = entry->next;
        mem_free(entry);
    }
    device->arrays = NULL;
}
