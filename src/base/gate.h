/* A gate: a number that one thread at a time changes, and others wait for. Who waits spins for a while, then
 * lends its core to others, then sleeps, so that threads that work have the cores, also where there are more
 * threads than cores. A gate may lie in memory that several processes share, and in memory of a device that
 * another machine shares: the kernel cannot sleep there, so who waits looks again and again, and who changes
 * the number rings the device's bell. */
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

/* The doorbell of the device that this process shares gates with: where to write what. Or NULL. */
void gate_use_bell(volatile uint32_t *bell, uint32_t value);

/* Someone who cannot call gate_set in this process has set the number. */
void gate_wake(struct gate *gate);

/* Returns when the number is no longer `passed`. */
void gate_wait(struct gate *gate, uint32_t passed, unsigned spins);

/* The same, for so long at most: false when nothing has changed by then. */
bool gate_wait_for(struct gate *gate, uint32_t passed, unsigned spins, double seconds);

#endif
