/* The accesses of several tiles in the order of (instruction count, tile): a tree of the smallest. */
#ifndef CACHESIM_CPU_MERGE_H
#define CACHESIM_CPU_MERGE_H

#include "base/mem.h"
#include "cachesim/caches.h"

/* Where a tile is in its accesses. */
struct cursor {
    const struct trace_access *at, *end;
};

struct merge {
    struct cursor *cursors; /* of each tile */
    uint32_t leaves;        /* a power of two */
    uint64_t *tree;         /* node n is the smaller of 2n and 2n + 1; the leaves are last */
};

enum { MERGE_TILE_BITS = 16 };
#define MERGE_NONE UINT64_MAX
_Static_assert(CACHES_TILES_MOST <= 1 << MERGE_TILE_BITS, "a tile and an instruction count fit one word");

static inline uint64_t merge_key(const struct cursor *cursor, uint32_t tile)
{
    return cursor->at < cursor->end ? trace_instruction(*cursor->at) << MERGE_TILE_BITS | tile : MERGE_NONE;
}

static inline void merge_init(struct merge *merge, struct cursor *cursors, uint32_t tiles)
{
    *merge = (struct merge){.cursors = cursors, .leaves = 1};
    while (merge->leaves < tiles)
        merge->leaves *= 2;
    merge->tree = mem_alloc(2 * merge->leaves, sizeof *merge->tree);
    for (uint32_t i = 0; i < merge->leaves; i++)
        merge->tree[merge->leaves + i] = i < tiles ? merge_key(&cursors[i], i) : MERGE_NONE;
    for (uint32_t n = merge->leaves; n-- > 1;)
        merge->tree[n] =
            merge->tree[2 * n] < merge->tree[2 * n + 1] ? merge->tree[2 * n] : merge->tree[2 * n + 1];
}

static inline void merge_fini(struct merge *merge)
{
    mem_free(merge->tree);
}

/* The next access and its tile; false at the end. */
static inline bool merge_next(struct merge *merge, struct trace_access *access, uint32_t *tile)
{
    uint64_t *tree = merge->tree, first = tree[1];
    if (first == MERGE_NONE)
        return false;
    *tile = first & ((1 << MERGE_TILE_BITS) - 1);
    struct cursor *cursor = &merge->cursors[*tile];
    *access = *cursor->at++;
    uint64_t key = merge_key(cursor, *tile);
    uint32_t node = merge->leaves + *tile;
    tree[node] = key;
    for (; node > 1; node /= 2) {
        uint64_t other = tree[node ^ 1];
        key = key < other ? key : other;
        tree[node / 2] = key;
    }
    return true;
}

#endif
