/* Atomic operations on memory, as rows (atomics.c), wherever they are performed. Rows have PTX's names; other
 * instruction sets refer to them in their own tables. */
#ifndef EXEC_ATOMICS_H
#define EXEC_ATOMICS_H

#include "isa/request.h"

enum { ATOMIC_WIDE_BYTES = 16 };

struct atomic_row {
    const char *name; /* "add.u32" */
    uint8_t bytes;    /* ATOMIC_WIDE_BYTES: it has functions of its own */
    bool floats;
    bool commutes; /* what it leaves behind does not depend on the order */
};
extern const struct atomic_row atomic_rows[];
extern const uint32_t atomic_row_count;

/* Old value to new one: `a` is in memory, b and c are the operands; far: not in shared memory. */
uint64_t atomic_apply(uint32_t row, uint64_t a, uint64_t b, uint64_t c, bool far);

/* Changes memory, which is not shared memory, and gives what was there. The address is aligned. Any thread of
 * the host may do so at the same time. */
uint64_t atomic_perform(uint8_t operation, void *at, uint64_t operand, uint64_t compare);

/* The same of 16 bytes, as halves, the lower one first. */
void atomic_perform_wide(uint8_t operation, void *at, const uint64_t operand[2], const uint64_t compare[2],
                         uint64_t old[2]);

/* Has the first lane do for all what they want of one address, as if they came in order; or tells that this
 * cannot be, and changes nothing. */
bool atomic_merge(struct request *request);

#endif
