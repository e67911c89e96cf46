/* Runs kernels of the toy instruction set in time. */
#ifndef TOY_RUN_H
#define TOY_RUN_H

#include "check.h"
#include "toy_isa.h"
#include "base/bits.h"
#include "system/machine.h"

static inline struct toy_kernel *toy_make(const struct toy_inst *insts, uint32_t count, uint32_t param_bytes,
                                          uint32_t shared_bytes)
{
    struct toy_kernel *kernel = mem_alloc(1, sizeof *kernel);
    kernel_init(&kernel->base, &toy_isa, "toy");
    kernel->base.facts.param_bytes = param_bytes;
    kernel->base.dynamic_shared_at = shared_bytes;
    kernel->insts = insts;
    kernel->count = count;
    return kernel;
}

static inline void toy_drop(struct toy_kernel *kernel)
{
    kernel_fini(&kernel->base);
    mem_free(kernel);
}

struct toy_ran {
    uint64_t cycles, digest; /* the digest: of all that was counted */
    struct sm_counters counters;
};

/* On two SMs with 64 lanes; settings are separated by blanks. The arena is all memory that there is. */
static inline struct toy_ran toy_in_time(const struct launch *launch, const struct machine_options *options,
                                         uint64_t arena, uint64_t bytes, const char *settings)
{
    struct system system;
    struct err err;
    struct memory_range range = {.at = arena, .bytes = bytes, .host = (char *)arena};
    struct task task = {.launch = launch, .blocks_per_sm = 4};
    char text[512], *rest = text;
    snprintf(text, sizeof text, "gpu.sm_count=2 gpu.warp_lanes=64 %s", settings);
    if (!system_load(&system, "", NULL, &err))
        fail_msg("%s", err.text);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        if (!system_set(&system, word, &err))
            fail_msg("%s", err.text);
    struct machine *machine = machine_new(&system, options, &err);
    if (!machine)
        fail_msg("%s", err.text);
    machine_set_memory(machine, &range, 1);
    machine_begin(machine, &task);
    while (task.state == TASK_RUNNING && machine_run(machine, &err))
        ;
    machine_sync_memory(machine, 0, UINT64_MAX, MEMORY_READ);
    if (task.state != TASK_DONE && !options->checkpoint.stop)
        fail_msg("%s", task.result.fault.text);
    struct toy_ran ran = {.cycles = task.stats.cycles, .counters = task.stats.sm};
    ran.digest = digest_bytes(ran.cycles, &task.stats.sm, sizeof task.stats.sm);
    ran.digest = digest_bytes(ran.digest, &task.stats.mem, sizeof task.stats.mem);
    gpu_kernel_stats_fini(&task.stats);
    machine_free(machine);
    system_fini(&system);
    return ran;
}

#endif
