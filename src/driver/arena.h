/* A range of host addresses from which allocations are made. It is reserved as a whole and uses memory only
 * where it is touched. New allocations read as zero. There is a gap after each, so that an address just past
 * the end of one is never in the next. Freed memory is returned to the host at once, but its addresses are
 * not reused for a while, so that a stale pointer points to nothing. */
#ifndef DRIVER_ARENA_H
#define DRIVER_ARENA_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ARENA_UNIT = 512 }; /* pieces start at multiples of it, as cudaMalloc's do */

struct span {
    uint64_t at, bytes;
};

struct arena {
    uint64_t base, end;
    uint64_t next;       /* from here on nothing was taken yet */
    uint64_t committed;  /* up to here it can be touched */
    struct span *unused; /* by address; no two touch */
    size_t unused_count, unused_capacity;
    struct span *resting; /* given back, oldest first; a ring of RESTING */
    size_t resting_first, resting_count;
    uint64_t resting_bytes;
    uint64_t small_bytes; /* taken in pieces that huge pages are for */
    int file;             /* its bytes, or those of `shared`, from `base` on; -1: none yet */
    uint64_t file_offset; /* of the byte at `base` */
    bool is_in_file;      /* all of it: it is mapped as far as it can be touched */
    bool file_is_own;     /* which has the shared pages only */
    struct span *shared;  /* whole pages that are in the file */
    size_t shared_count, shared_capacity;
};

/* Reserves `bytes`, near the address `hint` if that is free (so that addresses are the same in each run);
 * less where the host limits address space. */
bool arena_init(struct arena *arena, uint64_t bytes, uint64_t hint, struct err *err);

/* An arena that another process has, too: at this address, with the bytes of this file from there on. */
bool arena_init_shared(struct arena *arena, uint64_t at, uint64_t bytes, int file, uint64_t file_offset,
                       struct err *err);
void arena_fini(struct arena *arena);

/* The first bytes of an arena are never taken: whoever shares its file may use them. */
#define ARENA_FIRST_BYTES (UINT64_C(2) << 20)

/* From now on the pages of these bytes are in the arena's file, which another process may map. Nobody else
 * may touch them meanwhile. */
bool arena_share(struct arena *arena, uint64_t at, uint64_t bytes, struct err *err);

/* Its first bytes can be touched from now on. False: that is more than there is. */
bool arena_open(struct arena *arena, uint64_t bytes);

/* 0 when there is no room. */
uint64_t arena_take(struct arena *arena, uint64_t bytes, uint64_t alignment);
void arena_give(struct arena *arena, uint64_t at, uint64_t bytes); /* the bytes that were taken */

/* The caller is about to write all of these bytes: large pieces get huge pages. */
void arena_expect_writes(uint64_t at, uint64_t bytes);

/* Zeroes these bytes. Pages that nobody has touched still cost no memory. */
void arena_zero(uint64_t at, uint64_t bytes);

#endif
