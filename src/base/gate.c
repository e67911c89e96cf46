#include "base/gate.h"
#include "base/host.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LENT_SECONDS 1e-3
enum { SLEEPS_AFTER_LONG_LOAN = 256 };

/* The kernel sleeps on a 32-bit word; glibc has no call for it. */
static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* A thread about to sleep writes `sleepers`, then reads the number; this one writes the number, then reads
 * `sleepers`. In sequential order one of the two sees the other. */
void gate_set(struct gate *gate, uint32_t number)
{
    atomic_store_explicit(&gate->number, number, memory_order_seq_cst);
    if (atomic_load_explicit(&gate->sleepers, memory_order_seq_cst))
        futex(&gate->number, FUTEX_WAKE, INT_MAX);
}

/* Lends the core to others, for as long as they hand it back soon. Where other programs want it, too, a lent
 * core comes back only after milliseconds; then sleeping is better, because the kernel lets those who wake go
 * first. */
static void lend_core(struct gate *gate, uint32_t passed)
{
    static _Thread_local unsigned sleep_at_once;
    if (sleep_at_once) {
        sleep_at_once--;
        return;
    }
    double began = host_seconds();
    while (gate_number(gate) == passed) {
        sched_yield();
        if (host_seconds() - began > LENT_SECONDS) {
            sleep_at_once = SLEEPS_AFTER_LONG_LOAN;
            return;
        }
    }
}

void gate_wait(struct gate *gate, uint32_t passed, unsigned spins)
{
    for (; spins && gate_number(gate) == passed; spins--)
        host_relax();
    if (gate_number(gate) == passed)
        lend_core(gate, passed);
    while (gate_number(gate) == passed) {
        atomic_fetch_add_explicit(&gate->sleepers, 1, memory_order_seq_cst);
        if (atomic_load_explicit(&gate->number, memory_order_seq_cst) == passed)
            futex(&gate->number, FUTEX_WAIT, passed);
        atomic_fetch_sub_explicit(&gate->sleepers, 1, memory_order_relaxed);
    }
}
