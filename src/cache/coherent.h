/* The same set of several caches that snoop on each other: what one access does to it. Write-back,
 * write-allocate, and a dirty line is in one cache only (MSI: invalid, clean, dirty). Pure; CUDA compiles
 * this header as it stands.
 *
 * Lines of different sets never interact, so a set with all its accesses, in order, can be simulated on its
 * own. This is how simulators of many caches run in parallel.
 *
 * A set is a run of bytes: marks, the policy's row, dirty ways, the last access, tags. Zeroed bytes are an
 * empty one. */
#ifndef CACHE_COHERENT_H
#define CACHE_COHERENT_H

#include "cache/replace.h"

struct coherent_shape {
    uint32_t sets, ways, policy; /* enum replace_policy */
    bool
        wide; /* lines are longer than those of the caches above: others may have parts of what is put back */
    /* planned */
    uint32_t marks_bytes, row_at, dirty_at, last_at, tags_at, set_bytes;
};

CACHE_CALL void coherent_plan(struct coherent_shape *shape)
{
    shape->marks_bytes = (shape->ways + 15) / 16 * 16;
    shape->row_at = shape->marks_bytes;
    shape->dirty_at = shape->row_at + replace_words(shape->ways) * 8;
    shape->last_at = shape->dirty_at + 8;
    shape->tags_at = shape->last_at + 8;
    shape->set_bytes = (shape->tags_at + shape->ways * 8 + 15) / 16 * 16;
}

/* What an access asks of a cache. */
enum coherent_kind {
    COHERENT_READ,
    COHERENT_WRITE,   /* the line is dirty here afterwards, and nowhere else */
    COHERENT_CLAIM,   /* as a read; but it is nowhere else afterwards: a cache above is about to write it */
    COHERENT_DISOWN,  /* it is nowhere else afterwards; nothing is looked up here */
    COHERENT_PUT_BACK /* a dirty line from a cache above: it is dirty here afterwards */
};

/*  name              help */
#define COHERENT_COUNTERS(X)                                                                                 \
    X(reads, "accesses that read")                                                                           \
    X(writes, "accesses that write")                                                                         \
    X(read_misses, "reads of lines that were not there")                                                     \
    X(write_misses, "writes to lines that were not there")                                                   \
    X(evictions, "lines that left for others to come")                                                       \
    X(write_backs, "dirty lines that left, or were given to another cache")                                  \
    X(invalidations, "lines that left because another cache wrote to them")                                  \
    X(put_backs, "dirty lines that came from a cache above")

struct coherent_counters {
#define X(name, help) uint64_t name;
    COHERENT_COUNTERS(X)
#undef X
};

enum { COHERENT_NONE = 0xffffffffu };

/* The outcome of an access, for the counters and the level below. */
struct coherent_outcome {
    bool hit;
    bool evicts;
    bool put_back; /* a dirty line left: `victim`, which is to be put back first */
    bool asks;     /* of the level below, `below` (enum coherent_kind) */
    uint8_t below;
    uint32_t given_by; /* the cache whose dirty copy was taken or cleaned, or COHERENT_NONE: put back, too */
    uint64_t victim;   /* its tag, if one was put back */
};

/* A byte of a tag, never 0; empty ways have 0. */
CACHE_CALL uint8_t coherent_mark(uint64_t tag)
{
    uint8_t mark = (uint8_t)((uint32_t)(tag ^ tag >> 32) * 0x9e3779b1u >> 24);
    return (uint8_t)(mark + !mark);
}

CACHE_CALL uint64_t *coherent_row(const struct coherent_shape *shape, char *set)
{
    return (uint64_t *)(void *)(set + shape->row_at);
}

CACHE_CALL uint64_t *coherent_dirty(const struct coherent_shape *shape, char *set)
{
    return (uint64_t *)(void *)(set + shape->dirty_at);
}

CACHE_CALL uint64_t *coherent_tags(const struct coherent_shape *shape, char *set)
{
    return (uint64_t *)(void *)(set + shape->tags_at);
}

CACHE_CALL uint64_t *coherent_last(const struct coherent_shape *shape, char *set)
{
    return (uint64_t *)(void *)(set + shape->last_at);
}

/* The last access to a set, in a word: tag, whether it is dirty, whether there is one. */
CACHE_CALL uint64_t coherent_last_word(uint64_t tag, bool is_dirty)
{
    return tag << 2 | (uint64_t)is_dirty << 1 | 1;
}

/* Only a GPU looks at it: on a CPU it would cost more than it saves. */
CACHE_CALL void coherent_set_last(const struct coherent_shape *shape, char *set, uint64_t word)
{
#ifdef __CUDA_ARCH__
    *coherent_last(shape, set) = word;
#else
    (void)shape, (void)set, (void)word;
#endif
}

/* Whether an access to an L1 (a read or a write) does what the last one to the set did, and so hits and
 * changes nothing. Tags are below 2^62. */
CACHE_CALL bool coherent_is_again(const struct coherent_shape *shape, char *set, uint64_t tag, bool writes)
{
    uint64_t last = *coherent_last(shape, set);
    return (last | 2) == coherent_last_word(tag, true) && (!writes || (last & 2));
}

/* The way a tag is in, or COHERENT_NONE. */
CACHE_CALL uint32_t coherent_find(const struct coherent_shape *shape, char *set, uint64_t tag)
{
    const uint64_t *tags = coherent_tags(shape, set);
    for (uint32_t first = 0; first < shape->ways; first += 16) {
        uint32_t same = bytes_equal((uint8_t *)set + first, coherent_mark(tag));
        for (; same; same &= same - 1) {
            uint32_t way = first + lowest_bit(same);
            if (tags[way] == tag)
                return way;
        }
    }
    return COHERENT_NONE;
}

/* Whether an access to an L1 (a read or a write) hits and concerns nobody else; and the way its line is in.
 */
CACHE_CALL bool coherent_is_hit(const struct coherent_shape *shape, char *set, uint64_t tag, bool writes,
                                uint32_t *way)
{
    *way = coherent_find(shape, set, tag);
    return *way != COHERENT_NONE && (!writes || (*coherent_dirty(shape, set) >> *way & 1));
}

/* If so, it is done here. */
CACHE_CALL bool coherent_hit(const struct coherent_shape *shape, char *set, uint64_t tag, bool writes,
                             uint32_t *way)
{
    if (!coherent_is_hit(shape, set, tag, writes, way))
        return false;
    replace_use(shape->policy, coherent_row(shape, set), shape->ways, *way);
    return true;
}

/* Where a tag that is not there goes to: an empty way, or one whose line leaves. */
CACHE_CALL uint32_t coherent_make_room(const struct coherent_shape *shape, char *set, uint64_t seed,
                                       struct coherent_outcome *outcome)
{
    for (uint32_t first = 0; first < shape->ways; first += 16) {
        uint32_t empty = bytes_equal((uint8_t *)set + first, 0);
        if (empty && first + lowest_bit(empty) < shape->ways)
            return first + lowest_bit(empty);
    }
    uint32_t way = replace_choose(shape->policy, coherent_row(shape, set), shape->ways,
                                  ~UINT64_C(0) >> (64 - shape->ways), seed);
    outcome->evicts = true;
    outcome->put_back = *coherent_dirty(shape, set) >> way & 1;
    outcome->victim = coherent_tags(shape, set)[way];
    return way;
}

CACHE_CALL void coherent_fill(const struct coherent_shape *shape, char *set, uint32_t way, uint64_t tag,
                              bool is_dirty)
{
    ((uint8_t *)set)[way] = coherent_mark(tag);
    coherent_tags(shape, set)[way] = tag;
    uint64_t *dirty = coherent_dirty(shape, set);
    *dirty = (*dirty & ~(UINT64_C(1) << way)) | (uint64_t)is_dirty << way;
    replace_come(shape->policy, coherent_row(shape, set), shape->ways, way);
}

#ifdef __CUDA_ARCH__ /* threads that look at other sets count there, too */
#define COHERENT_ADD_ONE(counter) atomicAdd((unsigned long long *)&(counter), 1ull)
#else
#define COHERENT_ADD_ONE(counter) ((counter)++)
#endif

/* A group of caches: set `n` of cache `i` is at sets + i * stride. */
struct coherent_group {
    char *sets;
    uint64_t stride;
    uint32_t caches;
    struct coherent_counters *counts; /* of each */
};

/* Another's copy: it leaves, or a dirty one becomes clean. Whether it was dirty. */
CACHE_CALL bool coherent_snoop_one(const struct coherent_shape *shape, char *set, uint64_t tag, bool take,
                                   struct coherent_counters *count)
{
    uint32_t way = coherent_find(shape, set, tag);
    if (way == COHERENT_NONE)
        return false;
    uint64_t *dirty = coherent_dirty(shape, set), bit = UINT64_C(1) << way;
    bool was_dirty = *dirty & bit;
    coherent_set_last(shape, set, 0);
    if (was_dirty) {
        *dirty &= ~bit;
        COHERENT_ADD_ONE(count->write_backs);
    }
    if (take) {
        ((uint8_t *)set)[way] = 0;
        COHERENT_ADD_ONE(count->invalidations);
    }
    return was_dirty;
}

CACHE_CALL void coherent_snoop(const struct coherent_shape *shape, const struct coherent_group *group,
                               uint32_t self, uint64_t tag, bool take, struct coherent_outcome *outcome)
{
    for (uint32_t other = 0; other < group->caches; other++) {
        if (other != self &&
            coherent_snoop_one(shape, group->sets + other * group->stride, tag, take, &group->counts[other]))
            outcome->given_by = other;
    }
}

/* An access to a tag that is in this way, or in none (COHERENT_NONE). */
CACHE_CALL struct coherent_outcome coherent_access_way(const struct coherent_shape *shape,
                                                       const struct coherent_group *group, uint32_t self,
                                                       uint64_t tag, uint32_t way, uint32_t kind,
                                                       uint64_t seed)
{
    struct coherent_outcome outcome = {false, false, false, false, COHERENT_READ, COHERENT_NONE, 0};
    char *set = group->sets + self * group->stride;
    bool writes = kind == COHERENT_WRITE || kind == COHERENT_PUT_BACK;
    outcome.hit = way != COHERENT_NONE;
    uint64_t *dirty = coherent_dirty(shape, set);
    bool was_dirty = outcome.hit && (*dirty >> way & 1);
    bool snoops = kind == COHERENT_PUT_BACK ? shape->wide : !outcome.hit || kind != COHERENT_READ;
    if (snoops && !was_dirty) {
        coherent_snoop(shape, group, self, tag, kind != COHERENT_READ, &outcome);
        outcome.asks = true;
        outcome.below = kind == COHERENT_READ                      ? COHERENT_READ
                        : outcome.hit || kind == COHERENT_PUT_BACK ? COHERENT_DISOWN
                                                                   : COHERENT_CLAIM;
    }
    coherent_set_last(
        shape, set,
        replace_is_settled(shape->policy, outcome.hit) ? coherent_last_word(tag, was_dirty || writes) : 0);
    if (outcome.hit) {
        *dirty |= (uint64_t)writes << way;
        replace_use(shape->policy, coherent_row(shape, set), shape->ways, way);
        return outcome;
    }
    way = coherent_make_room(shape, set, seed, &outcome);
    coherent_fill(shape, set, way, tag, writes);
    return outcome;
}

/* An access of the cache `self` of a group to its set; what it counts itself is the caller's to do
 * (coherent_count). `seed` is of the set, for REPLACE_RANDOM. */
CACHE_CALL struct coherent_outcome coherent_access(const struct coherent_shape *shape,
                                                   const struct coherent_group *group, uint32_t self,
                                                   uint64_t tag, uint32_t kind, uint64_t seed)
{
    if (kind == COHERENT_DISOWN) {
        struct coherent_outcome outcome = {false, false, false, false, COHERENT_READ, COHERENT_NONE, 0};
        coherent_snoop(shape, group, self, tag, true, &outcome);
        outcome.asks = true;
        outcome.below = COHERENT_DISOWN;
        return outcome;
    }
    uint32_t way = coherent_find(shape, group->sets + self * group->stride, tag);
    return coherent_access_way(shape, group, self, tag, way, kind, seed);
}

/* What the cache itself counts of an access, and of its outcome: COUNT(name of a counter, whether it goes
 * up).
 */
#define COHERENT_COUNTED_ACCESS(COUNT, kind)                                                                 \
    COUNT(reads, (kind) == COHERENT_READ || (kind) == COHERENT_CLAIM)                                        \
    COUNT(writes, (kind) == COHERENT_WRITE)                                                                  \
    COUNT(put_backs, (kind) == COHERENT_PUT_BACK)
#define COHERENT_COUNTED_OUTCOME(COUNT, kind, outcome)                                                       \
    COUNT(read_misses, !(outcome).hit && ((kind) == COHERENT_READ || (kind) == COHERENT_CLAIM))              \
    COUNT(write_misses, !(outcome).hit && (kind) == COHERENT_WRITE)                                          \
    COUNT(evictions, (outcome).evicts)                                                                       \
    COUNT(write_backs, (outcome).put_back)

CACHE_CALL void coherent_count(struct coherent_counters *count, uint32_t kind,
                               struct coherent_outcome outcome)
{
#define X(name, is_so) count->name += (is_so);
    COHERENT_COUNTED_ACCESS(X, kind)
    COHERENT_COUNTED_OUTCOME(X, kind, outcome)
#undef X
}

#endif
