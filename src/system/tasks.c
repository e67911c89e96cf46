#include "system/tasks.h"
#include "base/demangle.h"
#include "system/asides.h"
#include "system/copies.h"
#include "system/managed.h"
#include "system/managed_apart.h"
#include "system/over_ranks.h"
#include "system/pages.h"
#include "system/series.h"
#include "system/traffic.h"

static void append(struct task **list, struct task *task)
{
    while (*list)
        list = &(*list)->next;
    task->next = NULL;
    *list = task;
}

static void tell(const struct local_machine *machine, const struct task *task, enum probe_kind kind,
                 enum probe_phase phase, uint64_t time_ps, const char *what)
{
    if (probe_wants(&machine->probe, kind) && machine_leads(machine))
        probe_tell(asides_listener(machine->asides, &machine->probe),
                   (struct probe_event){.kind = kind,
                                        .phase = phase,
                                        .time_ps = time_ps,
                                        .id = task->number,
                                        .gpu = task->gpu,
                                        .stop = "gpu",
                                        .what = what,
                                        .bytes = task->width * task->height * task->depth});
}

static bool begin_kernel(struct local_machine *machine, struct task *task)
{
    struct gpu_slot *gpu = &machine->gpus[task->gpu];
    if (gpu->stopped)
        return false;
    machine_managed_turn(machine);
    machine_managed_take_back(machine);
    if (task->launch->heap)
        machine_spread_heaps(machine);
    struct gpu_launch launch = {.launch = task->launch,
                                .blocks_per_sm = task->blocks_per_sm,
                                .shared_carveout_bytes = task->shared_carveout_bytes,
                                .cold_caches = task->wishes.cold_caches && !machine->running,
                                .share_code = task->wishes.share_code && !machine->running,
                                .profile = task->wishes.profile};
    uint32_t slot = gpu_begin(gpu->gpu, &launch, machine->now);
    if (slot == SM_KERNELS)
        return false;
    gpu->kernels[slot] = task;
    machine->running++;
    asides_begin(machine->asides, task);
    tell(machine, task, PROBE_KERNEL, PROBE_BEGINS, machine->now, task->launch->kernel->facts.name);
    return true;
}

static void fail(struct task *task, enum fault_kind kind, const char *text)
{
    task->state = TASK_FAILED;
    task->result.fault.kind = kind;
    snprintf(task->result.fault.text, sizeof task->result.fault.text, "%.2000s", text);
}

void tasks_begin(struct local_machine *machine, struct task *task)
{
    struct err err;
    task->state = TASK_RUNNING;
    task->start_ps = machine->now;
    task->end_ps = TIME_NEVER;
    task_add_wishes(task, &machine->options.wishes);
    if (machine_is_replaying(&machine->base)) { /* what comes of it is known already, or its state is */
        if (task->launch && !kernel_prepare(task->launch->kernel, &err))
            fail(task, FAULT_INSTRUCTION, err.text);
        return;
    }
    if (!task->launch) {
        append(&machine->waiting, task);
        tell(machine, task, PROBE_COPY, PROBE_BEGINS, machine->now, "copy");
        copies_begin(machine);
        return;
    }
    if (!kernel_prepare(task->launch->kernel, &err)) {
        fail(task, FAULT_INSTRUCTION, err.text);
        task->end_ps = machine->now;
        append(&machine->waiting, task);
        return;
    }
    const struct isa_ops *isa = task->launch->kernel->isa;
    uint64_t lanes = system_of_device(machine->system, task->gpu)->gpu.warp_lanes;
    if (isa->lanes != lanes) {
        char text[128];
        snprintf(text, sizeof text, "%s has warps of %u lanes, and the GPU of %llu (gpu.warp_lanes)",
                 isa->name, isa->lanes, (unsigned long long)lanes);
        fail(task, FAULT_INSTRUCTION, text);
        task->end_ps = machine->now;
        append(&machine->waiting, task);
        return;
    }
    if (!begin_kernel(machine, task))
        append(&machine->waiting, task);
}

static void end_kernel(struct local_machine *machine, struct gpu_slot *gpu, uint32_t slot)
{
    gpu->kernels[slot] = NULL;
    machine->running--;
    asides_forget_progress(machine->asides, (uint32_t)(gpu - machine->gpus));
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        if (gpu->kernels[i])
            return;
    if (gpu->heap)
        machine_settle_heap(machine, gpu);
}

static void stop_kernel(struct local_machine *machine, struct gpu_slot *gpu, uint32_t slot,
                        enum fault_kind kind, const char *why)
{
    struct task *task = gpu->kernels[slot];
    char text[sizeof task->result.fault.text];
    snprintf(text, sizeof text, "kernel %s: %s", demangled(task->launch->kernel->facts.name), why);
    gpu_look(gpu->gpu, slot, &task->result, &task->stats);
    fail(task, kind, text);
    task->end_ps = machine->now;
    series_add_ended(machine, task->gpu, &task->stats);
    end_kernel(machine, gpu, slot);
}

/* After a fault nothing of a GPU can go on, and what was on its way is of no use: memory stays as it is. */
static void stop_gpu(struct local_machine *machine, struct gpu_slot *gpu, enum fault_kind why)
{
    for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
        if (gpu->kernels[slot])
            stop_kernel(machine, gpu, slot, why, "stopped, as another kernel failed");
    gpu_abandon(gpu->gpu);
    gpu_drop_memory(gpu->gpu);
    gpu->stopped = true;
}

bool tasks_stopped_gpu(const struct local_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (machine->gpus[i].stopped)
            return true;
    return false;
}

/* GPUs that a fault stopped can be used again: the machine is made anew, as soon as nothing runs on it. */
static void begin_anew(struct local_machine *machine)
{
    struct err err;
    if (machine->running || copies_run(machine) || !tasks_stopped_gpu(machine))
        return;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        gpu_drop_memory(machine->gpus[i].gpu); /* others may have written to a stopped one */
        machine->gpus[i].stopped = false;
    }
    machine_gather_all_pages(machine);
    machine_managed_leave(machine);
    traffic_note(machine);
    machine_keep_load(machine);
    machine_take_apart(machine);
    if (!machine_build(machine, &err))
        BUG("the machine cannot be built again: %s", err.text);
    series_forget_memory(machine);
    machine_place_memory(machine);
}

void machine_stop_kernels(struct machine *base, const char *why)
{
    struct local_machine *machine = machine_local(base);
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        bool some = false;
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
            if (machine->gpus[i].kernels[slot]) {
                stop_kernel(machine, &machine->gpus[i], slot, FAULT_LIMIT, why);
                some = true;
            }
        }
        if (some)
            stop_gpu(machine, &machine->gpus[i], FAULT_LIMIT);
    }
    begin_anew(machine);
}

static bool finish_kernels(struct local_machine *machine)
{
    bool some = false;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct gpu_slot *gpu = &machine->gpus[i];
        enum fault_kind failed = FAULT_NONE;
        struct launch_result result;
        struct gpu_kernel_stats stats;
        uint32_t slot;
        for (enum gpu_ended ended;
             (ended = gpu_take_ended(gpu->gpu, machine->now, &slot, &result, &stats)) != GPU_NONE;) {
            struct task *task = gpu->kernels[slot];
            end_kernel(machine, gpu, slot);
            series_add_ended(machine, i, &stats);
            task->result = result;
            task->stats = stats;
            task->end_ps = stats.end_ps;
            task->state = ended == GPU_FAILED ? TASK_FAILED : TASK_DONE;
            if (ended == GPU_FAILED)
                failed = result.fault.kind;
            if (ended == GPU_FAILED)
                tell(machine, task, PROBE_FAULT, PROBE_BEGINS, task->end_ps, result.fault.text);
            tell(machine, task, PROBE_KERNEL, PROBE_ENDS, task->end_ps, task->launch->kernel->facts.name);
            some = true;
        }
        if (failed)
            stop_gpu(machine, gpu, failed);
    }
    return some;
}

/* What becomes of a task that waits: true when it does so no more. A kernel goes on elsewhere. */
static bool is_over(struct local_machine *machine, struct task *task)
{
    if (task->launch && task->state == TASK_RUNNING)
        return begin_kernel(machine, task);
    if (task->end_ps > machine->now)
        return false;
    return task->launch || copies_take_end(machine, task);
}

/* Copies that are done, kernels that could not be prepared; and kernels that a slot is free for now. */
static bool finish_waiting(struct local_machine *machine)
{
    bool some = false;
    for (struct task **link = &machine->waiting, *task; (task = *link);) {
        if (!is_over(machine, task)) {
            link = &task->next;
            continue;
        }
        *link = task->next;
        if (!task->launch)
            tell(machine, task, PROBE_COPY, PROBE_ENDS, task->end_ps, "copy");
        some |= task->state != TASK_RUNNING;
    }
    copies_begin(machine);
    return some;
}

/* All that has ended by now. */
bool tasks_finish(struct local_machine *machine)
{
    bool kernels = finish_kernels(machine);
    begin_anew(machine);
    if (kernels)
        machine_managed_settle(machine);
    return finish_waiting(machine) || kernels;
}

/* When a kernel has taken too long. */
static uint64_t limit_of(const struct local_machine *machine, const struct task *task)
{
    struct clock_domain clock;
    clock_init(&clock, machine->system->gpu.clock);
    return task->wishes.max_cycles
               ? add_saturating(task->start_ps, clock_time(&clock, task->wishes.max_cycles))
               : TIME_NEVER;
}

/* Kernels that took too long fail. True: some did. */
bool tasks_stop_late(struct local_machine *machine)
{
    bool some = false;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        bool late = false;
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
            struct task *task = machine->gpus[i].kernels[slot];
            if (!task || machine->now < limit_of(machine, task))
                continue;
            struct text text = {0};
            text_add(&text, "more than %llu cycles, the limit given; ",
                     (unsigned long long)task->wishes.max_cycles);
            gpu_where(machine->gpus[i].gpu, slot, &text);
            stop_kernel(machine, &machine->gpus[i], slot, FAULT_LIMIT, text.at);
            text_fini(&text);
            late = true;
        }
        if (late)
            stop_gpu(machine, &machine->gpus[i], FAULT_LIMIT);
        some |= late;
    }
    begin_anew(machine);
    return some;
}

uint64_t tasks_first_limit(const struct local_machine *machine)
{
    uint64_t first = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
            if (machine->gpus[i].kernels[slot])
                first = min_u64(first, limit_of(machine, machine->gpus[i].kernels[slot]));
    return first;
}
