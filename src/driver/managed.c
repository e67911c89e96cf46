#include "driver/managed.h"
#include "base/bits.h"
#include "driver/internal.h"
#include "driver/timeline.h"

bool managed_is(const struct allocation *allocation)
{
    return !allocation->device && (allocation->kind == MEMORY_MANAGED || allocation->kind == MEMORY_VARIABLE);
}

/* Its place in managed memory, as a home. */
static struct physical_address place_of(const struct driver *driver, uint64_t address)
{
    return physical_at(HOME_MANAGED, address - driver->memory.managed.base);
}

static void tell(struct driver *driver, struct managed_order order, uint64_t address)
{
    if (!driver->memory.moves_managed)
        return;
    order.at = place_of(driver, address);
    timeline_manage(driver, &order);
}

void managed_came(struct driver *driver, const struct allocation *allocation)
{
    areas_add(&driver->memory.areas, allocation->at, allocation->bytes);
    tell(driver, (struct managed_order){.kind = MANAGED_NEW, .bytes = allocation->bytes}, allocation->at);
}

void managed_goes(struct driver *driver, const struct allocation *allocation)
{
    areas_remove(&driver->memory.areas, allocation->at, allocation->bytes);
    tell(driver, (struct managed_order){.kind = MANAGED_GONE, .bytes = allocation->bytes}, allocation->at);
}

void managed_look(struct driver *driver)
{
    tell(driver, (struct managed_order){.kind = MANAGED_LOOKED_AT}, driver->memory.managed.base);
}

void managed_call(struct driver *driver)
{
    tell(driver, (struct managed_order){.kind = MANAGED_CALLED}, driver->memory.managed.base);
}

void managed_tell_rooms(struct driver *driver)
{
    uint32_t members = system_members(&driver->system);
    for (unsigned i = 0; i < driver->device_count && driver->memory.moves_managed; i++) {
        struct device *device = &driver->devices[i];
        uint64_t room = (device->spec->memory - min_u64(device->spec->memory, memory_used(device))) / members;
        for (uint32_t member = 0; member < members && room != device->room_told; member++)
            tell(driver,
                 (struct managed_order){
                     .kind = MANAGED_ROOM, .place = i * members + member, .bytes = max_u64(room, 1)},
                 driver->memory.managed.base);
        device->room_told = room;
    }
}

/* ---- advice ---- */

static void set(struct area_advice *is, enum managed_advice advice, bool on, uint32_t place)
{
    uint64_t bit = UINT64_C(1) << place;
    if (advice == ADVICE_READ_MOSTLY)
        is->read_mostly = on;
    else if (advice == ADVICE_PREFERRED)
        is->preferred = on ? (uint8_t)place : (uint8_t)AREA_NOWHERE;
    else
        is->accessed_by = on ? is->accessed_by | bit : is->accessed_by & ~bit;
}

void managed_advise(struct driver *driver, uint64_t address, uint64_t bytes, enum managed_advice advice,
                    bool on, uint32_t place)
{
    static const enum managed_kind kinds[] = {MANAGED_READ_MOSTLY, MANAGED_PREFERRED, MANAGED_ACCESSED_BY};
    uint32_t home = place == MANAGED_ON_HOST ? place : place * system_members(&driver->system);
    pthread_mutex_lock(&driver->memory.lock);
    struct areas_span span = areas_cut(&driver->memory.areas, address, bytes);
    for (size_t i = 0; i < span.count; i++)
        set(&span.first[i].advice, advice, on, place);
    tell(driver, (struct managed_order){.kind = kinds[advice], .on = on, .place = home, .bytes = bytes},
         address);
    pthread_mutex_unlock(&driver->memory.lock);
}

struct area_advice managed_advice_of(struct driver *driver, uint64_t address, uint64_t bytes)
{
    struct area_advice all = {.preferred = AREA_NOWHERE, .prefetched = AREA_NOWHERE};
    pthread_mutex_lock(&driver->memory.lock);
    struct areas_span span = areas_cut(&driver->memory.areas, address, bytes);
    for (size_t i = 0; i < span.count; i++) {
        const struct area_advice *one = &span.first[i].advice;
        if (!i)
            all = *one;
        all.read_mostly &= one->read_mostly;
        all.accessed_by &= one->accessed_by;
        all.preferred = all.preferred == one->preferred ? all.preferred : (uint8_t)AREA_NOWHERE;
        all.prefetched = all.prefetched == one->prefetched ? all.prefetched : (uint8_t)AREA_NOWHERE;
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return all;
}

/* ---- prefetches ---- */

struct prefetch_command {
    struct command base;
    uint64_t address, bytes;
    uint32_t place;
};

static void run_prefetch(struct command *command)
{
    (void)command; /* memory has one place */
}

static enum command_turn begin_prefetch(struct command *command, struct task *task)
{
    const struct prefetch_command *prefetch = (struct prefetch_command *)command;
    bool to_host = prefetch->place == MANAGED_ON_HOST;
    if (!command->stream->device->driver->memory.moves_managed)
        return TURN_NOW;
    task->gpu = to_host ? command->stream->device->index : prefetch->place;
    task->direction = to_host ? COPY_TO_HOST : COPY_TO_DEVICE;
    task->is_prefetch = true;
    task->to = (struct task_side){.at = prefetch->address, .is_host = to_host};
    task->width = prefetch->bytes;
    task->height = task->depth = 1;
    return TURN_TASK;
}

static const struct command_ops prefetch_ops = {.bytes = sizeof(struct prefetch_command),
                                                .run = run_prefetch,
                                                .begin = begin_prefetch,
                                                .begin_is_pure = true};

enum result managed_prefetch(struct stream *stream, uint64_t address, uint64_t bytes, uint32_t place)
{
    struct driver *driver = stream->device->driver;
    enum result result = device_usable(stream->device);
    if (result)
        return result;
    pthread_mutex_lock(&driver->memory.lock);
    struct areas_span span = areas_cut(&driver->memory.areas, address, bytes);
    for (size_t i = 0; i < span.count; i++)
        span.first[i].advice.prefetched = (uint8_t)place;
    pthread_mutex_unlock(&driver->memory.lock);
    struct prefetch_command *command = (struct prefetch_command *)command_new(&prefetch_ops);
    command->address = address;
    command->bytes = bytes;
    command->place = place;
    return commands_submit(stream, &command->base, false, NULL);
}
