#include "driver/picture.h"
#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/mem.h"

#include <time.h>

struct stream_event {
    struct stream_event *next;       /* of the device's */
    struct stream_event *next_ended; /* of those to use again */
    struct device *device;
    unsigned flags;
    bool alive, is_listed; /* is_listed: among those to use again */
    struct stream *stream; /* of the last record, and which command that was; NULL: never recorded */
    uint64_t number;
    uint64_t time_ps;        /* when it was done: simulated, or else the host's */
    size_t under_way;        /* records */
    struct capture *capture; /* that the last record went into, or NULL; and where the stream had come to */
    struct captured_list captured;
    bool was_captured;        /* it went into one that has ended */
    struct ipc_event *shared; /* with other processes; or NULL */
    bool is_opened;           /* another process has made it */
    uint64_t record;          /* of a shared one: the last that this process has submitted */
    enum launch_wait how;     /* the last record is of the kernel before it: what kernels wait for, */
    uint64_t kernel;          /* and its number in the stream */
};

/* Ended events are used again, so that a handle that outlived its event does no harm. */
static struct stream_event *take_ended(struct device *device)
{
    struct stream_event *event;
    while ((event = device->ended_events)) {
        device->ended_events = event->next_ended;
        event->is_listed = false;
        if (!event->under_way) /* a graph may record an event that was destroyed */
            return event;
    }
    event = mem_alloc(1, sizeof *event);
    event->next = device->events;
    return device->events = event;
}

/* It is destroyed, or the last record of one that is, is done. */
static void retire(struct stream_event *event)
{
    if (event->alive || event->under_way || event->is_listed)
        return;
    if (event->shared && !event->is_opened)
        ipc_event_free(event->shared);
    event->shared = NULL;
    event->is_listed = true;
    event->next_ended = event->device->ended_events;
    event->device->ended_events = event;
}

static void kill_event(struct stream_event *event)
{
    event->alive = false;
    retire(event);
}

static struct stream_event *make(struct device *device, const struct stream_event *what)
{
    pthread_mutex_lock(&device->driver->commands.lock);
    struct stream_event *made = take_ended(device), *next = made->next;
    mem_free(made->captured.at);
    *made = *what;
    made->next = next;
    made->device = device;
    made->alive = true;
    pthread_mutex_unlock(&device->driver->commands.lock);
    return made;
}

enum result event_new(struct device *device, unsigned flags, struct stream_event **event)
{
    enum result result = device_usable(device);
    if (result)
        return result;
    struct ipc_event *shared = flags & EVENT_INTERPROCESS ? ipc_event_new(device) : NULL;
    *event = make(device, &(struct stream_event){.flags = flags, .shared = shared});
    return RESULT_SUCCESS;
}

enum result event_open(struct device *device, const struct ipc_handle *handle, struct stream_event **event)
{
    struct ipc_event *shared;
    enum result result = ipc_event_borrow(device->driver, handle, &shared);
    if (!result)
        *event = make(device, &(struct stream_event){.flags = EVENT_INTERPROCESS | EVENT_NO_TIMING,
                                                     .shared = shared,
                                                     .is_opened = true});
    return result;
}

enum result event_export(struct stream_event *event, struct ipc_handle *handle)
{
    if (!event->alive || event->is_opened || !(event->flags & EVENT_INTERPROCESS))
        return driver_fail(RESULT_INVALID_HANDLE,
                           "the event was not made by this process to be shared (cudaEventInterprocess)");
    return ipc_event_lend(event->device, event->shared, handle);
}

unsigned event_flags(const struct stream_event *event)
{
    return event->flags;
}

enum result event_free(struct stream_event *event)
{
    struct driver *driver = event->device->driver;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    pthread_mutex_lock(&driver->commands.lock);
    bool good = event->alive;
    if (good)
        kill_event(event);
    pthread_mutex_unlock(&driver->commands.lock);
    return good ? (enum result)event->device->error
                : driver_fail(RESULT_INVALID_HANDLE, "the event was destroyed before");
}

/* ---- records ---- */

struct record_command {
    struct command base;
    struct stream_event *event;
    uint64_t record; /* of a shared one */
    enum launch_wait how;
};

static void enter_record(struct command *command)
{
    struct stream_event *event = ((struct record_command *)command)->event;
    event->stream = command->stream;
    event->number = command->number;
    event->how = ((struct record_command *)command)->how;
    event->kernel = command->stream->last_launch;
    event->capture = NULL;
    event->was_captured = false;
    event->under_way++;
    if (event->shared)
        event->record = ((struct record_command *)command)->record = ++event->shared->records;
}

static void run_record(struct command *command)
{
    struct stream_event *event = ((struct record_command *)command)->event;
    struct driver *driver = event->device->driver;
    struct commands *commands = &driver->commands;
    uint64_t now = driver_clock_ps(driver);
    pthread_mutex_lock(&commands->lock);
    event->under_way--;
    if (event->shared) {
        ipc_event_end(event->shared, ((struct record_command *)command)->record);
        timeline_signal(driver);
    }
    if (event->stream == command->stream && event->number == command->number) /* no later record of it */
        event->time_ps = now;
    retire(event);
    pthread_mutex_unlock(&commands->lock);
}

static const struct command_ops record_ops = {.bytes = sizeof(struct record_command),
                                              .run = run_record,
                                              .enter = enter_record,
                                              .kind = ACTION_RECORD,
                                              .on_error = true};

struct stream_event *command_record_event(const struct command *command)
{
    return ((const struct record_command *)command)->event;
}

/* The command that it stands before enters the stream when the host has made the call. */
static enum command_turn begin_start(struct command *command, struct task *task)
{
    struct device *device = ((struct record_command *)command)->event->device;
    struct commands *commands = &device->driver->commands;
    (void)task;
    pthread_mutex_lock(&commands->lock);
    bool ready = command->next || device->error;
    pthread_mutex_unlock(&commands->lock);
    return ready ? TURN_NOW : TURN_LATER;
}

static const struct command_ops start_ops = {.bytes = sizeof(struct record_command),
                                             .run = run_record,
                                             .enter = enter_record,
                                             .on_error = true,
                                             .begin = begin_start,
                                             .holds = true};

static enum result record_captured(struct stream_event *event, struct stream *stream)
{
    const struct captured_list *list = capture_list(stream);
    if (!list)
        return RESULT_STREAM_CAPTURE_INVALIDATED;
    event->capture = stream->capture;
    captured_copy(&event->captured, list);
    return RESULT_SUCCESS;
}

enum result event_record_external(struct stream_event *event, struct stream *stream)
{
    if (event->device != stream->device)
        return driver_fail(RESULT_INVALID_HANDLE, "the event and the stream are of different devices");
    if (!stream_is_captured(stream))
        return driver_fail(RESULT_ILLEGAL_STATE, "an external record is for a stream that is captured");
    struct record_command *command = (struct record_command *)command_new(&record_ops);
    command->event = event;
    return commands_submit(stream, &command->base, false, NULL);
}

static enum result record(struct stream_event *event, struct stream *stream, enum launch_wait how)
{
    struct commands *commands = &stream->device->driver->commands;
    if (event->device != stream->device)
        return driver_fail(RESULT_INVALID_HANDLE, "the event and the stream are of different devices");
    pthread_mutex_lock(&commands->lock);
    enum result result = event->alive ? capture_refuses_default(stream)
                                      : driver_fail(RESULT_INVALID_HANDLE, "the event was destroyed");
    bool captured = stream->capture;
    if (!result && captured)
        result = record_captured(event, stream);
    pthread_mutex_unlock(&commands->lock);
    if (result)
        return result;
    if (captured) /* the order of nodes is all that a record means in a graph */
        return device_usable(stream->device);
    struct record_command *command = (struct record_command *)command_new(&record_ops);
    command->event = event;
    command->how = how;
    return commands_submit(stream, &command->base, false, NULL);
}

enum result event_record(struct stream_event *event, struct stream *stream)
{
    return record(event, stream, WAIT_FOR_END);
}

enum result event_record_launch(struct stream_event *event, struct stream *stream, enum launch_wait how)
{
    return record(event, stream, how);
}

static enum result note(struct stream_event *event, struct stream *stream, const struct command_ops *ops)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    enum result result = device_usable(stream->device);
    if (!result && (!event->alive || event->device != stream->device || stream->capture))
        result = driver_fail(RESULT_INVALID_HANDLE, "the event was destroyed, or is of another device");
    if (!result) {
        struct record_command *command = (struct record_command *)command_new(ops);
        command->event = event;
        commands_append(stream, &command->base, false);
    }
    pthread_mutex_unlock(&commands->lock);
    return result;
}

enum result event_note(struct stream_event *event, struct stream *stream)
{
    return note(event, stream, &record_ops);
}

enum result event_note_start(struct stream_event *event, struct stream *stream)
{
    return note(event, stream, &start_ops);
}

/* ---- what is known of one ---- */

/* Whether another process has made the last record of it. */
static bool is_of_other(const struct stream_event *event)
{
    return event->shared && event->record != event->shared->records;
}

static bool is_done(const struct stream_event *event)
{
    if (is_of_other(event))
        return ipc_event_is_done(event->shared, event->shared->records);
    return !event->stream || atomic_load(&event->stream->done) >= event->number;
}

static enum result usable(struct stream_event *event)
{
    enum result result = device_usable(event->device);
    if (!result && !event->alive)
        result = driver_fail(RESULT_INVALID_HANDLE, "the event was destroyed");
    if (!result && event->capture)
        result =
            driver_fail(RESULT_CAPTURED_EVENT, "the event was last recorded in a stream that is captured");
    if (!result && event->was_captured)
        result =
            driver_fail(RESULT_INVALID_VALUE, "the event was last recorded in a capture, which has ended");
    return result;
}

enum result event_query(struct stream_event *event)
{
    struct commands *commands = &event->device->driver->commands;
    picture_call_begins("ask");
    commands_call(event->device->driver, HOST_ASKS); /* who asks often enough must get there */
    picture_call_ends();
    pthread_mutex_lock(&commands->lock);
    enum result result = usable(event);
    if (result == RESULT_CAPTURED_EVENT)
        capture_invalidate(event->capture, result);
    if (!result && !is_done(event))
        result = RESULT_NOT_READY;
    pthread_mutex_unlock(&commands->lock);
    return result;
}

/* Where nothing has a time. */
static void wait_for_other(struct driver *driver, const struct ipc_event *event, uint64_t record)
{
    while (!ipc_event_is_done(event, record) && !driver_is_interrupted(driver))
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

enum result event_synchronize(struct stream_event *event)
{
    struct driver *driver = event->device->driver;
    struct commands *commands = &driver->commands;
    pthread_mutex_lock(&commands->lock);
    enum result result = usable(event);
    if (result == RESULT_CAPTURED_EVENT)
        capture_invalidate(event->capture, result);
    struct stream *stream = event->stream;
    uint64_t number = event->number;
    const struct ipc_event *other = is_of_other(event) ? event->shared : NULL;
    uint64_t record = other ? other->records : 0;
    pthread_mutex_unlock(&commands->lock);
    if (result)
        return result;
    if (other)
        (driver->timeline ? timeline_wait_for_other : wait_for_other)(driver, other, record);
    else if (stream)
        commands_wait(stream, number);
    return event->device->error;
}

static enum result elapsed(struct stream_event *from, struct stream_event *to, double *picoseconds)
{
    enum result result = usable(from);
    if (!result)
        result = usable(to);
    if (result)
        return result;
    if (!from->stream || !to->stream || (from->flags | to->flags) & EVENT_NO_TIMING)
        return driver_fail(RESULT_INVALID_HANDLE, "an event was not recorded, or was made to keep no time");
    if (!is_done(from) || !is_done(to))
        return RESULT_NOT_READY;
    *picoseconds = (double)(int64_t)(to->time_ps - from->time_ps);
    return RESULT_SUCCESS;
}

enum result event_elapsed(struct stream_event *from, struct stream_event *to, float *milliseconds)
{
    struct commands *commands = &from->device->driver->commands;
    double picoseconds = 0;
    pthread_mutex_lock(&commands->lock);
    enum result result = elapsed(from, to, &picoseconds);
    pthread_mutex_unlock(&commands->lock);
    if (!result)
        *milliseconds = (float)(1e-9 * picoseconds);
    return result;
}

enum result event_time_ps(struct stream_event *event, uint64_t *time_ps)
{
    struct commands *commands = &event->device->driver->commands;
    double unused;
    pthread_mutex_lock(&commands->lock);
    enum result result = elapsed(event, event, &unused);
    *time_ps = event->time_ps;
    pthread_mutex_unlock(&commands->lock);
    return result;
}

/* ---- waits ---- */

/* For a record that another process has made. */
struct other_command {
    struct command base;
    const struct ipc_event *event;
    uint64_t record;
};

static enum command_turn begin_other(struct command *command, struct task *task)
{
    const struct other_command *other = (struct other_command *)command;
    (void)task;
    return ipc_event_is_done(other->event, other->record) ? TURN_NOW : TURN_LATER;
}

static void run_other(struct command *command)
{
    const struct other_command *other = (struct other_command *)command;
    wait_for_other(command->stream->device->driver, other->event, other->record);
}

static void enter_other(struct command *command)
{
    command->stream->device->driver->commands.waits_for_others++;
}

static void fini_other(struct command *command)
{
    command->stream->device->driver->commands.waits_for_others--;
}

static const struct command_ops other_ops = {.bytes = sizeof(struct other_command),
                                             .run = run_other,
                                             .enter = enter_other,
                                             .fini = fini_other,
                                             .begin = begin_other};

static struct command *new_wait(const struct stream_event *event)
{
    if (!is_of_other(event))
        return command_new_wait(
            (struct command_wait){event->stream, event->how ? event->kernel : event->number, event->how});
    struct other_command *other = (struct other_command *)command_new(&other_ops);
    other->event = event->shared;
    other->record = event->shared->records;
    return &other->base;
}

struct command *event_new_wait(struct stream *stream, struct stream_event *event)
{
    bool noted = stream->device->driver->itracing && event->stream;
    return !is_done(event) || noted ? new_wait(event) : NULL;
}

/* Within a capture, an event that was recorded outside of it is never there. */
static enum result wait_captured(struct stream *stream, struct stream_event *event)
{
    if (event->was_captured)
        return driver_fail(RESULT_INVALID_VALUE, "the event was last recorded in a capture, which has ended");
    if (event->capture)
        return capture_join(event->capture, stream, &event->captured);
    if (!stream->capture || !event->stream)
        return RESULT_SUCCESS;
    capture_invalidate(stream->capture, RESULT_SUCCESS);
    return driver_fail(
        RESULT_STREAM_CAPTURE_ISOLATION,
        "a stream that is captured cannot wait for an event that was recorded outside of the capture");
}

enum result stream_wait_event(struct stream *stream, struct stream_event *event)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    enum result result = device_usable(stream->device);
    if (!result && !event->alive)
        result = driver_fail(RESULT_INVALID_HANDLE, "the event was destroyed");
    if (!result)
        result = wait_captured(stream, event);
    if (!result && !stream->capture && !event->capture)
        result = capture_refuses_default(stream);
    struct command *command = result || stream->capture ? NULL : event_new_wait(stream, event);
    if (command)
        commands_append(stream, command, false);
    pthread_mutex_unlock(&commands->lock);
    return result;
}

enum result stream_wait_event_external(struct stream *stream, struct stream_event *event)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    enum result result = device_usable(stream->device);
    if (!result)
        result = stream->capture
                     ? capture_add(stream, NULL, event)
                     : driver_fail(RESULT_ILLEGAL_STATE, "an external wait is for a stream that is captured");
    pthread_mutex_unlock(&commands->lock);
    return result;
}

void events_fini(struct device *device)
{
    for (struct stream_event *next, *event = device->events; event; event = next) {
        next = event->next;
        mem_free(event->captured.at);
        mem_free(event);
    }
}

void events_end_all(struct device *device)
{
    for (struct stream_event *event = device->events; event; event = event->next) {
        if (event->alive)
            kill_event(event);
    }
}

void events_leave(struct device *device, const struct capture *capture)
{
    for (struct stream_event *event = device->events; event; event = event->next) {
        if (event->capture != capture)
            continue;
        event->capture = NULL;
        event->was_captured = true;
        mem_free(event->captured.at);
        event->captured = (struct captured_list){0};
    }
}
