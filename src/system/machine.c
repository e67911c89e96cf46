/* The simulated machine: its memory, and time that passes from one end of a task to the next. */
#include "base/mem.h"
#include "system/asides.h"
#include "system/copies.h"
#include "system/journal.h"
#include "system/managed.h"
#include "system/managed_apart.h"
#include "system/over_ranks.h"
#include "system/pages.h"
#include "system/series.h"
#include "system/tasks.h"
#include "system/traffic.h"

/* ---- memory ---- */

void machine_place_memory(struct local_machine *machine)
{
    const struct homes *table = &machine->memory;
    struct home_range *list = mem_alloc(table->count + table->spread_count + 1, sizeof *list);
    space_clear(machine->space);
    homes_map(table, machine->space);
    hostmem_set(machine->host, list, homes_ranges_of(table, HOME_HOST, list));
    uint32_t managed = homes_ranges_of(table, HOME_MANAGED, list);
    machine_apart_place(machine, list, managed);
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct space_block workspaces = gpu_workspaces(machine->gpus[i].gpu);
        space_map(machine->space, workspaces.at, workspaces.bytes, workspaces.to);
        for (uint32_t member = 0; member < machine->members; member++)
            gpu_set_memory(machine->gpus[i].gpu, member, list,
                           homes_ranges_of(table, machine_first_home(machine, i) + member, list));
    }
    space_ready(machine->space);
    mem_free(list);
}

static void set_memory(struct machine *base, const struct memory_range *ranges, uint32_t count)
{
    struct local_machine *machine = machine_local(base);
    struct page_places before = machine_note_pages(machine);
    homes_set(&machine->memory, ranges, count);
    machine_place_memory(machine);
    machine_forget_replaced_pages(machine, &before);
}

static bool is_replaying(const struct local_machine *machine)
{
    return machine->journal && journal_is_replaying(machine->journal);
}

struct sync {
    struct local_machine *machine;
    bool changes;
};

static void sync_home(void *user, struct physical_address from, uint64_t bytes)
{
    const struct sync *sync = user;
    machine_gather_pages(sync->machine, from, bytes);
    if (sync->changes)
        machine_forget_pages(sync->machine, from, bytes);
    memsys_sync(machine_home_mem(sync->machine, physical_home(from)), physical_offset(from), bytes,
                sync->changes);
}

static void sync_ranges(struct local_machine *machine, uint64_t at, uint64_t bytes, bool changes)
{
    if (changes)
        machine_call_pages_home(machine, at, bytes);
    homes_each_home(&machine->memory, at, bytes, sync_home, &(struct sync){machine, changes});
    for (uint32_t i = 0; i < machine->gpu_count && changes; i++)
        gpu_forget_data(machine->gpus[i].gpu);
}

static void sync_memory(struct machine *base, uint64_t at, uint64_t bytes, enum memory_use use)
{
    struct local_machine *machine = machine_local(base);
    if (use != MEMORY_READ && use != MEMORY_TAKEN_OVER)
        machine_note_lent(machine, at, bytes, use == MEMORY_LENT);
    if (!is_replaying(machine) && use != MEMORY_GIVEN_BACK)
        sync_ranges(machine, at, bytes, use >= MEMORY_CHANGED);
    if (machine->journal && use == MEMORY_READ)
        journal_read(machine->journal, machine, at, bytes);
    if (machine->journal && use == MEMORY_TAKEN_OVER)
        journal_take_over(machine->journal, machine);
    if (use == MEMORY_TAKEN_OVER)
        machine_lead_heaps(machine);
}

static void manage(struct machine *base, const struct managed_order *order)
{
    machine_managed_order(machine_local(base), order);
}

static bool listen_to(struct machine *base, const struct probe *probe, struct err *err)
{
    (void)err;
    struct local_machine *machine = machine_local(base);
    machine->probe = machine->asides ? asides_listen(machine->asides, probe) : *probe;
    return true;
}

static void set_heap(struct machine *base, uint32_t gpu, struct heap *heap)
{
    machine_local(base)->gpus[gpu].heap = heap;
}

static void set_limit(struct machine *base, uint64_t max_cycles)
{
    machine_local(base)->options.wishes.max_cycles = max_cycles;
}

/* ---- time ---- */

static void begin_task(struct machine *base, struct task *task)
{
    struct local_machine *machine = machine_local(base);
    task->number = machine->begun++; /* listeners are told of it when it begins */
    tasks_begin(machine, task);
    if (machine->journal)
        journal_begin(machine->journal, task);
}

static uint64_t next_copy(const struct local_machine *machine)
{
    uint64_t next = TIME_NEVER;
    for (const struct task *task = machine->waiting; task; task = task->next)
        next = min_u64(next, task->end_ps);
    return next;
}

/* When the first of the kernels ends whose last block has ended already. */
static uint64_t next_end(const struct local_machine *machine)
{
    uint64_t end = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        end = min_u64(end, gpu_next_end(machine->gpus[i].gpu));
    return end;
}

static void tell_progress(void *user, uint64_t time, uint64_t events)
{
    struct local_machine *machine = user;
    struct machine_progress sum = {.time_ps = time};
    (void)events;
    uint64_t since = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct gpu_progress part;
        gpu_progress(machine->gpus[i].gpu, &part);
        asides_add_progress(machine->asides, i, &part);
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

static void tell_window(void *user, uint64_t time, uint64_t islands)
{
    struct local_machine *machine = user;
    const _Atomic int *interrupt = machine->options.interrupt;
    machine->window_ps = time;
    machine->options.windows->call(machine->options.windows->user, time, islands);
    if (machine->wishes_checkpoint || (interrupt && *interrupt))
        machine->halt = 1;
}

static void look_at_all(struct local_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
            struct task *task = machine->gpus[i].kernels[slot];
            if (task)
                gpu_look(machine->gpus[i].gpu, slot, &task->result, &task->stats);
        }
}

/* Nothing goes on any more. */
static bool give_up(struct local_machine *machine, enum machine_end end)
{
    machine->broken = true;
    machine->end = end;
    look_at_all(machine);
    return false;
}

bool machine_save(struct local_machine *machine, struct err *err)
{
    const struct checkpoint_options *options = &machine->options.checkpoint;
    checkpoint_next(machine);
    machine->is_written = true;
    bool good = tasks_stopped_gpu(machine) /* messages under way there mean nothing any more */
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

static bool interrupted(struct machine *base, struct err *err)
{
    struct local_machine *machine = machine_local(base);
    const struct checkpoint_options *options = &machine->options.checkpoint;
    bool wanted = options->write && (!machine->is_written || options->every_cycles) &&
                  !is_replaying(machine) && !machine->broken;
    return !wanted || machine_save(machine, err);
}

/* The engine was stopped from outside, or by a failure of the model. */
static bool stopped_by(struct local_machine *machine, enum engine_outcome outcome, struct err *err)
{
    machine->now = engine_time(machine->engine);
    if (outcome == ENGINE_INTERRUPTED && interrupted(&machine->base, err))
        err_set(err, "interrupted");
    return give_up(machine, MACHINE_BROKEN);
}

/* Probes are told by one. Long copies alone are quicker on one, too: little happens at a time. (Short ones
 * are not worth another crew.) */
static unsigned threads(const struct local_machine *machine)
{
    bool one = machine->probe.kinds || (!machine->running && copies_are_long(machine));
    return one ? 1 : machine->options.threads;
}

static struct engine_run engine_orders(struct local_machine *machine, uint64_t until)
{
    return (struct engine_run){.until = until,
                               .threads = threads(machine),
                               .interrupt =
                                   machine->options.windows ? &machine->halt : machine->options.interrupt,
                               .progress = machine->options.progress ? tell_progress : NULL,
                               .window = machine->options.windows ? tell_window : NULL,
                               .user = machine,
                               .asides = asides_of_run(machine->asides),
                               .by_moment = machine->probe.kinds};
}

enum engine_outcome machine_let_pass(struct local_machine *machine, uint64_t until)
{
    struct err err;
    struct engine_run orders = engine_orders(machine, until);
    orders.interrupt = NULL; /* a checkpoint of now would not know what the caller is about to do */
    enum engine_outcome outcome =
        machine->broken ? ENGINE_FAILED : engine_run(machine->engine, &orders, &err);
    asides_flush(machine->asides);
    machine_share(machine);
    if (outcome == ENGINE_FAILED)
        give_up(machine, MACHINE_BROKEN);
    else
        machine->now = until;
    return outcome;
}

/* A checkpoint that somebody wants who looks on. True: the run goes on where it was. */
static bool halted_for_checkpoint(struct local_machine *machine, struct err *err)
{
    const _Atomic int *interrupt = machine->options.interrupt;
    if (!machine->wishes_checkpoint || (interrupt && *interrupt))
        return false;
    machine->wishes_checkpoint = false;
    machine->halt = 0;
    machine->now = engine_time(machine->engine);
    return machine_save(machine, err);
}

/* Runs until something ends, or `until`. True: something ended. */
static bool run(struct local_machine *machine, uint64_t until, struct err *err)
{
    while (!machine->broken) {
        series_take(machine);
        if (tasks_finish(machine))
            return true;
        if (machine->now >= machine->checkpoint_ps && !machine_save(machine, err))
            return false;
        uint64_t copy = next_copy(machine), limit = tasks_first_limit(machine);
        uint64_t stop = min_u64(min_u64(min_u64(until, copy), limit), next_end(machine));
        if (!machine->running && stop == TIME_NEVER)
            return false;
        stop = min_u64(min_u64(stop, machine->checkpoint_ps), series_due(machine->series));
        struct engine_run orders = engine_orders(machine, stop);
        enum engine_outcome outcome = machine->running || copies_run(machine)
                                          ? engine_run(machine->engine, &orders, err)
                                          : ENGINE_FINISHED;
        while (outcome == ENGINE_INTERRUPTED && halted_for_checkpoint(machine, err))
            outcome = engine_run(machine->engine, &orders, err);
        asides_flush(machine->asides);
        machine_share(machine);
        if (machine->end == MACHINE_STOPPED)
            return false;
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
        if (outcome == ENGINE_UNTIL && engine_time(machine->engine) < machine->now) {
            machine->now = engine_time(machine->engine); /* a kernel has launched another one */
            return true;
        }
        bool late = tasks_stop_late(machine);
        if (machine->now >= until)
            return tasks_finish(machine) || late;
        if (late)
            return true;
    }
    return err_set(err, "the simulated machine was stopped");
}

/* As it was before the checkpoint; or, at its end, the state that it has. True: `result` is what there is to
 * tell. */
static bool replay(struct local_machine *machine, uint64_t ps, bool *result, struct err *err)
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

static bool pass(struct machine *base, uint64_t ps, struct err *err)
{
    struct local_machine *machine = machine_local(base);
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

static uint64_t time_of(const struct machine *base)
{
    return machine_local(base)->now;
}

static bool has_written(const struct machine *base)
{
    return machine_local(base)->is_written;
}

static bool replays(const struct machine *base)
{
    return is_replaying(machine_local(base));
}

static enum machine_end end_of(const struct machine *base)
{
    return machine_local(base)->end;
}

bool machine_was_altered(const struct machine *base)
{
    return asides_were_altered(machine_local(base)->asides);
}

void machine_look(struct machine *base)
{
    look_at_all(machine_local(base));
}

static bool write_load(struct machine *base, const char *path, struct err *err)
{
    return machine_gather_load(machine_local(base), path, err);
}

/* ---- life ---- */

static void free_local(struct machine *base)
{
    struct local_machine *machine = machine_local(base);
    machine_take_apart(machine);
    asides_free(machine->asides);
    series_free(machine->series);
    checkpoint_fini(machine);
    spread_fini(&machine->spread);
    space_free(machine->space);
    homes_fini(&machine->memory);
    machine_managed_fini(machine);
    mem_free(machine->lent.list);
    mem_free(machine->passed.list);
    mem_free(machine->spent.ns);
    mem_free(machine->gpus);
    mem_free(machine);
}

static const struct machine_ops local_ops = {.fini = free_local,
                                             .set_memory = set_memory,
                                             .sync_memory = sync_memory,
                                             .manage = manage,
                                             .set_heap = set_heap,
                                             .set_limit = set_limit,
                                             .listen = listen_to,
                                             .begin = begin_task,
                                             .pass = pass,
                                             .write_load = write_load,
                                             .links = traffic_links,
                                             .time = time_of,
                                             .end = end_of,
                                             .has_written = has_written,
                                             .is_replaying = replays,
                                             .interrupted = interrupted};

struct machine *machine_new(const struct system *system, const struct machine_options *options,
                            struct err *err)
{
    struct local_machine *machine = mem_alloc(1, sizeof *machine);
    machine->base.ops = &local_ops;
    machine->system = system;
    machine->options = *options;
    machine->gpu_count = system_devices(system);
    machine->members = system_members(system);
    machine->gpus = mem_alloc(machine->gpu_count, sizeof *machine->gpus);
    machine->space = space_new();
    machine->asides = asides_new(machine);
    machine->series = series_new(machine);
    if (checkpoint_init(machine, err) && machine_build(machine, err))
        return &machine->base;
    free_local(&machine->base);
    return NULL;
}
