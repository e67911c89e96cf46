/* The GPU machine beside simulated CPU cores: both take turns in one thread, by simulated time, and share one
 * coherent memory if the description says so. */
#include "cli/run_cpu.h"
#include "cli/cli.h"
#include "cli/process.h"
#include "system/machine.h"

#include <signal.h>

/* ---- coherent memory ---- */

static uint64_t reach(void *user, uint32_t gpu, const unsigned char *line, bool writes, uint64_t time_ps)
{
    struct run_cpu *cpu = user;
    return cpugpu_reach(&cpu->coherent, gpu, line, writes, time_ps);
}

static unsigned char *copy_of(void *user, uint32_t gpu, const unsigned char *line)
{
    struct run_cpu *cpu = user;
    return cpugpu_gpu_copy(&cpu->coherent, gpu, line);
}

/* Lines are reached as the link takes them. */
static void copy_rows(struct run_cpu *cpu, const struct task *task, const struct task_side *side, bool writes)
{
    uint64_t rate = cpu->serving.system->noc.host_bandwidth, now = serve_time(cpu->machine);
    for (uint64_t z = 0; z < task->depth; z++)
        for (uint64_t y = 0; y < task->height; y++)
            now = cpugpu_copy(&cpu->coherent, side->at + z * side->slice + y * side->pitch, task->width,
                              writes, rate, now);
}

/* Copy engines find what the cores have changed, and end their copies of what is overwritten. */
static void task_begins(void *user, const struct task *task)
{
    struct run_cpu *cpu = user;
    if (task->launch)
        cpugpu_begin_kernel(&cpu->coherent, task->gpu, serve_time(cpu->machine));
    bool is_shared = system_shares_memory(cpu->serving.system); /* device memory may be in caches, too */
    if (!task->launch && !task->is_fill && !task->is_prefetch && (task->from.is_host || is_shared))
        copy_rows(cpu, task, &task->from, false);
    if (!task->launch && !task->is_prefetch && (task->to.is_host || is_shared))
        copy_rows(cpu, task, &task->to, true);
}

bool cmd_cpu_make_memory(struct run_cpu *cpu, const struct system *system, uint32_t gpus, struct err *err)
{
    if (!cpugpu_is_on(&cpu->spec))
        return !gpus || !system_shares_memory(system) ||
               err_set(
                   err,
                   "run: system.space = shared needs a protocol: --set cpu.coherence.protocol=moesi, say");
    cpu->is_coherent = true;
    return cpugpu_init(&cpu->coherent, &cpu->spec, gpus, NULL, err);
}

/* ---- turns ---- */

/* The program ends at once where the protocol has no row for what happens: cmd_cpu_check tells. */
static void set_together(struct run_cpu *cpu)
{
    if (cpu->is_coherent && *follow_failure(cpu->coherent.follow))
        process_kill();
    atomic_store(&cpu->shared->together, serve_is_busy(cpu->machine));
}

static bool let_on(void *user, uint64_t time_ps)
{
    struct run_cpu *cpu = user;
    bool had_work = serve_let_on(cpu->machine, time_ps);
    set_together(cpu);
    return had_work;
}

static uint64_t machine_now(void *user)
{
    const struct run_cpu *cpu = user;
    return serve_time(cpu->machine);
}

static enum cpurun_turn take_turn(void *user, uint64_t until_ps)
{
    static const enum cpurun_turn turns[] = {
        [SERVE_IDLE] = CPURUN_IDLE, [SERVE_WORKED] = CPURUN_WORKED, [SERVE_BEHIND] = CPURUN_BEHIND};
    struct run_cpu *cpu = user;
    enum serve_turn turn;
    struct err err;
    if (*cpu->failure.text)
        return CPURUN_IDLE;
    if (!serve_take_turn(cpu->machine, until_ps, &turn, &err)) {
        cpu->failure = err;
        process_kill(); /* nobody answers it any more */
    }
    set_together(cpu);
    return turns[turn];
}

bool cmd_cpu_make_machine(struct run_cpu *cpu, const struct serve_options *how, struct err *err)
{
    cpu->serving = *how;
    cpu->serving.interrupt = process_interrupt();
    cpu->serving.user = cpu;
    if (cpu->is_coherent) {
        cpu->caches = (struct hostmem_caches){reach, copy_of, cpu};
        cpu->serving.caches = &cpu->caches;
        cpu->serving.begins = task_begins;
    }
    cpu->own_sigpipe = signal(SIGPIPE, SIG_IGN); /* a program that ends closes its socket */
    cpu->machine = serve_new(&cpu->serving, err);
    return cpu->machine;
}

void cmd_cpu_join_machine(struct run_cpu *cpu)
{
    if (cpu->is_coherent)
        cpu->coherent.cores = cpurun_memories(cpu->cores);
    if (cpu->machine)
        cpurun_set_beside(cpu->cores, &(struct cpurun_beside){let_on, machine_now, take_turn, cpu});
}

void cmd_cpu_end_machine(struct run_cpu *cpu)
{
    struct serve_counts counts;
    if (cpu->machine)
        serve_free(cpu->machine, &counts);
    if (cpu->machine && *counts.no_picture.text)
        complain(EXIT_FAILED, &counts.no_picture);
    cpu->machine = NULL;
}
