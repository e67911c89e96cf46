/* What the host tells the kernels. Read by C and by CUDA; addresses are the device's. */
#ifndef CACHESIM_CUDA_WORK_H
#define CACHESIM_CUDA_WORK_H

#include "cachesim/place.h"

/* An item is what one cache is asked, in a word. The words of an L1 have the line and whether it is written
 * to (lowest bit); those of a private L2 the line and the kind (three bits); those of a slice of a shared L2
 * the line's number in the slice, the address space, and whether it is put back (lowest bit). */
enum { L1_WORD_SHIFT = 1, L2_WORD_SHIFT = 3 };

/* Items in order, one run of them for each stream: of a tile, of a group of tiles merged, of a slice. */
struct work_items {
    uint64_t words;   /* uint64_t of each */
    uint64_t tiles;   /* uint16_t: whose it is, in its group; 0: there is one alone */
    uint64_t whens;   /* uint32_t: instruction count from the round's first on; 0: not needed */
    uint64_t offsets; /* uint32_t: where each list starts, and the end */
    uint64_t counts;  /* uint32_t: how many each list has; 0: up to the next one's start */
    uint32_t spread;  /* lists start at this many times their offset */
};

/* Places in the shared memory of a stream, in bytes. */
struct work_shared {
    uint32_t state, words, victims, givers, tiles, ranks, sorted, flags, histogram, sums, marked, bounds,
        tallies;
    uint32_t tallied; /* caches that have a tally there */
    uint32_t bytes;   /* of a stream */
    bool has_state;   /* else it is used where it is, in the device's memory */
};

enum { WALK_THREADS_MOST = 512 }; /* of a block: by the registers of an SM */

struct work_walk {
    struct coherent_shape shape;
    uint64_t state;   /* sets of each cache */
    uint64_t counts;  /* struct coherent_counters of each cache */
    uint64_t tallies; /* of groups too large for tallies in shared memory: 32 bytes of each cache, 0 between
                         rounds */
    uint64_t seed;
    uint32_t level;   /* 0: L1, 1: L2 */
    uint32_t streams; /* each of them of so many caches */
    uint32_t caches;
    uint32_t chunk; /* items that are sorted by sets at once */
    uint32_t bins;  /* that sets are shared out to: a power of two, of each thread one at most */
    struct work_items in;
    struct work_shared shared;
    /* L1: what the level below is asked, in order */
    uint64_t asks_words, asks_tiles, asks_whens, asks_counts;
    uint32_t asks_spread;  /* 0: there is no level below */
    uint32_t below_shift;  /* from this level's line to that below */
    bool disowns;          /* the level below snoops: it is told that no other may keep a line */
    uint64_t slice_counts; /* uint32_t of each slice; 0: it is private */
    uint32_t slices;
    uint32_t space_bits; /* of words of slices */
    /* by quanta: what others are told at the end, in words as those of an L1; 0: nothing is */
    uint64_t told_words, told_counts;
};

/* Two runs of items each become one, in the order of (when, tile). */
struct work_merge {
    struct work_items in, out;
    uint32_t streams, caches; /* groups, and tiles of each */
    uint32_t width;           /* tiles of a run, before */
};

/* What all groups ask of slices, to lists of each slice; sorted then by key. */
struct work_slices {
    struct work_items asks;
    uint32_t streams, caches, slices, space_bits;
    uint32_t space_tiles;              /* of an address space */
    uint64_t counts, offsets, cursors; /* uint32_t of each slice */
    uint64_t unsorted, sorted;         /* struct slice_item */
    uint64_t words;                    /* uint64_t: what the walk of slices takes */
};

struct slice_item {
    uint64_t key; /* when, and its place among all that was asked */
    uint64_t word;
};

enum { SLICE_SORT_ITEMS = 1024, SLICE_SORT_THREADS = 256 };

#endif
