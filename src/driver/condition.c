/* Conditional nodes of graphs: the stream of the graph stands still while a body runs in a stream of its own.
 */
#include "driver/internal.h"
#include "driver/play.h"
#include "driver/timeline.h"
#include "base/mem.h"

enum { VALUE_BYTES = 256 /* a line of its own, so that nothing else of it is cached */ };

struct condition_command {
    struct command base;
    struct device *device;
    uint64_t at;
    enum condition_kind kind;
    struct play **bodies;
    uint32_t count;
    uint32_t runs;        /* of bodies, in this launch */
    struct stream *inner; /* of bodies; NULL before the first */
};

uint64_t condition_new(struct device *device)
{
    uint64_t at = 0;
    const struct memory_request request = {.kind = MEMORY_VARIABLE,
                                           .bytes = VALUE_BYTES,
                                           .alignment = VALUE_BYTES,
                                           .what = "the value of a conditional handle"};
    return memory_take(device->driver, device, &request, &at) ? 0 : at;
}

static uint32_t value_of(const struct condition_command *own)
{
    timeline_touch(own->device->driver, own->at, sizeof(uint32_t), MEMORY_READ);
    return __atomic_load_n((const uint32_t *)(uintptr_t)own->at, __ATOMIC_ACQUIRE);
}

/* NULL: none, or no other. */
static struct play *next_body(const struct condition_command *own)
{
    uint32_t value = own->runs && own->kind != CONDITION_WHILE ? UINT32_MAX : value_of(own);
    uint32_t body = own->kind == CONDITION_SWITCH ? value
                    : value                       ? 0
                    : own->kind == CONDITION_IF   ? 1
                                                  : UINT32_MAX;
    if (own->runs && own->kind != CONDITION_WHILE)
        return NULL;
    return body < own->count ? own->bodies[body] : NULL;
}

/* False: there is none left, or the device has an error. */
static bool start_body(struct condition_command *own)
{
    struct device *device = own->device;
    bool stops = device->error || device->driver->commands.stop || driver_is_interrupted(device->driver);
    struct play *body = stops ? NULL : next_body(own);
    if (!body)
        return false;
    own->runs++;
    if (!own->inner && stream_new(device, STREAM_NON_BLOCKING, own->base.stream->priority, &own->inner))
        return false;
    return !stream_play(own->inner, body, false);
}

static void end_inner(struct condition_command *own)
{
    if (own->inner)
        stream_free(own->inner);
    own->inner = NULL;
}

static void run_condition(struct command *command)
{
    struct condition_command *own = (struct condition_command *)command;
    while (!own->device->driver->timeline && start_body(own))
        commands_wait(own->inner, own->inner->submitted);
    end_inner(own);
}

static enum command_turn begin_condition(struct command *command, struct task *task)
{
    struct condition_command *own = (struct condition_command *)command;
    (void)task;
    bool busy = own->inner && !stream_drained(own->inner);
    return busy || start_body(own) ? TURN_LATER : TURN_NOW;
}

static void copy_condition(struct command *command)
{
    struct condition_command *own = (struct condition_command *)command;
    struct play **bodies = mem_alloc(own->count, sizeof *bodies);
    for (uint32_t i = 0; i < own->count; i++)
        bodies[i] = play_copy(own->bodies[i]);
    own->bodies = bodies;
}

static void fini_condition(struct command *command)
{
    struct condition_command *own = (struct condition_command *)command;
    for (uint32_t i = 0; i < own->count; i++)
        play_free(own->bodies[i]);
    mem_free(own->bodies);
}

static const struct command_ops condition_ops = {.bytes = sizeof(struct condition_command),
                                                 .run = run_condition,
                                                 .copy = copy_condition,
                                                 .fini = fini_condition,
                                                 .kind = ACTION_CONDITION,
                                                 .begin = begin_condition};

struct action *condition_action(struct device *device, uint64_t at, enum condition_kind kind,
                                struct play **bodies, uint32_t count)
{
    struct condition_command *command = (struct condition_command *)command_new(&condition_ops);
    command->device = device;
    command->at = at;
    command->kind = kind;
    command->bodies = mem_alloc(count, sizeof *bodies);
    for (uint32_t i = 0; i < count; i++)
        command->bodies[i] = bodies[i];
    command->count = count;
    return action_new(&command->base);
}
