#include "mem/behind.h"

static struct cache *l3_of(const struct here *here, uint32_t slice)
{
    return &here->spec->l3[slice];
}

/* When these sectors have passed the L3's port of a slice. */
static uint64_t pass(const struct here *here, uint32_t slice, uint32_t sectors)
{
    struct slice *it = &here->state->slices[slice];
    uint64_t takes = sector_count(sectors) * here->shape->l3_sector_fs + it->l3_fs;
    if (here->now > it->l3_free_at) {
        it->l3_free_at = here->now;
        takes -= it->l3_fs;
    }
    it->l3_free_at += takes / 1000;
    it->l3_fs = takes % 1000;
    return it->l3_free_at;
}

/* A slot with the line; what was dirty in it goes to DRAM, for which there is room. */
static uint32_t place(const struct here *here, uint32_t slice, uint64_t index)
{
    struct cache *l3 = l3_of(here, slice);
    uint32_t slot = cache_find(l3, index);
    if (slot != TAGS_NONE) {
        cache_touch(l3, slot);
        return slot;
    }
    slot = cache_victim(l3, index);
    if (cache_holds(l3, slot)) {
        struct cache_victim old = cache_take_dirty(l3, slot);
        if (old.sectors)
            here->shape->dram->write(here, slice, old.line, old.sectors);
    }
    cache_place(l3, slot, index, TAGS_NORMAL);
    return slot;
}

bool behind_room(const struct here *here, uint32_t slice, uint64_t index)
{
    if (LIKELY(!here->spec->l3))
        return here->shape->dram->room(here, slice, index);
    struct cache *l3 = l3_of(here, slice);
    if (cache_find(l3, index) != TAGS_NONE)
        return true;
    uint32_t slot = cache_victim(l3, index);
    return !cache_holds(l3, slot) || !*cache_dirty(l3, slot) ||
           here->shape->dram->room(here, slice, cache_line_in(l3, slot));
}

void behind_write(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors)
{
    if (LIKELY(!here->spec->l3)) {
        here->shape->dram->write(here, slice, index, sectors);
        return;
    }
    uint32_t slot = place(here, slice, index);
    *cache_valid(l3_of(here, slice), slot) |= (uint16_t)sectors;
    *cache_dirty(l3_of(here, slice), slot) |= (uint16_t)sectors;
    here->state->count.l3_sectors_written += sector_count(sectors);
    pass(here, slice, sectors);
}

/* A line that cannot be kept, as DRAM has no room for what would leave, is read all the same. */
void behind_read(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors, uint32_t entry)
{
    if (LIKELY(!here->spec->l3)) {
        here->shape->dram->read(here, slice, index, sectors, entry);
        return;
    }
    struct cache *l3 = l3_of(here, slice);
    uint32_t absent = cache_missing(l3, cache_find(l3, index), sectors), present = sectors & ~absent;
    here->state->count.l3_sectors_read += sector_count(sectors);
    here->state->count.l3_sectors_hit += sector_count(present);
    if (behind_room(here, slice, index)) {
        uint32_t slot = place(here, slice, index);
        *cache_valid(l3, slot) |= (uint16_t)absent;
    }
    if (present)
        dram_filled(here, pass(here, slice, present) + here->shape->l3_latency_ps, slice, present, entry);
    if (absent)
        here->shape->dram->read(here, slice, index, absent, entry);
}
