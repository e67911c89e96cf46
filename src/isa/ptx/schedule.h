/* The order of instructions inside of basic blocks. */
#ifndef PTX_SCHEDULE_H
#define PTX_SCHEDULE_H

#include "values.h"

/* Puts the instructions of each block in the order ptxas would: what takes long starts early. The meaning
 * stays, also which sums take which products (exec/contract.c). */
void schedule_function(struct ptx_function *f, const struct flow *flow);

#endif
