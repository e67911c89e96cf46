#include "driver/lend.h"
#include "driver/itracing.h"
#include "base/bits.h"
#include "driver/internal.h"
#include "driver/timeline.h"

enum result memory_alloc_lendable(struct device *device, uint64_t bytes, uint64_t *address)
{
    enum result result = device_usable(device);
    *address = 0;
    if (result)
        return result;
    struct driver *driver = device->driver;
    uint64_t page = system_moves_pages(&driver->system) ? driver->system.paging.page : 1;
    struct memory_request request = {.kind = MEMORY_DEVICE,
                                     .bytes = (bytes + page - 1) / page * page,
                                     .alignment = page,
                                     .what = "shared virtual memory"};
    result = memory_take(driver, device, &request, address);
    if (!result)
        itracing_lends(driver, *address, bytes);
    return result;
}

struct lend_command {
    struct command base;
    struct lend lend;
    struct device *device; /* that has the memory */
};

static void *bytes_of(const struct lend *lend)
{
    return (void *)(uintptr_t)lend->address;
}

/* The host's bytes are those of the device's memory. In simulated time caches, and GPUs that pages moved to,
 * may have newer ones. */
static void run_lend(struct command *command)
{
    const struct lend_command *lend = (struct lend_command *)command;
    struct driver *driver = lend->device->driver;
    timeline_touch(driver, lend->lend.address, lend->lend.bytes, MEMORY_READ);
    if (lend->lend.writes)
        timeline_touch(driver, lend->lend.address, lend->lend.bytes, MEMORY_LENT);
}

/* There is one place only. */
static void run_take_back(struct command *command)
{
    const struct lend_command *lend = (struct lend_command *)command;
    timeline_touch(lend->device->driver, lend->lend.address, lend->lend.bytes, MEMORY_GIVEN_BACK);
}

static enum command_turn begin(const struct lend_command *lend, bool to_host, struct task *task)
{
    struct task_side device = {.at = lend->lend.address}, host = {.at = (uintptr_t)lend->lend.mirror};
    host.is_host = true;
    task->gpu = lend->device->index;
    task->direction = to_host ? COPY_TO_HOST : COPY_TO_DEVICE;
    task->to = to_host ? host : device;
    task->from = to_host ? device : host;
    task->width = task->to.pitch = task->from.pitch = task->to.slice = task->from.slice = lend->lend.bytes;
    task->height = task->depth = 1;
    return TURN_TASK;
}

static enum command_turn begin_lend(struct command *command, struct task *task)
{
    const struct lend_command *lend = (struct lend_command *)command;
    return lend->lend.moves ? begin(lend, true, task) : TURN_NOW;
}

/* What the host wrote leaves the place where it wrote it, as kernels may come by before it is there. */
static enum command_turn begin_take_back(struct command *command, struct task *task)
{
    const struct lend_command *lend = (struct lend_command *)command;
    if (!lend->lend.moves)
        return TURN_NOW;
    run_take_back(command);
    memcpy(lend->lend.mirror, bytes_of(&lend->lend), lend->lend.bytes);
    return begin(lend, false, task);
}

static void note(const struct lend_command *lend, const struct task *task)
{
    struct copy_record record = {.kind = (enum copy_kind)task->direction,
                                 .device = lend->device->driver->first_gpu + task->gpu,
                                 .bytes = lend->lend.bytes,
                                 .start_ps = task->start_ps,
                                 .end_ps = task->end_ps};
    if (task->state == TASK_DONE && !lend->device->driver->options.timing.untimed)
        ledger_add_copy(&lend->device->driver->ledger, &record);
}

static void end_lend(struct command *command, struct task *task)
{
    note((struct lend_command *)command, task);
    run_lend(command);
}

static void end_take_back(struct command *command, struct task *task)
{
    note((struct lend_command *)command, task);
}

static const struct command_ops lend_ops = {
    .bytes = sizeof(struct lend_command), .run = run_lend, .begin = begin_lend, .end = end_lend};
static const struct command_ops take_back_ops = {.bytes = sizeof(struct lend_command),
                                                 .run = run_take_back,
                                                 .begin = begin_take_back,
                                                 .end = end_take_back};

static enum result submit(struct stream *stream, const struct command_ops *ops, const struct lend *lend)
{
    struct memory_facts facts;
    enum result result = device_usable(stream->device);
    if (result)
        return result;
    if (!memory_find(stream->device->driver, lend->address, &facts) || facts.kind != MEMORY_DEVICE ||
        lend->bytes > facts.base + facts.bytes - lend->address)
        return driver_fail(RESULT_INVALID_VALUE, "%llu bytes at 0x%llx are no memory of a device",
                           (unsigned long long)lend->bytes, (unsigned long long)lend->address);
    struct lend_command *command = (struct lend_command *)command_new(ops);
    command->lend = *lend;
    command->device = facts.device;
    return commands_submit(stream, &command->base, false, NULL);
}

enum result stream_lend(struct stream *stream, const struct lend *lend)
{
    return submit(stream, &lend_ops, lend);
}

enum result stream_take_back(struct stream *stream, const struct lend *lend)
{
    return submit(stream, &take_back_ops, lend);
}
