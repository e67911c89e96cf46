#include "base/gate.h"
#include "base/host.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LENT_SECONDS 1e-3
enum { SLEEPS_AFTER_LONG_LOAN = 256 };

/* The kernel sleeps on a 32-bit word; glibc has no call for it. */
static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *most)
{
    syscall(SYS_futex, word, operation, value, most, NULL, 0);
}

/* A thread about to sleep writes `sleepers`, then reads the number; this one writes the number, then reads
 * `sleepers`. In sequential order one of the two sees the other. */
void gate_set(struct gate *gate, uint32_t number)
{
    atomic_store_explicit(&gate->number, number, memory_order_seq_cst);
    if (atomic_load_explicit(&gate->sleepers, memory_order_seq_cst))
        futex(&gate->number, FUTEX_WAKE, INT_MAX, NULL);
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

static void spin(struct gate *gate, uint32_t passed, unsigned spins)
{
    for (; spins && gate_number(gate) == passed; spins--)
        host_relax();
    if (gate_number(gate) == passed)
        lend_core(gate, passed);
}

/* May return before. */
static void sleep_once(struct gate *gate, uint32_t passed, const struct timespec *most)
{
    atomic_fetch_add_explicit(&gate->sleepers, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&gate->number, memory_order_seq_cst) == passed)
        futex(&gate->number, FUTEX_WAIT, passed, most);
    atomic_fetch_sub_explicit(&gate->sleepers, 1, memory_order_relaxed);
}

void gate_wait(struct gate *gate, uint32_t passed, unsigned spins)
{
    spin(gate, passed, spins);
    while (gate_number(gate) == passed)
        sleep_once(gate, passed, NULL);
}

bool gate_wait_for(struct gate *gate, uint32_t passed, unsigned spins, double seconds)
{
    double end = host_seconds() + seconds;
    spin(gate, passed, spins);
    for (double left; gate_number(gate) == passed;) {
        if ((left = end - host_seconds()) <= 0)
            return false;
        sleep_once(gate, passed,
                   &(struct timespec){.tv_sec = (time_t)left,
                                      .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)});
    }
    return true;
}
