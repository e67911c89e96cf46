/* The accesses of all tiles, from traces or a generator, in batches as simulators take them. */
#ifndef CACHESIM_FEED_H
#define CACHESIM_FEED_H

#include "cachesim/caches.h"

struct feed_spec {
    /* Traces, one of a core each: tile i takes number i % count. The tiles that go through all traces once
     * are a round; in round r each trace starts r * offset accesses in (it is a circle, gone round once), and
     * the counts of instructions of a round start where those of the first one do. */
    const char *const *paths;
    uint32_t path_count;
    uint64_t offset;
    /* Or a generator: tile i is core i % cores of program i / cores. */
    const char *generate;
    uint32_t cores;
    uint64_t accesses; /* of each tile at most; 0: what the traces have */
    uint32_t tiles;
    uint64_t seed;
    size_t batch;     /* accesses of a tile in a batch, at most (but a quantum at least) */
    uint64_t quantum; /* 0, exact: a batch ends for all tiles at the same place in the order of (instruction
                         count, tile). Else it is whole quanta of as many accesses of each tile */
    size_t
        keep_bytes; /* traces that several tiles read are kept in so much memory; 0: what the host can do */
    unsigned threads;
    const _Atomic int *interrupt; /* what takes long ends early when it is set; or NULL */
};

struct feed;

struct feed *feed_open(const struct feed_spec *spec, struct err *err);

/* The next batch; valid until the next call. One without accesses is the end. */
bool feed_next(struct feed *feed, struct caches_batch *batch, struct err *err);

/* Accesses of all tiles from beginning to end; 0: that is not known. */
uint64_t feed_total(const struct feed *feed);

void feed_close(struct feed *feed);

/* Whether a trace can be opened more than once: a pipe cannot. */
bool feed_can_reopen(const char *path);

#endif
