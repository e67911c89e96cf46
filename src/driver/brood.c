#include "driver/brood.h"
#include "driver/modules.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdlib.h>

enum { LANES = 16, ROOM_BYTES = 16 << 20, ROOM_UNIT = 64, MOST_CALLS = 2048 * LANES };
enum { TAIL = 3, FIRE_AND_FORGET = 4, FIRST_HANDLE = 0x1000 }; /* CUDA's streams; handles of a kernel's own */

enum kind { LAUNCH, COPY, FILL };

/* What a kernel asked for. */
struct entry {
    enum kind kind;
    bool is_ready; /* else only its arguments have a place */
    struct device_launch what;
    uint64_t bytes, from, to;
    uint32_t value;
    uint64_t number; /* of all: those of one block are in their order */
};

struct brood {
    struct device *device;
    struct module *module;
    pthread_mutex_t lock;
    _Atomic unsigned users;
    struct entry *entries;
    size_t count, capacity;
    uint64_t room;              /* for arguments: a part for each SM, so that no address depends on chance */
    uint64_t part_bytes, *used; /* of each part */
    uint64_t handles;
    int last_error;  /* of a launch; a GPU has one for each thread */
    bool has_events; /* of kernels: what they order is not looked at, so all runs in one stream */
};

struct brood *brood_new(struct device *device, struct module *module)
{
    struct brood *brood = mem_alloc(1, sizeof *brood);
    uint64_t parts = device->spec->sm_count;
    const struct memory_request request = {.kind = MEMORY_VARIABLE,
                                           .bytes = ROOM_BYTES,
                                           .alignment = ROOM_UNIT,
                                           .what = "arguments of launches by kernels"};
    *brood = (struct brood){.device = device, .module = module, .users = 1};
    pthread_mutex_init(&brood->lock, NULL);
    brood->part_bytes = ROOM_BYTES / parts / ROOM_UNIT * ROOM_UNIT;
    brood->used = mem_alloc(parts, sizeof *brood->used);
    if (memory_take(device->driver, device, &request, &brood->room))
        brood->room = 0;
    return brood;
}

void brood_release(struct brood *brood)
{
    if (--brood->users)
        return;
    if (brood->room)
        memory_give(brood->device->driver, brood->room);
    pthread_mutex_destroy(&brood->lock);
    mem_free(brood->entries);
    mem_free(brood->used);
    mem_free(brood);
}

/* ---- what kernels call; codes are CUDA's ---- */

enum { SUCCESS, INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, PENDING_EXCEEDED = 69 };

static struct entry *add(struct brood *brood, const struct entry *entry)
{
    mem_grow(brood->entries, brood->count, brood->capacity);
    brood->entries[brood->count] = *entry;
    brood->entries[brood->count].number = brood->count;
    return &brood->entries[brood->count++];
}

static uint64_t take_room(void *user, uint32_t sm, uint64_t bytes)
{
    struct brood *brood = user;
    uint32_t part = sm == UINT32_MAX ? 0 : sm;
    bytes = max_u64((bytes + ROOM_UNIT - 1) / ROOM_UNIT * ROOM_UNIT, ROOM_UNIT);
    pthread_mutex_lock(&brood->lock);
    uint64_t limit = sm == UINT32_MAX ? ROOM_BYTES : brood->part_bytes, at = 0;
    if (brood->room && brood->used[part] + bytes <= limit && brood->count < MOST_CALLS) {
        at = brood->room + part * brood->part_bytes + brood->used[part];
        brood->used[part] += bytes;
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

static int start(void *user, uint64_t arguments, uint64_t stream, uint64_t block)
{
    struct brood *brood = user;
    int code = INVALID_VALUE;
    pthread_mutex_lock(&brood->lock);
    for (size_t i = brood->count; i-- > 0;) {
        struct entry *entry = &brood->entries[i];
        if (entry->kind != LAUNCH || entry->what.arguments != arguments)
            continue;
        code = entry->is_ready ? INVALID_VALUE : check(brood, &entry->what);
        entry->what.stream = stream;
        entry->what.from_block = block;
        entry->is_ready = entry->is_ready || !code;
        break;
    }
    brood->last_error = code ? code : brood->last_error;
    pthread_mutex_unlock(&brood->lock);
    return code;
}

static int move(void *user, const struct device_copy *what)
{
    struct brood *brood = user;
    const struct entry entry = {.kind = what->is_fill ? FILL : COPY,
                                .is_ready = true,
                                .what = {.stream = what->stream, .from_block = what->from_block},
                                .to = what->to,
                                .from = what->from,
                                .value = what->value,
                                .bytes = what->bytes};
    pthread_mutex_lock(&brood->lock);
    bool room = brood->count < MOST_CALLS;
    if (room && what->bytes)
        add(brood, &entry);
    pthread_mutex_unlock(&brood->lock);
    return room ? SUCCESS : PENDING_EXCEEDED;
}

static uint64_t new_handle(void *user, bool is_event)
{
    struct brood *brood = user;
    pthread_mutex_lock(&brood->lock);
    brood->has_events |= is_event;
    uint64_t handle = FIRST_HANDLE + ++brood->handles;
    pthread_mutex_unlock(&brood->lock);
    return handle;
}

static int last_error(void *user, bool clears)
{
    struct brood *brood = user;
    pthread_mutex_lock(&brood->lock);
    int code = brood->last_error;
    brood->last_error = clears ? SUCCESS : code;
    pthread_mutex_unlock(&brood->lock);
    return code;
}

static uint32_t device_number(void *user, uint32_t *count)
{
    const struct device *device = ((struct brood *)user)->device;
    *count = device->driver->device_count;
    return device->index;
}

const struct device_calls brood_calls = {take_room,  prepare,    start,        move,
                                         new_handle, last_error, device_number};

/* ---- the command ---- */

enum phase { NOT_BEGUN, CHILDREN, TAILS, OVER };

struct brood_command {
    struct command base;
    struct brood *brood;
    enum phase phase;
    struct stream *lanes[LANES];
};

static int by_block(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->what.from_block != y->what.from_block)
        return x->what.from_block < y->what.from_block ? -1 : 1;
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

static enum result submit(const struct brood *brood, struct stream *stream, const struct entry *entry)
{
    if (entry->kind == LAUNCH)
        return submit_launch(brood, stream, &entry->what);
    if (entry->kind == COPY)
        return stream_copy_bytes(stream, entry->to, entry->from, entry->bytes, false);
    const struct fill fill = {.to = {.address = entry->to, .must_be_device = true},
                              .value = entry->value,
                              .element_bytes = 1,
                              .width = entry->bytes,
                              .height = 1,
                              .depth = 1};
    return stream_fill(stream, &fill, false);
}

/* Streams of one block, and its default one, are each in one lane; without time there is one lane. */
static struct stream *lane_of(struct brood_command *own, const struct entry *entry, size_t index)
{
    const struct brood *brood = own->brood;
    uint64_t key =
        entry->what.stream == FIRE_AND_FORGET ? index : entry->what.from_block * 31 + entry->what.stream;
    bool one = !brood->device->driver->timeline || brood->has_events || entry->what.stream == TAIL;
    struct stream **lane = &own->lanes[one ? 0 : key % LANES];
    if (!*lane && stream_new(brood->device, STREAM_NON_BLOCKING, own->base.stream->priority, lane))
        *lane = NULL;
    return *lane;
}

/* Whether there was any. */
static bool submit_all(struct brood_command *own, bool tails)
{
    const struct brood *brood = own->brood;
    struct driver *driver = brood->device->driver;
    bool any = false;
    for (size_t i = 0; i < brood->count && !brood->device->error; i++) {
        const struct entry *entry = &brood->entries[i];
        struct stream *lane;
        if (!entry->is_ready || (entry->what.stream == TAIL) != tails || !(lane = lane_of(own, entry, i)))
            continue;
        any = true;
        if (submit(brood, lane, entry)) {
            driver_report(driver, driver_detail());
            device_fail(brood->device, RESULT_LAUNCH_FAILED);
        }
    }
    return any;
}

static bool is_busy(const struct brood_command *own)
{
    for (int i = 0; i < LANES; i++) {
        if (own->lanes[i] && !stream_drained(own->lanes[i]))
            return true;
    }
    return false;
}

/* Begins what is next, unless that is nothing. */
static bool go_on(struct brood_command *own)
{
    struct brood *brood = own->brood;
    if (own->phase == NOT_BEGUN) {
        if (brood->count)
            qsort(brood->entries, brood->count, sizeof *brood->entries, by_block);
        own->phase = CHILDREN;
        if (submit_all(own, false))
            return true;
    }
    if (own->phase == CHILDREN) {
        own->phase = TAILS;
        if (submit_all(own, true))
            return true;
    }
    own->phase = OVER;
    return false;
}

static void end_lanes(struct brood_command *own)
{
    for (int i = 0; i < LANES; i++) {
        if (own->lanes[i])
            stream_free(own->lanes[i]);
        own->lanes[i] = NULL;
    }
}

static void run_brood(struct command *command)
{
    struct brood_command *own = (struct brood_command *)command;
    while (own->phase != OVER && go_on(own)) {
        for (int i = 0; i < LANES; i++) {
            if (own->lanes[i])
                commands_wait(own->lanes[i], own->lanes[i]->submitted);
        }
    }
    end_lanes(own);
}

static enum command_turn begin_brood(struct command *command, struct task *task)
{
    struct brood_command *own = (struct brood_command *)command;
    (void)task;
    return is_busy(own) || go_on(own) ? TURN_LATER : TURN_NOW;
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
    command->brood = brood;
    brood->users++;
    return &command->base;
}
