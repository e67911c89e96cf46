#include "base/gate.h"
#include "base/host.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LENT_SECONDS 1e-3
enum { SLEEPS_AFTER_LONG_LOAN = 256 };

enum {
    LOOK_SPINS = 32,
    LOOK_FIRST_NS = 20 * 1000,
    LOOK_LAST_NS = 2 * 1000 * 1000
}; /* at a gate that nobody can sleep on */

static volatile uint32_t *bell_at;
static uint32_t bell_value;

/* The kernel sleeps on a 32-bit word; glibc has no call for it. False: not on this one, which is a device's.
 */
static bool futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *most)
{
    return syscall(SYS_futex, word, operation, value, most, NULL, 0) >= 0 || errno != EFAULT;
}

void gate_use_bell(volatile uint32_t *bell, uint32_t value)
{
    bell_at = bell;
    bell_value = value;
}

void gate_wake(struct gate *gate)
{
    futex(&gate->number, FUTEX_WAKE, INT_MAX, NULL);
}

/* A thread about to sleep writes `sleepers`, then reads the number; this one writes the number, then reads
 * `sleepers`. In sequential order one of the two sees the other. */
void gate_set(struct gate *gate, uint32_t number)
{
    atomic_store_explicit(&gate->number, number, memory_order_seq_cst);
    if (atomic_load_explicit(&gate->sleepers, memory_order_seq_cst) &&
        !futex(&gate->number, FUTEX_WAKE, INT_MAX, NULL) && bell_at)
        *bell_at = bell_value;
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
    if (bell_at) { /* an emulated processor: who is waited for may need its core, and a pause costs much */
        for (spins = LOOK_SPINS; spins && gate_number(gate) == passed; spins--)
            ;
        return;
    }
    for (; spins && gate_number(gate) == passed; spins--)
        host_relax();
    if (gate_number(gate) == passed)
        lend_core(gate, passed);
}

/* Where the kernel cannot sleep: longer each time, as long as nothing changes. */
static void doze(struct gate *gate, uint32_t passed, const struct timespec *most)
{
    long ns = LOOK_FIRST_NS;
    long left = most && !most->tv_sec ? most->tv_nsec : LONG_MAX;
    for (; gate_number(gate) == passed && left > 0; left -= ns, ns = ns < LOOK_LAST_NS ? 2 * ns : ns)
        nanosleep(&(struct timespec){.tv_nsec = ns < left ? ns : left}, NULL);
}

/* May return before. */
static void sleep_once(struct gate *gate, uint32_t passed, const struct timespec *most)
{
    bool slept = true;
    atomic_fetch_add_explicit(&gate->sleepers, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&gate->number, memory_order_seq_cst) == passed)
        slept = futex(&gate->number, FUTEX_WAIT, passed, most);
    atomic_fetch_sub_explicit(&gate->sleepers, 1, memory_order_relaxed);
    if (!slept)
        doze(gate, passed, most);
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
