/* Where all memory is, for the machine: arenas as a whole, and what lies apart from them. */
#include "driver/internal.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/machine.h"

static void add_range(struct memory_ranges *ranges, uint64_t at, uint64_t bytes, struct physical_address to)
{
    mem_grow(ranges->at, ranges->count, ranges->capacity);
    ranges->at[ranges->count++] =
        (struct memory_range){.at = at, .bytes = bytes, .to = to, .host = (char *)(uintptr_t)at};
}

/* Of a device's memory. */
static struct physical_address device_physical(const struct driver *driver, uint32_t device, uint32_t home,
                                               uint64_t place)
{
    return system_shares_memory(&driver->system)
               ? physical_at(HOME_HOST, system_shared_offset(device) + place)
               : physical_at(home, place);
}

/* Of a unified device, whose members have pages of it in turn. */
static void add_spread_range(struct memory_ranges *ranges, uint64_t at, uint64_t bytes,
                             struct physical_address to, const struct system *system)
{
    add_range(ranges, at, bytes, to);
    ranges->at[ranges->count - 1].page = system->spec.interleave;
    ranges->at[ranges->count - 1].homes = system_members(system);
}

/* What a program mapped itself lies behind the arena. Members of a unified device have large pages of it in
 * turn: whole ones of the device's memory, and of those that its other memory is made of. */
static void add_mapped(struct memory_ranges *ranges, const struct driver *driver,
                       const struct allocation *one)
{
    uint32_t members = system_members(&driver->system);
    uint64_t place = one->physical->place;
    if (members == 1) {
        add_range(ranges, one->at, one->bytes,
                  device_physical(driver, one->device->index, one->device->index, place));
        return;
    }
    const struct arena *arena = &one->device->arena;
    uint64_t page = max_u64(driver->system.spec.interleave, driver->system.gpu.page);
    uint64_t behind = (arena->end - arena->base) / page + members; /* pages, of each member */
    place -= arena->end - arena->base;
    for (uint64_t done = 0, bytes; done < one->bytes; done += bytes) {
        uint64_t number = (place + done) / page, in_page = (place + done) % page;
        uint32_t home = one->device->index * members + (uint32_t)(number % members);
        bytes = min_u64(page - in_page, one->bytes - done);
        add_range(ranges, one->at + done, bytes,
                  physical_at(home, (behind + number / members) * page + in_page));
    }
}

void memory_list_apart(struct driver *driver, struct memory_ranges *ranges)
{
    const struct memory *memory = &driver->memory;
    uint32_t members = system_members(&driver->system);
    for (size_t i = 0; i < memory->placed_count; i++) {
        const struct placed_memory *one = &memory->placed[i];
        add_range(ranges, one->at, one->bytes,
                  device_physical(driver, one->device->index, one->device->index * members + one->member,
                                  one->place));
    }
    for (size_t i = 0; i < memory->count; i++) {
        const struct allocation *one = memory->table[i];
        if (one->kind == MEMORY_REGISTERED)
            add_range(ranges, one->at, one->bytes, physical_at(HOME_HOST, one->place));
        else if (one->kind == MEMORY_MAPPED)
            add_mapped(ranges, driver, one);
    }
    for (size_t i = 0; i < memory->replayed_count; i++) {
        mem_grow(ranges->at, ranges->count, ranges->capacity);
        ranges->at[ranges->count++] = memory->replayed[i];
    }
}

/* Arenas are at the beginning of their homes; behind them is what came otherwise. */
void memory_list_ranges(struct driver *driver, struct memory_ranges *ranges)
{
    const struct memory *memory = &driver->memory;
    uint32_t members = system_members(&driver->system);
    add_range(ranges, memory->host.base, memory->host.end - memory->host.base, physical_at(HOME_HOST, 0));
    if (memory->moves_managed)
        add_range(ranges, memory->managed.base, memory->managed.end - memory->managed.base,
                  physical_at(HOME_MANAGED, 0));
    for (unsigned i = 0; i < driver->device_count; i++) {
        const struct arena *arena = &driver->devices[i].arena;
        if (members > 1)
            add_spread_range(ranges, arena->base, arena->end - arena->base, physical_at(i * members, 0),
                             &driver->system);
        else
            add_range(ranges, arena->base, arena->end - arena->base, device_physical(driver, i, i, 0));
    }
    memory_list_apart(driver, ranges);
}
