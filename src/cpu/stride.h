/* A stride prefetcher: for the last instructions that access memory, where and how far apart they do. */
#ifndef CPU_STRIDE_H
#define CPU_STRIDE_H

#include "cpu/spec.h"

struct stride_row {
    uint64_t pc, last;
    int64_t stride;
    uint32_t seen; /* times in a row */
};

struct stride {
    const struct cpu_prefetch_spec *spec;
    struct stride_row *rows; /* by address of the instruction, modulo the table's size */
};

enum {
    STRIDE_MOST = 64,
    STRIDE_PAGE_SHIFT = 12
}; /* never beyond such a page: where the next is, is not known */

void stride_init(struct stride *stride, const struct cpu_prefetch_spec *spec);
void stride_fini(struct stride *stride);

/* Learns from an access; fills in the addresses to prefetch, and tells how many. */
uint32_t stride_learn(struct stride *stride, uint64_t pc, uint64_t address, uint64_t addresses[STRIDE_MOST]);

#endif
