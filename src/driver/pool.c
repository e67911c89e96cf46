/* Memory pools and stream-ordered allocation. Addresses are assigned at once, because the stream uses them
 * only later. */
#include "driver/internal.h"
#include "base/bits.h"
#include "base/mem.h"

enum result memory_pool_new(struct device *device, uint64_t max_bytes, struct memory_pool **pool)
{
    enum result result = device_usable(device);
    if (result)
        return result;
    *pool = mem_alloc(1, sizeof **pool);
    **pool = (struct memory_pool){.device = device, .max_bytes = max_bytes};
    pthread_mutex_lock(&device->driver->memory.lock);
    (*pool)->next = device->pools;
    device->pools = *pool;
    pthread_mutex_unlock(&device->driver->memory.lock);
    return RESULT_SUCCESS;
}

/* Its struct stays until the device ends: allocations of it may still be there. */
enum result memory_pool_free(struct memory_pool *pool)
{
    struct device *device = pool->device;
    if (pool == device->default_pool)
        return driver_fail(RESULT_INVALID_VALUE, "the default pool of a device cannot be destroyed");
    pthread_mutex_lock(&device->driver->memory.lock);
    bool ended = pool->ended;
    pool->ended = true;
    if (device->current_pool == pool)
        device->current_pool = device->default_pool;
    pthread_mutex_unlock(&device->driver->memory.lock);
    return ended ? driver_fail(RESULT_INVALID_VALUE, "the pool was destroyed before") : RESULT_SUCCESS;
}

struct memory_pool *memory_pool_default(struct device *device)
{
    return device->default_pool;
}

struct memory_pool *memory_pool_current(struct device *device)
{
    pthread_mutex_lock(&device->driver->memory.lock);
    struct memory_pool *pool = device->current_pool;
    pthread_mutex_unlock(&device->driver->memory.lock);
    return pool;
}

enum result memory_pool_set_current(struct device *device, struct memory_pool *pool)
{
    pthread_mutex_lock(&device->driver->memory.lock);
    bool good = pool->device == device && !pool->ended && !pool->process;
    if (good)
        device->current_pool = pool;
    pthread_mutex_unlock(&device->driver->memory.lock);
    return good ? RESULT_SUCCESS
                : driver_fail(RESULT_INVALID_VALUE, "the pool is of another device, or destroyed");
}

struct device *memory_pool_device(const struct memory_pool *pool)
{
    return pool->device;
}

void memory_pool_facts(struct memory_pool *pool, struct memory_pool_facts *facts)
{
    pthread_mutex_lock(&pool->device->driver->memory.lock);
    *facts = pool->facts;
    pthread_mutex_unlock(&pool->device->driver->memory.lock);
}

void memory_pool_set_threshold(struct memory_pool *pool, uint64_t bytes)
{
    pthread_mutex_lock(&pool->device->driver->memory.lock);
    pool->facts.release_threshold = bytes;
    pthread_mutex_unlock(&pool->device->driver->memory.lock);
}

void memory_pool_reset_high(struct memory_pool *pool)
{
    pthread_mutex_lock(&pool->device->driver->memory.lock);
    pool->facts.used_high = pool->facts.used;
    pool->facts.reserved_high = pool->facts.reserved;
    pthread_mutex_unlock(&pool->device->driver->memory.lock);
}

enum result memory_pool_set_access(struct memory_pool *pool, struct device *device, bool on)
{
    if (device == pool->device)
        return on ? RESULT_SUCCESS
                  : driver_fail(RESULT_INVALID_VALUE, "a device keeps access to its own pools");
    if (on && pool->process) /* its memory here is that of the other process */
        device_enable_peer(device, pool->device);
    memory_set_pool_peer(device, pool, on);
    return RESULT_SUCCESS;
}

bool memory_pool_has_access(struct memory_pool *pool, const struct device *device)
{
    pthread_mutex_lock(&pool->device->driver->memory.lock);
    bool has = device == pool->device || pool->peers >> device->index & 1;
    pthread_mutex_unlock(&pool->device->driver->memory.lock);
    return has;
}

enum result memory_alloc_async(struct stream *stream, struct memory_pool *pool, uint64_t bytes,
                               uint64_t *address)
{
    struct device *device = pool ? pool->device : stream->device;
    enum result result = device_usable(device);
    *address = 0;
    if (result)
        return result;
    if (stream_is_captured(stream))
        return memory_graph_alloc(stream, &(struct memory_graph_request){.device = device, .bytes = bytes},
                                  address);
    if (pool && pool->process)
        return driver_fail(RESULT_INVALID_VALUE, "a pool of another process gives no memory here");
    struct memory_request request = {.kind = MEMORY_DEVICE,
                                     .bytes = bytes,
                                     .what = "device memory",
                                     .pool = pool ? pool : memory_pool_current(device)};
    result = memory_take(device->driver, device, &request, address);
    if (result == RESULT_OUT_OF_MEMORY) { /* frees may be on their way */
        result = device_synchronize(device);
        if (!result)
            result = memory_take(device->driver, device, &request, address);
    }
    return result;
}

struct free_command {
    struct command base;
    uint64_t address;
};

static void run_free(struct command *command)
{
    memory_give(command->stream->device->driver, ((struct free_command *)command)->address);
}

static const struct command_ops free_ops = {
    .bytes = sizeof(struct free_command), .run = run_free, .on_error = true};

enum result memory_free_async(struct stream *stream, uint64_t address)
{
    struct driver *driver = stream->device->driver;
    enum result result = device_usable(stream->device);
    if (result || !address)
        return result;
    if (stream_is_captured(stream))
        return memory_graph_free(stream, address);
    pthread_mutex_lock(&driver->memory.lock);
    struct allocation *allocation = memory_start(driver, address);
    struct command *freeing =
        allocation && allocation->graph ? memory_graph_leaving(allocation->graph, stream) : NULL;
    bool good = !freeing && allocation && allocation->kind == MEMORY_DEVICE && !allocation->lender &&
                !allocation->graph && !allocation->leaving;
    bool is_opened = !freeing && allocation && allocation->lender;
    if (good)
        allocation->leaving = true;
    pthread_mutex_unlock(&driver->memory.lock);
    if (freeing) {
        result = commands_submit(stream, freeing, false, NULL);
        memory_graph_submitted(stream);
        return result;
    }
    if (is_opened) /* which the stream's work may use until then */
        return ipc_memory_close(driver, address);
    if (!good)
        return driver_fail(RESULT_INVALID_VALUE, "0x%llx is not the start of memory that was allocated",
                           (unsigned long long)address);
    struct free_command *command = (struct free_command *)command_new(&free_ops);
    command->address = address;
    return commands_submit(stream, &command->base, false, NULL);
}
