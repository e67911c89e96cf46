/* Where memory of some hundred bytes to some pages comes from (mem.c): the state of warps, events, tags. It
 * lies side by side on huge pages, where the host has them, and each thread has pieces of its own. The C
 * library's allocator would ask the kernel for a few pages more at a time; with many threads that takes
 * longer than what is done with them. */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include <stdbool.h>
#include <stddef.h>

enum { PIECES_LEAST = 128, PIECES_MOST = 32 << 10 }; /* bytes that are taken from here */

/* Starts at a cache line. NULL: from somewhere else. `is_zeroed`: it was never used. */
void *pieces_take(size_t bytes, bool *is_zeroed);
void pieces_give(void *memory);

bool pieces_has(const void *memory);
size_t pieces_bytes(const void *memory); /* how many it may grow to where it is */

#endif
