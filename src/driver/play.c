#include "driver/brood.h"
#include "driver/capture.h"
#include "driver/internal.h"
#include "driver/play.h"
#include "base/bits.h"
#include "base/mem.h"

enum { MOST_LANES = 32 };

struct action {
    struct command *command;
    _Atomic unsigned users;
};

/* A part of a graph that runs in the order of its steps. The first one is in the stream of the launch. */
struct lane {
    struct device *device;
    struct stream *stream; /* its own; of the first one NULL */
    uint32_t last;         /* step, while lanes are dealt out */
    uint64_t begun;        /* the number of its last command before this launch, */
    uint64_t number;       /* and now */
    uint32_t newest;       /* the step whose command that is */
};

struct play {
    struct play_step *steps;
    size_t count, capacity;
    uint32_t *lane_of;
    struct lane lanes[MOST_LANES];
    uint32_t lane_count;
    struct device *planned; /* for launches in streams of this device; or NULL */
    struct stream *stream;  /* of the last launch, or NULL; and its last command: */
    uint64_t number;
    uint64_t handle; /* by which kernels launch it; or 0 */
};

/* ---- actions ---- */

struct action *action_new(struct command *command)
{
    struct action *action = mem_alloc(1, sizeof *action);
    action->command = command;
    action->users = 1;
    return action;
}

struct action *action_keep(struct action *action)
{
    if (action)
        action->users++;
    return action;
}

void action_release(struct action *action)
{
    if (!action || --action->users)
        return;
    command_free(action->command);
    mem_free(action);
}

enum action_kind action_kind(const struct action *action)
{
    return action->command->ops->kind;
}

bool action_uses_memory(const struct action *action)
{
    return action->command->ops->kind == ACTION_ALLOC || action->command->ops->kind == ACTION_FREE;
}

void action_launch(const struct action *action, struct action_launch *facts)
{
    command_launch_facts(action->command, facts);
}

void action_copy(const struct action *action, struct copy *copy)
{
    command_copy_facts(action->command, copy);
}

void action_fill(const struct action *action, struct fill *fill)
{
    command_fill_facts(action->command, fill);
}

void action_host(const struct action *action, void **user)
{
    *user = command_host_user(action->command);
}

uint64_t action_address(const struct action *action)
{
    return command_graph_address(action->command);
}

struct stream_event *action_event(const struct action *action)
{
    return command_record_event(action->command);
}

/* ---- plays ---- */

struct play *play_new(void)
{
    return mem_alloc(1, sizeof(struct play));
}

void play_free(struct play *play)
{
    if (!play)
        return;
    for (size_t i = 0; i < play->count; i++) {
        action_release(play->steps[i].action);
        mem_free(play->steps[i].after);
    }
    for (uint32_t i = 0; i < play->lane_count; i++) {
        if (play->lanes[i].stream)
            stream_free(play->lanes[i].stream);
    }
    mem_free(play->steps);
    mem_free(play->lane_of);
    mem_free(play);
}

uint32_t play_add(struct play *play, const struct play_step *step)
{
    mem_grow(play->steps, play->count, play->capacity);
    struct play_step *added = &play->steps[play->count];
    *added = *step;
    action_keep(added->action);
    added->after = mem_alloc(step->after_count, sizeof *added->after);
    for (uint32_t i = 0; i < step->after_count; i++)
        added->after[i] = step->after[i];
    play->planned = NULL;
    return (uint32_t)play->count++;
}

struct play_step *play_step(struct play *play, uint32_t index)
{
    return &play->steps[index];
}

void play_set_action(struct play *play, uint32_t index, struct action *action)
{
    struct action *before = play->steps[index].action;
    play->steps[index].action = action_keep(action);
    action_release(before);
}

void play_set_handle(struct play *play, uint64_t handle)
{
    play->handle = handle;
}

struct play *play_copy(const struct play *play)
{
    struct play *copy = play_new();
    copy->handle = play->handle;
    for (size_t i = 0; i < play->count; i++)
        play_add(copy, &play->steps[i]);
    return copy;
}

void play_follow(struct play *play, const struct play *before)
{
    play->stream = before->stream;
    play->number = before->number;
}

void play_wait(const struct play *play)
{
    if (play->stream)
        commands_wait(play->stream, play->number);
}

/* ---- lanes ---- */

static bool uses_memory(const struct play *play)
{
    for (size_t i = 0; i < play->count; i++) {
        if (play->steps[i].action && action_uses_memory(play->steps[i].action))
            return true;
    }
    return false;
}

static bool has_condition(const struct play *play)
{
    for (size_t i = 0; i < play->count; i++) {
        if (play->steps[i].action && action_kind(play->steps[i].action) == ACTION_CONDITION)
            return true;
    }
    return false;
}

static uint32_t add_lane(struct play *play, struct device *device)
{
    struct lane *lane = &play->lanes[play->lane_count];
    if (!lane->stream || lane->device != device) {
        if (lane->stream)
            stream_free(lane->stream);
        lane->stream = NULL;
    }
    lane->device = device;
    lane->last = UINT32_MAX;
    return play->lane_count++;
}

/* A lane that ends with a step that this one comes after; else a new one, or one that it shares. */
static uint32_t lane_for(struct play *play, uint32_t index, bool concurrent)
{
    const struct play_step *step = &play->steps[index];
    uint32_t of_device = UINT32_MAX;
    for (uint32_t i = 0; i < step->after_count; i++) {
        uint32_t lane = play->lane_of[step->after[i].step];
        if (play->lanes[lane].last == step->after[i].step && play->lanes[lane].device == step->device)
            return lane;
    }
    for (uint32_t i = 0; i < play->lane_count; i++) {
        if (play->lanes[i].device != step->device)
            continue;
        if (!concurrent || play->lanes[i].last == UINT32_MAX)
            return i;
        if (of_device == UINT32_MAX || index % play->lane_count == i)
            of_device = i;
    }
    return play->lane_count < MOST_LANES || of_device == UINT32_MAX ? add_lane(play, step->device)
                                                                    : of_device;
}

static void plan(struct play *play, struct device *device)
{
    const struct driver *driver = device->driver;
    bool concurrent = (driver->timeline || driver->itracing) && !uses_memory(play); /* a trace may be timed */
    if (play->planned == device)
        return;
    mem_free(play->lane_of);
    play->lane_of = mem_alloc(play->count, sizeof *play->lane_of);
    play->lane_count = 0;
    add_lane(play, device);
    for (uint32_t i = 0; i < play->count; i++) {
        uint32_t lane = play->lane_of[i] = lane_for(play, i, concurrent);
        play->lanes[lane].last = i;
    }
    play->planned = device;
}

static enum result make_lanes(struct play *play, const struct stream *stream)
{
    enum result result = RESULT_SUCCESS;
    for (uint32_t i = 1; i < play->lane_count && !result; i++) {
        struct lane *lane = &play->lanes[i];
        if (!lane->stream)
            result = stream_new(lane->device, STREAM_NON_BLOCKING, stream->priority, &lane->stream);
    }
    return result;
}

/* ---- launches; with the lock held ---- */

struct playing {
    struct play *play;
    struct stream *stream;
    struct command **copies; /* by step */
    struct brood *brood;     /* of what its kernels launch; or NULL */
    uint64_t *reached;       /* by step and lane: the command that must be done; NULL: there is one lane */
};

static struct stream *stream_of(const struct playing *now, uint32_t lane)
{
    return lane ? now->play->lanes[lane].stream : now->stream;
}

static void add_wait(struct stream *stream, struct stream *other, uint64_t number)
{
    bool done = atomic_load_explicit(&other->done, memory_order_acquire) >= number;
    if (other != stream && (!done || stream->device->driver->itracing))
        commands_append(stream, command_new_wait((struct command_wait){other, number, WAIT_FOR_END}), false);
}

static uint64_t *row(const struct playing *now, uint32_t step)
{
    return &now->reached[step * now->play->lane_count];
}

/* The kernel of the step is one that others may begin beside. */
static bool is_beside(const struct playing *now, const struct play_edge *edge)
{
    const struct play_step *step = &now->play->steps[edge->step];
    return edge->how && !step->is_off && step->action && action_kind(step->action) == ACTION_LAUNCH &&
           !now->stream->device->driver->itracing;
}

/* What must be done before the step, by lane: of a kernel that it begins beside, what that one waited for. */
static void gather(const struct playing *now, uint32_t index, uint64_t *wanted)
{
    const struct play_step *step = &now->play->steps[index];
    for (uint32_t lane = 0; lane < now->play->lane_count; lane++)
        wanted[lane] = lane ? 0 : now->play->lanes[0].begun;
    for (uint32_t i = 0; i < step->after_count; i++) {
        const struct play_edge *edge = &step->after[i];
        uint32_t own = is_beside(now, edge) ? now->play->lane_of[edge->step] : UINT32_MAX;
        for (uint32_t lane = 0; lane < now->play->lane_count; lane++)
            wanted[lane] = max_u64(wanted[lane], row(now, edge->step)[lane] - (lane == own));
    }
}

/* Kernels that the step's may begin beside. True: the last command of its lane is one. */
static bool add_beside(const struct playing *now, uint32_t index, struct command *command)
{
    const struct play_step *step = &now->play->steps[index];
    uint32_t own = now->play->lane_of[index];
    bool is_previous = false;
    for (uint32_t i = 0; i < step->after_count; i++) {
        const struct play_edge *edge = &step->after[i];
        uint32_t lane = now->play->lane_of[edge->step];
        const struct lane *own_lane = &now->play->lanes[own];
        struct stream *stream = stream_of(now, lane);
        if (!is_beside(now, edge))
            continue;
        if (lane != own)
            command_add_wait(command, (struct command_wait){stream, row(now, edge->step)[lane], edge->how});
        else
            is_previous |= edge->how == WAIT_FOR_TRIGGER && own_lane->newest == edge->step &&
                           own_lane->number == stream->submitted && own_lane->number > own_lane->begun;
    }
    return is_previous;
}

static void append(struct playing *now, uint32_t index)
{
    struct play *play = now->play;
    const struct play_step *step = &play->steps[index];
    uint32_t own = play->lane_of[index];
    struct stream *stream = stream_of(now, own);
    bool empty = step->is_off || (!step->action && !step->awaited);
    if (now->reached)
        gather(now, index, row(now, index));
    if (empty)
        return;
    struct command *command = step->action ? now->copies[index] : event_new_wait(stream, step->awaited);
    bool previous = command && command->ops->is_launch && add_beside(now, index, command);
    for (uint32_t lane = 0; now->reached && lane < play->lane_count; lane++) {
        struct command_wait wait = {stream_of(now, lane), row(now, index)[lane], WAIT_FOR_END};
        if (lane == own || !wait.number)
            continue;
        previous ? command_add_wait(command, wait) : add_wait(stream, wait.stream, wait.number);
    }
    if (command) {
        command->beside_previous = previous;
        commands_append(stream, command, false);
    }
    now->copies[index] = NULL;
    play->lanes[own].number = stream->submitted;
    play->lanes[own].newest = index;
    if (now->reached)
        row(now, index)[own] = stream->submitted;
}

static void append_all(struct playing *now)
{
    struct play *play = now->play;
    if (play->stream)
        add_wait(now->stream, play->stream, play->number);
    if (now->reached) /* what other lanes wait for: all that the stream had, and what the default stream
                         stands for */
        commands_append(now->stream, command_new_nothing(), false);
    for (uint32_t i = 0; i < play->lane_count; i++)
        play->lanes[i].begun = play->lanes[i].number = stream_of(now, i)->submitted;
    for (uint32_t i = 0; i < play->count; i++)
        append(now, i);
    for (uint32_t i = 1; i < play->lane_count; i++) {
        if (play->lanes[i].number > play->lanes[i].begun)
            add_wait(now->stream, play->lanes[i].stream, play->lanes[i].number);
    }
    if (now->brood)
        commands_append(now->stream, brood_command(now->brood), false);
    play->stream = now->stream;
    play->number = now->stream->submitted;
}

static void copy_commands(struct playing *now)
{
    for (size_t i = 0; i < now->play->count; i++) {
        const struct play_step *step = &now->play->steps[i];
        if (step->action && !step->is_off)
            now->copies[i] = command_copy(step->action->command);
        if (now->copies[i] && now->brood && action_kind(step->action) == ACTION_LAUNCH)
            command_join_graph(now->copies[i], now->brood, now->play->handle);
    }
}

static enum result submit(struct playing *now)
{
    struct commands *commands = &now->stream->device->driver->commands;
    copy_commands(now);
    pthread_mutex_lock(&commands->lock);
    enum result result = capture_refuses_default(now->stream);
    if (!result && !now->stream->alive)
        result = driver_fail(RESULT_INVALID_HANDLE, "the stream was destroyed");
    if (!result)
        append_all(now);
    uint64_t submitted = now->stream->submitted;
    pthread_mutex_unlock(&commands->lock);
    for (size_t i = 0; i < now->play->count; i++) {
        if (now->copies[i])
            command_free(now->copies[i]);
    }
    if (!result)
        commands_keep_shallow(now->stream, submitted);
    return result;
}

static enum result take_memory(struct playing *now, bool auto_free)
{
    struct play *play = now->play;
    const struct command **list = mem_alloc(play->count, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < play->count; i++) {
        if (play->steps[i].action && !play->steps[i].is_off)
            list[count++] = play->steps[i].action->command;
    }
    enum result result = memory_graph_launch(list, count, now->stream, auto_free);
    mem_free(list);
    return result;
}

static enum result play_in(struct stream *stream, struct play *play, bool auto_free, struct brood *parent)
{
    struct playing now = {.play = play, .stream = stream};
    enum result result = device_usable(stream->device);
    if (!result && stream->device->driver->itracing && has_condition(play)) {
        result = driver_fail(RESULT_NOT_SUPPORTED,
                             "a graph with conditional nodes cannot be recorded: what it does is "
                             "decided while it runs");
        driver_report(stream->device->driver, driver_detail());
    }
    if (result)
        return result;
    commands_call(stream->device->driver, HOST_LAUNCHES);
    plan(play, stream->device);
    result = make_lanes(play, stream);
    bool memory = uses_memory(play);
    if (!result && memory)
        result = take_memory(&now, auto_free);
    if (result)
        return result;
    if (play->handle && !stream->device->driver->itracing)
        now.brood = brood_new_graph(stream->device, parent);
    now.copies = mem_alloc(play->count, sizeof *now.copies);
    if (play->lane_count > 1)
        now.reached = mem_alloc(play->count * play->lane_count, sizeof *now.reached);
    result = submit(&now);
    if (memory)
        memory_graph_submitted(stream);
    brood_release(now.brood);
    mem_free(now.copies);
    mem_free(now.reached);
    return result;
}

enum result stream_play(struct stream *stream, struct play *play, bool auto_free)
{
    return play_in(stream, play, auto_free, NULL);
}

enum result stream_play_within(struct stream *stream, struct play *play, struct brood *parent)
{
    return play_in(stream, play, false, parent);
}
