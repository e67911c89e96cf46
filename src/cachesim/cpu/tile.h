/* The state, and one access through the levels of a tile; for this room only. */
#ifndef CACHESIM_CPU_TILE_H
#define CACHESIM_CPU_TILE_H

#include "base/bits.h"
#include "base/mem.h"
#include "cachesim/cpu/split.h"
#include "cachesim/plan.h"

/* What an L1 asks of the L2 slices that all tiles share. */
struct shared_request {
    uint64_t line;                 /* the L2's, without its address space */
    uint64_t when;                 /* instruction count; in a quantum: place in it */
    uint32_t tile;                 /* whose access it was */
    uint32_t space : 24, kind : 8; /* address space; enum coherent_kind */
};

struct shared_requests {
    struct shared_request *at;
    size_t count, capacity;
};

/* In quantum mode: what the others of a group are told at its end. */
struct told {
    uint64_t line;
    bool l2, take; /* of which level; they lose their copies, or a dirty one becomes clean */
};

struct told_list {
    struct told *at;
    size_t count, capacity;
};

struct caches {
    struct caches_plan plan;
    struct workers *workers;
    char *l1, *l2;                           /* sets of each tile */
    struct coherent_counters *l1_of, *l2_of; /* of each tile; those of each part apart */
    struct split split;                      /* of groups into parts, where there are few */
    uint32_t buckets;                        /* that slices are shared out in */
    struct shared_requests *requests;        /* of each piece (group, part): of each bucket */
    struct told_list *told;                  /* of each tile */
    struct slice_work *slice_works;          /* of each worker */
    const struct caches_batch *batch;        /* at hand */
    size_t from;                             /* in a quantum: the first access of each tile */
};

/* The same set of some neighbouring tiles. */
static inline struct coherent_group level_group(const struct coherent_shape *shape, char *state,
                                                struct coherent_counters *counts, uint32_t first,
                                                uint32_t tiles, uint32_t set)
{
    uint64_t stride = (uint64_t)shape->sets * shape->set_bytes;
    return (struct coherent_group){state + first * stride + (uint64_t)set * shape->set_bytes, stride, tiles,
                                   counts + first};
}

/* What was asked of private L2s, and is not done yet: their sets are on the way from memory meanwhile. */
enum { L2_AHEAD = 16 };

struct l2_request {
    uint64_t line;
    uint32_t tile, kind;
};

struct l2_queue {
    struct l2_request at[L2_AHEAD];
    uint64_t asked, done;
};

static inline void walk_prefetch(const struct coherent_shape *shape, const char *set)
{
    for (uint32_t at = 0; at < shape->set_bytes; at += CACHE_LINE)
        __builtin_prefetch(set + at, 1);
}

/* Some tiles that are simulated together, and where what they ask of others goes to. */
struct walk {
    struct caches *caches;
    uint32_t first, tiles; /* that feel each other at once */
    struct coherent_counters *l1_of, *l2_of;
    struct shared_requests *asks; /* of each bucket; machine `shared` */
    struct told_list *told;       /* or NULL: nobody need be told later */
    struct l2_queue *queue;       /* machine `private` */
};

/* All that was asked for is done. */
void walk_end(const struct walk *walk);

void walk_tell(const struct walk *walk, bool l2, uint64_t line, bool take);

/* What the access asks of the L2 of the tile, or of the slices that all share (below.c). */
void walk_below(const struct walk *walk, uint32_t tile, uint64_t line, uint64_t when,
                struct coherent_outcome outcome);

/* An access to a line of the L1 that is in this way, or in none. `tiles` are the walk's: a constant if it is
 * known. */
static inline void walk_access(const struct walk *walk, const struct coherent_shape *l1, uint32_t tiles,
                               uint32_t tile, uint32_t way, uint64_t line, uint64_t when, bool writes)
{
    struct caches *caches = walk->caches;
    uint32_t kind = writes ? COHERENT_WRITE : COHERENT_READ;
    uint64_t tag;
    uint32_t set = set_of(l1, line, &tag);
    struct coherent_group group = level_group(l1, caches->l1, walk->l1_of, walk->first, tiles, set);
    struct coherent_outcome outcome = coherent_access_way(
        l1, &group, tile, tag, way, kind, set_seed(caches->plan.spec.seed, 0, walk->first + tile, set));
    coherent_count(&group.counts[tile], kind, outcome);
    outcome.victim = line_of(l1, set, outcome.victim);
    if (walk->told && outcome.asks)
        walk_tell(walk, false, line, writes);
    if (walk->caches->plan.spec.machine != CACHES_L1)
        walk_below(walk, tile, line, when, outcome);
}

/* All accesses of these tiles, in their order; or some of them, as they were shared out (run.c). */
void walk_run(const struct walk *walk, struct cursor *cursors);
void walk_run_items(const struct walk *walk, const struct items *items);

/* The same, compiled for several processors (run_level.h). */
typedef void run_fn(const struct walk *walk, struct cursor *cursors, const struct items *items);
run_fn run_level_v1, run_level_v3;

/* Machine `shared`: what the L1s asked for, in order (slice.c). */
void slices_run(struct caches *caches);
struct slice_work *split_works_new(unsigned workers);
void split_works_free(struct slice_work *works, unsigned workers);

#endif
