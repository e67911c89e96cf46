/* The lines that an access is to. */
#ifndef CACHESIM_LINES_H
#define CACHESIM_LINES_H

#include "cachesim/caches.h"

struct lines {
    uint64_t first, last;
};

/* `shift`: of an address to its line. */
static inline struct lines lines_of(uint32_t shift, struct trace_access access)
{
    uint64_t address = access.address & ((UINT64_C(1) << CACHES_ADDRESS_BITS) - 1);
    uint32_t bytes = trace_bytes(access);
    return (struct lines){address >> shift, (address + (bytes ? bytes - 1 : 0)) >> shift};
}

#endif
