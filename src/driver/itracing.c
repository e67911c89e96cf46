#include "driver/itracing.h"
#include "driver/internal.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "itrace/blob.h"
#include "itrace/recorder.h"
#include "system/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCESSES_MOST = 10000, PAGE = 4096 };

struct itracing {
    pthread_mutex_t lock; /* of the trace's lists; taken last of all, behind the commands' and the memory's */
    struct itrace *trace;
    struct itrace_writer *writer;
    struct itrace_recorder *recorder;
    struct text folder, note; /* note: our file in the run folder, or nothing */
    uint32_t streams;
    uint32_t threads, thread;    /* of the program that made calls; whose call was the last */
    uint64_t ranges_seen;        /* memory.ranges_changed, when it was noted last */
    struct memory_ranges ranges; /* as they were then, sorted */
    struct blob filled;          /* a bit for each page of managed memory that is known not to be zero */
    struct blob sums;            /* a checksum of each, from when no command was left, ... */
    bool is_idle;                /* ... and none came since */
};

/* ---- where it goes ---- */

static bool write_note(const struct itracing *own, const char *text, struct err *err)
{
    struct file_writer writer;
    if (!own->note.at)
        return true;
    if (!file_open(&writer, own->note.at, err))
        return false;
    fputs(text, writer.stream);
    return file_close(&writer, err);
}

/* Which of the program's processes we are: the first number that nobody has taken. */
static bool take_number(struct itracing *own, const char *run_dir, struct err *err)
{
    for (unsigned number = 1; run_dir && number < PROCESSES_MOST; number++) {
        own->note.length = 0;
        text_add(&own->note, "%s/recorded.%u", run_dir, number);
        int file = open(own->note.at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno == EEXIST)
            continue;
        if (file < 0)
            return err_set(err, "cannot write %s: %s", own->note.at, strerror(errno));
        close(file);
        if (number > 1)
            text_add(&own->folder, "/process-%u", number);
        return true;
    }
    return !run_dir || err_set(err, "more than %d processes were recorded", PROCESSES_MOST);
}

static char *command_line(void)
{
    struct text all = {0};
    struct err unused;
    if (!file_read("/proc/self/cmdline", 1 << 20, &all, &unused) || !all.length) {
        text_fini(&all);
        return mem_text("");
    }
    for (size_t i = 0; i + 1 < all.length; i++)
        if (!all.at[i])
            all.at[i] = ' ';
    char *copy = mem_text(all.at);
    text_fini(&all);
    return copy;
}

static char *all_settings(const char *const *settings)
{
    struct text all = {0};
    for (; settings && *settings; settings++)
        text_add(&all, "%s\n", *settings);
    char *copy = mem_text(all.at ? all.at : "");
    text_fini(&all);
    return copy;
}

struct itracing *itracing_new(struct driver *driver, struct err *err)
{
    const struct driver_options *options = &driver->options;
    struct itracing *own = mem_alloc(1, sizeof *own);
    struct text line = {0};
    text_add(&own->folder, "%s", options->record.folder);
    bool good = take_number(own, options->run_dir, err);
    own->writer = good ? itrace_writer_new(own->folder.at, options->record.limit, err) : NULL;
    text_add(&line, "unfinished %s\n", own->folder.at);
    good = own->writer && write_note(own, line.at, err);
    text_fini(&line);
    if (!good) {
        if (own->writer)
            itrace_writer_abandon(own->writer);
        text_fini(&own->folder);
        text_fini(&own->note);
        mem_free(own);
        return NULL;
    }
    pthread_mutex_init(&own->lock, NULL);
    own->trace = itrace_new();
    own->trace->command = command_line();
    own->trace->system = mem_text(driver->options.system ? driver->options.system : "h200");
    own->trace->settings = all_settings(options->settings);
    own->recorder = itrace_recorder_new(own->trace, own->writer);
    return own;
}

/* ---- what the host does ---- */

/* With the lock held. */
static struct itrace_call *add_call(struct itracing *own, enum itrace_call_kind kind)
{
    struct itrace *trace = own->trace;
    mem_grow(trace->calls, trace->call_count, trace->call_capacity);
    struct itrace_call *call = &trace->calls[trace->call_count++];
    *call = (struct itrace_call){.kind = kind};
    return call;
}

/* With the lock held: this thread makes a call. Calls are made again in their order, whoever made them. */
static void note_thread(struct itracing *own)
{
    static _Thread_local const struct itracing *of;
    static _Thread_local uint32_t number;
    if (of != own)
        number = own->threads++;
    of = own;
    if (own->thread != number)
        add_call(own, CALL_THREAD)->field[0] = number;
    own->thread = number;
}

/* With the lock held: the number of a stream whose command this is. One that is used again had commands
 * before.
 */
static uint32_t number_of(struct itracing *own, struct stream *stream, const struct command *command)
{
    if (!stream->traced || stream->traced_id != stream->id) {
        struct itrace_call *call = add_call(own, CALL_STREAM);
        call->field[0] = stream->device->index;
        call->field[1] = stream->id;
        call->field[2] = stream->flags;
        call->field[3] = (uint64_t)(int64_t)stream->priority;
        stream->traced = ++own->streams;
        stream->traced_id = stream->id;
        stream->traced_from = command->number - 1;
    }
    return stream->traced - 1;
}

/* Or NULL. */
static struct itrace_call *last_call(const struct itracing *own)
{
    return own->trace->call_count ? &own->trace->calls[own->trace->call_count - 1] : NULL;
}

void itracing_call(struct driver *driver, enum host_call call)
{
    struct itracing *own = driver->itracing;
    if (!own)
        return;
    pthread_mutex_lock(&own->lock);
    note_thread(own);
    struct itrace_call *last = last_call(own);
    bool asks = call == HOST_ASKS;
    if (asks && last && last->kind == CALL_TIME && last->field[0] == TIME_QUESTION)
        last->field[1]++; /* a program that polls asks millions of times */
    else
        add_call(own, CALL_TIME)->field[0] = call == HOST_LAUNCHES ? TIME_LAUNCH
                                             : call == HOST_COPIES ? TIME_COPY
                                             : call == HOST_WAITS  ? TIME_WAIT
                                             : asks                ? TIME_QUESTION
                                                                   : TIME_CALL;
    pthread_mutex_unlock(&own->lock);
}

/* With the commands' lock held: a command, in the trace's numbers; false: the trace does not have it. */
static bool name_command(const struct stream *stream, uint64_t number, uint64_t *of_stream,
                         uint64_t *of_command)
{
    *of_stream = stream->traced - 1;
    *of_command = number - stream->traced_from;
    return stream->traced && number > stream->traced_from;
}

static uint64_t kind_of(const struct task *task, const struct task_side *side)
{
    if (!side->is_host)
        return SIDE_GPU;
    return task->is_plain ? SIDE_PLAIN : side->is_pageable ? SIDE_PAGEABLE : SIDE_HOST;
}

static void note_side(struct itrace_call *call, uint32_t *field, const struct task_side *side)
{
    call->field[(*field)++] = side->at;
    call->field[(*field)++] = side->pitch;
    call->field[(*field)++] = side->slice;
}

static void note_box(struct itrace_call *call, uint32_t *field, const struct task *task)
{
    call->field[(*field)++] = task->width;
    call->field[(*field)++] = task->height;
    call->field[(*field)++] = task->depth;
}

static void note_task(struct itracing *own, uint32_t stream, const struct task *task)
{
    uint32_t field = 0;
    struct itrace_call *call = add_call(own, task->is_prefetch ? CALL_PREFETCH
                                             : task->is_fill   ? CALL_FILL
                                                               : CALL_COPY);
    call->field[field++] = stream;
    call->field[field++] = task->gpu;
    if (task->is_prefetch) {
        call->field[field++] = (uint64_t)task->direction;
        call->field[field++] = task->to.at;
        call->field[field++] = task->width;
    } else if (task->is_fill) {
        note_side(call, &field, &task->to);
        call->field[field++] = task->fill_word;
        note_box(call, &field, task);
    } else {
        call->field[field++] = (uint64_t)task->direction;
        note_side(call, &field, &task->to);
        call->field[field++] = kind_of(task, &task->to);
        note_side(call, &field, &task->from);
        call->field[field++] = kind_of(task, &task->from);
        note_box(call, &field, task);
    }
}

/* ---- memory that commands find; with both locks held ---- */

static int by_range(const void *a, const void *b)
{
    const struct memory_range *left = a, *right = b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? -1 : 1;
    return left->to.packed < right->to.packed ? -1 : left->to.packed > right->to.packed;
}

/* Those of one list that are not in the other; both are sorted. */
static void note_ranges_without(struct itracing *own, enum itrace_call_kind kind,
                                const struct memory_ranges *of, const struct memory_ranges *without)
{
    for (size_t i = 0, k = 0; i < of->count; i++) {
        while (k < without->count && by_range(&without->at[k], &of->at[i]) < 0)
            k++;
        if (k < without->count && !by_range(&without->at[k], &of->at[i])) {
            k++;
            continue;
        }
        struct itrace_call *call = add_call(own, kind);
        call->field[0] = of->at[i].at;
        call->field[1] = of->at[i].bytes;
        call->field[2] = of->at[i].to.packed;
    }
}

static void note_apart(struct itracing *own, struct driver *driver)
{
    struct memory_ranges now = {0}, before = own->ranges;
    uint64_t changed = atomic_load(&driver->memory.ranges_changed);
    if (own->ranges_seen == changed)
        return;
    own->ranges_seen = changed;
    memory_list_apart(driver, &now);
    if (now.count)
        qsort(now.at, now.count, sizeof *now.at, by_range);
    note_ranges_without(own, CALL_GONE, &before, &now);
    note_ranges_without(own, CALL_RANGE, &now, &before);
    mem_free(before.at);
    own->ranges = now;
}

static bool is_zero(const char *page)
{
    return !*page && !memcmp(page, page + 1, PAGE - 1);
}

/* One of a list of neighbouring pages. */
static void add_page(struct itracing *own, enum itrace_call_kind kind, uint64_t page)
{
    struct itrace_call *last = last_call(own);
    if (last && last->kind == kind && last->field[0] + last->field[1] == page) {
        last->field[1] += PAGE;
        return;
    }
    struct itrace_call *call = add_call(own, kind);
    call->field[0] = page;
    call->field[1] = PAGE;
}

static void *room_for(struct blob *blob, size_t at, size_t bytes)
{
    if (blob->count < at + bytes) {
        size_t more = at + bytes - blob->count;
        memset(blob_room(blob, more), 0, more);
        blob->count += more;
    }
    return blob->at + at;
}

static void note_page(struct itracing *own, uint64_t number, uint64_t page)
{
    uint8_t *bits = room_for(&own->filled, number / 8, 1);
    if (*bits >> number % 8 & 1 || is_zero((const char *)(uintptr_t)page))
        return;
    *bits |= (uint8_t)(1 << number % 8);
    add_page(own, CALL_FILLED, page);
}

static uint64_t sum_of(uint64_t page)
{
    uint64_t lanes[4] = {1, 2, 3, 4}, words[4];
    for (size_t i = 0; i < PAGE; i += sizeof words) {
        memcpy(words, (const char *)(uintptr_t)page + i, sizeof words);
        for (int k = 0; k < 4; k++) {
            lanes[k] = (lanes[k] ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
            lanes[k] ^= lanes[k] >> 29;
        }
    }
    return (lanes[0] + 3 * lanes[1] + 5 * lanes[2] + 7 * lanes[3]) | 1; /* 0: not known */
}

static void take_sum(struct itracing *own, uint64_t number, uint64_t page)
{
    uint64_t sum = sum_of(page);
    memcpy(room_for(&own->sums, number * sizeof sum, sizeof sum), &sum, sizeof sum);
}

/* The page is another than when no command was left: so the program itself changed it. */
static void compare_sum(struct itracing *own, uint64_t number, uint64_t page)
{
    uint64_t before;
    memcpy(&before, room_for(&own->sums, number * sizeof before, sizeof before), sizeof before);
    if (before && before != sum_of(page))
        add_page(own, CALL_WROTE, page);
}

static void each_managed_page(struct itracing *own, const struct memory *memory,
                              void (*visit)(struct itracing *own, uint64_t number, uint64_t page))
{
    for (size_t i = 0; memory->moves_managed && i < memory->count; i++) {
        const struct allocation *one = memory->table[i];
        if (one->at < memory->managed.base || one->at >= memory->managed.end)
            continue;
        for (uint64_t page = one->at / PAGE * PAGE; page < one->at + one->bytes; page += PAGE)
            visit(own, (page - memory->managed.base) / PAGE, page);
    }
}

/* A command comes. */
static void note_managed(struct itracing *own, const struct memory *memory, const struct command_ops *ops)
{
    if (own->is_idle)
        each_managed_page(own, memory, compare_sum);
    own->is_idle = false;
    if (ops->is_launch || ops->begin_is_pure)
        each_managed_page(own, memory, note_page); /* pages that nobody has written to need not move */
}

/* The host waited: if no command is left, only the program changes memory from now on. With all locks held.
 */
static void note_idle(struct itracing *own, const struct driver *driver)
{
    for (unsigned i = 0; i < driver->device_count; i++)
        if (driver->devices[i].busy)
            return;
    if (!own->is_idle)
        each_managed_page(own, &driver->memory, take_sum);
    own->is_idle = true;
}

void itracing_wait(struct stream *stream, uint64_t number)
{
    struct itracing *own = stream->device->driver->itracing;
    uint64_t of_stream, of_command;
    if (!own)
        return;
    struct driver *driver = stream->device->driver;
    pthread_mutex_lock(&driver->commands.lock);
    pthread_mutex_lock(&driver->memory.lock);
    pthread_mutex_lock(&own->lock);
    note_thread(own);
    if (name_command(stream, number, &of_stream, &of_command)) {
        struct itrace_call *call = add_call(own, CALL_WAIT);
        call->field[0] = of_stream;
        call->field[1] = of_command;
    }
    note_idle(own, driver);
    pthread_mutex_unlock(&own->lock);
    pthread_mutex_unlock(&driver->memory.lock);
    pthread_mutex_unlock(&driver->commands.lock);
}

void itracing_command(struct stream *stream, struct command *command)
{
    struct itracing *own = stream->device->driver->itracing;
    const struct command_ops *ops = command->ops;
    struct driver *driver = stream->device->driver;
    struct task task = {0};
    if (!own)
        return;
    pthread_mutex_lock(&driver->memory.lock);
    pthread_mutex_lock(&own->lock);
    note_thread(own);
    note_apart(own, driver);
    note_managed(own, &driver->memory, ops);
    pthread_mutex_unlock(&driver->memory.lock);
    uint32_t number = number_of(own, stream, command);
    uint64_t after_stream, after_number;
    if (ops->is_launch) {
        struct itrace_call *call = add_call(own, CALL_LAUNCH); /* which itracing_launch has added */
        call->field[0] = number;
        call->field[1] = own->trace->launch_count - 1;
    } else if (ops->begin_is_pure && ops->begin(command, &task) == TURN_TASK) {
        note_task(own, number, &task);
    } else if (command->after.stream &&
               name_command(command->after.stream, command->after.number, &after_stream, &after_number)) {
        struct itrace_call *call = add_call(own, CALL_AFTER);
        call->field[0] = number;
        call->field[1] = after_stream;
        call->field[2] = after_number;
    } else {
        struct itrace_call *call = add_call(own, CALL_COMMAND);
        call->field[0] = number;
        call->field[1] = ops->holds;
    }
    pthread_mutex_unlock(&own->lock);
}

void itracing_touch(struct driver *driver, uint64_t at, uint64_t bytes, uint32_t use)
{
    struct itracing *own = driver->itracing;
    const struct command *by = commands_running();
    if (!own || use == MEMORY_TAKEN_OVER) /* a launch that is not timed does that, when it is replayed */
        return;
    pthread_mutex_lock(&own->lock);
    struct itrace_call *call = add_call(own, by && by->stream->traced ? CALL_TOUCH_BY : CALL_TOUCH);
    call->field[0] = at;
    call->field[1] = bytes;
    call->field[2] = use;
    if (call->kind == CALL_TOUCH_BY) {
        call->field[3] = by->stream->traced - 1;
        call->field[4] = by->number - by->stream->traced_from;
    }
    pthread_mutex_unlock(&own->lock);
}

void itracing_manage(struct driver *driver, const struct managed_order *order)
{
    struct itracing *own = driver->itracing;
    bool is_own = order->kind == MANAGED_CALLED || order->kind == MANAGED_LOOKED_AT ||
                  order->kind == MANAGED_ROOM; /* the timeline makes these when it is replayed, too */
    if (!own || is_own)
        return;
    pthread_mutex_lock(&own->lock);
    struct itrace_call *call = add_call(own, CALL_MANAGE);
    call->field[0] = (uint64_t)order->kind;
    call->field[1] = order->on;
    call->field[2] = order->place;
    call->field[3] = order->at.packed;
    call->field[4] = order->bytes;
    pthread_mutex_unlock(&own->lock);
}

void itracing_lends(struct driver *driver, uint64_t at, uint64_t bytes)
{
    struct itracing *own = driver->itracing;
    if (!own)
        return;
    pthread_mutex_lock(&own->lock);
    struct itrace_call *call = add_call(own, CALL_LENDS);
    call->field[0] = at;
    call->field[1] = bytes;
    pthread_mutex_unlock(&own->lock);
}

/* ---- launches ---- */

void itracing_launch(struct driver *driver, const struct itracing_launch *launch)
{
    struct itracing *own = driver->itracing;
    if (!own)
        return;
    pthread_mutex_lock(&own->lock);
    struct itrace *trace = own->trace;
    mem_grow(trace->launches, trace->launch_count, trace->launch_capacity);
    struct itrace_launch *to = &trace->launches[trace->launch_count++];
    *to = (struct itrace_launch){.number = launch->number,
                                 .device = launch->device,
                                 .dimensions = launch->config->dimensions,
                                 .shared_bytes = launch->config->shared_bytes,
                                 .carveout_bytes = launch->carveout_bytes,
                                 .max_dynamic = launch->max_dynamic,
                                 .carveout = (uint32_t)launch->carveout,
                                 .cache = (uint32_t)launch->cache,
                                 .cooperative = launch->config->cooperative,
                                 .doubts = launch->uses_heap ? 1u << DOUBT_HEAP : 0};
    const uint32_t *asked = launch->config->cluster, *own_size = kernel_facts(launch->kernel)->cluster;
    memcpy(to->cluster, asked[0] || asked[1] || asked[2] ? asked : own_size, sizeof to->cluster);
    memcpy(to->grid, launch->config->grid, sizeof to->grid);
    memcpy(to->block, launch->config->block, sizeof to->block);
    if (launch->place_count) {
        to->places = mem_alloc(launch->place_count, sizeof *to->places);
        memcpy(to->places, launch->places, launch->place_count * sizeof *to->places);
        to->place_count = launch->place_count;
    }
    itrace_recorder_skip(own->recorder, launch->kernel, trace->launch_count - 1);
    pthread_mutex_unlock(&own->lock);
}

/* With the lock held. */
static size_t find_launch(const struct itrace *trace, uint64_t number)
{
    size_t low = 0, high = trace->launch_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (trace->launches[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    REQUIRE(low < trace->launch_count && trace->launches[low].number == number);
    return low;
}

struct observer *itracing_begin(struct driver *driver, uint64_t number, struct kernel *kernel)
{
    struct itracing *own = driver->itracing;
    if (!own || itrace_writer_is_full(own->writer))
        return NULL;
    pthread_mutex_lock(&own->lock);
    struct observer *observer = itrace_recorder_begin(own->recorder, kernel, find_launch(own->trace, number));
    pthread_mutex_unlock(&own->lock);
    return observer;
}

void itracing_end(struct driver *driver, struct observer *observer, bool good,
                  const struct launch_result *result)
{
    struct itracing *own = driver->itracing;
    if (!observer)
        return;
    pthread_mutex_lock(&own->lock);
    itrace_recorder_end(own->recorder, observer, good, result);
    if (!good && !own->trace->why_cut)
        own->trace->why_cut =
            mem_text(driver_is_interrupted(driver) ? "it was interrupted" : "a launch failed");
    pthread_mutex_unlock(&own->lock);
}

/* ---- the end ---- */

static void add_arena(struct itrace *trace, const struct arena *arena)
{
    uint64_t bytes = arena->next - arena->base; /* the first are nobody's */
    mem_grow(trace->arenas, trace->arena_count, trace->arena_capacity);
    trace->arenas[trace->arena_count++] =
        (struct itrace_arena){.base = arena->base, .bytes = bytes > ARENA_FIRST_BYTES ? bytes : 0};
}

static void tell_whole(const struct itrace *trace, const char *folder, struct text *line)
{
    uint64_t recorded = 0, instructions = 0, bytes = 0;
    for (size_t i = 0; i < trace->launch_count; i++) {
        const struct itrace_launch *launch = &trace->launches[i];
        recorded += launch->recorded;
        instructions += launch->recorded ? launch->counts.warp_instructions : 0;
        for (size_t k = 0; k < launch->chunk_count; k++)
            bytes += launch->chunks[k].bytes;
    }
    text_add(line, "whole %zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", trace->launch_count, recorded,
             instructions, bytes, folder);
    if (trace->why_cut)
        text_add(line, "cut %s\n", trace->why_cut);
}

bool itracing_finish(struct driver *driver, struct err *err)
{
    struct itracing *own = driver->itracing;
    struct itrace *trace = own->trace;
    struct text line = {0};
    struct err ignored;
    add_arena(trace, &driver->memory.host);
    add_arena(trace, &driver->memory.managed);
    for (unsigned i = 0; i < driver->device_count; i++)
        add_arena(trace, &driver->devices[i].arena);
    if (!trace->lanes)
        trace->lanes = (uint32_t)driver->devices[0].spec->warp_lanes;
    itrace_recorder_free(own->recorder);
    bool good = itrace_writer_finish(own->writer, trace, err);
    if (good)
        tell_whole(trace, own->folder.at, &line);
    else
        text_add(&line, "failed %s\n", err->text);
    good = write_note(own, line.at, good ? err : &ignored) && good;
    text_fini(&line);
    text_fini(&own->folder);
    text_fini(&own->note);
    blob_fini(&own->filled);
    blob_fini(&own->sums);
    mem_free(own->ranges.at);
    itrace_free(trace);
    pthread_mutex_destroy(&own->lock);
    mem_free(own);
    driver->itracing = NULL;
    return good;
}
