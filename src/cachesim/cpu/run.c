/* The accesses of a piece of work, in their order. Most of them hit and concern nobody else: for those there
 * is a short way, which is compiled apart for the shapes that are simulated most. */
#include "base/mem.h"
#include "cachesim/cpu/tile.h"

/* What an access needs to know of the tiles; a copy, so that the compiler knows that nobody changes it. */
struct way_in {
    char *l1;           /* sets of the first tile */
    uint64_t stride;    /* from a tile's to the next one's */
    uint32_t shift;     /* of an address to its line */
    uint32_t part_mask; /* lines of this part only */
    uint32_t part;
    bool by_place; /* in a quantum, requests are ordered by their places in it */
};

static struct way_in way_in(const struct walk *walk, uint32_t part, const struct coherent_shape *l1)
{
    const struct caches *caches = walk->caches;
    uint64_t stride = (uint64_t)l1->sets * l1->set_bytes;
    return (struct way_in){.l1 = caches->l1 + walk->first * stride,
                           .stride = stride,
                           .shift = caches->plan.l1_shift,
                           .part_mask = caches->parts - 1,
                           .part = part,
                           .by_place = caches->plan.spec.quantum};
}

/* Where a line is, and whether that is all: a hit that changes nothing but what the policy knows. */
struct sight {
    uint32_t way;
    bool quick;
};

static inline struct sight look(const struct coherent_shape *l1, char *tile_sets, uint64_t line, bool writes)
{
    uint64_t tag;
    char *set = tile_sets + (uint64_t)set_of(l1, line, &tag) * l1->set_bytes;
    uint32_t way = coherent_find(l1, set, tag);
    if (UNLIKELY(way == COHERENT_NONE || (writes & !(*coherent_dirty(l1, set) >> way & 1))))
        return (struct sight){way, false};
    replace_use(l1->policy, coherent_row(l1, set), l1->ways, way);
    return (struct sight){way, true};
}

struct lines {
    uint64_t first, last;
};

static inline struct lines lines_of(const struct way_in *in, struct trace_access access)
{
    uint64_t address = access.address & ((UINT64_C(1) << CACHES_ADDRESS_BITS) - 1);
    uint32_t bytes = trace_bytes(access);
    return (struct lines){address >> in->shift, (address + (bytes ? bytes - 1 : 0)) >> in->shift};
}

/* ---- one tile ---- */

#define NO_LINE UINT64_MAX

static inline void run_one(const struct walk *walk, const struct coherent_shape *l1, uint32_t part,
                           struct cursor cursor)
{
    const struct way_in in = way_in(walk, part, l1);
    const struct trace_access *begin = cursor.at;
    uint64_t hits = 0, write_hits = 0;
    uint64_t again = NO_LINE; /* a second use of the last line in a row says nothing new to the policy */
    bool again_dirty = false;
    for (const struct trace_access *at = begin; at < cursor.end; at++) {
        struct lines lines = lines_of(&in, *at);
        bool writes = trace_writes(*at);
        if ((lines.first == again) & (lines.last == again) & (writes <= again_dirty)) {
            hits++;
            write_hits += writes;
            continue;
        }
        for (uint64_t line = lines.first; line <= lines.last; line++) {
            if (((uint32_t)line & in.part_mask) != in.part)
                continue;
            struct sight sight = look(l1, in.l1, line, writes);
            if (LIKELY(sight.quick)) {
                hits++;
                write_hits += writes;
            } else {
                tile_access(walk, l1, 0, sight.way, line,
                            in.by_place ? (uint64_t)(at - begin) : trace_instruction(*at), writes);
            }
        }
    }
    walk->l1_of[walk->first].reads += hits - write_hits;
    walk->l1_of[walk->first].writes += write_hits;
}

/* ---- several, in the order of time: a heap of those that have more ---- */

static bool is_before(const struct cursor *a, const struct cursor *b) /* a is of a lower tile */
{
    return trace_instruction(*a->at) <= trace_instruction(*b->at);
}

static void sift_down(uint32_t *heap, uint32_t count, uint32_t i, const struct cursor *cursors)
{
    uint32_t tile = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count) {
            uint32_t a = heap[child], b = heap[child + 1];
            bool right = a < b ? !is_before(&cursors[a], &cursors[b]) : is_before(&cursors[b], &cursors[a]);
            child += right;
        }
        uint32_t c = heap[child];
        if (tile < c ? is_before(&cursors[tile], &cursors[c]) : !is_before(&cursors[c], &cursors[tile]))
            break;
        heap[i] = c;
    }
    heap[i] = tile;
}

static inline void step(const struct walk *walk, const struct coherent_shape *l1, const struct way_in *in,
                        uint32_t tile, struct trace_access access)
{
    struct lines lines = lines_of(in, access);
    bool writes = trace_writes(access);
    struct coherent_counters *count = &walk->l1_of[walk->first + tile];
    for (uint64_t line = lines.first; line <= lines.last; line++) {
        if (((uint32_t)line & in->part_mask) != in->part)
            continue;
        struct sight sight = look(l1, in->l1 + tile * in->stride, line, writes);
        if (LIKELY(sight.quick)) {
            count->reads += !writes;
            count->writes += writes;
        } else {
            tile_access(walk, l1, tile, sight.way, line, trace_instruction(access), writes);
        }
    }
}

static inline void run_merged(const struct walk *walk, const struct coherent_shape *l1, uint32_t part,
                              struct cursor *cursors)
{
    const struct way_in in = way_in(walk, part, l1);
    uint32_t *heap = mem_alloc(walk->tiles, sizeof *heap), count = 0;
    for (uint32_t i = 0; i < walk->tiles; i++) {
        if (cursors[i].at < cursors[i].end)
            heap[count++] = i;
    }
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(heap, count, i, cursors);
    while (count) {
        uint32_t tile = heap[0];
        step(walk, l1, &in, tile, *cursors[tile].at++);
        if (cursors[tile].at == cursors[tile].end)
            heap[0] = heap[--count];
        if (count)
            sift_down(heap, count, 0, cursors);
    }
    mem_free(heap);
}

/* ---- for each shape ---- */

static inline void run_shape(const struct walk *walk, const struct coherent_shape *l1, uint32_t part,
                             struct cursor *cursors)
{
    if (walk->tiles == 1)
        run_one(walk, l1, part, *cursors);
    else
        run_merged(walk, l1, part, cursors);
}

typedef void run_fn(const struct walk *walk, uint32_t part, struct cursor *cursors);

/*    policy  ways */
#define OFTEN(X)                                                                                             \
    X(LRU, 4)                                                                                                \
    X(LRU, 8)                                                                                                \
    X(LRU, 16)

#define X(name, many)                                                                                        \
    __attribute__((flatten)) static void run_##name##_##many(const struct walk *walk, uint32_t part,         \
                                                             struct cursor *cursors)                         \
    {                                                                                                        \
        struct coherent_shape l1 = {                                                                         \
            .sets = walk->caches->plan.l1.sets, .ways = many, .policy = REPLACE_##name};                     \
        coherent_plan(&l1);                                                                                  \
        run_shape(walk, &l1, part, cursors);                                                                 \
    }
OFTEN(X)
#undef X

__attribute__((flatten)) static void run_other(const struct walk *walk, uint32_t part, struct cursor *cursors)
{
    struct coherent_shape l1 = walk->caches->plan.l1;
    run_shape(walk, &l1, part, cursors);
}

void walk_run(const struct walk *walk, uint32_t part, struct cursor *cursors)
{
    static const struct {
        uint32_t policy, ways;
        run_fn *run;
    } often[] = {
#define X(name, many) {REPLACE_##name, many, run_##name##_##many},
        OFTEN(X)
#undef X
    };
    const struct coherent_shape *l1 = &walk->caches->plan.l1;
    run_fn *run = run_other;
    for (size_t i = 0; i < COUNT_OF(often); i++) {
        if (often[i].policy == l1->policy && often[i].ways == l1->ways)
            run = often[i].run;
    }
    run(walk, part, cursors);
}
