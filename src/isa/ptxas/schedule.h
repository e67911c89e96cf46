/* The order of instructions inside of basic blocks. */
#ifndef PTXAS_SCHEDULE_H
#define PTXAS_SCHEDULE_H

#include "ptxas/values.h"

/* Puts the instructions of each block in the order ptxas would: what takes long starts early. The meaning
 * stays, also which sums take which products (contract.c). */
void schedule_function(struct ptx_function *f, const struct flow *flow);

#endif
