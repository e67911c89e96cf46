/* Which thread runs on which core, and which of them goes on next: pure, by simulated time alone. */
#ifndef CPU_RUNS_THREADS_H
#define CPU_RUNS_THREADS_H

#include "cpu/runs/shared.h"

#include <stdbool.h>
#include <stdint.h>

enum { THREADS_NONE = UINT32_MAX };

enum thread_state {
    THREAD_NONE,
    THREAD_READY,  /* wants to run; has a core, or waits for one */
    THREAD_ASLEEP, /* on a futex, or until its time has come */
    THREAD_AWAY,   /* waits for something outside of the simulation */
};

struct thread {
    enum thread_state state;
    bool timed_out;
    uint32_t core;      /* that it has; THREADS_NONE: none */
    uint32_t last_core; /* that it had */
    uint64_t ready_ps;  /* it can run from then on */
    uint64_t slice_ps;  /* it has had its core since */
    uint64_t futex;     /* 0: it sleeps until the deadline */
    uint64_t deadline_ps;
    uint64_t order; /* of those who sleep: who came first is woken first */
};

struct threads {
    struct thread at[CPURUN_LANES]; /* by lane */
    uint32_t on_core[64];           /* THREADS_NONE: idle */
    uint64_t core_ps[64];           /* how far each core is */
    uint32_t core_count;
    uint64_t slice_ps, wake_ps;
    uint64_t sleeps, switches;
};

void threads_start(struct threads *threads, uint32_t cores, uint64_t slice_ps, uint64_t wake_ps);
void threads_add(struct threads *threads, uint32_t number, uint64_t ready_ps);
void threads_sleep(struct threads *threads, uint32_t number, uint64_t futex, uint64_t now_ps,
                   uint64_t deadline_ps);
void threads_wake(struct threads *threads, uint64_t futex, uint64_t most, uint64_t now_ps);
void threads_go_away(struct threads *threads, uint32_t number);
void threads_come_back(struct threads *threads, uint32_t number);
void threads_end(struct threads *threads, uint32_t number);

/* The thread that goes on, which has a core then; THREADS_NONE: none can, until one comes back. */
uint32_t threads_next(struct threads *threads);

#endif
