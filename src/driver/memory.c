/* Allocations: a table of all of them, by address, and which memory the kernels of each device may access. */
#include "driver/checking.h"
#include "driver/internal.h"
#include "driver/locality.h"
#include "driver/managed.h"
#include "driver/timeline.h"
#include "attach/attach.h"
#include "base/bits.h"
#include "base/mem.h"

#include <sys/resource.h>

#define GIB UINT64_C(0x40000000)

static const uint64_t host_bytes = 1024 * GIB;

bool memory_init(struct driver *driver, struct err *err)
{
    pthread_mutex_init(&driver->memory.lock, NULL);
    mappings_init(&driver->memory.mappings);
    driver->memory.ranges_changed = 1;
    driver->memory.machine = driver->attach ? attach_process(driver->attach) : 0;
    driver->memory.moves_managed = (driver->options.timing.on || driver->options.record.folder) &&
                                   !driver->attach && system_moves_managed(&driver->system);
    if (driver->memory.moves_managed &&
        !arena_init(&driver->memory.managed, host_bytes, UINT64_C(0x4d0000000000), err))
        return false;
    const struct seat_memory *shared = driver->attach ? &attach_seat(driver->attach)->host : NULL;
    return shared ? arena_init_shared(&driver->memory.host, shared->at, shared->bytes, shared->file,
                                      shared->offset, err)
                  : arena_init(&driver->memory.host, host_bytes, UINT64_C(0x4f0000000000), err);
}

/* The first allocation that begins behind the address. */
static size_t behind(const struct memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->table[middle]->at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct allocation *memory_holding(const struct driver *driver, uint64_t address)
{
    const struct memory *memory = &driver->memory;
    size_t place = behind(memory, address);
    struct allocation *below = place ? memory->table[place - 1] : NULL;
    return below && address - below->at < below->bytes ? below : NULL;
}

struct allocation *memory_start(const struct driver *driver, uint64_t address)
{
    struct allocation *found = memory_holding(driver, address);
    return found && found->at == address ? found : NULL;
}

/* Whether kernels of the device may touch it. Of the heap of malloc they may touch what malloc gave them,
 * which the heap itself knows; of what the program mapped, what it said, which mapping.c adds. */
static bool is_seen(const struct device *device, const struct allocation *allocation)
{
    const struct device *owner = allocation->device;
    if (allocation->kind == MEMORY_INTERNAL || allocation->kind == MEMORY_MAPPED)
        return false;
    if (allocation->graph && !memory_graph_is_awake(allocation->graph))
        return false;
    return !owner || owner == device || device->peers >> owner->index & 1 ||
           (allocation->pool && allocation->pool->peers >> device->index & 1) ||
           (allocation->graph && memory_graph_lets(allocation->graph, device));
}

static struct range range_of(const struct allocation *allocation)
{
    return (struct range){allocation->at, allocation->bytes, allocation->what, allocation->read_only};
}

void memory_show(struct driver *driver, const struct allocation *allocation)
{
    struct range range = range_of(allocation);
    for (unsigned i = 0; i < driver->device_count; i++) {
        if (is_seen(&driver->devices[i], allocation))
            image_add(driver->devices[i].image, range);
    }
}

void memory_hide(struct driver *driver, const struct allocation *allocation)
{
    for (unsigned i = 0; i < driver->device_count; i++) {
        if (is_seen(&driver->devices[i], allocation))
            image_remove(driver->devices[i].image, allocation->at);
    }
}

/* Not of an arena. */
static bool is_apart(const struct allocation *allocation)
{
    return allocation->kind == MEMORY_REGISTERED || allocation->kind == MEMORY_MAPPED;
}

void memory_insert(struct driver *driver, const struct allocation *allocation)
{
    struct memory *memory = &driver->memory;
    size_t place = behind(memory, allocation->at);
    mem_grow(memory->table, memory->count, memory->capacity);
    memmove(&memory->table[place + 1], &memory->table[place],
            (memory->count - place) * sizeof *memory->table);
    memory->table[place] = mem_alloc(1, sizeof *allocation);
    *memory->table[place] = *allocation;
    memory->table[place]->id = ++memory->last_id;
    memory->count++;
    memory->ranges_changed += is_apart(allocation);
    memory_show(driver, allocation);
}

/* What the allocation is a piece of. */
static struct arena *arena_of(struct driver *driver, const struct allocation *allocation)
{
    if (allocation->device)
        return &allocation->device->arena;
    return driver->memory.moves_managed && managed_is(allocation) ? &driver->memory.managed
                                                                  : &driver->memory.host;
}

static uint64_t cost(uint64_t bytes)
{
    return add_saturating(bytes, ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
}

static bool has_room(const struct device *device, const struct memory_pool *pool, uint64_t bytes)
{
    bool pooled =
        !pool || !pool->max_bytes || bytes <= pool->max_bytes - min_u64(pool->max_bytes, pool->facts.used);
    return pooled && cost(bytes) <= device->spec->memory - min_u64(device->spec->memory, device->used);
}

bool memory_device_has_room(const struct device *device, uint64_t bytes)
{
    return has_room(device, NULL, bytes);
}

static void count_pool(struct memory_pool *pool, uint64_t bytes)
{
    struct memory_pool_facts *facts = &pool->facts;
    pool->allocations++;
    facts->used += bytes;
    facts->used_high = max_u64(facts->used_high, facts->used);
    facts->reserved += cost(bytes);
    facts->reserved_high = max_u64(facts->reserved_high, facts->reserved);
}

/* Said once of each device, as some programs ask until there is no more. (A pool may yet find some.) */
static enum result no_room(struct device *device, const struct memory_request *request)
{
    enum result result =
        driver_fail(RESULT_OUT_OF_MEMORY, "%llu bytes are asked for, and of %llu bytes %llu are in use",
                    (unsigned long long)request->bytes, (unsigned long long)device->spec->memory,
                    (unsigned long long)device->used);
    if (!request->pool && !device->told_full) {
        struct err line;
        err_set(&line, "%s is out of memory: %s", device->spec->name, driver_detail());
        driver_report(device->driver, line.text);
        device->told_full = true;
    }
    return result;
}

/* The GPU would have had room, or it is managed memory: there are no more addresses. Said once, as programs
 * seldom say more than "out of memory". */
static enum result no_addresses(struct driver *driver, uint64_t bytes)
{
    struct rlimit limit;
    enum result result = driver_fail(RESULT_OUT_OF_MEMORY, "no range of %llu free addresses is left",
                                     (unsigned long long)bytes);
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
        err_add(driver_detail_err(), ": this process may have %llu KiB of addresses (ulimit -v)",
                (unsigned long long)limit.rlim_cur / 1024);
    if (!driver->memory.told_limit)
        driver_report(driver, driver_detail());
    driver->memory.told_limit = true;
    return result;
}

/* What is as large as the pages that members of a unified device have in turn begins with one, so that the
 * program can place all of it. */
static uint64_t alignment_of(const struct device *device, const struct memory_request *request)
{
    uint64_t page = device && locality_members(device) > 1 ? device->driver->system.spec.interleave : 0;
    return request->bytes < page ? request->alignment : max_u64(page, request->alignment);
}

/* What moves, does so in pages of its own. */
static uint64_t page_of(const struct driver *driver, const struct arena *arena, uint64_t bytes)
{
    enum { BIG_PAGE = 64 * 1024, BLOCK = 2 * 1024 * 1024 };
    return arena != &driver->memory.managed ? 0 : bytes < BLOCK ? BIG_PAGE : BLOCK;
}

static enum result take(struct driver *driver, struct device *device, const struct memory_request *request,
                        uint64_t *address)
{
    uint64_t bytes = request->bytes, counted = bytes - request->spare_bytes;
    if (device && !has_room(device, request->pool, counted))
        return no_room(device, request);
    struct allocation allocation = {.bytes = bytes,
                                    .spare_bytes = request->spare_bytes,
                                    .kind = request->kind,
                                    .flags = request->flags,
                                    .device = device,
                                    .pool = request->pool,
                                    .what = request->what,
                                    .read_only = request->read_only};
    struct arena *arena = arena_of(driver, &allocation);
    allocation.at =
        arena_take(arena, bytes, max_u64(alignment_of(device, request), page_of(driver, arena, bytes)));
    uint64_t at = allocation.at;
    if (!at)
        return no_addresses(driver, bytes);
    memory_insert(driver, &allocation);
    checking_came(driver, &allocation);
    if (managed_is(&allocation))
        managed_came(driver, &allocation);
    if (device)
        device->used += cost(counted);
    if (device && driver->options.padded_bounds)
        image_set_spare(device->image, (struct range){.at = arena->base,
                                                      .bytes = arena->committed - arena->base,
                                                      .what = "device memory"});
    if (request->pool)
        count_pool(request->pool, bytes);
    *address = at;
    return RESULT_SUCCESS;
}

enum result memory_take(struct driver *driver, struct device *device, const struct memory_request *request,
                        uint64_t *address)
{
    *address = 0;
    if (!request->bytes)
        return RESULT_SUCCESS;
    pthread_mutex_lock(&driver->memory.lock);
    enum result result = take(driver, device, request, address);
    pthread_mutex_unlock(&driver->memory.lock);
    return result;
}

static void leave_pool(struct memory_pool *pool, uint64_t bytes)
{
    pool->allocations--;
    pool->facts.used -= bytes;
    pool->facts.reserved -= cost(bytes);
}

void memory_forget(struct driver *driver, const struct allocation *allocation)
{
    timeline_touch(driver, allocation->at, allocation->bytes, MEMORY_DROPPED);
}

void memory_remove(struct driver *driver, struct allocation *allocation)
{
    struct memory *memory = &driver->memory;
    memory_hide(driver, allocation);
    if (!allocation->lender) /* else its owner may still have some of it in caches */
        memory_forget(driver, allocation);
    if (memory->placed_count)
        locality_forget_memory(driver, allocation->at, allocation->bytes);
    memory->ranges_changed += is_apart(allocation);
    size_t place = behind(memory, allocation->at) - 1;
    memmove(&memory->table[place], &memory->table[place + 1],
            (memory->count - place - 1) * sizeof *memory->table);
    memory->count--;
    mem_free(allocation);
}

void memory_close(struct driver *driver, struct allocation *allocation)
{
    struct allocation gone = *allocation;
    memory_remove(driver, allocation);
    ipc_memory_leave(driver, &gone);
}

void memory_end(struct driver *driver, struct allocation *allocation)
{
    struct allocation gone = *allocation;
    checking_goes(driver, allocation);
    memory_close(driver, allocation);
    if (gone.lender)
        return;
    if (managed_is(&gone))
        managed_goes(driver, &gone);
    if (gone.device && !gone.graph)
        gone.device->used -= cost(gone.bytes - gone.spare_bytes);
    if (gone.pool)
        leave_pool(gone.pool, gone.bytes);
    if (gone.kind != MEMORY_REGISTERED)
        arena_give(arena_of(driver, &gone), gone.at, gone.bytes);
}

bool memory_give(struct driver *driver, uint64_t address)
{
    pthread_mutex_lock(&driver->memory.lock);
    struct allocation *allocation = memory_start(driver, address);
    bool good = false;
    if (allocation)
        good =
            allocation->graph ? memory_graph_give(allocation->graph) : (memory_end(driver, allocation), true);
    pthread_mutex_unlock(&driver->memory.lock);
    return good;
}

static void end_with_device(struct driver *driver, struct allocation *allocation)
{
    checking_leaks(driver, allocation);
    memory_end(driver, allocation);
}

void memory_give_all(struct device *device)
{
    struct memory *memory = &device->driver->memory;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = memory->count; i-- > 0;) {
        struct allocation *one = memory->table[i];
        if (one->device != device || one->kind == MEMORY_MAPPED)
            continue;
        if (one->graph)
            memory_graph_give(one->graph); /* graphs that name it may be launched again */
        else
            end_with_device(device->driver, one);
    }
    pthread_mutex_unlock(&memory->lock);
}

/* Sets or clears a bit of `peers`, of a device or of a pool, and what kernels of the device see by it. */
static void change_sight(struct device *device, uint64_t *peers, unsigned bit, bool on)
{
    struct memory *memory = &device->driver->memory;
    pthread_mutex_lock(&memory->lock);
    uint64_t before = *peers, after = on ? before | UINT64_C(1) << bit : before & ~(UINT64_C(1) << bit);
    for (size_t i = 0; i < memory->count; i++) {
        const struct allocation *one = memory->table[i];
        *peers = before;
        bool was_seen = is_seen(device, one);
        *peers = after;
        if (!was_seen && is_seen(device, one))
            image_add(device->image, range_of(one));
        else if (was_seen && !is_seen(device, one))
            image_remove(device->image, one->at);
    }
    *peers = after;
    pthread_mutex_unlock(&memory->lock);
}

void memory_add_peer(struct device *device, struct device *peer)
{
    change_sight(device, &device->peers, peer->index, true);
}

void memory_remove_peer(struct device *device, struct device *peer)
{
    change_sight(device, &device->peers, peer->index, false);
}

void memory_set_pool_peer(struct device *device, struct memory_pool *pool, bool on)
{
    change_sight(device, &pool->peers, device->index, on);
}

bool memory_find(struct driver *driver, uint64_t address, struct memory_facts *facts)
{
    *facts = (struct memory_facts){.kind = MEMORY_UNKNOWN};
    pthread_mutex_lock(&driver->memory.lock);
    const struct allocation *found = memory_holding(driver, address);
    if (found && found->graph && !memory_graph_is_there(found->graph) && !driver->commands.captures)
        found = NULL; /* only graphs name it that are being made */
    if (found)
        *facts = (struct memory_facts){.kind = found->kind,
                                       .device = found->device,
                                       .base = found->at,
                                       .bytes = found->bytes,
                                       .flags = found->flags,
                                       .id = found->id,
                                       .borrowed = found->lender,
                                       .pool = found->pool};
    pthread_mutex_unlock(&driver->memory.lock);
    return found != NULL;
}

bool memory_is_seen(struct driver *driver, const struct device *device, uint64_t address)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct allocation *found = memory_holding(driver, address);
    bool is_mapped = found && found->kind == MEMORY_MAPPED;
    bool seen = found && (is_mapped ? found->readers >> device->index & 1 : is_seen(device, found));
    pthread_mutex_unlock(&driver->memory.lock);
    return seen;
}

static bool is_open(const struct allocation *allocation, bool writes)
{
    return allocation->kind != MEMORY_MAPPED || (writes ? allocation->writers : allocation->readers);
}

bool memory_reaches(struct driver *driver, uint64_t address, uint64_t bytes, bool writes)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct allocation *one = memory_holding(driver, address);
    while (one && is_open(one, writes) && bytes > one->at + one->bytes - address) {
        bytes -= one->at + one->bytes - address;
        address = one->at + one->bytes;
        one = one->kind == MEMORY_MAPPED ? memory_start(driver, address) : NULL;
    }
    bool reaches = one && is_open(one, writes);
    pthread_mutex_unlock(&driver->memory.lock);
    return reaches;
}

/* ---- the calls ---- */

enum result memory_alloc(struct device *device, uint64_t bytes, uint64_t *address)
{
    enum result result = device_usable(device);
    *address = 0;
    if (result)
        return result;
    struct memory_request request = {.kind = MEMORY_DEVICE, .bytes = bytes, .what = "device memory"};
    return memory_take(device->driver, device, &request, address);
}

enum result memory_alloc_pitch(struct device *device, uint64_t width_bytes, uint64_t height,
                               uint64_t *address, uint64_t *pitch)
{
    *pitch = cost(width_bytes);
    uint64_t bytes;
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        bytes = UINT64_MAX;
    return memory_alloc(device, bytes, address);
}

/* Waits for whoever may still use memory of this owner. */
static enum result wait_for_users(struct driver *driver, struct device *owner)
{
    enum result result = RESULT_SUCCESS;
    for (unsigned i = 0; i < driver->device_count && !result; i++) {
        struct device *device = &driver->devices[i];
        if (!owner || owner == device)
            result = device_synchronize(device);
    }
    return result;
}

enum result memory_free(struct driver *driver, uint64_t address)
{
    struct memory_facts facts;
    if (!address)
        return RESULT_SUCCESS;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    bool known = memory_find(driver, address, &facts) && facts.base == address;
    enum result result = known ? wait_for_users(driver, facts.device) : RESULT_SUCCESS;
    if (result)
        return result;
    if (!known || facts.borrowed || (facts.kind != MEMORY_DEVICE && facts.kind != MEMORY_MANAGED) ||
        !memory_give(driver, address)) {
        checking_bad_free(driver, address);
        return driver_fail(RESULT_INVALID_VALUE, "0x%llx is not the start of memory that was allocated",
                           (unsigned long long)address);
    }
    return RESULT_SUCCESS;
}

enum result memory_info(struct device *device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    enum result result = device_usable(device);
    if (result)
        return result;
    *total_bytes = device->spec->memory;
    *free_bytes = device->spec->memory - memory_used(device);
    return RESULT_SUCCESS;
}

uint64_t memory_used(struct device *device)
{
    struct driver *driver = device->driver;
    if (driver_is_forked(driver)) /* what it was then */
        return device->used;
    pthread_mutex_lock(&driver->memory.lock);
    uint64_t used = device->used;
    pthread_mutex_unlock(&driver->memory.lock);
    return used;
}

enum result memory_managed_alloc(struct driver *driver, uint64_t bytes, unsigned flags, uint64_t *address)
{
    *address = 0;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    struct memory_request request = {
        .kind = MEMORY_MANAGED, .bytes = bytes, .flags = flags, .what = "managed memory"};
    return memory_take(driver, NULL, &request, address);
}

enum result memory_host_alloc(struct driver *driver, uint64_t bytes, unsigned flags, void **pointer)
{
    uint64_t address = 0;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    struct memory_request request = {
        .kind = MEMORY_HOST, .bytes = bytes, .flags = flags, .what = "pinned host memory"};
    enum result result = memory_take(driver, NULL, &request, &address);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

enum result memory_host_free(struct driver *driver, void *pointer)
{
    struct memory_facts facts;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!pointer)
        return RESULT_SUCCESS;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    if (!memory_find(driver, address, &facts) || facts.base != address || facts.kind != MEMORY_HOST)
        return driver_fail(RESULT_INVALID_VALUE, "%p is not the start of pinned memory that was allocated",
                           pointer);
    enum result result = wait_for_users(driver, NULL);
    if (!result)
        memory_give(driver, address);
    return result;
}

bool memory_overlaps(const struct driver *driver, uint64_t at, uint64_t bytes)
{
    const struct memory *memory = &driver->memory;
    size_t place = behind(memory, at);
    return memory_holding(driver, at) || (place < memory->count && memory->table[place]->at - at < bytes);
}

/* Pages of the host's memory that no other has: behind the arena, and once none are left, from there again.
 */
static uint64_t host_place(const struct driver *driver, uint64_t at)
{
    const struct memory *memory = &driver->memory;
    uint64_t page = driver->system.spec.host_page, next = memory->host.end - memory->host.base;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->table[i]->kind == MEMORY_REGISTERED)
            next = max_u64(next, memory->table[i]->place + memory->table[i]->bytes);
    return (next + page - 1) / page * page + at % page;
}

enum result memory_host_register(struct driver *driver, void *pointer, uint64_t bytes, unsigned flags)
{
    struct memory *memory = &driver->memory;
    uint64_t at = (uint64_t)(uintptr_t)pointer;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    if (!pointer || !bytes || at + bytes < at)
        return driver_fail(RESULT_INVALID_VALUE, "%llu bytes at %p cannot be registered",
                           (unsigned long long)bytes, pointer);
    if (timeline_is_elsewhere(driver))
        return driver_fail(RESULT_NOT_SUPPORTED,
                           "a machine in another process (--attach) does not see memory that is "
                           "registered: take it from cudaHostAlloc");
    pthread_mutex_lock(&memory->lock);
    bool taken = memory_overlaps(driver, at, bytes);
    if (!taken)
        memory_insert(driver, &(struct allocation){.at = at,
                                                   .bytes = bytes,
                                                   .kind = MEMORY_REGISTERED,
                                                   .place = host_place(driver, at),
                                                   .flags = flags,
                                                   .what = "registered host memory",
                                                   .read_only = flags & HOST_READ_ONLY});
    pthread_mutex_unlock(&memory->lock);
    return taken ? RESULT_HOST_MEMORY_ALREADY_REGISTERED : RESULT_SUCCESS;
}

enum result memory_host_unregister(struct driver *driver, void *pointer)
{
    struct memory_facts facts;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    if (!memory_find(driver, address, &facts))
        return RESULT_HOST_MEMORY_NOT_REGISTERED;
    if (facts.base != address || facts.kind != MEMORY_REGISTERED)
        return driver_fail(RESULT_INVALID_VALUE, "%p is not the start of memory that was registered",
                           pointer);
    enum result result = wait_for_users(driver, NULL);
    if (!result)
        memory_give(driver, address);
    return result;
}
