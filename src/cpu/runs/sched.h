/* Which thread runs on which core, and which of them goes on next: pure, by simulated time alone. */
#ifndef CPU_RUNS_SCHED_H
#define CPU_RUNS_SCHED_H

#include "cpu/runs/shared.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCHED_NONE = UINT32_MAX };

enum sched_state {
    SCHED_UNUSED,
    SCHED_READY,  /* wants to run; has a core, or waits for one */
    SCHED_ASLEEP, /* on a futex, or until its time has come */
    SCHED_AWAY,   /* waits for something outside of the simulation */
    SCHED_CALLS,  /* has a core, and is in a call of the machine beside the cores, which lets it wait */
};

struct sched_thread {
    enum sched_state state;
    bool timed_out;
    uint32_t core;      /* that it has; SCHED_NONE: none */
    uint32_t last_core; /* that it had */
    uint64_t ready_ps;  /* it can run from then on */
    uint64_t slice_ps;  /* it has had its core since */
    uint64_t futex;     /* 0: it sleeps until the deadline */
    uint64_t deadline_ps;
    uint64_t order; /* of those who sleep: who came first is woken first */
};

struct sched {
    struct sched_thread at[CPURUN_LANES]; /* by lane */
    uint32_t on_core[64];                 /* SCHED_NONE: idle */
    uint64_t core_ps[64];                 /* how far each core is */
    uint32_t core_count;
    uint64_t slice_ps, wake_ps;
    uint64_t sleeps, switches;
};

void sched_start(struct sched *threads, uint32_t cores, uint64_t slice_ps, uint64_t wake_ps);
void sched_add(struct sched *threads, uint32_t number, uint64_t ready_ps);
void sched_sleep(struct sched *threads, uint32_t number, uint64_t futex, uint64_t now_ps,
                 uint64_t deadline_ps);
void sched_wake(struct sched *threads, uint64_t futex, uint64_t most, uint64_t now_ps);
void sched_go_away(struct sched *threads, uint32_t number);
void sched_come_back(struct sched *threads, uint32_t number);
void sched_end(struct sched *threads, uint32_t number);

/* It is in a call that waits, and others may have its core meanwhile; and it goes on there. */
void sched_call(struct sched *threads, uint32_t number);
void sched_return(struct sched *threads, uint32_t number);

/* When the first of those that can go on does so, or would wake up; TIME_NEVER: nobody will by itself. */
uint64_t sched_soonest(const struct sched *threads);

/* The thread that goes on, which has a core then; SCHED_NONE: none can, until one comes back. */
uint32_t sched_next(struct sched *threads);

#endif
