/* The accesses of all tiles, from traces or a generator, in batches as simulators take them. */
#ifndef CACHESIM_FEED_H
#define CACHESIM_FEED_H

#include "cachesim/caches.h"

struct feed_spec {
    /* Traces, one of a core each: tile i takes number i % count. The tiles that go through all traces once
     * are a round; in round r each trace starts r * offset accesses in (it is a circle), and the counts of
     * instructions of a round start at 0 (at the least of its traces' first). Or a generator. */
    const char *const *paths;
    uint32_t path_count;
    uint64_t offset;
    const char *generate;
    uint64_t accesses; /* of each tile at most; 0: what the traces have */
    uint32_t tiles;
    uint64_t seed;
    size_t batch; /* accesses of a tile in a batch, at most */
    bool exact;   /* batches end at the same instruction count for all tiles; else after as many accesses */
    unsigned threads;
};

struct feed;

struct feed *feed_open(const struct feed_spec *spec, struct err *err);

/* The next batch; valid until the next call. One without accesses is the end. */
bool feed_next(struct feed *feed, struct caches_batch *batch, struct err *err);

void feed_close(struct feed *feed);

#endif
