/* A set-associative array of tags with sectors: which lines a cache holds, and which one is evicted. Pure: no
 * time and no data; the owner keeps the data of lines in arrays indexed by slot.
 *
 *   struct tags *tags = tags_new(&(struct tags_spec){.sets = 64, .ways = 16, .policy = REPLACE_LRU});
 *   uint32_t slot = tags_find(tags, address / 128);
 *   if (slot == TAGS_NONE) {
 *       slot = tags_victim(tags, address / 128);   // what leaves: tags_line, *tags_dirty of the slot
 *       tags_fill(tags, slot, address / 128, TAGS_NORMAL);
 *       *tags_valid(tags, slot) = sectors that are there now;
 *   } else
 *       tags_touch(tags, slot);
 *
 * A slot is set * ways + way. A line is any number that names one, such as its address divided by its size;
 * below 2^44. All of it is one block of bytes without pointers: a copy of it is a checkpoint. */
#ifndef CACHE_TAGS_H
#define CACHE_TAGS_H

#include "base/bits.h"
#include "cache/replace.h"

#include <stddef.h>

/* Which lines leave first of all, and which last; the policy decides among equals. */
enum tags_priority { TAGS_FIRST, TAGS_NORMAL, TAGS_LAST };

enum { TAGS_NONE = UINT32_MAX, TAGS_WAYS_MOST = REPLACE_WAYS_MOST, TAGS_SECTORS_MOST = 16 };

struct tags_spec {
    uint32_t sets;   /* any number up to 2^20 */
    uint32_t ways;   /* 1..64 */
    uint32_t policy; /* enum replace_policy */
    bool hashed;     /* strides of `sets` lines, too, are spread over the sets, and evenly */
    bool scattered;  /* nearly so: of a footprint as large as the cache, some sets get a little too much */
    uint64_t seed;   /* of REPLACE_RANDOM */
};

/* The block begins with this; then come the sets, each with all that is known of it in one place:
 * struct tags_set, a mark and a note of each way, valid, dirty, the policy's row, lines. */
struct tags {
    uint32_t sets, ways, policy;
    uint32_t mask; /* sets - 1 where a mask gives the set, or 0 */
    uint64_t reciprocal;
    uint32_t way_reciprocal, step; /* step of the hash: 0 when there is none */
    uint32_t generation;           /* a set of another one is empty */
    bool scattered;
    uint64_t seed;
    uint32_t set_bytes, notes_at, valid_at, dirty_at, row_at, lines_at; /* from the start of a set */
    uint64_t bytes;                                                     /* of the whole block */
};

struct tags_set {
    uint64_t pinned;      /* ways that may not leave */
    uint64_t first, last; /* those that leave before, and after, all others */
    uint32_t generation;
    uint32_t unused;
    uint8_t marks[]; /* ways, up to whole vectors of 16 */
};

/* Bytes of the block; and making one of zeroed memory of that size, which starts at a multiple of 16. */
size_t tags_bytes(const struct tags_spec *spec);
void tags_init(struct tags *tags, const struct tags_spec *spec);

struct tags *tags_new(const struct tags_spec *spec);
void tags_free(struct tags *tags);

/* Writes it, or reads it into one that was made by the same spec (base/archive.h). */
struct archive;
void tags_archive(struct tags *tags, struct archive *archive);

/* The slot for a `line` that is not present. It is empty, or still holds the line to evict. TAGS_NONE when
 * all ways are pinned. */
uint32_t tags_victim(struct tags *tags, uint64_t line);

/* The line is there from now on, without valid sectors. */
void tags_fill(struct tags *tags, uint32_t slot, uint64_t line, enum tags_priority priority);

/* The slot is empty from now on; and all are. */
void tags_drop(struct tags *tags, uint32_t slot);
void tags_drop_all(struct tags *tags);

/* A pinned line is not evicted, such as one that waits for its fill. */
void tags_pin(struct tags *tags, uint32_t slot);
void tags_unpin(struct tags *tags, uint32_t slot);

/* True where a line is. For walks over all slots, which are 0 .. sets * ways - 1. */
bool tags_holds(const struct tags *tags, uint32_t slot);

/* ---- what is called for each access ---- */

enum { TAGS_HEADER = 128 }; /* bytes for struct tags */

static inline struct tags_set *tags_set(const struct tags *tags, uint32_t set)
{
    return (struct tags_set *)((char *)tags + TAGS_HEADER + (size_t)set * tags->set_bytes);
}

static inline uint32_t tags_set_of_slot(const struct tags *tags, uint32_t slot)
{
    return tags->ways == 1 ? slot : (uint32_t)((uint64_t)slot * tags->way_reciprocal >> 32);
}

/* What is known of a slot: element `way` of an array that begins `at` bytes into its set. */
static inline void *tags_field(const struct tags *tags, uint32_t slot, uint32_t at, uint32_t bytes_each)
{
    uint32_t set = tags_set_of_slot(tags, slot);
    return (char *)tags_set(tags, set) + at + (slot - set * tags->ways) * bytes_each;
}

static inline uint64_t tags_line(const struct tags *tags, uint32_t slot)
{
    return *(uint64_t *)tags_field(tags, slot, tags->lines_at, sizeof(uint64_t));
}

/* A bit for each sector that is there; and for each that was written. The owner's to change. */
static inline uint16_t *tags_valid(const struct tags *tags, uint32_t slot)
{
    return tags_field(tags, slot, tags->valid_at, sizeof(uint16_t));
}

static inline uint16_t *tags_dirty(const struct tags *tags, uint32_t slot)
{
    return tags_field(tags, slot, tags->dirty_at, sizeof(uint16_t));
}

/* A byte that is all the owner's; a line that comes has 0. */
static inline uint8_t *tags_note(const struct tags *tags, uint32_t slot)
{
    return tags_field(tags, slot, tags->notes_at, sizeof(uint8_t));
}

/* What the policy knows of a set (cache/replace.h). */
static inline uint64_t *tags_row(const struct tags *tags, uint32_t set)
{
    return (uint64_t *)(void *)((char *)tags_set(tags, set) + tags->row_at);
}

/* n modulo the number of sets, and n divided by it. Exact while n * sets is below 2^64. */
static inline uint64_t tags_split(const struct tags *tags, uint64_t n, uint64_t *quotient)
{
    *quotient = (uint64_t)((unsigned __int128)n * tags->reciprocal >> 64);
    return n - *quotient * tags->sets;
}

/* Each run of `sets` lines goes to all sets, and so do lines that are `sets` apart when hashed. */
static inline uint32_t tags_set_of(const struct tags *tags, uint64_t line)
{
    if (tags->mask)
        return (uint32_t)line & tags->mask;
    if (tags->sets == 1)
        return 0;
    if (tags->scattered)
        return (uint32_t)(((line ^ line >> 17) * UINT64_C(0xd6e8feb86659fd93) >> 32) * tags->sets >> 32);
    uint64_t quotient, rest = tags_split(tags, line, &quotient);
    if (tags->step)
        rest = tags_split(tags, rest + quotient * tags->step, &quotient);
    return (uint32_t)rest;
}

/* A byte of a line, never 0, by which sixteen ways are looked through at once; empty slots have 0. */
static inline uint8_t tags_mark(uint64_t line)
{
    uint8_t mark = (uint8_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    return (uint8_t)(mark + !mark);
}

/* Where the line is, or TAGS_NONE. Which sectors of it are valid is another matter. */
static inline uint32_t tags_find(const struct tags *tags, uint64_t line)
{
    uint32_t set = tags_set_of(tags, line);
    const struct tags_set *it = tags_set(tags, set);
    if (it->generation != tags->generation)
        return TAGS_NONE;
    const uint64_t *lines = (const uint64_t *)((const char *)it + tags->lines_at);
    uint8_t mark = tags_mark(line);
    for (uint32_t first = 0; first < tags->ways; first += 16) {
        for (uint32_t same = bytes_equal(it->marks + first, mark); same; same &= same - 1) {
            uint32_t way = first + (uint32_t)__builtin_ctz(same);
            if (LIKELY(lines[way] == line))
                return set * tags->ways + way;
        }
    }
    return TAGS_NONE;
}

/* Asks the host for all of a set at once, for caches that the host's own do not hold. */
static inline void tags_prefetch(const struct tags *tags, uint32_t set)
{
    const char *it = (const char *)tags_set(tags, set);
    for (uint32_t at = 0; at < tags->set_bytes; at += 64)
        __builtin_prefetch(it + at, 1);
}

/* The line was used. */
static inline void tags_touch(struct tags *tags, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(tags, slot);
    replace_use(tags->policy, tags_row(tags, set), tags->ways, slot - set * tags->ways);
}

#endif
