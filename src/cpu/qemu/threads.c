/* Threads of the program, as they come and go, and the processes it makes. */
#include "cpu/qemu/plugin.h"

#include <pthread.h>
#include <time.h>

struct tap_thread *tap_threads[FEED_CPUS];

static struct tap_thread pool[CPURUN_LANES];
static struct tap_thread unseen; /* what threads of a child have */
static uint64_t unseen_words[CPURUN_WORDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t living;
static uint32_t cpus_used;
static bool is_child;                       /* of the process that is simulated; it itself is not */
static __thread struct tap_thread *creator; /* who runs on this thread of the host */

static _Atomic uint64_t
    ended_words[CPURUN_LANES]; /* of threads that have ended, and may not be cleared yet */
static _Atomic uint32_t ended; /* how many there are */

void tap_settle_ended(void)
{
    enum { TRIES = 100000 }; /* of 20 us: then something else is wrong */
    for (uint32_t i = 0; atomic_load(&ended) && i < CPURUN_LANES; i++) {
        uint64_t word = atomic_load(&ended_words[i]);
        uint32_t value;
        if (!word)
            continue;
        for (uint32_t tries = 0; tap_read_memory(word, &value, sizeof value) && value && tries < TRIES;
             tries++)
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        atomic_store(&ended_words[i], 0);
        atomic_fetch_sub(&ended, 1);
    }
}

bool tap_is_alone(void)
{
    return atomic_load_explicit(&living, memory_order_relaxed) == 1;
}

bool tap_is_child(void)
{
    return is_child;
}

static void on_fork_parent(void)
{
    atomic_fetch_add(&tap_shared->children, 1);
}

static void on_fork_child(void)
{
    is_child = true;
    for (uint32_t i = 0; i < cpus_used; i++)
        tap_threads[i] = &unseen;
}

static _Noreturn void too_many(void)
{
    atomic_store(&tap_shared->too_many_threads, 1);
    _exit(1);
}

static uint32_t free_lane(void)
{
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        if (atomic_load(&tap_shared->lanes[i].state) == CPURUN_FREE)
            return i;
    }
    too_many();
}

void tap_runs(struct tap_thread *thread)
{
    creator = thread;
}

static struct tap_thread *new_thread(void)
{
    uint32_t number = free_lane();
    struct cpurun_lane *lane = &tap_shared->lanes[number];
    struct tap_thread *thread = &pool[number];
    *thread = (struct tap_thread){.ring = tap_shared->rings[number],
                                  .at = atomic_load(&lane->head),
                                  .lane = lane,
                                  .asking = true,
                                  .grants = creator ? atomic_load(&lane->grants) : 0,
                                  .cleared = creator ? tap_cleared_by(creator) : 0};
    thread->limit = thread->at + CPURUN_CHUNK; /* heddle has taken all of it that was there */
    atomic_store(&lane->state, CPURUN_LIVE);
    atomic_fetch_add(&living, 1);
    if (creator)
        tap_word(creator, tap_op(CPURUN_BEGIN, number));
    return thread;
}

/* Runs on the thread that makes the new one: heddle knows of it before the other goes on. What libraries of
 * ours start while they take no time is not seen either. */
static void on_come(plugin_id id, unsigned cpu)
{
    (void)id;
    if (cpu >= FEED_CPUS)
        too_many();
    bool is_unseen = is_child || (creator && (!creator->lane || creator->muted));
    pthread_mutex_lock(&lock);
    tap_threads[cpu] = is_unseen ? &unseen : new_thread();
    cpus_used = cpu < cpus_used ? cpus_used : cpu + 1;
    pthread_mutex_unlock(&lock);
}

static void on_go(plugin_id id, unsigned cpu)
{
    struct tap_thread *thread = tap_threads[cpu];
    (void)id;
    if (is_child || !thread->lane)
        return;
    tap_wait(thread, false);
    pthread_mutex_lock(&lock);
    tap_mute(thread, false);
    if (thread->cleared) {
        atomic_store(&ended_words[thread - pool], thread->cleared);
        atomic_fetch_add(&ended, 1);
        tap_word(thread, tap_op(CPURUN_WAKE, CPURUN_FOREVER));
        tap_word(thread, thread->cleared);
    }
    tap_word(thread, tap_op(CPURUN_END, 0));
    tap_show(thread);
    tap_threads[cpu] = &unseen;
    atomic_fetch_sub(&living, 1);
    pthread_mutex_unlock(&lock);
}

void tap_watch_threads(plugin_id id)
{
    unseen.ring = unseen_words;
    unseen.limit = CPURUN_WORDS;
    unseen.left = INT64_MAX;
    pthread_atfork(NULL, on_fork_parent, on_fork_child);
    qemu_plugin_register_vcpu_init_cb(id, on_come);
    qemu_plugin_register_vcpu_exit_cb(id, on_go);
}
