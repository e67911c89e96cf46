#include "driver/replaying.h"
#include "driver/locality.h"
#include "driver/modules.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "itrace/reader.h"
#include "replay/replay.h"
#include "system/machine.h"
#include "system/occupancy.h"

#include <stdlib.h>

enum { PAGE = 4096 };

struct touch {
    uint64_t at, bytes;
    enum memory_use use;
};

struct replaying {
    struct driver *driver;
    struct itrace_reader *reader;
    const struct itrace *trace;
    const struct replaying_options *options;
    struct stream **streams; /* of the trace, by number */
    size_t stream_count, stream_capacity;
    uint64_t *held; /* by stream: its last command that waits for the one behind it, by number, or 0 */
    size_t held_capacity;
    const struct itrace_call **touches; /* by commands */
    size_t touch_count, touch_capacity;
    unsigned char *host; /* what copies from and to the host use of it */
    uint64_t host_bytes;
    const struct itrace_call *next_launch; /* behind the copy that was looked at last */
    bool calls_copy;                       /* the next copy is by a call of its own */
    bool notices;                          /* the end of the next wait is noticed later */
    struct err *err;
};

/* A command that is no kernel. */
struct replayed_command {
    struct command base;
    struct task task;
    bool has_task, is_fill, holds;
    struct touch *touches; /* of memory, when it runs */
    size_t touch_count, touch_capacity;
};

/* ---- commands ---- */

static void run_replayed(struct command *command)
{
    const struct replayed_command *own = (struct replayed_command *)command;
    for (size_t i = 0; i < own->touch_count; i++)
        timeline_touch(command->stream->device->driver, own->touches[i].at, own->touches[i].bytes,
                       own->touches[i].use);
}

static enum command_turn begin_replayed(struct command *command, struct task *task)
{
    const struct replayed_command *own = (struct replayed_command *)command;
    struct commands *commands = &command->stream->device->driver->commands;
    if (own->holds) {
        pthread_mutex_lock(&commands->lock);
        bool ready = command->next || command->stream->device->error;
        pthread_mutex_unlock(&commands->lock);
        return ready ? TURN_NOW : TURN_LATER;
    }
    if (!own->has_task)
        return TURN_NOW;
    *task = own->task;
    return TURN_TASK;
}

static void end_replayed(struct command *command, struct task *task)
{
    if (task->state != TASK_DONE || task->is_prefetch)
        return;
    struct copy_record record = {.kind = task->is_fill ? COPIED_fill : (enum copy_kind)task->direction,
                                 .device = task->gpu,
                                 .bytes = task->width * task->height * task->depth,
                                 .start_ps = task->start_ps,
                                 .end_ps = task->end_ps};
    ledger_add_copy(&command->stream->device->driver->ledger, &record);
}

static void fini_replayed(struct command *command)
{
    mem_free(((struct replayed_command *)command)->touches);
}

static const struct command_ops replayed_ops = {.bytes = sizeof(struct replayed_command),
                                                .run = run_replayed,
                                                .begin = begin_replayed,
                                                .end = end_replayed,
                                                .fini = fini_replayed};

static void submit(struct stream *stream, struct command *command)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    commands_append(stream, command, false);
    uint64_t number = command->number;
    pthread_mutex_unlock(&commands->lock);
    commands_keep_shallow(stream, number);
}

static struct replayed_command *new_command(void)
{
    return (struct replayed_command *)command_new(&replayed_ops);
}

/* What commands touch was noted when they ran: by stream and command. */
static int by_command(const void *a, const void *b)
{
    const struct itrace_call *x = *(const struct itrace_call *const *)a,
                             *y = *(const struct itrace_call *const *)b;
    for (int field = 3; field <= 4; field++)
        if (x->field[field] != y->field[field])
            return x->field[field] < y->field[field] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void list_touches(struct replaying *r)
{
    for (const struct itrace_call *call = r->trace->calls; call < r->trace->calls + r->trace->call_count;
         call++) {
        if (call->kind != CALL_TOUCH_BY)
            continue;
        mem_grow(r->touches, r->touch_count, r->touch_capacity);
        r->touches[r->touch_count++] = call;
    }
    if (r->touch_count)
        qsort(r->touches, r->touch_count, sizeof *r->touches, by_command);
}

static void find_touches(const struct replaying *r, uint64_t stream, uint64_t number,
                         struct replayed_command *command)
{
    size_t low = 0, high = r->touch_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const uint64_t *field = r->touches[middle]->field;
        if (field[3] < stream || (field[3] == stream && field[4] < number))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->touch_count && r->touches[low]->field[3] == stream && r->touches[low]->field[4] == number;
         low++) {
        const uint64_t *field = r->touches[low]->field;
        mem_grow(command->touches, command->touch_count, command->touch_capacity);
        command->touches[command->touch_count++] =
            (struct touch){field[0], field[1], (enum memory_use)field[2]};
    }
}

/* ---- tasks ---- */

/* A side of a copy that is memory of the host's has the same place in its page, and no data. */
static bool host_side(struct replaying *r, struct task *task, struct task_side *side)
{
    uint64_t bytes = 0, rows, slices, offset = side->at % PAGE;
    if (!side->is_host)
        return true;
    if (__builtin_mul_overflow(task->height - 1, side->pitch, &rows) ||
        __builtin_mul_overflow(task->depth - 1, side->slice, &slices) ||
        __builtin_add_overflow(rows, slices, &bytes) || __builtin_add_overflow(bytes, task->width, &bytes) ||
        bytes > TASK_HOST_BYTES_MOST)
        return err_set(r->err, "the trace has a copy of more than the host's memory");
    if (bytes + PAGE > r->host_bytes)
        return err_set(r->err, "the trace has a copy that is larger than all of them");
    side->at = (uint64_t)(uintptr_t)r->host + offset;
    return true;
}

static void take_box(struct task *task, const uint64_t *field)
{
    task->width = field[0];
    task->height = max_u64(field[1], 1);
    task->depth = max_u64(field[2], 1);
}

static struct task_side side_of(const uint64_t *field)
{
    return (struct task_side){.at = field[0],
                              .pitch = field[1],
                              .slice = field[2],
                              .is_host = field[3] != SIDE_GPU,
                              .is_pageable = field[3] == SIDE_PAGEABLE};
}

static bool make_task(struct replaying *r, const struct itrace_call *call, struct task *task)
{
    const uint64_t *field = call->field;
    task->gpu = (uint32_t)field[1];
    if (field[1] >= r->driver->device_count)
        return err_set(r->err, "the trace has a copy of a GPU that is not there");
    switch ((enum itrace_call_kind)call->kind) {
    case CALL_FILL:
        task->direction = COPY_ON_DEVICE;
        task->is_fill = true;
        task->to = (struct task_side){.at = field[2], .pitch = field[3], .slice = field[4]};
        task->fill_word = (uint32_t)field[5];
        take_box(task, &field[6]);
        return true;
    case CALL_PREFETCH:
        if (field[2] > COPY_TO_HOST)
            return err_set(r->err, "the trace has a prefetch to nowhere");
        task->is_prefetch = true;
        task->direction = (enum copy_direction)field[2];
        task->to.at = field[3];
        task->width = field[4];
        task->height = task->depth = 1;
        return true;
    default:
        task->direction = (enum copy_direction)field[2];
        task->to = side_of(&field[3]);
        task->from = side_of(&field[7]);
        task->is_plain = field[6] == SIDE_PLAIN || field[10] == SIDE_PLAIN;
        take_box(task, &field[11]);
        return (field[2] <= COPY_STAGED && task->width) ||
               err_set(r->err, "the trace has a copy of an unknown kind");
    }
}

/* Copies are of no more than this; each uses the same bytes of the host. */
static uint64_t largest_copy(const struct itrace *trace)
{
    uint64_t most = 0;
    for (size_t i = 0; i < trace->call_count; i++) {
        const uint64_t *field = trace->calls[i].field;
        if (trace->calls[i].kind != CALL_COPY)
            continue;
        for (int side = 3; side <= 7; side += 4) {
            uint64_t rows = field[12] * field[side + 1], slices = field[13] * field[side + 2];
            if (field[side + 3])
                most = max_u64(most, add_saturating(add_saturating(rows, slices), field[11]));
        }
    }
    return most;
}

/* ---- launches ---- */

bool replaying_takes(const struct replaying_options *options, const struct itrace *trace,
                     const struct itrace_launch *launch)
{
    const char *kernel = trace->kernels[launch->kernel].facts.name;
    return launch->recorded && (!options->kernels || choice_has(options->kernels, launch->number, kernel));
}

static bool is_replayed(const struct replaying *r, const struct itrace_launch *launch)
{
    bool chosen = !r->options->blocks || r->options->blocks[launch - r->trace->launches];
    return chosen && replaying_takes(r->options, r->trace, launch);
}

static struct function_copy copy_of(struct driver *driver, struct kernel *kernel,
                                    const struct itrace_launch *launch)
{
    return (struct function_copy){.kernel = kernel,
                                  .name = ledger_name(&driver->ledger, kernel->facts.name),
                                  .ready = true,
                                  .max_dynamic = launch->max_dynamic,
                                  .carveout = (int)launch->carveout,
                                  .cache = (int)launch->cache};
}

uint64_t replaying_resident(struct driver *driver, struct itrace_reader *reader, size_t number)
{
    const struct itrace_launch *launch = &itrace_reader_trace(reader)->launches[number];
    const struct gpu_spec *gpu =
        driver->devices[launch->device < driver->device_count ? launch->device : 0].spec;
    struct kernel *kernel = replay_kernel_new(reader, number);
    struct function_copy copy = copy_of(driver, kernel, launch);
    struct occupancy_need need;
    function_need(&copy, (uint64_t)launch->block[0] * launch->block[1] * launch->block[2],
                  launch->shared_bytes, &need);
    uint64_t blocks = occupancy_of(gpu, &need).blocks * gpu->sm_count;
    replay_kernel_free(kernel);
    return blocks;
}

/* Other ranks read the trace themselves (src/serve/isas.c). */
static void load_elsewhere(struct replaying *r, struct kernel *kernel, uint64_t number)
{
    const char *folder = itrace_reader_folder(r->reader);
    struct text bytes = {0};
    if (!timeline_wants_code(r->driver))
        return;
    text_add_bytes(&bytes, (const char *)&number, sizeof number);
    text_add(&bytes, "%s", folder);
    kernel->object = timeline_load(r->driver, &(struct code_object){"replay", bytes.at, bytes.length});
    text_fini(&bytes);
}

static bool launch_again(struct replaying *r, struct stream *stream, size_t number)
{
    const struct itrace_launch *launch = &r->trace->launches[number];
    struct kernel *kernel = replay_kernel_new(r->reader, number);
    mem_grow(r->driver->replayed, r->driver->replayed_count, r->driver->replayed_capacity);
    r->driver->replayed[r->driver->replayed_count++] = kernel;
    load_elsewhere(r, kernel, number);
    struct function_copy copy = copy_of(r->driver, kernel, launch);
    struct launch_config config = {.shared_bytes = launch->shared_bytes,
                                   .dimensions = launch->dimensions,
                                   .cooperative = launch->cooperative};
    if (itrace_launch_cluster(launch) > 1) {
        copy.non_portable = true; /* the program said so, if that was needed */
        memcpy(config.cluster, launch->cluster, sizeof config.cluster);
    }
    memcpy(config.grid, launch->grid, sizeof config.grid);
    memcpy(config.block, launch->block, sizeof config.block);
    uint64_t all = (uint64_t)config.grid[0] * config.grid[1] * config.grid[2];
    if (r->options->blocks && r->options->blocks[number] < all) {
        config.grid[0] = (uint32_t)r->options->blocks[number];
        config.grid[1] = config.grid[2] = 1;
    }
    struct locality_blocks *places =
        launch->place_count ? locality_new_blocks(launch->places, launch->place_count) : NULL;
    struct command *command;
    enum result result = function_replay(stream, &copy, &config, places, &command);
    locality_free_blocks(places);
    if (result)
        return err_set(r->err, "launch %llu (%s) cannot run on this system: %s",
                       (unsigned long long)launch->number, demangled(kernel->facts.name), driver_detail());
    submit(stream, command);
    return true;
}

/* Where a trace is sampled, only some copies are made. Copies bypass the L2 and drop what it has of their
 * lines: it has nothing before the first sample, and a launch that is no sample does not look. Pages do move.
 */
static bool is_of_use(struct replaying *r, const struct itrace_call *call)
{
    const struct itrace_call *end = r->trace->calls + r->trace->call_count;
    if (!r->options->blocks || call->kind == CALL_PREFETCH)
        return true;
    if (!r->driver->replayed_count)
        return false;
    if (!r->next_launch || r->next_launch < call)
        r->next_launch = call;
    while (r->next_launch < end && r->next_launch->kind != CALL_LAUNCH)
        r->next_launch++;
    return r->next_launch < end && is_replayed(r, &r->trace->launches[r->next_launch->field[1]]);
}

/* A launch that is not replayed has its number. It just ran, and memory may be another behind it; unless the
 * trace is sampled: then caches stay as the last sample left them. */
static void skip_launch(struct replaying *r, struct stream *stream)
{
    struct replayed_command *command = new_command();
    if (!r->options->blocks) {
        mem_grow(command->touches, command->touch_count, command->touch_capacity);
        command->touches[command->touch_count++] = (struct touch){0, UINT64_MAX, MEMORY_TAKEN_OVER};
    }
    atomic_fetch_add(&r->driver->ledger.submitted, 1);
    submit(stream, &command->base);
}

/* ---- memory that is in no arena, and managed memory ---- */

static void unmap(const struct memory_range *range)
{
    mem_unmap(range->host - range->at % PAGE, range->bytes + PAGE);
}

static void forget_all_memory(struct driver *driver)
{
    struct memory *memory = &driver->memory;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->replayed_count; i++)
        unmap(&memory->replayed[i]);
    memory->replayed_count = 0;
    memory->ranges_changed++;
    pthread_mutex_unlock(&memory->lock);
}

static bool forget_memory(struct replaying *r, const struct itrace_call *call)
{
    struct memory *memory = &r->driver->memory;
    size_t i = 0;
    pthread_mutex_lock(&memory->lock);
    while (i < memory->replayed_count &&
           (memory->replayed[i].at != call->field[0] || memory->replayed[i].bytes != call->field[1] ||
            memory->replayed[i].to.packed != call->field[2]))
        i++;
    bool found = i < memory->replayed_count;
    if (found) {
        unmap(&memory->replayed[i]);
        memory->replayed[i] = memory->replayed[--memory->replayed_count];
        memory->ranges_changed++;
    }
    pthread_mutex_unlock(&memory->lock);
    return found || err_set(r->err, "the trace forgets memory that is not there");
}

static bool add_memory(struct replaying *r, const struct itrace_call *call)
{
    struct memory *memory = &r->driver->memory;
    struct memory_range range = {
        .at = call->field[0], .bytes = call->field[1], .to = {.packed = call->field[2]}};
    if (!range.bytes || range.bytes > TASK_HOST_BYTES_MOST || range.at > UINT64_MAX - range.bytes)
        return err_set(r->err, "the trace has memory where none can be");
    range.host = (char *)mem_map(0, range.bytes + PAGE) + range.at % PAGE;
    pthread_mutex_lock(&memory->lock);
    mem_grow(memory->replayed, memory->replayed_count, memory->replayed_capacity);
    memory->replayed[memory->replayed_count++] = range;
    memory->ranges_changed++;
    pthread_mutex_unlock(&memory->lock);
    return true;
}

/* Pages of managed memory get contents: those that are empty, or others than they had. */
static bool fill_pages(struct replaying *r, const struct itrace_call *call)
{
    uint64_t at = call->field[0], bytes = call->field[1];
    const struct arena *arena = &r->driver->memory.managed;
    if (!r->driver->memory.moves_managed)
        return true;
    if (at < arena->base || at > arena->committed || bytes > arena->committed - at)
        return err_set(r->err, "the trace has managed memory where none is");
    if (at % PAGE || bytes % PAGE)
        return err_set(r->err, "the trace has parts of pages");
    for (uint64_t page = at; page < at + bytes; page += PAGE) {
        uint64_t *first = (uint64_t *)(uintptr_t)page;
        if (call->kind == CALL_WROTE || (!*first && !memcmp(first, first + 1, PAGE - sizeof *first)))
            ++*first;
    }
    return true;
}

/* ---- calls ---- */

static bool add_stream(struct replaying *r, const struct itrace_call *call)
{
    struct stream *stream;
    if (call->field[0] >= r->driver->device_count)
        return err_set(r->err, "the trace uses GPU %llu, and the system has %u",
                       (unsigned long long)call->field[0], r->driver->device_count);
    struct device *device = &r->driver->devices[call->field[0]];
    if (!call->field[1])
        stream = device->default_stream;
    else if (stream_new(device, (unsigned)call->field[2] & STREAM_NON_BLOCKING, (int)call->field[3], &stream))
        return err_set(r->err, "no stream can be made: %s", driver_detail());
    stream->id = call->field[1]; /* as results name it */
    mem_grow(r->held, r->stream_count, r->held_capacity);
    r->held[r->stream_count] = 0;
    mem_grow(r->streams, r->stream_count, r->stream_capacity);
    r->streams[r->stream_count++] = stream;
    return true;
}

/* A command that waits for the one behind it takes no time, and was over at once if time was not recorded: a
 * thread may have waited for it before another thread submitted the next. */
static void wait_again(struct replaying *r, uint64_t number, uint64_t command)
{
    struct stream *stream = r->streams[number];
    if (command == stream->submitted && command == r->held[number])
        command--;
    if (command > stream->submitted || atomic_load(&stream->done) >= command)
        return;
    timeline_wait(stream, command);
    if (r->notices)
        timeline_pass(r->driver, r->driver->system.spec.wait_time);
}

/* Such commands at the end of the trace. */
static void release_held(const struct replaying *r)
{
    for (size_t i = 0; i < r->stream_count; i++)
        if (r->held[i] && r->held[i] == r->streams[i]->submitted)
            submit(r->streams[i], &new_command()->base);
}

/* The time of the call that submitted a copy. Those of graphs have none. */
static void call_copy(struct replaying *r, const struct replayed_command *command)
{
    if (r->calls_copy && command->has_task)
        timeline_pass(r->driver, timeline_copy_ps(r->driver, &command->task));
    r->calls_copy = false;
}

static bool make_call(struct replaying *r, const struct itrace_call *call)
{
    const uint64_t *field = call->field;
    struct replayed_command *command;
    struct managed_order order;
    switch ((enum itrace_call_kind)call->kind) {
    case CALL_TIME:
        r->notices |= field[0] == TIME_WAIT;
        for (uint64_t i = 0; i <= field[1] && field[0] != TIME_WAIT && !driver_is_interrupted(r->driver); i++)
            timeline_call(r->driver, field[0] == TIME_LAUNCH);
        r->calls_copy |= field[0] == TIME_COPY;
        return true;
    case CALL_STREAM:
        return add_stream(r, call);
    case CALL_LAUNCH:
        if (is_replayed(r, &r->trace->launches[field[1]]))
            return launch_again(r, r->streams[field[0]], field[1]);
        skip_launch(r, r->streams[field[0]]);
        return true;
    case CALL_COPY:
    case CALL_FILL:
    case CALL_PREFETCH:
        command = new_command();
        command->has_task = is_of_use(r, call);
        if (command->has_task &&
            !(make_task(r, call, &command->task) && host_side(r, &command->task, &command->task.to) &&
              host_side(r, &command->task, &command->task.from))) {
            command_free(&command->base);
            return false;
        }
        if (call->kind == CALL_COPY)
            call_copy(r, command);
        submit(r->streams[field[0]], &command->base);
        return true;
    case CALL_COMMAND:
        command = new_command();
        command->holds = field[1];
        find_touches(r, field[0], r->streams[field[0]]->submitted + 1, command);
        submit(r->streams[field[0]], &command->base);
        if (field[1])
            r->held[field[0]] = r->streams[field[0]]->submitted;
        return true;
    case CALL_AFTER:
        if (field[2] > r->streams[field[1]]->submitted)
            return err_set(r->err, "the trace has a wait for a command that is not there");
        command = new_command();
        pthread_mutex_lock(&r->driver->commands.lock);
        command_add_wait(&command->base, (struct command_wait){r->streams[field[1]], field[2], WAIT_FOR_END});
        pthread_mutex_unlock(&r->driver->commands.lock);
        submit(r->streams[field[0]], &command->base);
        return true;
    case CALL_WAIT:
        wait_again(r, field[0], field[1]);
        r->notices = false;
        return true;
    case CALL_TOUCH:
        if (field[2] > MEMORY_TAKEN_OVER)
            return err_set(r->err, "the trace uses memory in an unknown way");
        timeline_touch(r->driver, field[0], field[1], (enum memory_use)field[2]);
        return true;
    case CALL_TOUCH_BY: /* the command does it */
        return true;
    case CALL_MANAGE:
        if (field[0] > MANAGED_ACCESSED_BY || field[2] > MANAGED_AT_HOST)
            return err_set(r->err, "the trace has advice on managed memory that is unknown");
        order = (struct managed_order){.kind = (enum managed_kind)field[0],
                                       .on = field[1] != 0,
                                       .place = (uint32_t)field[2],
                                       .at = {.packed = field[3]},
                                       .bytes = field[4]};
        timeline_manage(r->driver, &order);
        return true;
    case CALL_GONE:
        return forget_memory(r, call);
    case CALL_RANGE:
        return add_memory(r, call);
    case CALL_FILLED:
    case CALL_WROTE:
        return fill_pages(r, call);
    case CALL_THREAD:
    case CALL_LENDS:
        return true;
    case CALL_KINDS:
        break;
    }
    BUG("a call that is none");
}

/* ---- the whole ---- */

bool replaying_fits(struct driver *driver, struct itrace_reader *reader, struct err *err)
{
    const struct itrace *trace = itrace_reader_trace(reader);
    uint32_t devices = 0, lanes = (uint32_t)driver->devices[0].spec->warp_lanes;
    for (size_t i = 0; i < trace->call_count; i++)
        if (trace->calls[i].kind == CALL_STREAM)
            devices = (uint32_t)max_u64(devices, min_u64(trace->calls[i].field[0], UINT32_MAX - 1) + 1);
    for (size_t i = 2; i < trace->arena_count; i++)
        devices = (uint32_t)(trace->arenas[i].bytes ? max_u64(devices, i - 1) : devices);
    if (trace->launch_count && trace->lanes != lanes)
        return err_set(err, "the trace has warps of %u lanes, and the GPU of %u", trace->lanes, lanes);
    if (devices > driver->device_count)
        return err_set(err, "the trace uses %u GPUs, and the system has %u (--gpus %u)", devices,
                       driver->device_count, devices);
    if (trace->arena_count < devices + 2)
        return err_set(err, "the trace does not say which memory it uses");
    for (size_t i = 0; i < devices + 2; i++) {
        struct arena *arena = i == 0   ? &driver->memory.host
                              : i == 1 ? &driver->memory.managed
                                       : &driver->devices[i - 2].arena;
        if (!trace->arenas[i].bytes)
            continue;
        if (i == 1 && !driver->memory.moves_managed)
            return err_set(err, "the trace has managed memory that moves, and the system has none such");
        if (trace->arenas[i].bytes > arena->end - arena->base)
            return err_set(err, "the trace uses %llu MB of memory of one GPU, which has %llu MB",
                           (unsigned long long)(trace->arenas[i].bytes >> 20),
                           (unsigned long long)((arena->end - arena->base) >> 20));
        if (trace->arenas[i].base != arena->base || !arena_open(arena, trace->arenas[i].bytes))
            return err_set(err, "memory cannot be at 0x%llx here, where the trace has it",
                           (unsigned long long)trace->arenas[i].base);
    }
    return true;
}

/* Calls up to the last launch that is sampled; unless it is, all. */
static size_t calls_to_make(const struct replaying *r)
{
    size_t end = r->trace->call_count;
    while (r->options->blocks && end &&
           (r->trace->calls[end - 1].kind != CALL_LAUNCH ||
            !is_replayed(r, &r->trace->launches[r->trace->calls[end - 1].field[1]])))
        end--;
    return end;
}

bool replaying_run(struct driver *driver, struct itrace_reader *reader,
                   const struct replaying_options *options, struct err *err)
{
    struct replaying r = {.driver = driver,
                          .reader = reader,
                          .trace = itrace_reader_trace(reader),
                          .options = options,
                          .err = err};
    if (!replaying_fits(driver, reader, err))
        return false;
    r.host_bytes = largest_copy(r.trace) + 2 * PAGE;
    bool good = r.host_bytes <= TASK_HOST_BYTES_MOST ||
                err_set(err, "the trace has a copy of more than the host's memory");
    if (good)
        r.host = mem_map(0, r.host_bytes);
    list_touches(&r);
    for (size_t i = 0, end = calls_to_make(&r); i < end && good && !driver_is_interrupted(driver); i++) {
        good = make_call(&r, &r.trace->calls[i]);
        for (unsigned d = 0; d < driver->device_count && good; d++)
            good = !driver->devices[d].error || err_set(err, "a launch failed");
    }
    release_held(&r);
    for (unsigned i = 0; i < driver->device_count && good; i++)
        good = !device_synchronize(&driver->devices[i]) || err_set(err, "a launch failed");
    mem_free(r.streams);
    mem_free(r.held);
    mem_free(r.touches);
    driver->replay_host = r.host;
    driver->replay_host_bytes = r.host_bytes;
    return good;
}

void replaying_fini(struct driver *driver)
{
    for (size_t i = 0; i < driver->replayed_count; i++)
        replay_kernel_free(driver->replayed[i]);
    mem_free(driver->replayed);
    forget_all_memory(driver);
    mem_free(driver->memory.replayed);
    if (driver->replay_host)
        mem_unmap(driver->replay_host, driver->replay_host_bytes);
}
