/* The simulated machine: GPUs on one engine, tasks that begin and end. */
#include "base/demangle.h"
#include "base/mem.h"
#include "base/zone.h"
#include "exec/atomics.h"
#include "system/copies.h"
#include "system/fabric.h"
#include "system/journal.h"

enum { ISLANDS_MOST = 1024 }; /* that can be apart */

static bool build(struct machine *machine, struct err *err)
{
    const struct system *system = machine->system;
    machine->apart = machine->options.islands_apart ? zone_new(ISLANDS_MOST) : NULL;
    machine->engine =
        engine_new(&(struct engine_spec){.payload_bytes = FABRIC_PAYLOAD_MOST, .apart = machine->apart});
    machine->host = host_memory_new(machine->engine, machine->gpu_count, atomic_perform);
    if (machine->journal)
        host_memory_note_writes(machine->host);
    struct gpu_config config = system_gpu(system);
    host_memory_listen(machine->host, &machine->probe);
    config.host = machine->host;
    config.probe = &machine->probe;
    config.space = machine->space;
    config.has_peers = machine->gpu_count > 1;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct text path = {0};
        text_add(&path, "gpu[%u]", i);
        config.number = i;
        machine->gpus[i].gpu = gpu_new(machine->engine, path.at, &config, err);
        text_fini(&path);
        if (!machine->gpus[i].gpu)
            return false;
        if (machine->journal)
            gpu_on_print(machine->gpus[i].gpu, journal_printed, machine);
    }
    return fabric_make(machine, err) && engine_ready(machine->engine, err);
}

struct machine *machine_new(const struct system *system, const struct machine_options *options,
                            struct err *err)
{
    struct machine *machine = mem_alloc(1, sizeof *machine);
    machine->system = system;
    machine->options = *options;
    machine->gpu_count = (uint32_t)system->spec.gpus;
    machine->gpus = mem_alloc(machine->gpu_count, sizeof *machine->gpus);
    machine->space = space_new();
    if (checkpoint_init(machine, err) && build(machine, err))
        return machine;
    machine_free(machine);
    return NULL;
}

static void take_apart(struct machine *machine)
{
    engine_free(machine->engine);
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        gpu_free(machine->gpus[i].gpu);
    host_memory_free(machine->host);
    zone_free(machine->apart);
}

void machine_free(struct machine *machine)
{
    if (!machine)
        return;
    take_apart(machine);
    checkpoint_fini(machine);
    space_free(machine->space);
    mem_free(machine->ranges);
    mem_free(machine->gpus);
    mem_free(machine);
}

/* What is at home there; gives how many ranges. Kernels' addresses are the host's. */
static uint32_t ranges_of(const struct machine *machine, uint32_t home, struct home_range *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->range_count; i++) {
        const struct memory_range *range = &machine->ranges[i];
        if (range_is_of(range, home))
            list[count++] = (struct home_range){.at = physical_offset(range->to),
                                                .bytes = range->bytes,
                                                .host = (char *)(uintptr_t)range->at};
    }
    return count;
}

/* Tells all homes, and the page table, where memory is. */
static void place_memory(struct machine *machine)
{
    struct home_range *list = mem_alloc(machine->range_count + 1, sizeof *list);
    space_clear(machine->space);
    for (uint32_t i = 0; i < machine->range_count; i++)
        space_map(machine->space, machine->ranges[i].at, machine->ranges[i].bytes, machine->ranges[i].to);
    host_memory_set(machine->host, list, ranges_of(machine, HOME_HOST, list));
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct space_block workspaces = gpu_workspaces(machine->gpus[i].gpu);
        space_map(machine->space, workspaces.at, workspaces.bytes, workspaces.to);
        gpu_set_memory(machine->gpus[i].gpu, list, ranges_of(machine, i, list));
    }
    space_ready(machine->space);
    mem_free(list);
}

void machine_set_memory(struct machine *machine, const struct memory_range *ranges, uint32_t count)
{
    machine->ranges = mem_resize(machine->ranges, machine->range_count, count, sizeof *ranges);
    machine->range_count = count;
    if (count)
        memcpy(machine->ranges, ranges, count * sizeof *ranges);
    place_memory(machine);
}

static bool is_replaying(const struct machine *machine)
{
    return machine->journal && journal_is_replaying(machine->journal);
}

static void sync_memory(struct machine *machine, uint64_t at, uint64_t bytes, bool changes)
{
    for (uint32_t i = 0; i < machine->range_count; i++) {
        const struct memory_range *range = &machine->ranges[i];
        uint32_t home = physical_home(range->to);
        uint64_t from = max_u64(at, range->at),
                 to = min_u64(add_saturating(at, bytes), range->at + range->bytes);
        if (from < to && home != HOME_HOST)
            gpu_sync_memory(machine->gpus[home].gpu, physical_offset(range->to) + (from - range->at),
                            to - from, changes);
    }
    for (uint32_t i = 0; i < machine->gpu_count && changes; i++)
        gpu_forget_data(machine->gpus[i].gpu);
}

void machine_sync_memory(struct machine *machine, uint64_t at, uint64_t bytes, enum memory_use use)
{
    if (!is_replaying(machine))
        sync_memory(machine, at, bytes, use >= MEMORY_CHANGED);
    if (machine->journal && use == MEMORY_READ)
        journal_read(machine->journal, machine, at, bytes);
    if (machine->journal && use == MEMORY_TAKEN_OVER)
        journal_take_over(machine->journal, machine);
}

void machine_set_heap(struct machine *machine, uint32_t gpu, struct heap *heap)
{
    machine->gpus[gpu].heap = heap;
}

void machine_set_limit(struct machine *machine, uint64_t max_cycles)
{
    machine->options.max_cycles = max_cycles;
}

/* Tasks */

static void append(struct task **list, struct task *task)
{
    while (*list)
        list = &(*list)->next;
    task->next = NULL;
    *list = task;
}

static void tell(const struct machine *machine, const struct task *task, enum probe_kind kind,
                 enum probe_phase phase, uint64_t time_ps, const char *what)
{
    if (probe_wants(&machine->probe, kind))
        probe_tell(&machine->probe, (struct probe_event){.kind = kind,
                                                         .phase = phase,
                                                         .time_ps = time_ps,
                                                         .id = task->number,
                                                         .gpu = task->gpu,
                                                         .stop = "gpu",
                                                         .what = what,
                                                         .bytes = task->width * task->height * task->depth});
}

void machine_listen(struct machine *machine, const struct probe *probe)
{
    machine->probe = *probe;
}

static bool begin_kernel(struct machine *machine, struct task *task)
{
    struct gpu_slot *gpu = &machine->gpus[task->gpu];
    if (gpu->stopped)
        return false;
    struct gpu_launch launch = {.launch = task->launch,
                                .blocks_per_sm = task->blocks_per_sm,
                                .shared_carveout_bytes = task->shared_carveout_bytes,
                                .cold_caches = machine->options.cold_caches && !machine->running,
                                .profile = machine->options.profile};
    uint32_t slot = gpu_begin(gpu->gpu, &launch, machine->now);
    if (slot == SM_KERNELS)
        return false;
    gpu->kernels[slot] = task;
    machine->running++;
    tell(machine, task, PROBE_KERNEL, PROBE_BEGINS, machine->now, task->launch->kernel->facts.name);
    return true;
}

static void fail(struct task *task, enum fault_kind kind, const char *text)
{
    task->state = TASK_FAILED;
    task->result.fault.kind = kind;
    snprintf(task->result.fault.text, sizeof task->result.fault.text, "%.2000s", text);
}

static void begin(struct machine *machine, struct task *task)
{
    struct err err;
    task->state = TASK_RUNNING;
    task->start_ps = machine->now;
    task->end_ps = TIME_NEVER;
    if (is_replaying(machine)) { /* what comes of it is known already, or its state is */
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
    if (isa->lanes != machine->system->gpu.warp_lanes) {
        char text[128];
        snprintf(text, sizeof text, "%s has warps of %u lanes, and the GPU of %llu (gpu.warp_lanes)",
                 isa->name, isa->lanes, (unsigned long long)machine->system->gpu.warp_lanes);
        fail(task, FAULT_INSTRUCTION, text);
        task->end_ps = machine->now;
        append(&machine->waiting, task);
        return;
    }
    if (!begin_kernel(machine, task))
        append(&machine->waiting, task);
}

void machine_begin(struct machine *machine, struct task *task)
{
    begin(machine, task);
    if (machine->journal)
        journal_begin(machine->journal, task);
}

static void end_kernel(struct machine *machine, struct gpu_slot *gpu, uint32_t slot)
{
    gpu->kernels[slot] = NULL;
    machine->running--;
    for (uint32_t i = 0; i < SM_KERNELS; i++)
        if (gpu->kernels[i])
            return;
    if (gpu->heap)
        heap_settle(gpu->heap);
}

static void stop_kernel(struct machine *machine, struct gpu_slot *gpu, uint32_t slot, enum fault_kind kind,
                        const char *why)
{
    struct task *task = gpu->kernels[slot];
    char text[sizeof task->result.fault.text];
    snprintf(text, sizeof text, "kernel %s: %s", demangled(task->launch->kernel->facts.name), why);
    gpu_look(gpu->gpu, slot, &task->result, &task->stats);
    fail(task, kind, text);
    task->end_ps = machine->now;
    end_kernel(machine, gpu, slot);
}

/* After a fault nothing of a GPU can go on, and what was on its way is of no use: memory stays as it is. */
static void stop_gpu(struct machine *machine, struct gpu_slot *gpu, enum fault_kind why)
{
    for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
        if (gpu->kernels[slot])
            stop_kernel(machine, gpu, slot, why, "stopped, as another kernel failed");
    gpu_abandon(gpu->gpu);
    gpu_sync_memory(gpu->gpu, 0, UINT64_MAX, true);
    gpu->stopped = true;
}

static bool has_stopped_gpu(const struct machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (machine->gpus[i].stopped)
            return true;
    return false;
}

/* GPUs that a fault stopped can be used again: the machine is made anew, as soon as nothing runs on it. */
static void begin_anew(struct machine *machine)
{
    struct err err;
    if (machine->running || copies_run(machine) || !has_stopped_gpu(machine))
        return;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        gpu_sync_memory(machine->gpus[i].gpu, 0, UINT64_MAX,
                        true); /* others may have written to a stopped one */
        machine->gpus[i].stopped = false;
    }
    take_apart(machine);
    if (!build(machine, &err))
        BUG("the machine cannot be built again: %s", err.text);
    place_memory(machine);
}

static bool finish_kernels(struct machine *machine)
{
    bool some = false;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct gpu_slot *gpu = &machine->gpus[i];
        enum fault_kind failed = FAULT_NONE;
        struct launch_result result;
        struct kernel_stats stats;
        uint32_t slot;
        for (enum gpu_ended ended;
             (ended = gpu_take_ended(gpu->gpu, machine->now, &slot, &result, &stats)) != GPU_NONE;) {
            struct task *task = gpu->kernels[slot];
            end_kernel(machine, gpu, slot);
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
static bool is_over(struct machine *machine, struct task *task)
{
    if (task->launch && task->state == TASK_RUNNING)
        return begin_kernel(machine, task);
    if (task->end_ps > machine->now)
        return false;
    return task->launch || copies_take_end(machine, task);
}

/* Copies that are done, kernels that could not be prepared; and kernels that a slot is free for now. */
static bool finish_waiting(struct machine *machine)
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
static bool finish(struct machine *machine)
{
    bool kernels = finish_kernels(machine);
    begin_anew(machine);
    return finish_waiting(machine) || kernels;
}

static uint64_t next_copy(const struct machine *machine)
{
    uint64_t next = TIME_NEVER;
    for (const struct task *task = machine->waiting; task; task = task->next)
        next = min_u64(next, task->end_ps);
    return next;
}

/* Kernels that took too long fail. True: some did. */
static bool stop_late(struct machine *machine, uint64_t limit_ps)
{
    bool some = false;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        bool late = false;
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
            struct task *task = machine->gpus[i].kernels[slot];
            if (!task || machine->now - task->start_ps < limit_ps)
                continue;
            struct text text = {0};
            text_add(&text, "more than %llu cycles, the limit given; ",
                     (unsigned long long)machine->options.max_cycles);
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

static uint64_t limit_ps(const struct machine *machine)
{
    struct clock_domain clock;
    clock_init(&clock, machine->system->gpu.clock);
    return machine->options.max_cycles ? clock_time(&clock, machine->options.max_cycles) : TIME_NEVER;
}

static uint64_t first_limit(const struct machine *machine)
{
    uint64_t first = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
            if (machine->gpus[i].kernels[slot])
                first = min_u64(first,
                                add_saturating(machine->gpus[i].kernels[slot]->start_ps, limit_ps(machine)));
    return first;
}

/* When the first of the kernels ends whose last block has ended already. */
static uint64_t next_end(const struct machine *machine)
{
    uint64_t end = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        end = min_u64(end, gpu_next_end(machine->gpus[i].gpu));
    return end;
}

static void tell_progress(void *user, uint64_t time, uint64_t events)
{
    struct machine *machine = user;
    struct machine_progress sum = {.time_ps = time};
    (void)events;
    uint64_t since = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct gpu_progress part;
        gpu_progress(machine->gpus[i].gpu, &part);
        sum.blocks += part.blocks;
        sum.blocks_done += part.blocks_done;
        sum.instructions += part.instructions;
        since = min_u64(since, part.since_ps);
    }
    struct clock_domain clock;
    clock_init(&clock, machine->system->gpu.clock);
    sum.cycles = since < time ? clock_cycle(&clock, time - since) : 0;
    machine->options.progress(machine->options.user, &sum);
}

static void look_at_all(struct machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
            struct task *task = machine->gpus[i].kernels[slot];
            if (task)
                gpu_look(machine->gpus[i].gpu, slot, &task->result, &task->stats);
        }
}

/* Nothing goes on any more. */
static bool give_up(struct machine *machine, enum machine_end end)
{
    machine->broken = true;
    machine->end = end;
    look_at_all(machine);
    return false;
}

/* Writes the checkpoint. False: that was all. */
static bool write_checkpoint(struct machine *machine, struct err *err)
{
    const struct checkpoint_options *options = &machine->options.checkpoint;
    machine->checkpoint_ps = TIME_NEVER;
    machine->is_written = true;
    bool good = has_stopped_gpu(machine) /* messages under way there mean nothing any more */
                    ? err_set(err, "a fault stopped one of the GPUs, and others are still at work")
                    : checkpoint_write(machine, err);
    if (options->written)
        options->written(options->user, machine->now, good ? NULL : err->text);
    if (good && options->stop) {
        err_set(err, "the checkpoint is written");
        return give_up(machine, MACHINE_STOPPED);
    }
    return true;
}

bool machine_interrupted(struct machine *machine, struct err *err)
{
    bool wanted = machine->options.checkpoint.write && !machine->is_written && !is_replaying(machine) &&
                  !machine->broken;
    return !wanted || write_checkpoint(machine, err);
}

/* The engine was stopped from outside, or by a failure of the model. */
static bool stopped_by(struct machine *machine, enum engine_outcome outcome, struct err *err)
{
    machine->now = engine_time(machine->engine);
    if (outcome == ENGINE_INTERRUPTED && machine_interrupted(machine, err))
        err_set(err, "interrupted");
    return give_up(machine, MACHINE_BROKEN);
}

/* Probes are told by one. Long copies alone are quicker on one, too: little happens at a time. (Short ones
 * are not worth another crew.) */
static unsigned threads(const struct machine *machine)
{
    bool one = machine->probe.kinds || (!machine->running && copies_are_long(machine));
    return one ? 1 : machine->options.threads;
}

/* Runs until something ends, or `until`. True: something ended. */
static bool run(struct machine *machine, uint64_t until, struct err *err)
{
    while (!machine->broken) {
        if (finish(machine))
            return true;
        if (machine->now >= machine->checkpoint_ps && !write_checkpoint(machine, err))
            return false;
        uint64_t copy = next_copy(machine), limit = first_limit(machine);
        uint64_t stop = min_u64(min_u64(min_u64(until, copy), limit), next_end(machine));
        if (!machine->running && stop == TIME_NEVER)
            return false;
        stop = min_u64(stop, machine->checkpoint_ps);
        struct engine_run run = {.until = stop,
                                 .threads = threads(machine),
                                 .interrupt = machine->options.interrupt,
                                 .progress = machine->options.progress ? tell_progress : NULL,
                                 .user = machine};
        enum engine_outcome outcome = machine->running || copies_run(machine)
                                          ? engine_run(machine->engine, &run, err)
                                          : ENGINE_FINISHED;
        if (outcome == ENGINE_FAILED || outcome == ENGINE_INTERRUPTED)
            return stopped_by(machine, outcome, err);
        uint64_t ended = next_end(machine);
        if (outcome == ENGINE_FINISHED && machine->running && ended == TIME_NEVER) { /* all threads wait */
            machine->now = max_u64(machine->now, engine_time(machine->engine));
            for (uint32_t i = 0; i < machine->gpu_count; i++)
                gpu_unlock(machine->gpus[i].gpu, machine->now);
            continue;
        }
        machine->now = min_u64(stop, ended);
        bool late = stop_late(machine, limit_ps(machine));
        if (machine->now >= until)
            return finish(machine) || late;
        if (late)
            return true;
    }
    return err_set(err, "the simulated machine was stopped");
}

/* As it was before the checkpoint; or, at its end, the state that it has. True: `result` is what there is to
 * tell. */
static bool replay(struct machine *machine, uint64_t ps, bool *result, struct err *err)
{
    bool at_end = journal_is_at_end(machine->journal);
    bool good =
        at_end ? checkpoint_load(machine, err) : journal_pass(machine->journal, machine, ps, result, err);
    if (!good) {
        machine->broken = true;
        machine->end = MACHINE_CANNOT_RESUME;
        *result = false;
    }
    return !good || !at_end;
}

/* Lets so much time pass; TIME_NEVER: until something ends. */
static bool pass(struct machine *machine, uint64_t ps, struct err *err)
{
    bool result, to_the_end = ps == TIME_NEVER;
    uint64_t until = to_the_end ? TIME_NEVER : machine->now + ps;
    if (is_replaying(machine) && replay(machine, ps, &result, err))
        return result;
    result = run(machine, until, err);
    if (!to_the_end && !machine->broken) {
        if (!result)
            machine->now = until;
        result = true;
    }
    if (machine->journal && !machine->broken)
        journal_passed(machine->journal, machine, ps, result);
    return result;
}

bool machine_run(struct machine *machine, struct err *err)
{
    return pass(machine, TIME_NEVER, err);
}

bool machine_pass(struct machine *machine, uint64_t ps, struct err *err)
{
    return pass(machine, ps, err);
}

uint64_t machine_time(const struct machine *machine)
{
    return machine->now;
}

bool machine_has_written(const struct machine *machine)
{
    return machine->is_written;
}

bool machine_is_replaying(const struct machine *machine)
{
    return is_replaying(machine);
}

enum machine_end machine_end(const struct machine *machine)
{
    return machine->end;
}
