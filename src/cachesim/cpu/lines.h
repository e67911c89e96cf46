/* The lines of an access, and whether it says anything new. */
#ifndef CACHESIM_CPU_LINES_H
#define CACHESIM_CPU_LINES_H

#include "cachesim/caches.h"

struct lines {
    uint64_t first, last;
};

static inline struct lines lines_of(uint32_t shift, struct trace_access access)
{
    uint64_t address = access.address & ((UINT64_C(1) << CACHES_ADDRESS_BITS) - 1);
    uint32_t bytes = trace_bytes(access);
    return (struct lines){address >> shift, (address + (bytes ? bytes - 1 : 0)) >> shift};
}

/* What a tile that nobody snoops on used last. A second use of it in a row hits, and says nothing new to the
 * policy: but for srrip, where it is another than the first. */
struct last_line {
    uint64_t line;
    bool dirty; /* for certain */
};

#define LAST_LINE_NONE ((struct last_line){UINT64_MAX, false})

static inline bool last_line_again(struct last_line last, struct lines lines, bool writes)
{
    return (lines.first == last.line) & (lines.last == last.line) & (writes <= last.dirty);
}

static inline struct last_line last_line_after(uint32_t policy, uint64_t line, bool writes)
{
    return policy == REPLACE_SRRIP ? LAST_LINE_NONE : (struct last_line){line, writes};
}

#endif
