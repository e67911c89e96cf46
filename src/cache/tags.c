#include "cache/tags.h"
#include "base/archive.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

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
        .stream = spec->seed,
        .scattered = spec->scattered,
    };
    tags->notes_at = (uint32_t)sizeof(struct tags_set) + up_to(spec->ways, 16);
    tags->valid_at = up_to(tags->notes_at + spec->ways, 16);
    tags->dirty_at = tags->valid_at + spec->ways * (uint32_t)sizeof(uint16_t);
    tags->stamps_at = up_to(tags->dirty_at + spec->ways * (uint32_t)sizeof(uint16_t), 16);
    tags->lines_at = up_to(tags->stamps_at + spec->ways * (uint32_t)sizeof(uint32_t), 16);
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

struct tags *tags_new(const struct tags_spec *spec)
{
    struct tags *tags = mem_alloc_lines(1, tags_bytes(spec));
    tags_init(tags, spec);
    return tags;
}

void tags_free(struct tags *tags)
{
    mem_free(tags);
}

void tags_archive(struct tags *tags, struct archive *archive)
{
    archive_expect(archive, tags->sets);
    archive_expect(archive, tags->ways);
    archive_expect(archive, tags->policy);
    archive_expect(archive, tags->bytes);
    ARCHIVE_VALUE(archive, tags->generation);
    ARCHIVE_VALUE(archive, tags->clock);
    ARCHIVE_VALUE(archive, tags->stream);
    archive_sparse(archive, tags_set(tags, 0), tags->bytes - TAGS_HEADER);
}

/* The set, emptied first if it is of an old generation. */
static struct tags_set *fresh_set(struct tags *tags, uint32_t set)
{
    struct tags_set *it = tags_set(tags, set);
    if (it->generation != tags->generation) {
        memset(it->marks, 0, up_to(tags->ways, 16));
        *it = (struct tags_set){.generation = tags->generation};
    }
    return it;
}

static uint64_t all_ways(const struct tags *tags)
{
    return UINT64_MAX >> (64 - tags->ways);
}

/* ---- policies: which of the ways in `from` (never 0) leaves ---- */

/* The smallest stamp: of LRU and FIFO the oldest, and those of low priority before all. */
static uint32_t oldest(const struct tags *tags, uint32_t set, uint64_t from)
{
    const uint32_t *stamps = tags_stamp(tags, set * tags->ways);
    uint32_t best = UINT32_MAX;
    uint32_t way = 0;
    for (; from; from &= from - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(from);
        if (stamps[i] < best) {
            best = stamps[i];
            way = i;
        }
    }
    return way;
}

/* Those of the lowest priority. */
static uint64_t least_wanted(const struct tags *tags, uint32_t set, uint64_t from)
{
    const uint32_t *stamps = tags_stamp(tags, set * tags->ways);
    uint64_t by_priority[3] = {0};
    for (uint64_t left = from; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        by_priority[stamps[i] >> TAGS_PRIORITY_SHIFT] |= UINT64_C(1) << i;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (by_priority[i])
            return by_priority[i];
    }
    return from;
}

static uint32_t any(struct tags *tags, uint64_t from)
{
    struct rng stream = {tags->stream};
    uint64_t skip = rng_below(&stream, (uint64_t)__builtin_popcountll(from));
    tags->stream = stream.state;
    while (skip--)
        from &= from - 1;
    return (uint32_t)__builtin_ctzll(from);
}

/* A tree over the ways, up to a power of two; node 1 is its root. The ways below a node are a run of bits. */
static uint32_t tree_size(const struct tags *tags)
{
    return tags->ways == 1 ? 1 : 1u << (32 - __builtin_clz(tags->ways - 1));
}

static uint32_t where_tree_points(const struct tags *tags, uint32_t set, uint64_t from)
{
    uint64_t tree = tags_set(tags, set)->tree;
    uint32_t node = 1, low = 0;
    for (uint32_t half = tree_size(tags) / 2; half; half /= 2) {
        uint64_t run = half == 64 ? UINT64_MAX : (UINT64_C(1) << half) - 1;
        bool left = from & run << low, right = from & run << (low + half);
        bool go_right = right && (!left || tree >> node & 1);
        low += go_right ? half : 0;
        node = 2 * node + go_right;
    }
    return low;
}

void tags_touch_tree(struct tags *tags, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(tags, slot), way = slot - set * tags->ways;
    uint64_t *tree = &tags_set(tags, set)->tree;
    uint32_t node = 1, half = tree_size(tags) / 2;
    for (; half; half /= 2) {
        bool is_right = way & half;
        *tree = (*tree & ~(UINT64_C(1) << node)) | (uint64_t)!is_right << node;
        node = 2 * node + is_right;
    }
}

enum { RRPV_MOST = 3 }; /* of two bits */

/* The first that is expected in the farthest future; all grow older until there is one. */
static uint32_t farthest(struct tags *tags, uint32_t set, uint64_t from)
{
    uint32_t *stamps = tags_stamp(tags, set * tags->ways), most = 0;
    const uint32_t value = (1u << TAGS_PRIORITY_SHIFT) - 1;
    for (uint64_t left = from; left; left &= left - 1) {
        uint32_t this = stamps[__builtin_ctzll(left)] & value;
        most = this > most ? this : most;
    }
    uint32_t way = TAGS_NONE;
    for (uint64_t left = from; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        stamps[i] += RRPV_MOST - most;
        if (way == TAGS_NONE && (stamps[i] & value) == RRPV_MOST)
            way = i;
    }
    return way;
}

static uint32_t leaves(struct tags *tags, uint32_t set, uint64_t from)
{
    switch ((enum tags_policy)tags->policy) {
    case TAGS_LRU:
    case TAGS_FIFO:
        return oldest(tags, set, from);
    case TAGS_RANDOM:
        return any(tags, least_wanted(tags, set, from));
    case TAGS_TREE:
        return where_tree_points(tags, set, least_wanted(tags, set, from));
    case TAGS_SRRIP:
        return farthest(tags, set, least_wanted(tags, set, from));
    }
    BUG("replacement policy %u", tags->policy);
}

/* ---- */

/* The clock's end: stamps are halved, which leaves old ones older than what comes. */
void tags_rewind(struct tags *tags)
{
    tags->clock = 1u << (TAGS_PRIORITY_SHIFT - 1);
    for (uint32_t slot = 0; slot < tags->sets * tags->ways; slot++) {
        uint32_t *stamp = tags_stamp(tags, slot), priority = *stamp >> TAGS_PRIORITY_SHIFT;
        *stamp = priority << TAGS_PRIORITY_SHIFT | (*stamp & ((1u << TAGS_PRIORITY_SHIFT) - 1)) / 2;
    }
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
        empty |= (uint64_t)tags_match(it->marks + first, 0) << first;
    empty &= from;
    uint32_t way = empty ? (uint32_t)__builtin_ctzll(empty) : leaves(tags, set, from);
    return set * tags->ways + way;
}

void tags_fill(struct tags *tags, uint32_t slot, uint64_t line, enum tags_priority priority)
{
    uint32_t set = tags_set_of_slot(tags, slot), way = slot - set * tags->ways;
    fresh_set(tags, set)->marks[way] = tags_mark(line);
    *(uint64_t *)tags_field(tags, slot, tags->lines_at, sizeof(uint64_t)) = line;
    *tags_valid(tags, slot) = *tags_dirty(tags, slot) = 0;
    *tags_note(tags, slot) = 0;
    uint32_t value = 0;
    if (tags->policy == TAGS_LRU || tags->policy == TAGS_FIFO)
        value = tags_tick(tags);
    else if (tags->policy == TAGS_SRRIP)
        value = RRPV_MOST - 1;
    else if (tags->policy == TAGS_TREE && priority != TAGS_FIRST)
        tags_touch_tree(tags, slot);
    *tags_stamp(tags, slot) = (uint32_t)priority << TAGS_PRIORITY_SHIFT | value;
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
