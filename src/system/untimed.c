#include "system/untimed.h"
#include "base/mem.h"

enum { TASK_PS = 1000 };

struct untimed {
    struct machine base;
    struct machine_options options;
    struct task *waiting; /* in the order they were begun */
    uint64_t now_ps, tasks;
};

static struct untimed *untimed_of(const struct machine *machine)
{
    return (struct untimed *)(uintptr_t)machine;
}

/* ---- what tasks do ---- */

static bool run_kernel(const struct untimed *untimed, struct task *task)
{
    struct launch launch = *task->launch;
    launch.threads = untimed->options.threads;
    launch.interrupt = untimed->options.interrupt;
    return launch_run(&launch, &task->result);
}

static char *row_of(const struct task_side *side, uint64_t z, uint64_t y)
{
    return (char *)(uintptr_t)(side->at + z * side->slice + y * side->pitch);
}

static void fill_row(char *to, uint64_t bytes, uint32_t word)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = (char)(word >> 8 * (((uintptr_t)to + i) % sizeof word));
}

static void copy_rows(const struct task *task)
{
    for (uint64_t z = 0; z < task->depth; z++) {
        for (uint64_t y = 0; y < task->height; y++) {
            char *to = row_of(&task->to, z, y);
            if (task->is_fill)
                fill_row(to, task->width, task->fill_word);
            else
                memmove(to, row_of(&task->from, z, y), task->width);
        }
    }
}

static void run_task(struct untimed *untimed, struct task *task)
{
    bool good = true;
    if (task->launch)
        good = run_kernel(untimed, task);
    else if (!task->is_prefetch)
        copy_rows(task);
    task->start_ps = untimed->now_ps;
    task->end_ps = untimed->now_ps += TASK_PS;
    task->state = good ? TASK_DONE : TASK_FAILED;
}

/* ---- machine_ops ---- */

static void fini(struct machine *machine)
{
    mem_free(machine);
}

static void set_memory(struct machine *machine, const struct memory_range *ranges, uint32_t count)
{
    (void)machine, (void)ranges, (void)count;
}

static void sync_memory(struct machine *machine, uint64_t at, uint64_t bytes, enum memory_use use)
{
    (void)machine, (void)at, (void)bytes, (void)use; /* there is no cache */
}

static void set_heap(struct machine *machine, uint32_t gpu, struct heap *heap)
{
    (void)machine, (void)gpu, (void)heap; /* a launch has its own */
}

static void set_limit(struct machine *machine, uint64_t max_cycles)
{
    (void)machine, (void)max_cycles; /* there are no cycles */
}

static bool no_listener(struct machine *machine, const struct probe *probe, struct err *err)
{
    (void)machine;
    return !probe->kinds || err_set(err, "a machine without time has no listeners");
}

static void begin(struct machine *machine, struct task *task)
{
    struct untimed *untimed = untimed_of(machine);
    struct task **last = &untimed->waiting;
    while (*last)
        last = &(*last)->next;
    *last = task;
    task->next = NULL;
    task->state = TASK_RUNNING;
    task->number = ++untimed->tasks;
}

static bool pass(struct machine *machine, uint64_t ps, struct err *err)
{
    struct untimed *untimed = untimed_of(machine);
    struct task *task = untimed->waiting;
    if (task) {
        untimed->waiting = task->next;
        run_task(untimed, task);
        return true;
    }
    if (ps == UINT64_MAX)
        return err_set(err, "nothing is running");
    untimed->now_ps += ps;
    return true;
}

static uint64_t time_of(const struct machine *machine)
{
    return untimed_of(machine)->now_ps;
}

static enum machine_end end_of(const struct machine *machine)
{
    (void)machine;
    return MACHINE_GOES_ON;
}

static bool no_checkpoint(const struct machine *machine)
{
    (void)machine;
    return false;
}

static bool interrupted(struct machine *machine, struct err *err)
{
    (void)machine, (void)err;
    return true;
}

static const struct machine_ops untimed_ops = {.fini = fini,
                                               .set_memory = set_memory,
                                               .sync_memory = sync_memory,
                                               .set_heap = set_heap,
                                               .set_limit = set_limit,
                                               .listen = no_listener,
                                               .begin = begin,
                                               .pass = pass,
                                               .time = time_of,
                                               .end = end_of,
                                               .has_written = no_checkpoint,
                                               .is_replaying = no_checkpoint,
                                               .interrupted = interrupted};

struct machine *machine_untimed_new(const struct machine_options *options)
{
    struct untimed *untimed = mem_alloc(1, sizeof *untimed);
    untimed->base.ops = &untimed_ops;
    untimed->options = *options;
    if (!untimed->options.threads)
        untimed->options.threads = 1;
    return &untimed->base;
}
