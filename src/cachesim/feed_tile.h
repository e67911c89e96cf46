/* One tile's accesses, as they are read; for feed.c only. */
#ifndef CACHESIM_FEED_TILE_H
#define CACHESIM_FEED_TILE_H

#include "trace/file.h"
#include "trace/source.h"

/* A trace that tiles read. Where several do, and it is small enough, it is kept in memory. */
struct feed_trace {
    const char *path;
    const _Atomic int *interrupt;
    struct trace_file *file;   /* of our own format; or NULL: a foreign one */
    struct trace_access *kept; /* or NULL: each tile opens the trace */
    size_t count;              /* that are kept */
    uint64_t length;           /* of the whole trace; 0: not known */
    char *wrong;               /* why it cannot be read, or NULL */
};

/* Finds out what is known without reading it: the length of our own. */
bool feed_trace_look(struct feed_trace *trace, struct err *err);

/* Keeps a foreign trace: at most `most` accesses (0: all of it), in `room`. What has more is left to be
 * streamed. */
bool feed_trace_keep(struct feed_trace *trace, uint64_t most, size_t room, struct err *err);

/* The same of our own, whose blocks can be read in any order: makes room if there is, then reads a block. */
bool feed_trace_keep_begin(struct feed_trace *trace, uint64_t most, size_t room);
bool feed_trace_keep_block(struct feed_trace *trace, uint32_t block, struct err *err);

/* Finds its length by reading all of it. */
bool feed_trace_measure(struct feed_trace *trace, struct err *err);

void feed_trace_fini(struct feed_trace *trace);

struct feed_tile {
    struct feed_trace *trace; /* NULL: of a generator */
    struct source *source;    /* what it reads, or NULL: what was kept */
    uint64_t place;           /* in what was kept */
    uint64_t start;           /* it began so many accesses in */
    uint64_t left;            /* that it may still give */
    uint64_t shift;           /* of instruction counts, modulo 2^64 */
    uint64_t last;            /* instruction count of the last access at hand, shifted */
    bool is_round;            /* it went past the trace's end */
    bool ended;               /* nothing comes behind what is at hand */
    const struct trace_access *at;
    size_t count;                /* at hand */
    struct trace_access *buffer; /* of its own, of `capacity`; what was kept need not be copied to it */
    size_t capacity;
    struct workers *workers; /* that help to read it, or NULL */
    char *wrong;             /* why it cannot be read, or NULL */
};

/* At its place `start` in the trace (modulo its length, if that is known), with some at hand. */
bool tile_start(struct feed_tile *tile, uint64_t start, struct err *err);

/* Has at hand what its capacity holds, or all there is; nothing is read while that is half full anyway. */
void tile_fill(struct feed_tile *tile, bool even_if_half_full);

/* All instruction counts, those at hand and those to come. */
void tile_shift(struct feed_tile *tile, uint64_t by);

void tile_fini(struct feed_tile *tile);

#endif
