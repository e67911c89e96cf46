/* Copies and fills, of one to three dimensions. All memory is in the host's address space, so a copy is a
 * plain copy; what matters is when it happens, and which memory may be accessed. In simulated time the
 * machine moves the bytes. */
#include "driver/checking.h"
#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/machine.h"

enum { STAGED = 64 * 1024 }; /* up to so many pageable bytes are taken along, as CUDA does */

/* One side, as plain addresses. */
struct side {
    unsigned char *at;
    uint64_t pitch, slice;
    enum memory_kind kind;
    struct device *device; /* NULL: of the host */
};

struct box {
    uint64_t width, height, depth; /* width in bytes */
};

static uint64_t box_bytes(const struct box *box)
{
    return box->width * box->height * box->depth;
}

/* The bytes from the first to behind the last; false when that is more than can be counted. */
static bool extent(const struct side *side, const struct box *box, uint64_t *bytes)
{
    uint64_t rows, slices;
    return !__builtin_mul_overflow(box->height - 1, side->pitch, &rows) &&
           !__builtin_mul_overflow(box->depth - 1, side->slice, &slices) &&
           !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, box->width, bytes);
}

static enum result place_array(const struct copy_side *from, const struct box *box, struct side *side)
{
    const struct array *array = from->array;
    uint64_t depth = max_u64(array->shape.depth, 1);
    if (from->x_bytes + box->width > array->shape.width * array->element_bytes ||
        from->y + box->height > array->rows || from->z + box->depth > depth)
        return driver_fail(RESULT_INVALID_VALUE, "the copy goes beyond the array's edges");
    uint64_t slice = array->pitch * array->rows;
    uint64_t at = array->address + from->z * slice + from->y * array->pitch + from->x_bytes;
    *side = (struct side){(unsigned char *)(uintptr_t)at, array->pitch, slice, MEMORY_ARRAY, array->device};
    return RESULT_SUCCESS;
}

static enum result place(struct driver *driver, const struct copy_side *from, const struct box *box,
                         bool writes, struct side *side)
{
    if (from->array)
        return place_array(from, box, side);
    uint64_t pitch = from->pitch ? from->pitch : box->width;
    uint64_t slice = pitch * (from->rows ? from->rows : box->height);
    if (pitch < box->width)
        return driver_fail(RESULT_INVALID_PITCH, "a pitch of %llu bytes is less than a row of %llu",
                           (unsigned long long)pitch, (unsigned long long)box->width);
    uint64_t at = from->address + from->z * slice + from->y * pitch + from->x_bytes, bytes;
    *side = (struct side){.at = (unsigned char *)(uintptr_t)at, .pitch = pitch, .slice = slice};
    struct memory_facts facts;
    bool known = memory_find(driver, at, &facts);
    side->kind = facts.kind;
    side->device = from->is_lent ? NULL : facts.device;
    if (!at || !extent(side, box, &bytes) || (from->must_be_device && !known) ||
        facts.kind == MEMORY_INTERNAL)
        return driver_fail(RESULT_INVALID_VALUE, "0x%llx is no address of a device", (unsigned long long)at);
    if (driver->timeline && !known && bytes > TASK_HOST_BYTES_MOST)
        return driver_fail(RESULT_INVALID_VALUE, "%llu bytes from the first to the last are too many",
                           (unsigned long long)bytes);
    if (known && !memory_reaches(driver, at, bytes, writes))
        return driver_fail(RESULT_INVALID_VALUE,
                           "%llu bytes at 0x%llx go beyond what may be touched of the %llu bytes at 0x%llx",
                           (unsigned long long)bytes, (unsigned long long)at, (unsigned long long)facts.bytes,
                           (unsigned long long)facts.base);
    return RESULT_SUCCESS;
}

/* ---- copies ---- */

struct copy_command {
    struct command base;
    struct side to, from;
    struct box box;
    unsigned char *staged; /* what it owns of the source; or NULL */
    struct copy *asked;    /* of one that was captured: what was asked for; or NULL */
    enum copy_direction direction;
};

/* The program's own memory, and what it mapped, is left as it is. */
static bool is_of_arena(const struct side *side)
{
    return side->kind != MEMORY_UNKNOWN && side->kind != MEMORY_REGISTERED && side->kind != MEMORY_MAPPED;
}

static void expect_writes(const struct side *to, const struct box *box)
{
    uint64_t bytes;
    if (is_of_arena(to) && extent(to, box, &bytes) && bytes / 2 <= box_bytes(box))
        arena_expect_writes((uint64_t)(uintptr_t)to->at, bytes);
}

static void copy_rows(const struct side *to, const struct side *from, const struct box *box)
{
    bool tight = to->pitch == box->width && from->pitch == box->width;
    for (uint64_t z = 0; z < box->depth; z++) {
        unsigned char *d = to->at + z * to->slice;
        const unsigned char *s = from->at + z * from->slice;
        if (tight) {
            memmove(d, s, box->width * box->height);
            continue;
        }
        for (uint64_t y = 0; y < box->height; y++)
            memmove(d + y * to->pitch, s + y * from->pitch, box->width);
    }
}

static struct task_side task_side(const struct side *side)
{
    return (struct task_side){.at = (uintptr_t)side->at,
                              .pitch = side->pitch,
                              .slice = side->slice,
                              .is_host = !side->device,
                              .is_pageable = !side->device && side->kind == MEMORY_UNKNOWN};
}

static void set_box(struct task *task, const struct box *box)
{
    task->width = box->width;
    task->height = box->height;
    task->depth = box->depth;
}

/* Between two GPUs, one must have access to the other. Else the driver copies to a buffer of the host's, and
 * from there. */
static enum copy_direction direction_of(struct driver *driver, const struct side *to, const struct side *from)
{
    if (!from->device || !to->device)
        return from->device ? COPY_TO_HOST : COPY_TO_DEVICE;
    if (to->device == from->device)
        return COPY_ON_DEVICE;
    return memory_is_seen(driver, from->device, (uintptr_t)to->at) ||
                   memory_is_seen(driver, to->device, (uintptr_t)from->at)
               ? COPY_PEER
               : COPY_STAGED;
}

/* Between places of the host it takes no simulated time. */
static enum command_turn begin_copy(struct command *command, struct task *task)
{
    const struct copy_command *copy = (struct copy_command *)command;
    const struct device *to = copy->to.device, *from = copy->from.device;
    if (!to && !from)
        return TURN_NOW;
    task->gpu = to ? to->index : from->index;
    task->direction = copy->direction;
    task->is_plain = (to ? to : from)->driver->options.timing.plain_copies;
    task->to = task_side(&copy->to);
    task->from = task_side(&copy->from);
    set_box(task, &copy->box);
    expect_writes(&copy->to, &copy->box);
    return TURN_TASK;
}

static void note(const struct command *command, const struct task *task, enum copy_kind kind, uint64_t bytes)
{
    struct driver *driver = command->stream->device->driver;
    struct copy_record record = {.kind = kind,
                                 .device = driver->first_gpu + task->gpu,
                                 .bytes = bytes,
                                 .start_ps = task->start_ps,
                                 .end_ps = task->end_ps};
    if (!driver->options.timing.untimed)
        ledger_add_copy(&driver->ledger, &record);
}

/* For checks: which bytes went where. */
static void tell_checks(struct driver *driver, const struct side *to, const struct side *from,
                        const struct box *box)
{
    for (uint64_t z = 0; z < box->depth; z++)
        for (uint64_t y = 0; y < box->height; y++)
            checking_copied(driver, (uintptr_t)to->at + z * to->slice + y * to->pitch,
                            (uintptr_t)from->at + z * from->slice + y * from->pitch, box->width, !to->device,
                            !from->device);
}

static void run_copy(struct command *command)
{
    struct copy_command *copy = (struct copy_command *)command;
    struct driver *driver = command->stream->device->driver;
    if (driver->checking)
        tell_checks(driver, &copy->to, &copy->from, &copy->box);
    expect_writes(&copy->to, &copy->box);
    copy_rows(&copy->to, &copy->from, &copy->box);
}

static void end_copy(struct command *command, struct task *task)
{
    const struct copy_command *copy = (const struct copy_command *)command;
    if (task->state == TASK_DONE)
        note(command, task, (enum copy_kind)task->direction, box_bytes(&copy->box));
}

static void fini_copy(struct command *command)
{
    mem_free(((struct copy_command *)command)->staged);
    mem_free(((struct copy_command *)command)->asked);
}

static void copy_copy(struct command *command)
{
    ((struct copy_command *)command)->asked = NULL; /* nobody asks a launch of it */
}

void command_copy_facts(const struct command *command, struct copy *copy)
{
    *copy = *((const struct copy_command *)command)->asked;
}

static uint64_t copy_call_ps(const struct command *command)
{
    const struct copy_command *copy = (const struct copy_command *)command;
    const struct device *device = copy->to.device ? copy->to.device : copy->from.device;
    if (!device)
        return 0;
    struct task task = {.gpu = device->index, .to = task_side(&copy->to), .from = task_side(&copy->from)};
    set_box(&task, &copy->box);
    return timeline_copy_ps(device->driver, &task);
}

static const struct command_ops copy_ops = {.bytes = sizeof(struct copy_command),
                                            .call_ps = copy_call_ps,
                                            .run = run_copy,
                                            .copy = copy_copy,
                                            .fini = fini_copy,
                                            .kind = ACTION_COPY,
                                            .begin = begin_copy,
                                            .end = end_copy,
                                            .begin_is_pure = true};

/* Reads the source now, so that the program may change it. */
static void stage(struct copy_command *copy)
{
    struct side tight = {.pitch = copy->box.width, .slice = copy->box.width * copy->box.height}; /* host's */
    copy->staged = tight.at = mem_alloc(box_bytes(&copy->box), 1);
    copy_rows(&tight, &copy->from, &copy->box);
    copy->from = tight;
}

static bool is_device(enum memory_kind kind)
{
    return kind == MEMORY_DEVICE || kind == MEMORY_ARRAY || kind == MEMORY_VARIABLE || kind == MEMORY_MAPPED;
}

static enum result submit_and_wait(struct stream *stream, struct command *command)
{
    uint64_t number;
    enum result result = commands_submit(stream, command, true, &number);
    if (result)
        return result;
    commands_wait(stream, number);
    return stream->device->error;
}

static enum result submit(struct stream *stream, struct copy_command *copy, bool wait)
{
    bool pageable_from = copy->from.kind == MEMORY_UNKNOWN, pageable_to = copy->to.kind == MEMORY_UNKNOWN;
    bool captured = copy->asked;
    if (wait && captured) {
        command_free(&copy->base);
        return driver_fail(RESULT_STREAM_CAPTURE_UNSUPPORTED,
                           "nothing can wait for a stream that is captured");
    }
    if (wait)
        wait = !is_device(copy->from.kind) || !is_device(copy->to.kind);
    else if (!captured && pageable_from && !pageable_to && box_bytes(&copy->box) <= STAGED)
        stage(copy);
    else if (!captured)
        wait = pageable_from || pageable_to;
    return wait ? submit_and_wait(stream, &copy->base) : commands_submit(stream, &copy->base, false, NULL);
}

/* Sets no command where there is nothing to copy. */
static enum result new_copy(struct stream *stream, const struct copy *copy, struct copy_command **made)
{
    struct driver *driver = stream->device->driver;
    struct box box = {copy->width_bytes, copy->height, copy->depth};
    enum result result = device_usable(stream->device);
    *made = NULL;
    if (result || !box.width || !box.height || !box.depth)
        return result;
    struct side to, from;
    result = place(driver, &copy->to, &box, true, &to);
    if (!result)
        result = place(driver, &copy->from, &box, false, &from);
    if (result)
        return result;
    struct copy_command *command = (struct copy_command *)command_new(&copy_ops);
    command->to = to;
    command->from = from;
    command->box = box;
    command->direction = direction_of(driver, &to, &from);
    if (stream_is_captured(stream)) {
        command->asked = mem_alloc(1, sizeof *copy);
        *command->asked = *copy;
    }
    *made = command;
    return RESULT_SUCCESS;
}

enum result stream_copy(struct stream *stream, const struct copy *copy, bool wait)
{
    struct copy_command *command;
    enum result result = new_copy(stream, copy, &command);
    return command ? submit(stream, command, wait) : result;
}

enum result stream_copy_later(struct stream *stream, const struct copy *copy)
{
    struct copy_command *command;
    enum result result = new_copy(stream, copy, &command);
    return command ? commands_submit(stream, &command->base, false, NULL) : result;
}

enum result stream_copy_bytes(struct stream *stream, uint64_t to, uint64_t from, uint64_t bytes, bool wait)
{
    struct copy copy = {
        .to.address = to, .from.address = from, .width_bytes = bytes, .height = 1, .depth = 1};
    return stream_copy(stream, &copy, wait);
}

/* ---- fills ---- */

struct fill_command {
    struct command base;
    struct side to;
    struct box box;
    uint32_t value, element_bytes;
};

static void fill_row(const struct fill_command *fill, unsigned char *to, uint64_t bytes)
{
    uint32_t value = fill->value, element_bytes = fill->element_bytes;
    if (!value && is_of_arena(&fill->to)) {
        arena_zero((uint64_t)(uintptr_t)to, bytes);
        return;
    }
    if (element_bytes == 1) {
        memset(to, (int)value, bytes);
        return;
    }
    for (uint64_t i = 0; i < bytes; i += element_bytes)
        memcpy(to + i, &value, element_bytes);
}

static enum command_turn begin_fill(struct command *command, struct task *task)
{
    const struct fill_command *fill = (struct fill_command *)command;
    if (!fill->to.device)
        return TURN_NOW;
    static const uint32_t repeat[] = {[1] = 0x01010101, [2] = 0x00010001, [4] = 1};
    uint32_t mask = fill->element_bytes == 4 ? UINT32_MAX : (1u << 8 * fill->element_bytes) - 1;
    task->gpu = fill->to.device->index;
    task->direction = COPY_ON_DEVICE;
    task->to = task_side(&fill->to);
    task->is_fill = true;
    task->fill_word = (fill->value & mask) * repeat[fill->element_bytes];
    set_box(task, &fill->box);
    return TURN_TASK;
}

static void tell_filled(struct driver *driver, const struct side *to, const struct box *box)
{
    for (uint64_t z = 0; z < box->depth && driver->checking; z++)
        for (uint64_t y = 0; y < box->height; y++)
            checking_filled(driver, (uintptr_t)to->at + z * to->slice + y * to->pitch, box->width);
}

static void run_fill(struct command *command)
{
    const struct fill_command *fill = (struct fill_command *)command;
    if (fill->value)
        expect_writes(&fill->to, &fill->box);
    bool tight = fill->to.pitch == fill->box.width && fill->to.slice == fill->box.width * fill->box.height;
    struct box rows = tight ? (struct box){box_bytes(&fill->box), 1, 1} : fill->box;
    for (uint64_t z = 0; z < rows.depth; z++) {
        for (uint64_t y = 0; y < rows.height; y++)
            fill_row(fill, fill->to.at + z * fill->to.slice + y * fill->to.pitch, rows.width);
    }
    tell_filled(command->stream->device->driver, &fill->to, &fill->box);
}

static void end_fill(struct command *command, struct task *task)
{
    const struct fill_command *fill = (const struct fill_command *)command;
    if (task->state == TASK_DONE)
        note(command, task, COPIED_fill, box_bytes(&fill->box));
}

static const struct command_ops fill_ops = {.bytes = sizeof(struct fill_command),
                                            .run = run_fill,
                                            .begin = begin_fill,
                                            .end = end_fill,
                                            .kind = ACTION_FILL,
                                            .begin_is_pure = true};

void command_fill_facts(const struct command *command, struct fill *fill)
{
    const struct fill_command *from = (const struct fill_command *)command;
    *fill = (struct fill){.to = {.address = (uint64_t)(uintptr_t)from->to.at, .pitch = from->to.pitch},
                          .value = from->value,
                          .element_bytes = from->element_bytes,
                          .width = from->box.width / from->element_bytes,
                          .height = from->box.height,
                          .depth = from->box.depth};
}

enum result stream_fill(struct stream *stream, const struct fill *fill, bool wait)
{
    uint32_t element = fill->element_bytes;
    struct box box = {fill->width * element, fill->height, fill->depth};
    enum result result = device_usable(stream->device);
    if (result || !box.width || !box.height || !box.depth)
        return result;
    if ((element != 1 && element != 2 && element != 4) || (fill->to.address | fill->to.pitch) % element)
        return driver_fail(RESULT_INVALID_VALUE, "a fill is of aligned elements of 1, 2 or 4 bytes");
    struct copy_side where = fill->to;
    where.must_be_device = true;
    struct side to;
    result = place(stream->device->driver, &where, &box, true, &to);
    if (result) /* what is a wrong pitch for a copy is just a wrong value for a fill, in CUDA */
        return result == RESULT_INVALID_PITCH ? RESULT_INVALID_VALUE : result;
    struct fill_command *command = (struct fill_command *)command_new(&fill_ops);
    command->to = to;
    command->box = box;
    command->value = fill->value;
    command->element_bytes = element;
    if (wait && !is_device(to.kind) && !stream_is_captured(stream))
        return submit_and_wait(stream, &command->base);
    return commands_submit(stream, &command->base, false, NULL);
}
