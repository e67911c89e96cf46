/* The executors of alu.def's rows. A register is a vector of 32 lanes (uint16_t[32], uint32_t[32] or
 * uint64_t[32]), best aligned to 64 bytes; a predicate is one word, a bit per lane. An executor writes all 32
 * lanes (or bits) of its destination; a caller that wants fewer blends afterwards. The destination may be one
 * of the sources, if it has the same width.
 *
 * A row's types define the widths of its vectors. PTX allows some registers to be wider than the type of the
 * instruction (those of cvt and mov): the caller narrows such a source, and extends the result by the sign of
 * the destination's type. 8-bit types of cvt are rows of 16. */
#ifndef PTX_RUN_ALU_H
#define PTX_RUN_ALU_H

#include "ptx/alu_rows.h"
#include "ptx_run/lanes.h"

#include <stdbool.h>

typedef void alu_fn(void *d, const void *a, const void *b, const void *c, const void *e);

/* Its executor, in the version that suits this machine best. */
alu_fn *alu_executor(int row);

/* The version of one level: 0 for any host, then better ones. Null where that level has none of its own, or
 * this machine cannot run it. For tests: all levels give the same bits. */
enum { ALU_LEVELS = 3 };
bool alu_has_level(int level); /* this machine can run it */
alu_fn *alu_executor_at(int level, int row);

#endif
