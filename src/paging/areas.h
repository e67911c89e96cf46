/* The managed memory of a program, and what it said about it (cudaMemAdvise): pieces by address, which are
 * split where advice differs. Also how much of each GPU's memory is free for it. Pure. */
#ifndef PAGING_AREAS_H
#define PAGING_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AREA_NOWHERE = 255 };

struct area_advice {
    uint64_t accessed_by; /* GPUs, a bit each */
    uint8_t preferred;    /* a GPU, PAGE_HOST, or AREA_NOWHERE */
    uint8_t prefetched;   /* likewise: where to, last */
    bool read_mostly;
    uint8_t unused[5];
};

struct area {
    uint64_t at, bytes;
    struct area_advice advice;
};

struct areas {
    struct area *list; /* by address; no two overlap */
    size_t count, capacity;
    uint64_t rooms[64]; /* bytes, by GPU; 0: it was not said, and enough */
};

void areas_fini(struct areas *areas);
void areas_add(struct areas *areas, uint64_t at, uint64_t bytes);
void areas_remove(struct areas *areas, uint64_t at, uint64_t bytes);

/* What an address is in; NULL: nothing. */
const struct area *areas_find(const struct areas *areas, uint64_t at);

/* All pieces of these addresses, with edges there: to be changed before the next call of anything else. */
struct areas_span {
    struct area *first;
    size_t count;
};
struct areas_span areas_cut(struct areas *areas, uint64_t at, uint64_t bytes);

/* A bit for each of 32 pages from `at` on, of which some byte is in an area. */
uint32_t areas_pages(const struct areas *areas, uint64_t at, uint32_t page_shift);

#endif
