/* A gate: a number that one thread at a time changes, and others wait for. Who waits spins for a while, then
 * lends its core to others, then sleeps, so that threads that work have the cores, also where there are more
 * threads than cores. A gate may lie in memory that several processes share. */
#ifndef BASE_GATE_H
#define BASE_GATE_H

#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
    _Alignas(CACHE_LINE) _Atomic uint32_t number;
    _Atomic uint32_t sleepers;
};

static inline uint32_t gate_number(struct gate *gate)
{
    return atomic_load_explicit(&gate->number, memory_order_acquire);
}

/* What was written before is seen by all who see the number. */
void gate_set(struct gate *gate, uint32_t number);

/* Returns when the number is no longer `passed`. */
void gate_wait(struct gate *gate, uint32_t passed, unsigned spins);

/* The same, for so long at most: false when nothing has changed by then. */
bool gate_wait_for(struct gate *gate, uint32_t passed, unsigned spins, double seconds);

#endif
