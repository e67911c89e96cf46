#include "cpu/runs/threads.h"
#include "base/bits.h"
#include "base/clock.h"

void threads_start(struct threads *threads, uint32_t cores, uint64_t slice_ps, uint64_t wake_ps)
{
    *threads = (struct threads){.core_count = cores, .slice_ps = slice_ps, .wake_ps = wake_ps};
    for (uint32_t i = 0; i < cores; i++)
        threads->on_core[i] = THREADS_NONE;
}

static void leave_core(struct threads *threads, struct thread *thread)
{
    if (thread->core == THREADS_NONE)
        return;
    threads->on_core[thread->core] = THREADS_NONE;
    thread->last_core = thread->core;
    thread->core = THREADS_NONE;
}

void threads_add(struct threads *threads, uint32_t number, uint64_t ready_ps)
{
    threads->at[number] = (struct thread){
        .state = THREAD_READY, .core = THREADS_NONE, .last_core = THREADS_NONE, .ready_ps = ready_ps};
}

void threads_sleep(struct threads *threads, uint32_t number, uint64_t futex, uint64_t now_ps,
                   uint64_t deadline_ps)
{
    struct thread *thread = &threads->at[number];
    leave_core(threads, thread);
    thread->state = THREAD_ASLEEP;
    thread->ready_ps = now_ps;
    thread->futex = futex;
    thread->deadline_ps = deadline_ps;
    thread->order = threads->sleeps++;
    thread->timed_out = false;
}

void threads_wake(struct threads *threads, uint64_t futex, uint64_t most, uint64_t now_ps)
{
    for (; most; most--) {
        struct thread *first = NULL;
        for (uint32_t i = 0; i < CPURUN_LANES; i++) {
            struct thread *thread = &threads->at[i];
            if (thread->state == THREAD_ASLEEP && thread->futex == futex &&
                (!first || thread->order < first->order))
                first = thread;
        }
        if (!first)
            return;
        first->state = THREAD_READY;
        first->ready_ps = max_u64(first->ready_ps, now_ps + threads->wake_ps);
    }
}

void threads_go_away(struct threads *threads, uint32_t number)
{
    struct thread *thread = &threads->at[number];
    thread->ready_ps = thread->core == THREADS_NONE ? thread->ready_ps : threads->core_ps[thread->core];
    leave_core(threads, thread);
    thread->state = THREAD_AWAY;
}

/* Now is when the core that is furthest behind is. */
void threads_come_back(struct threads *threads, uint32_t number)
{
    uint64_t now = TIME_NEVER;
    for (uint32_t i = 0; i < threads->core_count; i++) {
        if (threads->on_core[i] != THREADS_NONE)
            now = min_u64(now, threads->core_ps[i]);
    }
    threads->at[number].state = THREAD_READY;
    if (now != TIME_NEVER)
        threads->at[number].ready_ps = max_u64(threads->at[number].ready_ps, now);
}

void threads_end(struct threads *threads, uint32_t number)
{
    leave_core(threads, &threads->at[number]);
    threads->at[number].state = THREAD_NONE;
}

/* ---- who is next ---- */

/* Of the threads that have no core and want one, the one that is ready first. */
static struct thread *first_waiting(struct threads *threads)
{
    struct thread *first = NULL;
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        struct thread *thread = &threads->at[i];
        if (thread->state == THREAD_READY && thread->core == THREADS_NONE &&
            (!first || thread->ready_ps < first->ready_ps))
            first = thread;
    }
    return first;
}

/* Its own last one if that is idle, or the one that has been idle longest. */
static uint32_t idle_core(const struct threads *threads, const struct thread *thread)
{
    uint32_t best = THREADS_NONE;
    if (thread->last_core != THREADS_NONE && threads->on_core[thread->last_core] == THREADS_NONE)
        return thread->last_core;
    for (uint32_t i = 0; i < threads->core_count; i++) {
        if (threads->on_core[i] == THREADS_NONE &&
            (best == THREADS_NONE || threads->core_ps[i] < threads->core_ps[best]))
            best = i;
    }
    return best;
}

static void give_cores(struct threads *threads)
{
    struct thread *thread;
    while ((thread = first_waiting(threads))) {
        uint32_t core = idle_core(threads, thread);
        if (core == THREADS_NONE)
            return;
        threads->on_core[core] = (uint32_t)(thread - threads->at);
        thread->core = core;
        threads->core_ps[core] = max_u64(threads->core_ps[core], thread->ready_ps);
        thread->slice_ps = threads->core_ps[core];
        threads->switches += thread->last_core != core;
    }
}

/* The core that is furthest behind, of those that have a thread. */
static uint32_t last_core(const struct threads *threads)
{
    uint32_t last = THREADS_NONE;
    for (uint32_t i = 0; i < threads->core_count; i++) {
        if (threads->on_core[i] != THREADS_NONE &&
            (last == THREADS_NONE || threads->core_ps[i] < threads->core_ps[last]))
            last = i;
    }
    return last;
}

static struct thread *first_deadline(struct threads *threads)
{
    struct thread *first = NULL;
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        struct thread *thread = &threads->at[i];
        if (thread->state == THREAD_ASLEEP && thread->deadline_ps != TIME_NEVER &&
            (!first || thread->deadline_ps < first->deadline_ps))
            first = thread;
    }
    return first;
}

uint32_t threads_next(struct threads *threads)
{
    for (;;) {
        give_cores(threads);
        uint32_t core = last_core(threads);
        uint64_t now = core == THREADS_NONE ? TIME_NEVER : threads->core_ps[core];
        struct thread *sleeper = first_deadline(threads);
        if (sleeper && sleeper->deadline_ps <= now) {
            sleeper->state = THREAD_READY;
            sleeper->timed_out = true;
            sleeper->ready_ps = max_u64(sleeper->ready_ps, sleeper->deadline_ps);
            continue;
        }
        if (core == THREADS_NONE)
            return THREADS_NONE;
        struct thread *thread = &threads->at[threads->on_core[core]], *waiting = first_waiting(threads);
        if (waiting && waiting->ready_ps <= now && now - thread->slice_ps >= threads->slice_ps) {
            thread->ready_ps = now; /* it goes behind those who wait */
            leave_core(threads, thread);
            continue;
        }
        return threads->on_core[core];
    }
}
