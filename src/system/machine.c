/* The simulated machine: GPUs on one engine, tasks that begin and end. */
#include "base/demangle.h"
#include "base/mem.h"
#include "base/zone.h"
#include "exec/atomics.h"
#include "mem/iommu.h"
#include "ranks/ranks.h"
#include "system/asides.h"
#include "system/copies.h"
#include "system/fabric.h"
#include "system/journal.h"
#include "system/managed.h"
#include "system/managed_apart.h"
#include "system/over_ranks.h"
#include "system/pages.h"

enum { ISLANDS_MOST = 1024 }; /* that can be apart */

/* Of a machine that machine_new made. */
static struct local_machine *local(const struct machine *machine)
{
    return (struct local_machine *)(uintptr_t)machine;
}

/* The network that connects GPUs, where there are several, and maybe the host. */
static bool build_fabric(struct local_machine *machine, uint32_t *host_node, struct err *err)
{
    struct net_graph graph;
    *host_node = NO_HOST;
    if (machine_homes(machine) == 1)
        return true;
    if (!fabric_graph(machine->system, &graph, err))
        return false;
    machine->fabric = network_new(machine->engine, &graph,
                                  &(struct network_spec){.payload_bytes = FABRIC_PAYLOAD_MOST}, err);
    int host = net_find(&graph, FABRIC_HOST);
    *host_node = host == NET_NONE ? (uint32_t)NO_HOST : (uint32_t)host;
    net_graph_fini(&graph);
    return machine->fabric;
}

static bool plug_fabric(struct local_machine *machine, uint32_t host_node, struct err *err)
{
    bool good = host_node == NO_HOST || hostmem_attach_fabric(machine->host, machine->fabric, host_node, err);
    for (uint32_t i = 0; i < machine->gpu_count && machine->fabric && good; i++)
        good = gpu_attach_fabric(machine->gpus[i].gpu, machine->fabric, err);
    if (good && machine->fabric && machine->spread.node)
        network_place(machine->fabric, machine->spread.node);
    return good && (!machine->fabric || network_ready(machine->fabric, err));
}

static bool build(struct local_machine *machine, struct err *err)
{
    const struct system *system = machine->system;
    machine->apart = machine->options.islands_apart ? zone_new(ISLANDS_MOST) : NULL;
    machine->engine = engine_new(&(struct engine_spec){.payload_bytes = FABRIC_PAYLOAD_MOST,
                                                       .apart = machine->apart,
                                                       .ranks = machine->options.ranks,
                                                       .measures = machine->options.measures});
    uint32_t host_node;
    if (!build_fabric(machine, &host_node, err) || !machine_plan(machine, err))
        return false;
    machine->host =
        hostmem_new(machine->engine, machine_homes(machine), host_node != NO_HOST, atomic_perform);
    if (machine->options.caches)
        hostmem_share(machine->host, machine->options.caches);
    if (machine->journal)
        hostmem_note_writes(machine->host);
    struct system_walks walks = system_walks(system);
    hostmem_walk(machine->host, walks.walkers, walks.ps);
    bool moves_managed = system_moves_managed(system),
         moves_pages = system_moves_pages(system) || moves_managed;
    if (moves_pages)
        hostmem_move_pages(machine->host, &system->paging);
    if (moves_managed)
        iommu_drive_managed(hostmem_iommu(machine->host), &system->uvm, &machine->areas);
    if (moves_managed && machine_is_spread(machine))
        hostmem_keep_apart(machine->host);
    hostmem_listen(machine->host, &machine->probe);
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct gpu_config config = system_gpu(system_of_device(system, i));
        struct text path = {0};
        text_add(&path, "gpu[%u]", i);
        engine_region(machine->engine, i + 1);
        config.host = machine->host;
        config.probe = &machine->probe;
        config.space = machine->space;
        config.paging = moves_pages ? &system->paging : NULL;
        config.has_peers = machine_homes(machine) > 1;
        config.host_node = host_node;
        config.members = machine->members;
        config.number = machine_first_home(machine, i);
        config.ranks = machine->spread.home ? &machine->spread.home[config.number] : NULL;
        machine->gpus[i].gpu = gpu_new(machine->engine, path.at, &config, err);
        text_fini(&path);
        if (!machine->gpus[i].gpu)
            return false;
        if (machine->journal)
            gpu_on_print(machine->gpus[i].gpu, journal_printed, machine);
    }
    engine_region(machine->engine, 0);
    engine_rank(machine->engine, 0);
    return plug_fabric(machine, host_node, err) && engine_ready(machine->engine, err);
}

static void take_apart(struct local_machine *machine)
{
    engine_free(machine->engine);
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        gpu_free(machine->gpus[i].gpu);
    network_free(machine->fabric);
    machine->fabric = NULL;
    hostmem_free(machine->host);
    zone_free(machine->apart);
}

static void free_local(struct machine *base)
{
    struct local_machine *machine = local(base);
    take_apart(machine);
    asides_free(machine->asides);
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

/* Tells all homes, and the page table, where memory is. */
static void place_memory(struct local_machine *machine)
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
    struct local_machine *machine = local(base);
    struct page_places before = machine_note_pages(machine);
    homes_set(&machine->memory, ranges, count);
    place_memory(machine);
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
    struct local_machine *machine = local(base);
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
    machine_managed_order(local(base), order);
}

static void set_heap(struct machine *base, uint32_t gpu, struct heap *heap)
{
    local(base)->gpus[gpu].heap = heap;
}

static void set_limit(struct machine *base, uint64_t max_cycles)
{
    local(base)->options.wishes.max_cycles = max_cycles;
}

/* Tasks */

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

static bool listen_to(struct machine *base, const struct probe *probe, struct err *err)
{
    (void)err;
    struct local_machine *machine = local(base);
    machine->probe = machine->asides ? asides_listen(machine->asides, probe) : *probe;
    return true;
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

static void begin(struct local_machine *machine, struct task *task)
{
    struct err err;
    task->state = TASK_RUNNING;
    task->start_ps = machine->now;
    task->end_ps = TIME_NEVER;
    task_add_wishes(task, &machine->options.wishes);
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

static void begin_task(struct machine *base, struct task *task)
{
    struct local_machine *machine = local(base);
    begin(machine, task);
    if (machine->journal)
        journal_begin(machine->journal, task);
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

static bool has_stopped_gpu(const struct local_machine *machine)
{
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (machine->gpus[i].stopped)
            return true;
    return false;
}

struct net_traffic *machine_traffic(const struct local_machine *machine)
{
    size_t ways = 2 * (size_t)network_graph(machine->fabric)->link_count;
    struct net_traffic *all = mem_alloc(ways + 1, sizeof *all);
    for (uint32_t i = 0; i < ways; i++)
        all[i] = network_traffic(machine->fabric, i / 2, i % 2);
    ranks_add(machine->options.ranks, (uint64_t *)all, ways * sizeof *all / sizeof(uint64_t));
    return all;
}

static void note_traffic(struct local_machine *machine)
{
    struct passed_traffic *passed = &machine->passed;
    uint32_t links = machine->fabric ? network_graph(machine->fabric)->link_count : 0;
    struct net_traffic *now = links ? machine_traffic(machine) : NULL;
    for (uint32_t i = 0; i < 2 * links; i++) {
        struct net_traffic more = now[i];
        if (i == passed->count) {
            mem_grow(passed->list, passed->count, passed->capacity);
            passed->list[passed->count++] = (struct net_traffic){0};
        }
        passed->list[i].messages += more.messages;
        passed->list[i].bytes += more.bytes;
        passed->list[i].busy_ps += more.busy_ps;
    }
    mem_free(now);
}

/* GPUs that a fault stopped can be used again: the machine is made anew, as soon as nothing runs on it. */
static void begin_anew(struct local_machine *machine)
{
    struct err err;
    if (machine->running || copies_run(machine) || !has_stopped_gpu(machine))
        return;
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        gpu_drop_memory(machine->gpus[i].gpu); /* others may have written to a stopped one */
        machine->gpus[i].stopped = false;
    }
    machine_gather_all_pages(machine);
    machine_managed_leave(machine);
    note_traffic(machine);
    machine_keep_load(machine);
    take_apart(machine);
    if (!build(machine, &err))
        BUG("the machine cannot be built again: %s", err.text);
    place_memory(machine);
}

void machine_stop_kernels(struct machine *base, const char *why)
{
    struct local_machine *machine = local(base);
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
static bool finish(struct local_machine *machine)
{
    bool kernels = finish_kernels(machine);
    begin_anew(machine);
    if (kernels)
        machine_managed_settle(machine);
    return finish_waiting(machine) || kernels;
}

static uint64_t next_copy(const struct local_machine *machine)
{
    uint64_t next = TIME_NEVER;
    for (const struct task *task = machine->waiting; task; task = task->next)
        next = min_u64(next, task->end_ps);
    return next;
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
static bool stop_late(struct local_machine *machine)
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

static uint64_t first_limit(const struct local_machine *machine)
{
    uint64_t first = TIME_NEVER;
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++)
            if (machine->gpus[i].kernels[slot])
                first = min_u64(first, limit_of(machine, machine->gpus[i].kernels[slot]));
    return first;
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
    const struct local_machine *machine = user;
    machine->options.windows->call(machine->options.windows->user, time, islands);
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

/* Writes the checkpoint. False: that was all. */
static bool write_checkpoint(struct local_machine *machine, struct err *err)
{
    const struct checkpoint_options *options = &machine->options.checkpoint;
    checkpoint_next(machine);
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

static bool interrupted(struct machine *base, struct err *err)
{
    struct local_machine *machine = local(base);
    const struct checkpoint_options *options = &machine->options.checkpoint;
    bool wanted = options->write && (!machine->is_written || options->every_cycles) &&
                  !is_replaying(machine) && !machine->broken;
    return !wanted || write_checkpoint(machine, err);
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
                               .interrupt = machine->options.interrupt,
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

/* Runs until something ends, or `until`. True: something ended. */
static bool run(struct local_machine *machine, uint64_t until, struct err *err)
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
        struct engine_run orders = engine_orders(machine, stop);
        enum engine_outcome outcome = machine->running || copies_run(machine)
                                          ? engine_run(machine->engine, &orders, err)
                                          : ENGINE_FINISHED;
        asides_flush(machine->asides);
        machine_share(machine);
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
        bool late = stop_late(machine);
        if (machine->now >= until)
            return finish(machine) || late;
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
    struct local_machine *machine = local(base);
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
    return local(base)->now;
}

static bool has_written(const struct machine *base)
{
    return local(base)->is_written;
}

static bool replays(const struct machine *base)
{
    return is_replaying(local(base));
}

static enum machine_end end_of(const struct machine *base)
{
    return local(base)->end;
}

bool machine_was_altered(const struct machine *base)
{
    return asides_were_altered(local(base)->asides);
}

void machine_look(struct machine *base)
{
    look_at_all(local(base));
}

static size_t links_of(const struct machine *base, struct machine_link *links, size_t most)
{
    const struct network *fabric = local(base)->fabric;
    const struct passed_traffic *passed = &local(base)->passed;
    if (!fabric)
        return 0;
    const struct net_graph *graph = network_graph(fabric);
    struct net_traffic *now = machine_traffic(local(base));
    for (uint32_t i = 0; i < graph->link_count && i < most; i++) {
        links[i] =
            (struct machine_link){.name = graph->links[i].name, .bytes_per_s = graph->links[i].bytes_per_s};
        for (int back = 0; back < 2; back++) {
            struct net_traffic traffic = now[2 * i + (uint32_t)back], before = {0};
            if (passed->count)
                before = passed->list[2 * i + (size_t)back];
            links[i].messages[back] = before.messages + traffic.messages;
            links[i].bytes[back] = before.bytes + traffic.bytes;
            links[i].busy_ps[back] = before.busy_ps + traffic.busy_ps;
        }
    }
    mem_free(now);
    return graph->link_count;
}

static bool write_load(struct machine *base, const char *path, struct err *err)
{
    return machine_gather_load(local(base), path, err);
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
                                             .links = links_of,
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
    if (checkpoint_init(machine, err) && build(machine, err))
        return &machine->base;
    free_local(&machine->base);
    return NULL;
}
