#include "driver/brood.h"
#include "driver/modules.h"
#include "driver/timeline.h"
#include "driver/updates.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>

enum { LANES = 16, ROOM_BYTES = 16 << 20, ROOM_UNIT = 64, MOST_CALLS = 2048 * LANES };
enum { TAIL = 3, FIRE_AND_FORGET = 4, FIRST_HANDLE = 0x1000 }; /* CUDA's streams; handles of a kernel's own */
#define GRAPH_TAIL            UINT64_C(0x0100000000000000)     /* CUDA's, of launches of graphs */
#define GRAPH_FIRE_AND_FORGET UINT64_C(0x0200000000000000)
#define GRAPH_SIBLING         UINT64_C(0x0300000000000000)

enum kind { LAUNCH, COPY, FILL, GRAPH, UPDATE };

/* What a kernel asked for. */
struct entry {
    enum kind kind;
    bool is_ready; /* else only its arguments have a place */
    struct device_launch what;
    struct device_copy copy;
    const struct play *play;
    struct device_update update;
    void *value;     /* of it; or NULL */
    uint64_t number; /* of all: those of one block are in their order */
};

/* Of a thread: of its launches. */
struct thread_error {
    uint64_t block;
    uint32_t thread;
    int code;
};

/* Of an SM: several take theirs at a time, so that no address or handle depends on chance. */
struct brood_part {
    uint64_t used_bytes; /* of its part of the room */
    uint64_t handles;
};

struct brood {
    struct brood *next; /* of the timeline's */
    struct device *device;
    struct module *module; /* of the kernel's; NULL: of a graph, */
    struct brood *graph;   /* whose kernel this one is; or NULL */
    struct brood *parent;  /* of a graph that a kernel launched: of the graph that this one is in; or NULL */
    pthread_mutex_t lock;
    _Atomic unsigned users;
    bool is_listed;
    struct command *command;
    struct entry *entries;
    size_t count, capacity;
    size_t begun;     /* the first so many were submitted */
    uint64_t next_ps; /* when the next one is due; TIME_NEVER */
    uint64_t fired;   /* submitted without a stream */
    uint64_t room;    /* for arguments: a piece for each part, of so many bytes: */
    uint64_t part_bytes;
    struct brood_part *parts;
    uint64_t part_count;
    struct thread_error *errors; /* a thread has one at most */
    size_t error_count, error_capacity;
    bool has_events; /* of kernels: what they order is not looked at, so all runs in one stream, after the
                        kernel */
    struct stream *lanes[LANES];
};

static struct brood *make(struct device *device)
{
    struct brood *brood = mem_alloc(1, sizeof *brood);
    *brood = (struct brood){.device = device, .users = 1, .next_ps = TIME_NEVER};
    pthread_mutex_init(&brood->lock, NULL);
    return brood;
}

static struct brood *keep(struct brood *brood)
{
    if (brood)
        brood->users++;
    return brood;
}

struct brood *brood_new(struct device *device, struct module *module, struct brood *graph)
{
    struct brood *brood = make(device);
    const struct memory_request request = {.kind = MEMORY_VARIABLE,
                                           .bytes = ROOM_BYTES,
                                           .alignment = ROOM_UNIT,
                                           .what = "arguments of launches by kernels"};
    brood->module = module;
    brood->graph = keep(graph);
    brood->part_count = device->spec->sm_count;
    brood->part_bytes = ROOM_BYTES / brood->part_count / ROOM_UNIT * ROOM_UNIT;
    brood->parts = mem_alloc(brood->part_count, sizeof *brood->parts);
    if (memory_take(device->driver, device, &request, &brood->room))
        brood->room = 0;
    brood_prepare_answers(device);
    return brood;
}

struct brood *brood_new_graph(struct device *device, struct brood *parent)
{
    struct brood *brood = make(device);
    brood->parent = keep(parent);
    return brood;
}

struct brood *brood_keep(struct brood *brood)
{
    return keep(brood);
}

static void unlist(struct brood *brood)
{
    struct driver *driver = brood->device->driver;
    if (!brood->is_listed)
        return;
    pthread_mutex_lock(&driver->commands.lock);
    struct brood **at = &driver->commands.broods;
    while (*at != brood)
        at = &(*at)->next;
    *at = brood->next;
    pthread_mutex_unlock(&driver->commands.lock);
}

void brood_release(struct brood *brood)
{
    if (!brood || --brood->users)
        return;
    unlist(brood);
    brood_release(brood->graph);
    brood_release(brood->parent);
    if (brood->room)
        memory_give(brood->device->driver, brood->room);
    pthread_mutex_destroy(&brood->lock);
    for (size_t i = 0; i < brood->count; i++)
        mem_free(brood->entries[i].value);
    mem_free(brood->entries);
    mem_free(brood->parts);
    mem_free(brood->errors);
    mem_free(brood);
}

/* ---- what kernels call; codes are CUDA's ---- */

enum { SUCCESS, INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, PENDING_EXCEEDED = 69 };

/* When what was asked for begins. */
static uint64_t due_of(const struct brood *brood, const struct entry *entry)
{
    const struct system *system = system_of_device(&brood->device->driver->system, brood->device->index);
    struct clock_domain clock;
    clock_init(&clock, system->gpu.clock);
    return entry->what.when.time_ps + clock_time(&clock, system->dispatch.device_launch_cycles);
}

static struct entry *add(struct brood *brood, const struct entry *entry)
{
    mem_grow(brood->entries, brood->count, brood->capacity);
    brood->entries[brood->count] = *entry;
    brood->entries[brood->count].number = brood->count;
    return &brood->entries[brood->count++];
}

/* Without time there is one for all. */
static uint32_t part_of(uint32_t sm)
{
    return sm == UINT32_MAX ? 0 : sm;
}

static uint64_t take_room(void *user, uint32_t sm, uint64_t bytes)
{
    struct brood *brood = user;
    struct brood_part *part = &brood->parts[part_of(sm)];
    bytes = max_u64((bytes + ROOM_UNIT - 1) / ROOM_UNIT * ROOM_UNIT, ROOM_UNIT);
    pthread_mutex_lock(&brood->lock);
    uint64_t limit = sm == UINT32_MAX ? ROOM_BYTES : brood->part_bytes, at = 0;
    if (brood->room && part->used_bytes + bytes <= limit && brood->count < MOST_CALLS) {
        at = brood->room + part_of(sm) * brood->part_bytes + part->used_bytes;
        part->used_bytes += bytes;
    }
    pthread_mutex_unlock(&brood->lock);
    return at;
}

static void prepare(void *user, const struct device_launch *what)
{
    struct brood *brood = user;
    pthread_mutex_lock(&brood->lock);
    add(brood, &(struct entry){.kind = LAUNCH, .what = *what});
    pthread_mutex_unlock(&brood->lock);
}

static int check(const struct brood *brood, const struct device_launch *what)
{
    const struct gpu_spec *gpu = brood->device->spec;
    const uint32_t *grid = what->grid, *block = what->block;
    bool fits = grid[0] && grid[1] && grid[2] && grid[0] <= gpu->grid_x && grid[1] <= gpu->grid_y &&
                grid[2] <= gpu->grid_z && block[0] && block[1] && block[2] && block[0] <= gpu->block_x &&
                block[1] <= gpu->block_y && block[2] <= gpu->block_z &&
                (uint64_t)block[0] * block[1] * block[2] <= gpu->threads_per_block;
    return fits ? SUCCESS : INVALID_CONFIGURATION;
}

/* In simulated time a call comes to where launches begin some time later. */
static void note_due(struct brood *brood, const struct entry *entry)
{
    if (brood->device->driver->timeline && entry->what.when.stream != TAIL &&
        entry->what.when.stream != GRAPH_TAIL && !brood->has_events)
        brood->next_ps = min_u64(brood->next_ps, due_of(brood, entry));
}

/* Of the thread that asks; NULL: it has none. */
static struct thread_error *error_of(const struct brood *brood, const struct device_moment *when)
{
    for (size_t i = 0; i < brood->error_count; i++)
        if (brood->errors[i].block == when->block && brood->errors[i].thread == when->thread)
            return &brood->errors[i];
    return NULL;
}

static void set_error(struct brood *brood, const struct device_moment *when, int code)
{
    struct thread_error *known = error_of(brood, when);
    if (!known) {
        mem_grow(brood->errors, brood->error_count, brood->error_capacity);
        known = &brood->errors[brood->error_count++];
    }
    *known = (struct thread_error){when->block, when->thread, code};
}

static int start(void *user, uint64_t arguments, const struct device_moment *when)
{
    struct brood *brood = user;
    int code = INVALID_VALUE;
    pthread_mutex_lock(&brood->lock);
    for (size_t i = brood->count; i-- > brood->begun;) {
        struct entry *entry = &brood->entries[i];
        if (entry->kind != LAUNCH || entry->what.arguments != arguments)
            continue;
        code = entry->is_ready ? INVALID_VALUE : check(brood, &entry->what);
        entry->what.when = *when;
        entry->is_ready = entry->is_ready || !code;
        if (!code)
            note_due(brood, entry);
        break;
    }
    if (code)
        set_error(brood, when, code);
    pthread_mutex_unlock(&brood->lock);
    return code;
}

static int move(void *user, const struct device_copy *what)
{
    struct brood *brood = user;
    const struct entry entry = {
        .kind = what->is_fill ? FILL : COPY, .is_ready = true, .what = {.when = what->when}, .copy = *what};
    pthread_mutex_lock(&brood->lock);
    bool room = brood->count < MOST_CALLS;
    if (room && what->bytes && what->rows && what->slices)
        note_due(brood, add(brood, &entry));
    pthread_mutex_unlock(&brood->lock);
    return room ? SUCCESS : PENDING_EXCEEDED;
}

/* Into the list of the graph that the kernel is a part of, or of the one that this came from. */
static int start_graph(void *user, uint64_t graph, const struct device_moment *when)
{
    struct brood *brood = user;
    const struct driver_library *library = brood->device->driver->library;
    struct entry entry = {.kind = GRAPH, .is_ready = true, .what = {.when = *when}};
    entry.play = library ? library->graph(graph) : NULL;
    if (!entry.play)
        return INVALID_VALUE;
    if (when->stream != GRAPH_TAIL && when->stream != GRAPH_FIRE_AND_FORGET && when->stream != GRAPH_SIBLING)
        return INVALID_VALUE;
    brood = brood->graph ? brood->graph : brood;
    if (when->stream == GRAPH_SIBLING && brood->parent)
        brood = brood->parent;
    pthread_mutex_lock(&brood->lock);
    bool room = brood->count < MOST_CALLS;
    if (room)
        note_due(brood, add(brood, &entry));
    pthread_mutex_unlock(&brood->lock);
    return room ? SUCCESS : PENDING_EXCEEDED;
}

/* Without time it is done at once; else in its turn among what the kernel asks for. */
static int update(void *user, const struct device_update *what, const void *value,
                  const struct device_moment *when)
{
    struct brood *brood = user;
    if (what->field != UPDATE_LIST && !updates_check(brood->device, what))
        return INVALID_VALUE;
    if (!brood->device->driver->timeline)
        return updates_make(brood->device, what, value) ? SUCCESS : INVALID_VALUE;
    struct entry entry = {.kind = UPDATE, .is_ready = true, .what = {.when = *when}, .update = *what};
    pthread_mutex_lock(&brood->lock);
    bool room = brood->count < MOST_CALLS;
    if (room && value) {
        entry.value = mem_alloc(what->bytes, 1);
        memcpy(entry.value, value, what->bytes);
    }
    if (room)
        note_due(brood, add(brood, &entry));
    pthread_mutex_unlock(&brood->lock);
    return room ? SUCCESS : PENDING_EXCEEDED;
}

static uint64_t new_handle(void *user, uint32_t sm, bool is_event)
{
    struct brood *brood = user;
    pthread_mutex_lock(&brood->lock);
    brood->has_events |= is_event;
    uint64_t handle = FIRST_HANDLE + brood->parts[part_of(sm)].handles++ * brood->part_count + part_of(sm);
    pthread_mutex_unlock(&brood->lock);
    return handle;
}

static int last_error(void *user, const struct device_moment *when, bool clears)
{
    struct brood *brood = user;
    pthread_mutex_lock(&brood->lock);
    struct thread_error *error = error_of(brood, when);
    int code = error ? error->code : SUCCESS;
    if (error && clears)
        *error = brood->errors[--brood->error_count];
    pthread_mutex_unlock(&brood->lock);
    return code;
}

static uint32_t device_number(void *user, uint32_t *count)
{
    const struct device *device = ((struct brood *)user)->device;
    *count = device->driver->device_count;
    return device->index;
}

static int ask(void *user, enum device_question what, const struct kernel *kernel, const uint64_t asked[2],
               struct device_answer *answer)
{
    return brood_answer(((struct brood *)user)->device, what, kernel, asked, answer);
}

const struct device_calls brood_calls = {take_room,  prepare,    start,         start_graph, move,
                                         new_handle, last_error, device_number, ask,         update};

/* ---- the command ---- */

struct brood_command {
    struct command base;
    struct brood *brood;
};

static bool is_tail(const struct entry *entry)
{
    return entry->what.when.stream == TAIL || entry->what.when.stream == GRAPH_TAIL;
}

/* Those in time, tails, those that have only a place. */
static int class_of(const struct entry *entry)
{
    return !entry->is_ready ? 2 : is_tail(entry);
}

static int in_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const struct device_moment *p = &x->what.when, *q = &y->what.when;
    if (class_of(x) != class_of(y))
        return class_of(x) - class_of(y);
    if (p->time_ps != q->time_ps && !is_tail(x))
        return p->time_ps < q->time_ps ? -1 : 1;
    if (p->block != q->block)
        return p->block < q->block ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static enum result submit_launch(const struct brood *brood, struct stream *stream,
                                 const struct device_launch *what)
{
    struct function *function;
    struct launch_config config = {.shared_bytes = what->shared_bytes};
    const struct kernel_facts *facts = kernel_facts(what->kernel);
    memcpy(config.grid, what->grid, sizeof config.grid);
    memcpy(config.block, what->block, sizeof config.block);
    enum result result = module_function(brood->module, facts->name, &function);
    timeline_touch(brood->device->driver, what->arguments, facts->param_bytes, MEMORY_READ);
    return result ? result
                  : stream_launch_packed(stream, function, &config, (const void *)(uintptr_t)what->arguments,
                                         facts->param_bytes);
}

static enum result submit_copy(struct stream *stream, const struct device_copy *what)
{
    const struct copy copy = {
        .from = {.address = what->from, .pitch = what->from_pitch, .rows = what->from_rows},
        .to = {.address = what->to, .pitch = what->to_pitch, .rows = what->to_rows},
        .width_bytes = what->bytes,
        .height = what->rows,
        .depth = what->slices};
    const struct fill fill = {
        .to = {.address = what->to, .pitch = what->to_pitch, .rows = what->to_rows, .must_be_device = true},
        .value = what->value,
        .element_bytes = 1,
        .width = what->bytes,
        .height = what->rows,
        .depth = what->slices};
    return what->is_fill ? stream_fill(stream, &fill, false) : stream_copy(stream, &copy, false);
}

/* A copy of it, as it may run again before a launch by the host, or stand in its own way. */
static enum result submit_graph(struct brood *brood, struct stream *stream, const struct play *play)
{
    struct play *copy = play_copy(play);
    enum result result = stream_play_within(stream, copy, brood);
    play_free(copy);
    return result;
}

/* Bytes of the GPU's memory, when the machine stands still; NULL: there are none. */
static const void *bytes_at(const struct brood *brood, uint64_t at, uint64_t bytes)
{
    struct memory_facts facts;
    struct driver *driver = brood->device->driver;
    if (!memory_find(driver, at, &facts) || facts.base + facts.bytes - at < bytes)
        return NULL;
    timeline_touch(driver, at, bytes, MEMORY_READ);
    return (const void *)(uintptr_t)at;
}

static enum result make_update(const struct brood *brood, const struct device_update *what, const void *value)
{
    const void *from =
        value || what->field != UPDATE_PARAM ? value : bytes_at(brood, what->value_at, what->bytes);
    if ((what->field == UPDATE_PARAM && !from) || !updates_make(brood->device, what, from))
        return driver_fail(RESULT_INVALID_VALUE, "a kernel changes a node of a graph, which is not there or "
                                                 "cannot be so (cudaGraphKernelNodeUpdatesApply)");
    return RESULT_SUCCESS;
}

static enum result make_updates(const struct brood *brood, const struct entry *entry)
{
    const struct device_update *what = &entry->update;
    enum result result = RESULT_SUCCESS;
    if (what->field != UPDATE_LIST)
        return make_update(brood, what, entry->value);
    for (uint64_t i = 0; i < what->bytes && !result; i++) {
        struct device_update_row row;
        struct device_update one = {0};
        const void *from = bytes_at(brood, what->value_at + i * sizeof row, sizeof row);
        if (from)
            memcpy(&row, from, sizeof row);
        if (!from || !launch_read_update(&row, &one))
            one.field = UPDATE_NONE;
        result = make_update(brood, &one, NULL);
    }
    return result;
}

static enum result submit(struct brood *brood, struct stream *stream, const struct entry *entry)
{
    if (entry->kind == GRAPH)
        return submit_graph(brood, stream, entry->play);
    if (entry->kind == UPDATE)
        return make_updates(brood, entry);
    return entry->kind == LAUNCH ? submit_launch(brood, stream, &entry->what)
                                 : submit_copy(stream, &entry->copy);
}

/* Handles of one SM are as far apart as there are SMs, which would put many into one lane. */
static uint64_t stream_number(const struct brood *brood, uint64_t stream)
{
    return stream < FIRST_HANDLE ? stream : 1 + (stream - FIRST_HANDLE) / brood->part_count;
}

/* Streams of one block, and its default one, are each in one lane; without time there is one lane. */
static struct stream *lane_of(struct brood *brood, const struct entry *entry)
{
    const struct device_moment *when = &entry->what.when;
    bool apart = entry->kind == GRAPH || when->stream == FIRE_AND_FORGET;
    uint64_t key = apart ? brood->fired++ : when->block * 31 + stream_number(brood, when->stream);
    bool one = !brood->device->driver->timeline || brood->has_events || is_tail(entry);
    struct stream **lane = &brood->lanes[one ? 0 : key % LANES];
    if (!*lane && stream_new(brood->device, STREAM_NON_BLOCKING, brood->command->stream->priority, lane))
        *lane = NULL;
    return *lane;
}

static void submit_next(struct brood *brood)
{
    struct entry *entry = &brood->entries[brood->begun++];
    struct driver *driver = brood->device->driver;
    struct stream *lane = brood->device->error ? NULL : lane_of(brood, entry);
    if (!lane || !submit(brood, lane, entry))
        return;
    driver_report(driver, driver_detail());
    device_fail(brood->device, RESULT_LAUNCH_FAILED);
}

static void sort_rest(struct brood *brood)
{
    if (brood->count > brood->begun)
        qsort(brood->entries + brood->begun, brood->count - brood->begun, sizeof *brood->entries, in_order);
}

/* Whether there was any. */
static bool submit_all(struct brood *brood, int class)
{
    bool any = false;
    while (brood->begun < brood->count && class_of(&brood->entries[brood->begun]) == class) {
        submit_next(brood);
        any = true;
    }
    return any;
}

/* ---- in simulated time, while the kernel runs ---- */

static void find_next(struct brood *brood)
{
    const struct entry *next = brood->begun < brood->count ? &brood->entries[brood->begun] : NULL;
    bool any = next && !class_of(next) && !brood->has_events;
    brood->next_ps = any ? due_of(brood, next) : TIME_NEVER;
}

static void begin_due(struct brood *brood, uint64_t now_ps)
{
    commands_set_running(brood->command);
    sort_rest(brood);
    for (find_next(brood); brood->next_ps <= now_ps; find_next(brood))
        submit_next(brood);
    commands_set_running(NULL);
}

uint64_t broods_next_ps(const struct driver *driver)
{
    uint64_t next = TIME_NEVER;
    for (const struct brood *brood = driver->commands.broods; brood; brood = brood->next)
        next = min_u64(next, brood->next_ps);
    return next;
}

bool broods_begin_due(struct driver *driver, uint64_t now_ps)
{
    bool any = false;
    for (;;) {
        struct brood *brood = driver->commands.broods;
        while (brood && brood->next_ps > now_ps)
            brood = brood->next;
        if (!brood)
            return any;
        any = true;
        keep(brood);
        pthread_mutex_unlock(&driver->commands.lock);
        begin_due(brood, now_ps);
        brood_release(brood);
        pthread_mutex_lock(&driver->commands.lock);
    }
}

/* ---- behind it ---- */

static bool is_busy(const struct brood *brood)
{
    for (int i = 0; i < LANES; i++) {
        if (brood->lanes[i] && !stream_drained(brood->lanes[i]))
            return true;
    }
    return false;
}

/* Begins what is next, unless that is nothing: tails behind all else. Graphs that were begun may have added
 * siblings meanwhile. */
static bool go_on(struct brood *brood)
{
    sort_rest(brood);
    return submit_all(brood, 0) || submit_all(brood, 1);
}

static void end_lanes(struct brood *brood)
{
    for (int i = 0; i < LANES; i++) {
        if (brood->lanes[i])
            stream_free(brood->lanes[i]);
        brood->lanes[i] = NULL;
    }
}

static void run_brood(struct command *command)
{
    struct brood *brood = ((struct brood_command *)command)->brood;
    while (go_on(brood)) {
        for (int i = 0; i < LANES; i++) {
            if (brood->lanes[i])
                commands_wait(brood->lanes[i], brood->lanes[i]->submitted);
        }
    }
    end_lanes(brood);
}

static enum command_turn begin_brood(struct command *command, struct task *task)
{
    struct brood *brood = ((struct brood_command *)command)->brood;
    bool waits = brood->next_ps != TIME_NEVER;
    (void)task;
    return waits || is_busy(brood) || go_on(brood) ? TURN_LATER : TURN_NOW;
}

static void fini_brood(struct command *command)
{
    brood_release(((struct brood_command *)command)->brood);
}

static const struct command_ops brood_ops = {
    .bytes = sizeof(struct brood_command), .run = run_brood, .fini = fini_brood, .begin = begin_brood};

struct command *brood_command(struct brood *brood)
{
    struct brood_command *command = (struct brood_command *)command_new(&brood_ops);
    struct brood **last = &brood->device->driver->commands.broods;
    while (*last)
        last = &(*last)->next;
    *last = brood;
    brood->is_listed = true;
    brood->command = &command->base;
    command->brood = keep(brood);
    return &command->base;
}
