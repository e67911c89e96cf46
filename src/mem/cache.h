/* A cache: its tags, the misses in flight, its data, and the effect of writes. Every cache of a GPU is one of
 * these; a spec has its size and features. It has no clock and sends nothing. Its owner decides when things
 * happen and moves the data, so that an SM can run ahead by cycles while the L2 goes from event to event.
 *
 *   uint32_t slot = cache_find(cache, line), missing = cache_missing(cache, slot, sectors);
 *   if (!missing)
 *       cache_touch(cache, slot);                              // a hit: the bytes are at cache_data
 *   else {
 *       uint32_t entry = cache_miss(cache, line);              // in flight already?
 *       if (entry == MSHR_NONE)
 *           entry = cache_begin(cache, line, slot, false);     // slot: found, or victim and place
 *       cache_wait(cache, entry, who);
 *       uint32_t ask = cache_ask(cache, entry, missing);       // sectors that were not requested yet
 *   }
 *   ...
 *   cache_fill(cache, entry, sectors, data);                   // data arrived; when nothing more is pending:
 *   cache_end(cache, entry);
 *
 * A line is identified by a number, such as its address divided by its size; a slot is a place for a line.
 * Some sectors of a line may be valid, and some dirty: modified, and to be written back. A mask says which
 * bytes of a dirty sector were written, and no others are written back: a sector that is not valid has no
 * others, and those of a valid one may have been changed in memory since, by the host.
 *
 * If a line is written elsewhere while its fill is in flight, the fill would bring old data. So the owner
 * marks the miss stale: requests already waiting receive the data, no more requests join, and the line is not
 * kept. */
#ifndef MEM_CACHE_H
#define MEM_CACHE_H

#include "cache/mshr.h"
#include "cache/tags.h"

#include <string.h>

enum {
    CACHE_SECTORS_MOST = 8,
    CACHE_SECTOR_BYTES_MOST = 32, /* of caches that hold data: masks have a bit for each byte */
    CACHE_SECTOR_BYTES_USUAL = 32 /* which copying is made for */
};

/* What a write does. The first three write through: the owner sends the bytes on as well. */
enum cache_write {
    CACHE_UPDATE,     /* changes sectors that are there */
    CACHE_INVALIDATE, /* they are not there any more */
    CACHE_ALLOCATE,   /* as the first; makes room for a line, and whole sectors are there from then on */
    CACHE_WRITE_BACK  /* makes room, keeps all that is written, and has it leave with its line */
};

struct cache_spec {
    uint32_t line_bytes, sector_bytes; /* powers of two */
    struct tags_spec tags;             /* sets, ways, replacement */
    struct mshr_spec misses;           /* 0 entries: none are ever under way */
    bool has_data;
    bool has_masks; /* CACHE_WRITE_BACK of parts of sectors */
};

/* What caches are made in, if many lie side by side: one block each of tags, data and masks. */
struct cache_blocks {
    unsigned char *tags, *data;
    uint32_t *masks;
};

struct cache {
    struct tags *tags;
    struct mshr *misses; /* or NULL */
    unsigned char *data; /* by slot; or NULL */
    uint32_t *masks;     /* by slot and sector: bytes of it that were written; 0 where it is not dirty. Or
                            NULL: they are not known */
    uint32_t generation; /* misses of another one are not joined any more */
    uint32_t whole;      /* the mask of a whole sector */
    uint8_t line_shift, sector_shift, sectors;
    bool is_in_blocks;
    struct cache_spec spec;
};

/* Dirty sectors that leave. The data and masks are valid until the slot is used again. */
struct cache_victim {
    uint64_t line;
    const unsigned char *data; /* of the whole line, or NULL */
    uint32_t sectors;
    uint32_t masks[CACHE_SECTORS_MOST]; /* bytes of each of them that were written */
};

/* cache_init: in memory of its own. cache_init_in: number n of those in the blocks, with a seed of its own.
 */
void cache_init(struct cache *cache, const struct cache_spec *spec);
void cache_init_in(struct cache *cache, const struct cache_spec *spec, const struct cache_blocks *blocks,
                   uint32_t number);
void cache_fini(struct cache *cache);
struct cache_blocks cache_blocks_new(const struct cache_spec *spec, uint32_t count);
void cache_blocks_free(struct cache_blocks *blocks);

/* Empties it, and gives it so many sets, at most those of its spec. No misses may be under way. */
void cache_resize(struct cache *cache, uint32_t sets);

/* Writes it, or reads it into one made by the same spec. Who waits is below `who_most`. */
void cache_archive(struct cache *cache, uint32_t who_most, struct archive *archive);

/* ---- looking up ---- */

static inline uint32_t cache_slots(const struct cache *cache)
{
    return cache->tags->sets * cache->tags->ways;
}

static inline uint64_t cache_line(const struct cache *cache, uint64_t address)
{
    return address >> cache->line_shift;
}

static inline uint32_t cache_find(const struct cache *cache, uint64_t line) /* or TAGS_NONE */
{
    return tags_find(cache->tags, line);
}

/* Asks the host for what is known of a line, for caches that the host's own do not hold. */
static inline void cache_prefetch(const struct cache *cache, uint64_t line)
{
    tags_prefetch(cache->tags, tags_set_of(cache->tags, line));
}

static inline void cache_touch(struct cache *cache, uint32_t slot) /* it was used */
{
    tags_touch(cache->tags, slot);
}

static inline uint16_t *cache_valid(const struct cache *cache, uint32_t slot)
{
    return tags_valid(cache->tags, slot);
}

static inline uint16_t *cache_dirty(const struct cache *cache, uint32_t slot)
{
    return tags_dirty(cache->tags, slot);
}

static inline uint8_t *cache_note(const struct cache *cache, uint32_t slot) /* the owner's; 0 at first */
{
    return tags_note(cache->tags, slot);
}

static inline unsigned char *cache_data(const struct cache *cache, uint32_t slot)
{
    return cache->data + ((size_t)slot << cache->line_shift);
}

/* Of these sectors, those that are not there; all, if the line is not. */
static inline uint32_t cache_missing(const struct cache *cache, uint32_t slot, uint32_t sectors)
{
    return slot == TAGS_NONE ? sectors : sectors & ~(uint32_t)*cache_valid(cache, slot);
}

/* Looks for a line, and puts it there if it is not, where there is room. True: it was. */
bool cache_touch_or_place(struct cache *cache, uint64_t line);

/* ---- making room ---- */

/* The slot whose line should leave for this one, or TAGS_NONE. What is in it stays until cache_place. */
static inline uint32_t cache_victim(struct cache *cache, uint64_t line)
{
    return tags_victim(cache->tags, line);
}

/* Whether a line is in a slot; and which. What is dirty of it must be taken before another is placed. */
static inline bool cache_holds(const struct cache *cache, uint32_t slot)
{
    return tags_holds(cache->tags, slot);
}

static inline uint64_t cache_line_in(const struct cache *cache, uint32_t slot)
{
    return tags_line(cache->tags, slot);
}

/* Bytes of a sector that were written, and are dirty: a mask. */
uint32_t cache_written(const struct cache *cache, uint32_t slot, uint32_t sector);

/* What is dirty of a slot; it is clean from now on. */
struct cache_victim cache_take_dirty(struct cache *cache, uint32_t slot);

/* The line is in this slot from now on, without valid sectors. */
static inline void cache_place(struct cache *cache, uint32_t slot, uint64_t line, enum tags_priority priority)
{
    tags_fill(cache->tags, slot, line, priority);
}

/* ---- misses ---- */

/* The miss of a line that is under way, or MSHR_NONE. */
static inline uint32_t cache_miss(const struct cache *cache, uint64_t line)
{
    return cache->misses->used ? mshr_find(cache->misses, line) : MSHR_NONE;
}

/* No more misses can begin. */
static inline bool cache_is_busy(const struct cache *cache)
{
    return cache->misses->used == cache->misses->entries;
}

/* Of the set that a line falls to: ways that misses are under way to. */
static inline uint32_t cache_ways_under_way(const struct cache *cache, uint64_t line)
{
    const struct tags_set *set = tags_set(cache->tags, tags_set_of(cache->tags, line));
    bool is_old = set->generation != cache->tags->generation;
    return is_old ? 0 : (uint32_t)__builtin_popcountll(set->pinned);
}

/* A miss begins; its line is in the slot, and cannot leave. MSHR_NONE when too many are under way. A lasting
 * one is not concerned by cache_forget. */
uint32_t cache_begin(struct cache *cache, uint64_t line, uint32_t slot, bool lasting);

static inline struct mshr_entry *cache_miss_at(const struct cache *cache, uint32_t entry)
{
    return mshr_at(cache->misses, entry);
}

/* Whether it is as new as what is asked for now. */
static inline bool cache_is_current(const struct cache *cache, const struct mshr_entry *miss)
{
    return !miss->stale && (miss->generation == cache->generation || miss->generation == MSHR_LASTING);
}

/* The number of one who waits; false when no more can. */
static inline bool cache_wait(struct cache *cache, uint32_t entry, uint32_t who)
{
    return mshr_wait(cache->misses, entry, who);
}

/* Of these sectors, those to ask for: they were not under way, and are now. */
static inline uint32_t cache_ask(struct cache *cache, uint32_t entry, uint32_t sectors)
{
    struct mshr_entry *miss = cache_miss_at(cache, entry);
    uint32_t more = sectors & ~(uint32_t)miss->pending;
    miss->pending |= (uint16_t)more;
    return more;
}

/* The line is still in the slot of its miss. */
static inline bool cache_has_place(const struct cache *cache, const struct mshr_entry *miss)
{
    return LIKELY(miss->generation == cache->generation) || cache_find(cache, miss->line) == miss->slot;
}

/* Sectors have come, in their places in `line`. Bytes that were written meanwhile stay. cache_came: they are
 * not kept. */
void cache_fill(struct cache *cache, uint32_t entry, uint32_t sectors, const unsigned char *line);
static inline void cache_came(struct cache *cache, uint32_t entry, uint32_t sectors)
{
    cache_miss_at(cache, entry)->pending &= (uint16_t)~sectors;
}

/* Nothing is pending: the line may leave, and does if all of it is stale. Those who wait are forgotten. */
void cache_end(struct cache *cache, uint32_t entry);

/* ---- writing and dropping ---- */

/* Bytes of a sector of a slot are written: those of the mask. `bytes` may be NULL for CACHE_WRITE_BACK: the
 * sector is dirty, and what it holds is of no interest. False: nothing of it is kept here. */
bool cache_write(struct cache *cache, uint32_t slot, uint32_t sector, uint32_t mask,
                 const unsigned char *bytes, enum cache_write how);

/* Some bytes of a valid sector were changed in place, by the owner: they are to be written back. */
void cache_changed(struct cache *cache, uint32_t slot, uint32_t offset, uint32_t bytes);

/* These sectors are not valid any more. */
static inline void cache_invalidate(struct cache *cache, uint32_t slot, uint32_t sectors)
{
    *cache_valid(cache, slot) &= (uint16_t)~sectors;
}

/* The line leaves, dirty or not; if it is under way, when it has come. */
void cache_drop(struct cache *cache, uint32_t slot);

/* It leaves if nothing of it is there, nor under way. */
void cache_drop_if_empty(struct cache *cache, uint32_t slot);

/* All lines leave but those that `stays` (NULL: none) says; misses under way are not joined any more. */
typedef bool cache_stays_fn(const struct cache *cache, uint64_t line);
void cache_forget(struct cache *cache, cache_stays_fn *stays);

/* ---- bytes ---- */

static inline void cache_copy_sector(const struct cache *cache, void *to, const void *from)
{
    if (LIKELY(cache->sector_shift == 5))
        memcpy(to, from, CACHE_SECTOR_BYTES_USUAL);
    else
        memcpy(to, from, (size_t)1 << cache->sector_shift);
}

/* All of a usual line at once: true when that was all there was to copy. */
static inline bool cache_copy_line(const struct cache *cache, void *to, const void *from, uint32_t sectors)
{
    if (sectors != 15 || cache->sector_shift != 5)
        return false;
    memcpy(to, from, 4 * CACHE_SECTOR_BYTES_USUAL);
    return true;
}

/* Sectors side by side, as they travel, from a line; and back to their places. Gives their bytes. */
static inline uint32_t cache_pack(const struct cache *cache, const unsigned char *line, uint32_t sectors,
                                  unsigned char *packed)
{
    uint32_t bytes = 0;
    if (cache_copy_line(cache, packed, line, sectors))
        return 4 * CACHE_SECTOR_BYTES_USUAL;
    for (; sectors; sectors &= sectors - 1, bytes += UINT32_C(1) << cache->sector_shift)
        cache_copy_sector(cache, packed + bytes,
                          line + ((size_t)__builtin_ctz(sectors) << cache->sector_shift));
    return bytes;
}

static inline void cache_unpack(const struct cache *cache, const unsigned char *packed, uint32_t sectors,
                                unsigned char *line)
{
    if (cache_copy_line(cache, line, packed, sectors))
        return;
    for (; sectors; sectors &= sectors - 1, packed += (size_t)1 << cache->sector_shift)
        cache_copy_sector(cache, line + ((size_t)__builtin_ctz(sectors) << cache->sector_shift), packed);
}

#endif
