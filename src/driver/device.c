#include "driver/internal.h"
#include "driver/timeline.h"
#include "attach/attach.h"
#include "base/bits.h"
#include "base/mem.h"
#include "itrace/itrace.h"

#define GIB UINT64_C(0x40000000)

enum { HEAP_PAGE = 4096 };

static const uint64_t limit_starts[LIMIT_COUNT] = {
#define L(id, number, start, most) [number] = start,
    DEVICE_LIMITS(L)
#undef L
};
static const uint64_t limit_mosts[LIMIT_COUNT] = {
#define L(id, number, start, most) [number] = most,
    DEVICE_LIMITS(L)
#undef L
};

static void set_limits(struct device *device)
{
    for (int i = 0; i < LIMIT_COUNT; i++)
        device->limits[i] = limit_starts[i];
    device->limits[LIMIT_PERSISTING_L2_SIZE] = device->spec->l2_persisting_max * 3 / 10;
    device->limits[LIMIT_SHARED_MEMORY_SIZE] = device->spec->shared_per_block_optin;
}

static bool init_arena(struct device *device, struct err *err)
{
    const struct attach *attach = device->driver->attach;
    const struct seat_memory *shared = attach ? &attach_seat(attach)->gpus[device->index] : NULL;
    return shared ? arena_init_shared(&device->arena, shared->at, shared->bytes, shared->file, shared->offset,
                                      err)
                  : arena_init(&device->arena, SEAT_GPU_BYTES(device->spec->memory),
                               itrace_device_at(device->index), err);
}

bool device_init(struct device *device, struct driver *driver, unsigned index, struct err *err)
{
    device->driver = driver;
    device->index = index;
    device->spec = &system_of_device(&driver->system, device->index)->device;
    device->image = image_new();
    pthread_mutex_init(&device->heap_lock, NULL);
    pthread_mutex_init(&device->print_lock, NULL);
    set_limits(device);
    if (!init_arena(device, err))
        return false;
    stream_new(device, 0, 0, &device->default_stream);
    memory_pool_new(device, 0, &device->default_pool);
    device->current_pool = device->default_pool;
    return true;
}

void device_end_heap(struct device *device)
{
    if (device->heap) {
        timeline_set_heap(device, NULL);
        heap_free(device->heap);
        memory_give(device->driver, device->heap_at);
    }
    device->heap = NULL;
}

void device_fini(struct device *device)
{
    device_end_heap(device);
    for (struct stream *next, *stream = device->streams; stream; stream = next) {
        next = stream->next;
        for (struct command *after, *command = stream->head; command; command = after) {
            after = command->next;
            command_free(command);
        }
        if (stream->print)
            fclose(stream->print);
        mem_free(stream);
    }
    for (struct memory_pool *next, *pool = device->pools; pool; pool = next) {
        next = pool->next;
        mem_free(pool);
    }
    memory_graph_fini(device);
    events_fini(device);
    arrays_fini(device);
    arena_fini(&device->arena);
    image_free(device->image);
    names_fini(&device->names);
    text_fini(&device->print);
    pthread_mutex_destroy(&device->heap_lock);
    pthread_mutex_destroy(&device->print_lock);
}

struct driver *device_driver(const struct device *device)
{
    return device->driver;
}

unsigned device_index(const struct device *device)
{
    return device->index;
}

const struct gpu_spec *device_spec(const struct device *device)
{
    return device->spec;
}

struct image *device_image(struct device *device)
{
    return device->image;
}

/* ---- errors ---- */

enum result device_error(struct device *device)
{
    return device->error;
}

void device_fail(struct device *device, enum result error)
{
    int none = RESULT_SUCCESS;
    atomic_compare_exchange_strong(&device->error, &none, (int)error);
}

enum result device_usable(struct device *device)
{
    if (device->driver->ended)
        return driver_fail(RESULT_DEINITIALIZED, "the process is ending");
    enum result error = device->error;
    return error ? driver_fail(error, "a kernel failed before: %s", result_text(error)) : RESULT_SUCCESS;
}

bool device_is_busy(struct device *device)
{
    struct commands *commands = &device->driver->commands;
    if (driver_is_forked(device->driver))
        return false;
    pthread_mutex_lock(&commands->lock);
    bool busy = device->busy;
    pthread_mutex_unlock(&commands->lock);
    return busy;
}

enum result device_reset(struct device *device)
{
    struct commands *commands = &device->driver->commands;
    if (device->driver->ended)
        return RESULT_DEINITIALIZED;
    device_synchronize(device);
    modules_leave(device);
    pthread_mutex_lock(&commands->lock);
    for (struct stream *stream = device->streams; stream; stream = stream->next) {
        if (stream->alive && stream != device->default_stream)
            stream_kill(stream);
    }
    events_end_all(device);
    pthread_mutex_unlock(&commands->lock);
    for (unsigned i = 0; i < device->driver->device_count; i++) {
        if (device->peers >> i & 1)
            memory_remove_peer(device, &device->driver->devices[i]);
    }
    pthread_mutex_lock(&device->heap_lock);
    device_end_heap(device);
    pthread_mutex_unlock(&device->heap_lock);
    pthread_mutex_lock(&device->driver->memory.lock);
    arrays_fini(device);
    device->current_pool = device->default_pool;
    pthread_mutex_unlock(&device->driver->memory.lock);
    memory_give_all(device);
    mappings_leave(device);
    set_limits(device);
    device->error = RESULT_SUCCESS;
    return RESULT_SUCCESS;
}

/* ---- limits ---- */

enum result device_limit_get(struct device *device, int limit, uint64_t *value)
{
    if (limit < 0 || limit >= LIMIT_COUNT)
        return driver_fail(RESULT_INVALID_VALUE, "there is no limit %d", limit);
    if (!limit_mosts[limit])
        return driver_fail(RESULT_UNSUPPORTED_LIMIT, "devices of today do not have limit %d", limit);
    *value = device->limits[limit];
    return device_usable(device);
}

enum result device_limit_set(struct device *device, int limit, uint64_t value)
{
    uint64_t now;
    enum result result = device_limit_get(device, limit, &now);
    if (!result)
        result = device_synchronize(device);
    if (result)
        return result;
    if (limit == LIMIT_STACK_SIZE)
        value = (value + 15) / 16 * 16;
    if (value > limit_mosts[limit])
        return driver_fail(RESULT_INVALID_VALUE, "limit %d is at most %llu", limit,
                           (unsigned long long)limit_mosts[limit]);
    pthread_mutex_lock(&device->heap_lock);
    bool late = limit == LIMIT_MALLOC_HEAP_SIZE && device->heap && value != now;
    if (!late)
        device->limits[limit] = value;
    pthread_mutex_unlock(&device->heap_lock);
    return late ? driver_fail(RESULT_INVALID_VALUE,
                              "the heap cannot change its size once a kernel with malloc ran")
                : RESULT_SUCCESS;
}

/* In simulated time every SM has a part of its own (exec/heap.c), as large as all of the heap should be if
 * there are addresses enough: which SM takes how much is not known. */
static void make_heap(struct device *device)
{
    uint64_t limit = device->limits[LIMIT_MALLOC_HEAP_SIZE];
    uint32_t parts =
        device->driver->timeline || device->driver->tracing ? (uint32_t)device->spec->sm_count : 1;
    uint64_t part_bytes = parts > 1 ? min_u64(limit, device->spec->memory / parts) : limit;
    part_bytes = (part_bytes + HEAP_PAGE - 1) / HEAP_PAGE * HEAP_PAGE;
    struct memory_request request = {.kind = MEMORY_INTERNAL,
                                     .bytes = parts * part_bytes,
                                     .alignment = HEAP_PAGE,
                                     .what = "the heap of malloc in kernels"};
    request.spare_bytes = request.bytes - min_u64(limit, request.bytes);
    if (limit && !memory_take(device->driver, device, &request, &device->heap_at))
        device->heap = heap_new(device->image, device->heap_at, part_bytes, parts);
    timeline_set_heap(device, device->heap);
}

struct heap *device_heap(struct device *device)
{
    pthread_mutex_lock(&device->heap_lock);
    if (!device->heap)
        make_heap(device);
    struct heap *heap = device->heap;
    pthread_mutex_unlock(&device->heap_lock);
    return heap;
}

/* ---- peers ---- */

bool device_can_access_peer(const struct device *device, const struct device *peer)
{
    return device != peer;
}

enum result device_enable_peer(struct device *device, struct device *peer)
{
    enum result result = device_usable(device);
    if (result)
        return result;
    if (device == peer)
        return driver_fail(RESULT_PEER_ACCESS_UNSUPPORTED, "a device is no peer of itself");
    if (device->peers >> peer->index & 1)
        return RESULT_PEER_ACCESS_ALREADY_ENABLED;
    memory_add_peer(device, peer);
    return RESULT_SUCCESS;
}

enum result device_disable_peer(struct device *device, struct device *peer)
{
    enum result result = device_synchronize(device);
    if (result)
        return result;
    if (!(device->peers >> peer->index & 1))
        return RESULT_PEER_ACCESS_NOT_ENABLED;
    memory_remove_peer(device, peer);
    return RESULT_SUCCESS;
}
