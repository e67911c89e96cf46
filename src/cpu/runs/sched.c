#include "cpu/runs/sched.h"
#include "base/bits.h"
#include "base/clock.h"

void sched_start(struct sched *threads, uint32_t cores, uint64_t slice_ps, uint64_t wake_ps)
{
    *threads = (struct sched){.core_count = cores, .slice_ps = slice_ps, .wake_ps = wake_ps};
    for (uint32_t i = 0; i < cores; i++)
        threads->on_core[i] = SCHED_NONE;
}

static void leave_core(struct sched *threads, struct sched_thread *thread)
{
    if (thread->core == SCHED_NONE)
        return;
    threads->on_core[thread->core] = SCHED_NONE;
    thread->last_core = thread->core;
    thread->core = SCHED_NONE;
}

void sched_add(struct sched *threads, uint32_t number, uint64_t ready_ps)
{
    threads->at[number] = (struct sched_thread){
        .state = SCHED_READY, .core = SCHED_NONE, .last_core = SCHED_NONE, .ready_ps = ready_ps};
}

void sched_sleep(struct sched *threads, uint32_t number, uint64_t futex, uint64_t now_ps,
                 uint64_t deadline_ps)
{
    struct sched_thread *thread = &threads->at[number];
    leave_core(threads, thread);
    thread->state = SCHED_ASLEEP;
    thread->ready_ps = now_ps;
    thread->futex = futex;
    thread->deadline_ps = deadline_ps;
    thread->order = threads->sleeps++;
    thread->timed_out = false;
}

void sched_wake(struct sched *threads, uint64_t futex, uint64_t most, uint64_t now_ps)
{
    for (; most; most--) {
        struct sched_thread *first = NULL;
        for (uint32_t i = 0; i < CPURUN_LANES; i++) {
            struct sched_thread *thread = &threads->at[i];
            if (thread->state == SCHED_ASLEEP && thread->futex == futex &&
                (!first || thread->order < first->order))
                first = thread;
        }
        if (!first)
            return;
        first->state = SCHED_READY;
        first->ready_ps = max_u64(first->ready_ps, now_ps + threads->wake_ps);
    }
}

void sched_go_away(struct sched *threads, uint32_t number)
{
    struct sched_thread *thread = &threads->at[number];
    thread->ready_ps = thread->core == SCHED_NONE ? thread->ready_ps : threads->core_ps[thread->core];
    leave_core(threads, thread);
    thread->state = SCHED_AWAY;
}

/* Now is when the core that is furthest behind is. */
void sched_come_back(struct sched *threads, uint32_t number)
{
    uint64_t now = TIME_NEVER;
    for (uint32_t i = 0; i < threads->core_count; i++) {
        if (threads->on_core[i] != SCHED_NONE)
            now = min_u64(now, threads->core_ps[i]);
    }
    threads->at[number].state = SCHED_READY;
    if (now != TIME_NEVER)
        threads->at[number].ready_ps = max_u64(threads->at[number].ready_ps, now);
}

void sched_end(struct sched *threads, uint32_t number)
{
    leave_core(threads, &threads->at[number]);
    threads->at[number].state = SCHED_UNUSED;
}

void sched_call(struct sched *threads, uint32_t number)
{
    threads->at[number].state = SCHED_CALLS;
}

void sched_return(struct sched *threads, uint32_t number)
{
    struct sched_thread *thread = &threads->at[number];
    uint32_t other = threads->on_core[thread->core];
    if (other != number && other != SCHED_NONE) { /* who had it meanwhile waits for another */
        threads->at[other].ready_ps = threads->core_ps[thread->core];
        leave_core(threads, &threads->at[other]);
    }
    threads->on_core[thread->core] = number;
    thread->state = SCHED_READY;
}

/* ---- who is next ---- */

/* Of the threads that have no core and want one, the one that is ready first. */
static struct sched_thread *first_waiting(struct sched *threads)
{
    struct sched_thread *first = NULL;
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        struct sched_thread *thread = &threads->at[i];
        if (thread->state == SCHED_READY && thread->core == SCHED_NONE &&
            (!first || thread->ready_ps < first->ready_ps))
            first = thread;
    }
    return first;
}

/* Nobody has it, or who has it waits in a call. */
static bool is_idle(const struct sched *threads, uint32_t core)
{
    uint32_t holder = threads->on_core[core];
    return holder == SCHED_NONE || threads->at[holder].state == SCHED_CALLS;
}

/* Its own last one if that is idle, or the one that has been idle longest. */
static uint32_t idle_core(const struct sched *threads, const struct sched_thread *thread)
{
    uint32_t best = SCHED_NONE;
    if (thread->last_core != SCHED_NONE && is_idle(threads, thread->last_core))
        return thread->last_core;
    for (uint32_t i = 0; i < threads->core_count; i++) {
        if (is_idle(threads, i) && (best == SCHED_NONE || threads->core_ps[i] < threads->core_ps[best]))
            best = i;
    }
    return best;
}

static void give_cores(struct sched *threads)
{
    struct sched_thread *thread;
    while ((thread = first_waiting(threads))) {
        uint32_t core = idle_core(threads, thread);
        if (core == SCHED_NONE)
            return;
        threads->on_core[core] = (uint32_t)(thread - threads->at);
        thread->core = core;
        threads->core_ps[core] = max_u64(threads->core_ps[core], thread->ready_ps);
        thread->slice_ps = threads->core_ps[core];
        threads->switches += thread->last_core != core;
    }
}

/* The core that is furthest behind, of those that have a thread. */
static uint32_t last_core(const struct sched *threads)
{
    uint32_t last = SCHED_NONE;
    for (uint32_t i = 0; i < threads->core_count; i++) {
        if (threads->on_core[i] != SCHED_NONE && threads->at[threads->on_core[i]].state == SCHED_READY &&
            (last == SCHED_NONE || threads->core_ps[i] < threads->core_ps[last]))
            last = i;
    }
    return last;
}

static struct sched_thread *first_deadline(struct sched *threads)
{
    struct sched_thread *first = NULL;
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        struct sched_thread *thread = &threads->at[i];
        if (thread->state == SCHED_ASLEEP && thread->deadline_ps != TIME_NEVER &&
            (!first || thread->deadline_ps < first->deadline_ps))
            first = thread;
    }
    return first;
}

uint64_t sched_soonest(const struct sched *threads)
{
    uint64_t soonest = TIME_NEVER;
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        const struct sched_thread *thread = &threads->at[i];
        if (thread->state == SCHED_READY && thread->core != SCHED_NONE)
            soonest = min_u64(soonest, threads->core_ps[thread->core]);
        else if (thread->state == SCHED_READY && idle_core(threads, thread) != SCHED_NONE)
            soonest = min_u64(soonest, thread->ready_ps);
        else if (thread->state == SCHED_ASLEEP)
            soonest = min_u64(soonest, thread->deadline_ps);
    }
    return soonest;
}

uint32_t sched_next(struct sched *threads)
{
    for (;;) {
        give_cores(threads);
        uint32_t core = last_core(threads);
        uint64_t now = core == SCHED_NONE ? TIME_NEVER : threads->core_ps[core];
        struct sched_thread *sleeper = first_deadline(threads);
        if (sleeper && sleeper->deadline_ps <= now) {
            sleeper->state = SCHED_READY;
            sleeper->timed_out = true;
            sleeper->ready_ps = max_u64(sleeper->ready_ps, sleeper->deadline_ps);
            continue;
        }
        if (core == SCHED_NONE)
            return SCHED_NONE;
        struct sched_thread *thread = &threads->at[threads->on_core[core]], *waiting = first_waiting(threads);
        if (waiting && waiting->ready_ps <= now && now - thread->slice_ps >= threads->slice_ps) {
            thread->ready_ps = now; /* it goes behind those who wait */
            leave_core(threads, thread);
            continue;
        }
        return threads->on_core[core];
    }
}
