/* Commands of a stream besides kernels and copies: host functions, and values that are waited for or written.
 */
#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/host.h"

#include <time.h>

struct host_command {
    struct command base;
    stream_host_fn *function;
    void *user;
};

static void run_host(struct command *command)
{
    struct host_command *host = (struct host_command *)command;
    struct device *device = command->stream->device;
    device_print_flush(device);
    host->function(host->user, device->error);
}

static const struct command_ops host_ops = {
    .bytes = sizeof(struct host_command), .run = run_host, .kind = ACTION_HOST, .is_host = true};
static const struct command_ops callback_ops = {
    .bytes = sizeof(struct host_command), .run = run_host, .on_error = true, .is_host = true};

void *command_host_user(const struct command *command)
{
    return ((const struct host_command *)command)->user;
}

enum result stream_host(struct stream *stream, stream_host_fn *function, void *user, bool on_error)
{
    struct host_command *command = (struct host_command *)command_new(on_error ? &callback_ops : &host_ops);
    command->function = function;
    command->user = user;
    return commands_submit(stream, &command->base, false, NULL);
}

struct value_command {
    struct command base;
    uint64_t address, value;
    unsigned bytes;
    enum stream_compare compare;
};

static uint64_t read_value(const struct value_command *value)
{
    const void *at = (const void *)(uintptr_t)value->address;
    return value->bytes == 8 ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
                             : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
}

static bool holds(const struct value_command *value)
{
    uint64_t mask = value->bytes == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t now = read_value(value), wanted = value->value & mask;
    switch (value->compare) {
    case STREAM_GEQ: /* cyclic, as CUDA has it */
        return value->bytes == 8 ? (int64_t)(now - wanted) >= 0 : (int32_t)(now - wanted) >= 0;
    case STREAM_EQ:
        return now == wanted;
    case STREAM_AND:
        return now & wanted;
    default:
        return ~(now | wanted) & mask;
    }
}

static void touch(const struct command *command, enum memory_use use)
{
    const struct value_command *value = (const struct value_command *)command;
    timeline_touch(command->stream->device->driver, value->address, value->bytes, use);
}

static enum command_turn begin_wait_value(struct command *command, struct task *task)
{
    (void)task;
    touch(command, MEMORY_READ);
    return holds((struct value_command *)command) ? TURN_NOW : TURN_LATER;
}

static void run_wait_value(struct command *command)
{
    const struct value_command *value = (struct value_command *)command;
    struct driver *driver = command->stream->device->driver;
    for (unsigned tries = 0; !holds(value) && !driver->interrupt; tries++) {
        if (tries < 1000)
            host_relax();
        else
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

static void run_write_value(struct command *command)
{
    const struct value_command *value = (struct value_command *)command;
    void *at = (void *)(uintptr_t)value->address;
    touch(command, MEMORY_CHANGED);
    if (value->bytes == 8)
        __atomic_store_n((uint64_t *)at, value->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)at, (uint32_t)value->value, __ATOMIC_RELEASE);
}

static const struct command_ops wait_value_ops = {
    .bytes = sizeof(struct value_command), .run = run_wait_value, .begin = begin_wait_value};
static const struct command_ops write_value_ops = {.bytes = sizeof(struct value_command),
                                                   .run = run_write_value};

static enum result submit_value(struct stream *stream, const struct command_ops *ops,
                                const struct value_command *wanted)
{
    struct memory_facts facts;
    uint64_t address = wanted->address;
    if ((wanted->bytes != 4 && wanted->bytes != 8) || address % wanted->bytes ||
        !memory_find(stream->device->driver, address, &facts) ||
        wanted->bytes > facts.base + facts.bytes - address)
        return driver_fail(RESULT_INVALID_VALUE,
                           "0x%llx is no aligned value of 4 or 8 bytes that the device sees",
                           (unsigned long long)address);
    struct value_command *command = (struct value_command *)command_new(ops);
    struct command base = command->base;
    *command = *wanted;
    command->base = base;
    return commands_submit(stream, &command->base, false, NULL);
}

enum result stream_wait_value(struct stream *stream, uint64_t address, uint64_t value, unsigned bytes,
                              enum stream_compare compare)
{
    return submit_value(
        stream, &wait_value_ops,
        &(struct value_command){.address = address, .value = value, .bytes = bytes, .compare = compare});
}

enum result stream_write_value(struct stream *stream, uint64_t address, uint64_t value, unsigned bytes)
{
    return submit_value(stream, &write_value_ops,
                        &(struct value_command){.address = address, .value = value, .bytes = bytes});
}
