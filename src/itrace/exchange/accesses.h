/* The accesses to global memory of a trace of instructions, as a source of accesses (trace/source.h). */
#ifndef EXCHANGE_ACCESSES_H
#define EXCHANGE_ACCESSES_H

#include "itrace/cut.h"
#include "trace/source.h"

/* Sectors of 32 bytes, as the L1 caches see them (exec/watch.h). Launch by launch, block by block; the warps
 * of a block take turns, an instruction each. The instruction count is that of all warps. */
struct source *exchange_accesses(const char *folder, const struct itrace_part *part, struct err *err);

#endif
