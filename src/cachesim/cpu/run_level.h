/* The accesses of a piece of work, in their order. Most of them hit and concern nobody else: for those there
 * is a short way, which is compiled apart for the shapes that are simulated most. LEVEL is the processor that
 * this is compiled for; run.c chooses. */
#include "base/mem.h"
#include "cachesim/cpu/last_line.h"
#include "cachesim/cpu/tile.h"

/* Where a line is, and whether that is all: a hit that concerns nobody else. */
struct sight {
    uint32_t way;
    bool quick;
};

static inline struct sight look(const struct coherent_shape *l1, char *sets, uint64_t line, bool writes)
{
    uint64_t tag;
    struct sight sight;
    char *set = sets + (uint64_t)set_of(l1, line, &tag) * l1->set_bytes;
    sight.quick = coherent_hit(l1, set, tag, writes, &sight.way);
    return sight;
}

static inline char *sets_of(const struct walk *walk, const struct coherent_shape *l1, uint32_t tile)
{
    return walk->caches->l1 + (uint64_t)(walk->first + tile) * l1->sets * l1->set_bytes;
}

/* ---- one tile ---- */

/* Hits that concern nobody else, which is all there is to know of them. */
struct hits {
    uint64_t all, writes;
};

static inline void count_hit(struct hits *hits, bool writes)
{
    hits->all++;
    hits->writes += writes;
}

static inline void count_hits(const struct walk *walk, struct hits hits)
{
    walk->l1_of[walk->first].reads += hits.all - hits.writes;
    walk->l1_of[walk->first].writes += hits.writes;
}

static inline void run_one(const struct walk *walk, const struct coherent_shape *l1, struct cursor cursor)
{
    const struct caches_plan *plan = &walk->caches->plan;
    const uint32_t shift = plan->l1_shift;
    const bool by_place = plan->spec.quantum; /* in a quantum, requests are ordered by their places in it */
    const struct trace_access *begin = cursor.at;
    char *sets = sets_of(walk, l1, 0);
    struct hits hits = {0, 0};
    struct last_line last = LAST_LINE_NONE;
    for (const struct trace_access *at = begin; at < cursor.end; at++) {
        struct lines lines = lines_of(shift, *at);
        bool writes = trace_writes(*at);
        if (last_line_again(last, lines, writes)) {
            count_hit(&hits, writes);
            continue;
        }
        for (uint64_t line = lines.first; line <= lines.last; line++) {
            struct sight sight = look(l1, sets, line, writes);
            if (LIKELY(sight.quick)) {
                count_hit(&hits, writes);
            } else {
                uint64_t when = by_place ? (uint64_t)(at - begin) : trace_instruction(*at);
                walk_access(walk, l1, 1, 0, sight.way, line, when, writes);
            }
            last = last_line_after(l1->policy, line, writes);
        }
    }
    count_hits(walk, hits);
}

/* ---- several ---- */

static inline void step(const struct walk *walk, const struct coherent_shape *l1, uint32_t tile,
                        uint64_t line, uint64_t when, bool writes)
{
    struct sight sight = look(l1, sets_of(walk, l1, tile), line, writes);
    struct coherent_counters *count = &walk->l1_of[walk->first + tile];
    if (LIKELY(sight.quick)) {
        count->reads += !writes;
        count->writes += writes;
    } else {
        walk_access(walk, l1, walk->tiles, tile, sight.way, line, when, writes);
    }
}

static inline void run_merged(const struct walk *walk, const struct coherent_shape *l1,
                              struct cursor *cursors)
{
    const uint32_t shift = walk->caches->plan.l1_shift;
    struct merge merge;
    struct trace_access access;
    uint32_t tile;
    merge_init(&merge, cursors, walk->tiles);
    while (merge_next(&merge, &access, &tile)) {
        struct lines lines = lines_of(shift, access);
        for (uint64_t line = lines.first; line <= lines.last; line++)
            step(walk, l1, tile, line, trace_instruction(access), trace_writes(access));
    }
    merge_fini(&merge);
}

/* ---- those of a part ---- */

static inline void run_items(const struct walk *walk, const struct coherent_shape *l1,
                             const struct items *items)
{
    for (size_t i = 0; i < items->count; i++) {
        struct item item = items->at[i];
        uint32_t tile = item.rest >> 1 & ((1 << MERGE_TILE_BITS) - 1);
        step(walk, l1, tile, item.line, item.rest >> (MERGE_TILE_BITS + 1), item.rest & 1);
    }
}

static inline void run_items_one(const struct walk *walk, const struct coherent_shape *l1,
                                 const struct items *items)
{
    char *sets = sets_of(walk, l1, 0);
    struct hits hits = {0, 0};
    for (size_t i = 0; i < items->count; i++) {
        struct item item = items->at[i];
        bool writes = item.rest & 1;
        struct sight sight = look(l1, sets, item.line, writes);
        if (LIKELY(sight.quick))
            count_hit(&hits, writes);
        else
            walk_access(walk, l1, 1, 0, sight.way, item.line, item.rest >> (MERGE_TILE_BITS + 1), writes);
    }
    count_hits(walk, hits);
}

/* ---- for each shape ---- */

static inline void run_shape(const struct walk *walk, const struct coherent_shape *l1, struct cursor *cursors,
                             const struct items *items)
{
    bool one = walk->tiles == 1;
    if (items && one)
        run_items_one(walk, l1, items);
    else if (items)
        run_items(walk, l1, items);
    else if (one)
        run_one(walk, l1, *cursors);
    else
        run_merged(walk, l1, cursors);
}

/*    policy  ways */
#define OFTEN(X)                                                                                             \
    X(LRU, 4)                                                                                                \
    X(LRU, 8)                                                                                                \
    X(LRU, 16)

#define X(name, many)                                                                                        \
    __attribute__((flatten)) static void run_##name##_##many(                                                \
        const struct walk *walk, struct cursor *cursors, const struct items *items)                          \
    {                                                                                                        \
        struct coherent_shape l1 = {                                                                         \
            .sets = walk->caches->plan.l1.sets, .ways = many, .policy = REPLACE_##name};                     \
        coherent_plan(&l1);                                                                                  \
        l1.set_bytes = walk->caches->plan.l1.set_bytes;                                                      \
        run_shape(walk, &l1, cursors, items);                                                                \
    }
OFTEN(X)
#undef X

__attribute__((flatten)) static void run_other(const struct walk *walk, struct cursor *cursors,
                                               const struct items *items)
{
    struct coherent_shape l1 = walk->caches->plan.l1;
    run_shape(walk, &l1, cursors, items);
}

static run_fn *run_for(const struct coherent_shape *l1)
{
    static const struct {
        uint32_t policy, ways;
        run_fn *run;
    } often[] = {
#define X(name, many) {REPLACE_##name, many, run_##name##_##many},
        OFTEN(X)
#undef X
    };
    for (size_t i = 0; i < COUNT_OF(often); i++) {
        if (often[i].policy == l1->policy && often[i].ways == l1->ways)
            return often[i].run;
    }
    return run_other;
}

#define NAMED(level) run_level_##level
#define NAME(level)  NAMED(level)

/* Of cursors, or of items where there are some. */
void NAME(LEVEL)(const struct walk *walk, struct cursor *cursors, const struct items *items)
{
    run_for (&walk->caches->plan.l1)(walk, cursors, items);
}
