#include "cache/tags.h"
#include "base/archive.h"
#include "base/err.h"
#include "base/mem.h"

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* About 0.618 of the sets and without a divisor in common with them, so that its multiples go everywhere. */
static uint32_t hash_step(uint32_t sets)
{
    uint32_t step = (uint32_t)((uint64_t)sets * 633 >> 10) | 1;
    while (greatest_divisor(step, sets) != 1)
        step += 2;
    return step;
}

static uint32_t up_to(uint32_t bytes, uint32_t whole)
{
    return (bytes + whole - 1) / whole * whole;
}

static void plan(struct tags *tags, const struct tags_spec *spec)
{
    REQUIRE(spec->sets >= 1 && spec->sets <= 1 << 20 && spec->ways >= 1 && spec->ways <= TAGS_WAYS_MOST);
    REQUIRE((uint64_t)spec->sets * spec->ways <= 1 << 26);
    bool is_power = !(spec->sets & (spec->sets - 1)), is_plain = !spec->hashed && !spec->scattered;
    *tags = (struct tags){
        .sets = spec->sets,
        .ways = spec->ways,
        .policy = spec->policy,
        .mask = is_power && is_plain ? spec->sets - 1 : 0,
        .reciprocal = UINT64_MAX / spec->sets + 1,
        .way_reciprocal = UINT32_MAX / spec->ways + 1,
        .step = spec->hashed && spec->sets > 1 ? hash_step(spec->sets) : 0,
        .generation = 1, /* zeroed sets are of another */
        .seed = spec->seed,
        .scattered = spec->scattered,
    };
    tags->notes_at = (uint32_t)sizeof(struct tags_set) + up_to(spec->ways, 16);
    tags->valid_at = up_to(tags->notes_at + spec->ways, 16);
    tags->dirty_at = tags->valid_at + spec->ways * (uint32_t)sizeof(uint16_t);
    tags->row_at = up_to(tags->dirty_at + spec->ways * (uint32_t)sizeof(uint16_t), 16);
    tags->lines_at = tags->row_at + replace_words(spec->ways) * (uint32_t)sizeof(uint64_t);
    tags->set_bytes = up_to(tags->lines_at + spec->ways * (uint32_t)sizeof(uint64_t), CACHE_LINE);
    tags->bytes = TAGS_HEADER + (uint64_t)spec->sets * tags->set_bytes;
}

_Static_assert(sizeof(struct tags) <= TAGS_HEADER, "the sets begin behind it");

size_t tags_bytes(const struct tags_spec *spec)
{
    struct tags planned;
    plan(&planned, spec);
    return planned.bytes;
}

void tags_init(struct tags *tags, const struct tags_spec *spec)
{
    plan(tags, spec);
}

/* Most sets of a large one may never be used: their pages need not be there. */
static bool is_large(size_t bytes)
{
    return bytes >= 32 << 10;
}

struct tags *tags_new(const struct tags_spec *spec)
{
    size_t bytes = tags_bytes(spec);
    struct tags *tags = is_large(bytes) ? mem_alloc_pages(1, bytes) : mem_alloc_lines(1, bytes);
    tags_init(tags, spec);
    return tags;
}

void tags_free(struct tags *tags)
{
    if (tags && is_large(tags->bytes))
        mem_free_pages(tags);
    else
        mem_free(tags);
}

void tags_archive(struct tags *tags, struct archive *archive)
{
    archive_expect(archive, tags->sets);
    archive_expect(archive, tags->ways);
    archive_expect(archive, tags->policy);
    archive_expect(archive, tags->bytes);
    ARCHIVE_VALUE(archive, tags->generation);
    archive_sparse(archive, tags_set(tags, 0), tags->bytes - TAGS_HEADER);
}

/* The set, emptied first if it is of an old generation. */
static struct tags_set *fresh_set(struct tags *tags, uint32_t set)
{
    struct tags_set *it = tags_set(tags, set);
    if (it->generation != tags->generation) {
        memset(it->marks, 0, up_to(tags->ways, 16));
        memset(tags_row(tags, set), 0, replace_words(tags->ways) * sizeof(uint64_t));
        *it = (struct tags_set){.generation = tags->generation};
    }
    return it;
}

static uint64_t all_ways(const struct tags *tags)
{
    return UINT64_MAX >> (64 - tags->ways);
}

/* Of these ways (never none), those of the lowest priority. */
static uint64_t least_wanted(const struct tags_set *it, uint64_t from)
{
    if (from & it->first)
        return from & it->first;
    return from & ~it->last ? from & ~it->last : from;
}

uint32_t tags_victim(struct tags *tags, uint64_t line)
{
    uint32_t set = tags_set_of(tags, line);
    const struct tags_set *it = fresh_set(tags, set);
    uint64_t from = all_ways(tags) & ~it->pinned;
    if (!from)
        return TAGS_NONE;
    uint64_t empty = 0;
    for (uint32_t first = 0; first < tags->ways; first += 16)
        empty |= (uint64_t)bytes_equal(it->marks + first, 0) << first;
    empty &= from;
    uint32_t way = empty ? lowest_bit(empty)
                         : replace_choose(tags->policy, tags_row(tags, set), tags->ways,
                                          least_wanted(it, from), tags->seed + set);
    return set * tags->ways + way;
}

void tags_fill(struct tags *tags, uint32_t slot, uint64_t line, enum tags_priority priority)
{
    uint32_t set = tags_set_of_slot(tags, slot), way = slot - set * tags->ways;
    struct tags_set *it = fresh_set(tags, set);
    uint64_t bit = UINT64_C(1) << way;
    it->marks[way] = tags_mark(line);
    it->first = (it->first & ~bit) | (priority == TAGS_FIRST ? bit : 0);
    it->last = (it->last & ~bit) | (priority == TAGS_LAST ? bit : 0);
    *(uint64_t *)tags_field(tags, slot, tags->lines_at, sizeof(uint64_t)) = line;
    *tags_valid(tags, slot) = *tags_dirty(tags, slot) = 0;
    *tags_note(tags, slot) = 0;
    if (tags->policy != REPLACE_TREE ||
        priority != TAGS_FIRST) /* the tree goes on pointing at what leaves first */
        replace_come(tags->policy, tags_row(tags, set), tags->ways, way);
}

void tags_drop(struct tags *tags, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(tags, slot), way = slot - set * tags->ways;
    struct tags_set *it = fresh_set(tags, set);
    it->pinned &= ~(UINT64_C(1) << way);
    it->marks[way] = 0;
    *tags_valid(tags, slot) = *tags_dirty(tags, slot) = 0;
}

void tags_drop_all(struct tags *tags)
{
    if (++tags->generation)
        return;
    for (uint32_t set = 0; set < tags->sets; set++) /* 2^32 times: begin anew */
        tags_set(tags, set)->generation = 0;
    tags->generation = 1;
}

void tags_pin(struct tags *tags, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(tags, slot);
    fresh_set(tags, set)->pinned |= UINT64_C(1) << (slot - set * tags->ways);
}

void tags_unpin(struct tags *tags, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(tags, slot);
    tags_set(tags, set)->pinned &= ~(UINT64_C(1) << (slot - set * tags->ways));
}

bool tags_holds(const struct tags *tags, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(tags, slot);
    const struct tags_set *it = tags_set(tags, set);
    return it->generation == tags->generation && it->marks[slot - set * tags->ways];
}
