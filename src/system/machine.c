#include "system/machine.h"
#include "base/mem.h"

struct machine {
    struct machine_options options;
    struct task *tasks;
    uint64_t now;
};

struct machine *machine_new(const struct system *system, const struct machine_options *options, struct err *err)
{
    (void)system, (void)err;
    struct machine *machine = mem_alloc(1, sizeof *machine);
    machine->options = *options;
    return machine;
}

void machine_free(struct machine *machine)
{
    mem_free(machine);
}

void machine_set_memory(struct machine *machine, uint32_t gpu, const struct memory_range *ranges, uint32_t count)
{
    (void)machine, (void)gpu, (void)ranges, (void)count;
}

void machine_begin(struct machine *machine, struct task *task)
{
    struct task **last = &machine->tasks;
    while (*last)
        last = &(*last)->next;
    *last = task;
    task->next = NULL;
    task->state = TASK_RUNNING;
    task->start_ps = machine->now;
}

bool machine_run(struct machine *machine, struct err *err)
{
    struct task *task = machine->tasks;
    (void)err;
    if (!task)
        return false;
    machine->tasks = task->next;
    machine->now += 1000000;
    bool good = !task->launch || launch_run(task->launch, &task->result);
    task->state = good ? TASK_DONE : TASK_FAILED;
    task->end_ps = machine->now;
    return true;
}

bool machine_pass(struct machine *machine, uint64_t ps, struct err *err)
{
    (void)err;
    machine->now += ps;
    return true;
}

uint64_t machine_time(const struct machine *machine)
{
    return machine->now;
}

void machine_sync_memory(struct machine *machine, uint32_t gpu, bool changed)
{
    (void)machine, (void)gpu, (void)changed;
}
