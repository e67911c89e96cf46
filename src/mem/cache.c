#include "mem/cache.h"
#include "base/archive.h"
#include "base/err.h"
#include "base/mem.h"

/* ---- making and archiving ---- */

static size_t data_bytes(const struct cache_spec *spec)
{
    return spec->has_data ? (size_t)spec->tags.sets * spec->tags.ways * spec->line_bytes : 0;
}

static size_t mask_count(const struct cache_spec *spec)
{
    size_t sectors = spec->line_bytes / spec->sector_bytes;
    return spec->has_masks ? spec->tags.sets * spec->tags.ways * sectors : 0;
}

static bool is_power(uint32_t bytes)
{
    return bytes && !(bytes & (bytes - 1));
}

/* All but its blocks. */
static void begin(struct cache *cache, const struct cache_spec *spec)
{
    uint32_t sectors = spec->line_bytes / spec->sector_bytes;
    REQUIRE(is_power(spec->line_bytes) && is_power(spec->sector_bytes));
    REQUIRE(sectors >= 1 && sectors <= CACHE_SECTORS_MOST);
    REQUIRE(!spec->has_data || (spec->sector_bytes >= 8 && spec->sector_bytes <= CACHE_SECTOR_BYTES_MOST));
    *cache = (struct cache){
        .whole = spec->sector_bytes < 32 ? (UINT32_C(1) << spec->sector_bytes) - 1 : UINT32_MAX,
        .line_shift = (uint8_t)__builtin_ctz(spec->line_bytes),
        .sector_shift = (uint8_t)__builtin_ctz(spec->sector_bytes),
        .sectors = (uint8_t)sectors,
        .spec = *spec,
    };
    if (spec->misses.entries)
        cache->misses = mshr_new(&spec->misses);
}

void cache_init(struct cache *cache, const struct cache_spec *spec)
{
    begin(cache, spec);
    cache->tags = tags_new(&spec->tags);
    if (spec->has_data)
        cache->data = mem_alloc_pages(data_bytes(spec), 1);
    if (spec->has_masks)
        cache->masks = mem_alloc_pages(mask_count(spec), sizeof *cache->masks);
}

void cache_init_in(struct cache *cache, const struct cache_spec *spec, const struct cache_blocks *blocks,
                   uint32_t number)
{
    begin(cache, spec);
    cache->is_in_blocks = true;
    cache->spec.tags.seed = number;
    cache->tags = (struct tags *)(void *)(blocks->tags + number * tags_bytes(&spec->tags));
    tags_init(cache->tags, &cache->spec.tags);
    if (spec->has_data)
        cache->data = blocks->data + number * data_bytes(spec);
    if (spec->has_masks)
        cache->masks = blocks->masks + number * mask_count(spec);
}

void cache_fini(struct cache *cache)
{
    mshr_free(cache->misses);
    if (cache->is_in_blocks)
        return;
    tags_free(cache->tags);
    mem_free_pages(cache->data);
    mem_free_pages(cache->masks);
}

struct cache_blocks cache_blocks_new(const struct cache_spec *spec, uint32_t count)
{
    struct cache_blocks blocks = {.tags = mem_alloc_pages(count, tags_bytes(&spec->tags))};
    if (spec->has_data)
        blocks.data = mem_alloc_pages(count, data_bytes(spec));
    if (spec->has_masks)
        blocks.masks = mem_alloc_pages(count * mask_count(spec), sizeof *blocks.masks);
    return blocks;
}

void cache_blocks_free(struct cache_blocks *blocks)
{
    mem_free_pages(blocks->tags);
    mem_free_pages(blocks->data);
    mem_free_pages(blocks->masks);
}

void cache_resize(struct cache *cache, uint32_t sets)
{
    struct tags_spec spec = cache->spec.tags;
    REQUIRE(!cache->is_in_blocks && sets <= spec.sets && !(cache->misses && cache->misses->used));
    spec.sets = sets;
    tags_free(cache->tags);
    cache->tags = tags_new(&spec);
}

void cache_archive(struct cache *cache, uint32_t who_most, struct archive *archive)
{
    uint32_t slots = cache_slots(cache);
    archive_expect(archive, cache->spec.line_bytes);
    archive_expect(archive, cache->spec.sector_bytes);
    tags_archive(cache->tags, archive);
    ARCHIVE_VALUE(archive, cache->generation);
    if (cache->misses)
        mshr_archive(cache->misses, who_most, slots, archive);
    if (cache->data)
        archive_sparse(archive, cache->data, (size_t)slots << cache->line_shift);
    if (cache->masks)
        archive_sparse(archive, cache->masks, (size_t)slots * cache->sectors * sizeof *cache->masks);
}

/* ---- lines come and go ---- */

bool cache_touch_or_place(struct cache *cache, uint64_t line)
{
    uint32_t slot = cache_find(cache, line);
    if (slot != TAGS_NONE) {
        cache_touch(cache, slot);
        return true;
    }
    slot = cache_victim(cache, line);
    if (slot != TAGS_NONE)
        cache_place(cache, slot, line, TAGS_NORMAL);
    return false;
}

static uint32_t *mask_of(const struct cache *cache, uint32_t slot, uint32_t sector)
{
    return &cache->masks[slot * cache->sectors + sector];
}

uint32_t cache_written(const struct cache *cache, uint32_t slot, uint32_t sector)
{
    if (!(*cache_dirty(cache, slot) >> sector & 1))
        return 0;
    return cache->masks ? *mask_of(cache, slot, sector) : cache->whole;
}

struct cache_victim cache_take_dirty(struct cache *cache, uint32_t slot)
{
    struct cache_victim victim = {.line = tags_line(cache->tags, slot),
                                  .data = cache->data ? cache_data(cache, slot) : NULL,
                                  .sectors = *cache_dirty(cache, slot)};
    for (uint32_t left = victim.sectors; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left);
        victim.masks[sector] = cache_written(cache, slot, sector);
        if (cache->masks)
            *mask_of(cache, slot, sector) = 0;
    }
    *cache_dirty(cache, slot) = 0;
    return victim;
}

void cache_drop(struct cache *cache, uint32_t slot)
{
    if (cache->misses && cache_miss(cache, tags_line(cache->tags, slot)) != MSHR_NONE)
        *cache_valid(cache, slot) = 0;
    else
        tags_drop(cache->tags, slot);
}

void cache_drop_if_empty(struct cache *cache, uint32_t slot)
{
    if (!*cache_valid(cache, slot) && !*cache_dirty(cache, slot))
        cache_drop(cache, slot);
}

void cache_forget(struct cache *cache, cache_stays_fn *stays)
{
    cache->generation = (cache->generation + 1) & INT32_MAX;
    if (!stays) {
        tags_drop_all(cache->tags);
        return;
    }
    for (uint32_t slot = 0; slot < cache_slots(cache); slot++)
        if (tags_holds(cache->tags, slot) && !stays(cache, tags_line(cache->tags, slot)))
            cache_drop(cache, slot);
}

/* ---- misses ---- */

uint32_t cache_begin(struct cache *cache, uint64_t line, uint32_t slot, bool lasting)
{
    uint32_t entry = mshr_add(cache->misses, line);
    if (entry == MSHR_NONE)
        return MSHR_NONE;
    struct mshr_entry *miss = cache_miss_at(cache, entry);
    tags_pin(cache->tags, slot);
    miss->slot = slot;
    miss->generation = lasting ? MSHR_LASTING : cache->generation;
    if (cache->data) /* the host's cache can have it by the time it is filled */
        for (uint32_t at = 0; at < cache->spec.line_bytes; at += 64)
            __builtin_prefetch(cache_data(cache, slot) + at, 1);
    return entry;
}

/* 0xff in each byte of a word whose bit is set in the low eight of the mask. */
static uint64_t bytes_of_bits(uint32_t mask)
{
    uint64_t some = (mask & 0xff) * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    return ((some + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 & UINT64_C(0x0101010101010101)) * 0xff;
}

/* Where the mask has a bit, a byte of `from`; elsewhere what was there. */
static void blend(const struct cache *cache, unsigned char *to, const unsigned char *from, uint32_t mask)
{
    for (uint32_t at = 0; at < UINT32_C(1) << cache->sector_shift; at += 8) {
        uint64_t old, new, taken = bytes_of_bits(mask >> at);
        memcpy(&old, to + at, sizeof old);
        memcpy(&new, from + at, sizeof new);
        old ^= (old ^ new) & taken;
        memcpy(to + at, &old, sizeof old);
    }
}

void cache_fill(struct cache *cache, uint32_t entry, uint32_t sectors, const unsigned char *line)
{
    struct mshr_entry *miss = cache_miss_at(cache, entry);
    uint16_t *valid = cache_valid(cache, miss->slot);
    uint32_t partial = cache->masks ? *cache_dirty(cache, miss->slot) & ~(uint32_t)*valid : 0;
    unsigned char *data = cache->data ? cache_data(cache, miss->slot) : NULL;
    for (uint32_t left = data ? sectors & ~(uint32_t)*valid : 0; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left), at = sector << cache->sector_shift;
        if (UNLIKELY(partial >> sector & 1))
            blend(cache, data + at, line + at, ~*mask_of(cache, miss->slot, sector));
        else
            cache_copy_sector(cache, data + at, line + at);
    }
    *valid |= (uint16_t)sectors;
    miss->pending &= (uint16_t)~sectors;
}

void cache_end(struct cache *cache, uint32_t entry)
{
    const struct mshr_entry *miss = cache_miss_at(cache, entry);
    uint32_t slot = miss->slot;
    if (cache_has_place(cache, miss)) {
        bool is_old = miss->generation != cache->generation && miss->generation != MSHR_LASTING;
        tags_unpin(cache->tags, slot);
        cache_invalidate(cache, slot, is_old ? UINT16_MAX : miss->stale);
        if (!*cache_valid(cache, slot) && !*cache_dirty(cache, slot))
            tags_drop(cache->tags, slot);
    }
    mshr_remove(cache->misses, entry);
}

/* ---- writing ---- */

static void write_bytes(struct cache *cache, uint32_t slot, uint32_t sector, uint32_t mask,
                        const unsigned char *bytes)
{
    unsigned char *to = cache_data(cache, slot) + ((size_t)sector << cache->sector_shift);
    if (mask == cache->whole)
        cache_copy_sector(cache, to, bytes);
    else
        blend(cache, to, bytes, mask);
}

static void write_back(struct cache *cache, uint32_t slot, uint32_t sector, uint32_t mask,
                       const unsigned char *bytes)
{
    uint16_t bit = (uint16_t)(1u << sector), *valid = cache_valid(cache, slot);
    if (!mask)
        return;
    *cache_dirty(cache, slot) |= bit;
    if (bytes)
        write_bytes(cache, slot, sector, mask, bytes);
    if (!cache->masks || (*mask_of(cache, slot, sector) |= mask) == cache->whole)
        *valid |= bit;
}

void cache_changed(struct cache *cache, uint32_t slot, uint32_t offset, uint32_t bytes)
{
    uint32_t sector = offset >> cache->sector_shift, in_sector = offset & ((1u << cache->sector_shift) - 1);
    *cache_dirty(cache, slot) |= (uint16_t)(1u << sector);
    if (cache->masks)
        *mask_of(cache, slot, sector) |= (uint32_t)((UINT64_C(1) << bytes) - 1) << in_sector;
}

bool cache_write(struct cache *cache, uint32_t slot, uint32_t sector, uint32_t mask,
                 const unsigned char *bytes, enum cache_write how)
{
    uint16_t bit = (uint16_t)(1u << sector), *valid = cache_valid(cache, slot);
    switch (how) {
    case CACHE_WRITE_BACK:
        write_back(cache, slot, sector, mask, bytes);
        return true;
    case CACHE_INVALIDATE:
        *valid &= (uint16_t)~bit;
        return false;
    case CACHE_ALLOCATE:
        if (mask == cache->whole)
            *valid |= bit;
        break;
    case CACHE_UPDATE:
        break;
    }
    if (!(*valid & bit))
        return false;
    write_bytes(cache, slot, sector, mask, bytes);
    return true;
}
