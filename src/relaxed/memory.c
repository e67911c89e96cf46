#include "relaxed/memory.h"
#include "base/mem.h"

#include <math.h>

void relaxed_memory_init(struct relaxed_memory *memory, const struct relaxed_spec *spec, uint64_t epoch,
                         enum relaxed_port_use use)
{
    *memory = (struct relaxed_memory){.spec = spec};
    memory->slices = mem_alloc_lines(spec->slices, sizeof *memory->slices);
    memory->channels =
        mem_alloc_lines((size_t)spec->slices * spec->channels_per_slice, sizeof *memory->channels);
    for (uint32_t i = 0; i < spec->slices; i++) {
        relaxed_port_init(&memory->slices[i].port, 1, epoch, use);
        relaxed_store_init(&memory->slices[i].store, &spec->l2, spec->l2.bytes, use == RELAXED_THREADS);
    }
    for (uint32_t i = 0; i < spec->slices * spec->channels_per_slice; i++)
        relaxed_port_init(&memory->channels[i], 1, epoch, use);
}

void relaxed_memory_fini(struct relaxed_memory *memory)
{
    for (uint32_t i = 0; i < memory->spec->slices; i++) {
        relaxed_port_fini(&memory->slices[i].port);
        relaxed_store_fini(&memory->slices[i].store);
    }
    for (uint32_t i = 0; i < memory->spec->slices * memory->spec->channels_per_slice; i++)
        relaxed_port_fini(&memory->channels[i]);
    mem_free(memory->slices);
    mem_free(memory->channels);
}

static void each_port(struct relaxed_memory *memory, void (*call)(struct relaxed_port *port, uint64_t start),
                      uint64_t start)
{
    for (uint32_t i = 0; i < memory->spec->slices; i++)
        call(&memory->slices[i].port, start);
    for (uint32_t i = 0; i < memory->spec->slices * memory->spec->channels_per_slice; i++)
        call(&memory->channels[i], start);
}

void relaxed_memory_restart(struct relaxed_memory *memory, uint64_t start)
{
    each_port(memory, relaxed_port_restart, start);
}

void relaxed_memory_advance(struct relaxed_memory *memory, uint64_t start)
{
    each_port(memory, relaxed_port_advance, start);
}

/* ---- DRAM ---- */

static uint32_t count_of(uint32_t sectors)
{
    return (sectors & 1) + (sectors >> 1 & 1) + (sectors >> 2 & 1) + (sectors >> 3 & 1);
}

static uint32_t bytes_of(uint32_t sectors)
{
    return count_of(sectors) * RELAXED_SECTOR;
}

/* The cycle in which the channel begins to move the bytes. */
static uint64_t take_channel(struct relaxed_memory *memory, uint32_t slice, uint64_t key, uint32_t bytes,
                             uint64_t cycle, struct relaxed_asker *by)
{
    const struct relaxed_spec *spec = memory->spec;
    if (!(spec->dram_parts > 0))
        return cycle;
    uint32_t channel =
        slice * spec->channels_per_slice + (uint32_t)(key >> 4 ^ key >> 9) % spec->channels_per_slice;
    return relaxed_port_reserve(&memory->channels[channel], cycle, (uint64_t)(bytes * spec->dram_parts + 0.5),
                                &by->carries[spec->slices + channel], &by->counts->ports);
}

static uint64_t read_dram(struct relaxed_memory *memory, uint32_t slice, uint64_t key, uint32_t sectors,
                          uint64_t cycle, struct relaxed_asker *by)
{
    uint32_t bytes = bytes_of(sectors);
    by->counts->dram_read += bytes;
    uint64_t begins = take_channel(memory, slice, key, bytes, cycle, by);
    return begins + memory->spec->dram_latency + (uint64_t)(bytes * memory->spec->dram_parts) / RELAXED_PARTS;
}

static void write_dram(struct relaxed_memory *memory, uint32_t slice, uint64_t key, uint32_t sectors,
                       uint64_t cycle, struct relaxed_asker *by)
{
    by->counts->dram_written += bytes_of(sectors);
    take_channel(memory, slice, key, bytes_of(sectors), cycle, by);
}

/* ---- slices ---- */

/* The slice is busy with it for so many parts; gives the cycle it begins in. */
static uint64_t take_slice(struct relaxed_memory *memory, uint32_t slice, uint64_t cycle, double parts,
                           struct relaxed_asker *by)
{
    return relaxed_port_reserve(&memory->slices[slice].port, cycle, (uint64_t)(parts + 0.5),
                                &by->carries[slice], &by->counts->ports);
}

void relaxed_memory_prefetch(const struct relaxed_memory *memory, uint32_t slice, uint64_t key,
                             uint64_t cycle)
{
    relaxed_port_prefetch(&memory->slices[slice].port, cycle);
    relaxed_store_prefetch(&memory->slices[slice].store, key);
}

/* The slot of a key, which it has from now on; what leaves for it goes to memory. */
static uint32_t place(struct relaxed_memory *memory, uint32_t number, uint64_t key, uint64_t cycle,
                      struct relaxed_asker *by)
{
    struct tags *tags = memory->slices[number].store.tags;
    uint32_t slot = tags_find(tags, key);
    if (slot != TAGS_NONE) {
        tags_touch(tags, slot);
        return slot;
    }
    slot = tags_victim(tags, key);
    if (tags_holds(tags, slot) && *tags_dirty(tags, slot))
        write_dram(memory, number, tags_line(tags, slot), *tags_dirty(tags, slot), cycle, by);
    tags_fill(tags, slot, key, TAGS_NORMAL);
    return slot;
}

/* With what memory gives along with them. */
static uint32_t widen(uint32_t sectors, uint32_t together)
{
    uint32_t all = 0, some = (1u << together) - 1;
    for (uint32_t first = 0; first < RELAXED_SECTORS; first += together)
        all |= sectors >> first & some ? some << first : 0;
    return all;
}

/* The cycle from which on all these sectors are there, that were asked for in this one. Requests come in any
 * order of time: what another, later one brings is no later than what a miss of this one would bring. */
static uint64_t bring(struct relaxed_memory *memory, uint32_t number, uint64_t key, uint32_t sectors,
                      uint64_t cycle, struct relaxed_asker *by)
{
    struct relaxed_store *store = &memory->slices[number].store;
    _Atomic uint64_t *lock = relaxed_store_lock(store, key);
    uint32_t slot = place(memory, number, key, cycle, by);
    uint32_t valid = *tags_valid(store->tags, slot), missing = sectors & ~valid;
    uint64_t *ready = relaxed_store_ready(store, slot), there = cycle;
    uint64_t own_miss = cycle + memory->spec->dram_latency;
    by->counts->l2_hits += count_of(sectors & valid);
    for (uint32_t left = sectors & valid; left; left &= left - 1)
        there = max_u64(there, min_u64(ready[__builtin_ctz(left)], own_miss));
    if (missing) {
        missing = widen(missing, memory->spec->l2_fill_sectors) & ~valid;
        uint64_t comes = read_dram(memory, number, key, missing, cycle, by);
        for (uint32_t left = missing; left; left &= left - 1)
            ready[__builtin_ctz(left)] = comes;
        *tags_valid(store->tags, slot) |= (uint16_t)missing;
        there = max_u64(there, comes);
    }
    relaxed_store_unlock(lock);
    return there;
}

static void make_dirty(struct relaxed_memory *memory, uint32_t number, uint64_t key, uint32_t sectors,
                       uint64_t cycle, struct relaxed_asker *by)
{
    struct relaxed_store *store = &memory->slices[number].store;
    _Atomic uint64_t *lock = relaxed_store_lock(store, key);
    uint32_t slot = place(memory, number, key, cycle, by);
    uint64_t *ready = relaxed_store_ready(store, slot);
    for (uint32_t left = sectors & ~*tags_valid(store->tags, slot); left; left &= left - 1)
        ready[__builtin_ctz(left)] = cycle;
    *tags_valid(store->tags, slot) |= (uint16_t)sectors;
    *tags_dirty(store->tags, slot) |= (uint16_t)sectors;
    relaxed_store_unlock(lock);
}

uint64_t relaxed_memory_read(struct relaxed_memory *memory, uint32_t number, uint64_t key, uint32_t sectors,
                             uint64_t cycle, struct relaxed_asker *by)
{
    const struct relaxed_spec *spec = memory->spec;
    double parts = fmax(spec->l2_request_parts, bytes_of(sectors) * spec->l2_read_parts);
    uint64_t begins = take_slice(memory, number, cycle, parts, by);
    by->counts->l2_sectors += count_of(sectors);
    return bring(memory, number, key, sectors, begins, by) + spec->l2.latency;
}

uint64_t relaxed_memory_write(struct relaxed_memory *memory, uint32_t number, uint64_t key, uint32_t sectors,
                              uint64_t cycle, struct relaxed_asker *by)
{
    const struct relaxed_spec *spec = memory->spec;
    double parts = fmax(spec->l2_request_parts, bytes_of(sectors) * spec->l2_write_parts);
    uint64_t begins = take_slice(memory, number, cycle, parts, by);
    by->counts->l2_sectors += count_of(sectors);
    by->counts->l2_hits += count_of(sectors);
    make_dirty(memory, number, key, sectors, begins, by);
    return begins + spec->l2.latency;
}

uint64_t relaxed_memory_atomic(struct relaxed_memory *memory, uint32_t number, uint64_t key, uint32_t sectors,
                               uint32_t lanes, uint32_t same, uint64_t cycle, struct relaxed_asker *by)
{
    const struct relaxed_spec *spec = memory->spec;
    double parts = count_of(sectors) * spec->l2_atomic_sector_parts;
    parts = fmax(parts, lanes * spec->l2_atomic_lane_parts);
    parts = fmax(parts, same * spec->l2_atomic_same_parts);
    uint64_t begins = take_slice(memory, number, cycle, fmax(parts, spec->l2_request_parts), by);
    by->counts->l2_sectors += count_of(sectors);
    uint64_t there = bring(memory, number, key, sectors, begins, by);
    make_dirty(memory, number, key, sectors, there, by);
    return there + spec->l2.latency + spec->l2_atomic_cycles;
}
