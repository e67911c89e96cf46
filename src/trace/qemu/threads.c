/* Threads of the program, as they come and go, and the processes it makes. */
#include "qemu/plugin.h"

#include <pthread.h>
#include <string.h>

struct record_lane *vcpu_lanes[CPUS_MOST];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t living, cpus_used;
static bool recording;
static _Atomic uint32_t unfinished;         /* recorded threads that want more accesses */
static __thread struct record_lane *caller; /* who called the system last, on this thread of the host */

/* ---- calls of the system that replace the program by another ---- */

static const struct exec_calls {
    const char *target;
    int64_t exec, exec_at;
} exec_calls[] = {
    {"x86_64", 59, 322},   {"i386", 11, 358},    {"aarch64", 221, 281}, {"arm", 11, 387},
    {"riscv64", 221, 281}, {"ppc64le", 11, 362}, {"s390x", 11, 354},
};
static struct exec_calls own_calls = {NULL, -1, -1};

/* ---- processes ---- */

static bool is_child; /* of the process that is recorded; it itself is not */
static struct record_lane nowhere = {.check = UINT64_MAX}; /* what threads of a child have */

static void on_fork_parent(void)
{
    atomic_fetch_add(&shared->children, 1);
}

static void on_fork_child(void)
{
    is_child = true;
    for (uint32_t i = 0; i < cpus_used; i++)
        vcpu_lanes[i] = &nowhere;
}

void threads_init(const char *target)
{
    for (size_t i = 0; i < sizeof exec_calls / sizeof *exec_calls; i++) {
        if (!strcmp(exec_calls[i].target, target))
            own_calls = exec_calls[i];
    }
    pthread_atfork(NULL, on_fork_parent, on_fork_child);
}

/* ---- threads ---- */

static bool wanted(uint32_t thread)
{
    const struct record_options *options = &shared->options;
    for (uint32_t i = 0; i < options->range_count; i++) {
        if (options->ranges[i].first <= thread && thread <= options->ranges[i].last)
            return true;
    }
    return !options->range_count;
}

static void begin_lane(struct record_lane *lane)
{
    uint64_t accesses = shared->options.accesses ? shared->options.accesses : UINT64_MAX;
    lane->began = lane->clock;
    lane->check = UINT64_MAX;
    lane->left = wanted(lane->thread) ? accesses : 0;
    unfinished += lane->left != 0;
}

static _Noreturn void too_many(void)
{
    atomic_store(&shared->too_many_threads, 1);
    _exit(1);
}

static struct record_lane *free_lane(void)
{
    uint32_t used = atomic_load(&shared->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        if (atomic_load(&shared->lanes[i].state) == LANE_FREE)
            return &shared->lanes[i];
    }
    if (used == RECORD_LANES)
        too_many();
    atomic_store(&shared->lanes_used, used + 1);
    return &shared->lanes[used];
}

static void add_thread(unsigned cpu)
{
    struct record_lane *lane = free_lane();
    memset(lane, 0, offsetof(struct record_lane, full));
    lane->thread = shared->threads++;
    if (caller) /* what it does comes behind what led to it */
        lane->clock = lane->counted = lane->check = caller->clock;
    if (recording)
        begin_lane(lane);
    atomic_store(&lane->state, LANE_LIVE);
    vcpu_lanes[cpu] = lane;
    cpus_used = cpu < cpus_used ? cpus_used : cpu + 1;
    living++;
}

static void on_come(plugin_id id, unsigned cpu)
{
    (void)id;
    if (cpu >= CPUS_MOST)
        too_many();
    if (is_child) {
        vcpu_lanes[cpu] = &nowhere;
        return;
    }
    pthread_mutex_lock(&lock);
    add_thread(cpu);
    pthread_mutex_unlock(&lock);
    phases_thread_came(living);
}

static void on_go(plugin_id id, unsigned cpu)
{
    struct record_lane *lane = vcpu_lanes[cpu];
    (void)id;
    if (is_child)
        return;
    pthread_mutex_lock(&lock);
    if (lane->left)
        unfinished--;
    living--;
    vcpu_lanes[cpu] = &nowhere;
    accesses_end(lane);
    pthread_mutex_unlock(&lock);
}

void threads_begin_recording(void)
{
    pthread_mutex_lock(&lock); /* threads may come and go though no block runs */
    recording = true;
    for (uint32_t i = 0; i < atomic_load(&shared->lanes_used); i++) {
        struct record_lane *lane = &shared->lanes[i];
        if (atomic_load(&lane->state) != LANE_LIVE)
            continue;
        lane->clock = 0;
        begin_lane(lane);
    }
    pthread_mutex_unlock(&lock);
}

void threads_finished(struct record_lane *lane)
{
    lane->stopped = lane->clock;
    lane->check = lane->clock + (RECORD_PATIENCE_TIMES - 1) * (lane->clock - lane->began) +
                  ((uint64_t)RECORD_PATIENCE_MORE << RECORD_CLOCK_SHIFT);
    if (atomic_fetch_sub(&unfinished, 1) == 1)
        phases_over();
}

/* ---- calls of the system ---- */

static void on_call(plugin_id id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    (void)id, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    caller = vcpu_lanes[cpu];
    if (!is_child && (number == own_calls.exec || number == own_calls.exec_at))
        atomic_store(&shared->became_another, 1);
}

static void on_return(plugin_id id, unsigned cpu, int64_t number, int64_t result)
{
    (void)id, (void)cpu, (void)result;
    if (!is_child && (number == own_calls.exec || number == own_calls.exec_at))
        atomic_store(&shared->became_another, 0); /* it failed */
}

void threads_watch(plugin_id id)
{
    qemu_plugin_register_vcpu_init_cb(id, on_come);
    qemu_plugin_register_vcpu_exit_cb(id, on_go);
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_return);
}
