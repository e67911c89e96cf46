/* A program on simulated cores: takes what the plugin says its threads executed, lets core models count its
 * time, and lets threads on in the order of that time. */
#ifndef CPU_RUNS_RUNS_H
#define CPU_RUNS_RUNS_H

#include "cpu/core.h"
#include "cpu/runs/shared.h"
#include "cpu/shared.h"
#include "base/err.h"

struct cpurun_shared *cpurun_shared_new(int *file, struct err *err); /* its descriptor is for the program */
void cpurun_shared_free(struct cpurun_shared *shared, int file);

struct cpurun;

/* A machine beside the cores, in one simulated time with them: cores and machine take turns, so nothing of
 * one happens while the other runs. */
enum cpurun_turn {
    CPURUN_IDLE,   /* there was nothing to do */
    CPURUN_WORKED, /* the thread may go on */
    CPURUN_BEHIND, /* the machine has come to `until_ps`: cores are to go on first */
};
struct cpurun_beside {
    /* Lets the machine on to this time, if it has work; whether it had. And the machine's time. */
    bool (*let_on)(void *user, uint64_t time_ps);
    uint64_t (*time)(void *user);
    /* A thread may be in a call of the machine's library: answers what it asks for, and lets the machine on
     * as far as it waits for that, but no further than `until_ps`. */
    enum cpurun_turn (*turn)(void *user, uint64_t until_ps);
    void *user;
};

/* `stop` is asked where the program is silent: whether to give it up. `outer` is what lies below the cores'
 * caches; NULL: the plain one (cpu/shared.h). */
struct cpurun *cpurun_new(const struct cpu_spec *spec, struct cpurun_shared *shared, struct outer *outer,
                          bool (*stop)(void));
void cpurun_free(struct cpurun *run);
void cpurun_set_beside(struct cpurun *run, const struct cpurun_beside *beside); /* which is copied */
/* Somebody is told which thread had which core, and when; spans of a core come in their order. */
struct cpurun_watcher {
    void (*ran)(void *user, uint32_t core, uint32_t thread, uint64_t begin_ps, uint64_t end_ps);
    void *user;
};
void cpurun_set_watcher(struct cpurun *run, const struct cpurun_watcher *watcher); /* which is copied */
struct cpu_memory **cpurun_memories(struct cpurun *run);                           /* by core */

/* Until the program has ended (cpurun_over), or is given up. For a thread of its own. */
void cpurun_go(struct cpurun *run);

/* The program's process has ended: nothing more comes. By any thread. */
void cpurun_over(struct cpurun_shared *shared);

/* ---- results ---- */

uint32_t cpurun_core_count(const struct cpurun *run);
const struct cpu_core *cpurun_core(const struct cpurun *run, uint32_t number);
const struct cpu_shared *cpurun_memory(const struct cpurun *run); /* NULL: it is another's */
uint64_t cpurun_core_cycles(const struct cpurun *run, uint32_t number);
uint64_t cpurun_time(const struct cpurun *run); /* picoseconds */
uint32_t cpurun_threads(const struct cpurun *run);
uint64_t cpurun_switches(const struct cpurun *run); /* of threads, on cores */

#endif
