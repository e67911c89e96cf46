/* The tables of the search for races (itrace/races.h); for these files only. */
#ifndef ITRACE_RACES_PARTS_H
#define ITRACE_RACES_PARTS_H

#include "base/bits.h"
#include "itrace/races.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    LINE_BYTES = 128,
    PARTS = 4, /* of a line whose bytes are looked at one by one: a mask's bit is a byte there, not a word */
    REGION_LINES = 64, /* lines that are found together in the launch's table */
    SHARDS = 32,       /* of that table, each with a lock */
    WARP_BITS = 5,
    LINES_MOST = 4096, /* of a running block; then they go to the launch, and warps are looked at anew */
};

enum use {
    USE_READS = 1,
    USE_WRITES = 2,
    USE_PLAIN = 4 /* not by an atomic operation that commutes */
};

#define PART (UINT64_C(1) << 63) /* in the number of a line: it is one of those parts */

/* Words of a line as bytes of one of its parts. */
static inline uint32_t part_of(uint32_t mask, uint32_t part)
{
    uint32_t x = mask >> 8 * part & 0xff;
    x = (x | x << 12) & 0x000f000f;
    x = (x | x << 6) & 0x03030303;
    x = (x | x << 3) & 0x11111111;
    return 15 * x;
}

/* ---- words of a line, by warp ---- */

/* Which warps used the words of a line: a bit for each word. */
struct users {
    uint32_t any, many;     /* at least one; at least two */
    uint32_t id[WARP_BITS]; /* of the only one: the bits of its number, the lowest first */
};

struct words {
    uint32_t epoch; /* barriers that had opened; another one: all that follows is 0 */
    uint32_t plain; /* of those written */
    struct users readers, writers;
};

/* ---- running blocks ---- */

struct masks {
    uint32_t read, written, plain;
};

struct used_line {
    uint64_t number;
    uint32_t slot; /* of the table */
    bool in_parts; /* which say all */
    struct masks at_all;
    struct words now;
};

struct races_block {
    struct races *races;
    struct races_block *made_before;
    uint32_t block, warp_count;
    uint32_t epoch;  /* goes on from block to block */
    uint32_t *slots; /* by hash: a line's place in the list, from 1 on */
    uint32_t slot_bits;
    struct used_line *lines;
    size_t line_count, line_capacity;
    struct words *shared;      /* by line of shared memory */
    struct words *shared_part; /* by part; NULL: no line is in parts */
    bool *shared_in_parts;
    uint64_t shared_lines;
};

static inline struct masks masks_part(const struct masks *of, uint32_t part)
{
    return (struct masks){part_of(of->read, part), part_of(of->written, part), part_of(of->plain, part)};
}

static inline uint64_t hash_of(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- lines of the launch, by block ---- */

struct line { /* a bit for each word */
    uint32_t reader, read, read_many;
    uint32_t writer, written, written_many, plain;
    uint32_t detail; /* 0: `reader` and `writer` are the only ones; else theirs by word, from 1 on */
};
#define IN_PARTS (UINT32_C(1) << 31) /* in `detail`: where the line's parts are, which say all */

struct detail {
    uint32_t reader[32], writer[32]; /* of words that are read, written by one alone */
};

struct line_parts {
    struct line parts[PARTS];
};

/* A line of which blocks use all words alike. Most are, so a region has these until one is not. */
enum brief {
    BRIEF_READ = 1,
    BRIEF_MANY = 2, /* by several blocks */
    BRIEF_WRITTEN = 4,
    BRIEF_PLAIN = 8,
    BRIEF_BLOCK = 32 /* from this bit on: the only block, or the first reader */
};

struct region {
    uint64_t number;
    struct line *lines; /* or NULL: all is in `briefs` */
    uint64_t briefs[REGION_LINES];
};

struct shard {
    _Atomic bool locked;     /* for a few lines at a time */
    struct region **regions; /* by hash; NULL: none */
    size_t region_count, region_capacity;
    struct detail *details;
    size_t detail_count, detail_capacity;
    struct line_parts *parts;
    size_t part_count, part_capacity;
};

struct races {
    _Atomic int found;    /* enum races_found */
    pthread_mutex_t lock; /* of the list, and of `told` */
    struct races_block *blocks;
    bool sends;                /* blocks go to another rank: */
    struct text told;          /* struct told_line */
    int told_found;            /* and what was found that was told */
    struct races_block *taker; /* of blocks of other ranks */
    struct shard shards[SHARDS];
};

/* ---- calls between the files ---- */

void races_note(struct races *races, enum races_found what); /* of what was found, the worst counts */

/* races_use.c: a line that is not in the block's table yet. */
struct used_line *races_add_line(struct races_block *own, uint64_t number);

/* races_launch.c: all that the block used goes to the launch. */
void races_merge(struct races_block *own);

/* races.c: what the block's table has is gathered for another rank, or dropped; the table is empty then. */
void races_gather(struct races_block *own);
void races_forget(struct races_block *own);

#endif
