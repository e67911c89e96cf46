/* Where there are fewer groups than workers: the accesses of a group, in their order, are shared out to parts
 * of its sets, and each part is simulated on its own. Chunks of a batch are shared out at the same time. */
#ifndef CACHESIM_CPU_SPLIT_H
#define CACHESIM_CPU_SPLIT_H

#include "cachesim/cpu/merge.h"
#include "cachesim/plan.h"

/* An access to a line. */
struct item {
    uint64_t line;
    uint64_t rest; /* instruction count, tile (MERGE_TILE_BITS), and whether it writes in the lowest bit */
};

struct items {
    struct item *at;
    size_t count, capacity;
};

/* Accesses of a chunk of one tile that do what the one before did: they hit, and change nothing. */
struct repeats {
    uint64_t reads, writes;
};

struct split {
    uint32_t parts, chunks;
    struct items *lists;     /* of each group: of each chunk: of each part */
    struct repeats *repeats; /* of each group: of each chunk */
};

void split_init(struct split *split, const struct caches_plan *plan, unsigned workers);
void split_fini(struct split *split, const struct caches_plan *plan);

/* One chunk of a group's accesses. */
void split_chunk(struct split *split, const struct caches_plan *plan, const struct caches_batch *batch,
                 uint32_t group, uint32_t chunk);

static inline struct items *split_list(const struct split *split, uint32_t group, uint32_t chunk,
                                       uint32_t part)
{
    return &split->lists[((size_t)group * split->chunks + chunk) * split->parts + part];
}

#endif
