/* Whether an access says anything new. */
#ifndef CACHESIM_CPU_LAST_LINE_H
#define CACHESIM_CPU_LAST_LINE_H

#include "cachesim/lines.h"

/* What a tile that nobody snoops on used last. A second use of it in a row hits, and says nothing new to the
 * policy, if it settles at once. */
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
    return replace_is_settled(policy, false) ? (struct last_line){line, writes} : LAST_LINE_NONE;
}

#endif
