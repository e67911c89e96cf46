/* Memory operations that a program counts itself. For this room only. */
#ifndef CORE_COUNTED_H
#define CORE_COUNTED_H

#include "core/parts.h"

/* When an operation that waits for counters, or that counts, can issue: as on the board; or PENDING, with
 * w->waits_for. */
uint64_t counted_ready(struct sm_warp *w, const struct isa_timing *timing);

/* An operation begins that counts, and is done as the board says. */
void counted_begin(struct sm_warp *w, const struct isa_timing *timing, uint64_t ready);

/* The load of the operation that began last: it is not known when that is done; and now it is. */
void counted_hold(struct load *load);
bool counted_is_awaited(const struct load *load); /* the warp waits for it */
void counted_done(const struct load *load, uint64_t ready);

#endif
