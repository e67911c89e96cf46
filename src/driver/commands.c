#include "driver/picture.h"
#include "driver/internal.h"
#include "driver/itracing.h"
#include "driver/timeline.h"
#include "base/host.h"
#include "base/mem.h"

#include <stdlib.h>

enum {
    SPINS = 400,   /* about ten microseconds: what waking a thread takes */
    DEEPEST = 4096 /* commands of a stream: who submits more waits until half of them are done */
};

void commands_init(struct commands *commands)
{
    pthread_mutex_init(&commands->lock, NULL);
    pthread_cond_init(&commands->work, NULL);
    pthread_cond_init(&commands->progress, NULL);
    commands->spins = host_cores() > 1 ? SPINS : 0;
}

/* ---- commands ---- */

struct command *command_new(const struct command_ops *ops)
{
    struct command *command = mem_alloc(1, ops->bytes);
    command->ops = ops;
    return command;
}

void command_free(struct command *command)
{
    if (command->ops->fini)
        command->ops->fini(command);
    mem_free(command->waits);
    mem_free(command);
}

struct command *command_copy(const struct command *command)
{
    struct command *copy = command_new(command->ops);
    memcpy(copy, command, command->ops->bytes);
    copy->next = NULL;
    copy->waits = NULL;
    copy->wait_count = copy->wait_capacity = 0;
    if (copy->ops->copy)
        copy->ops->copy(copy);
    return copy;
}

static void run_nothing(struct command *command)
{
    (void)command;
}

static const struct command_ops nothing_ops = {.bytes = sizeof(struct command), .run = run_nothing};

struct command *command_new_nothing(void)
{
    return command_new(&nothing_ops);
}

struct command *command_new_wait(struct command_wait wait)
{
    struct command *command = command_new_nothing();
    command_add_wait(command, wait);
    command->after = wait;
    return command;
}

void command_add_wait(struct command *command, struct command_wait wait)
{
    if (atomic_load_explicit(&wait.stream->done, memory_order_acquire) >= wait.number)
        return;
    mem_grow(command->waits, command->wait_count, command->wait_capacity);
    command->waits[command->wait_count++] = wait;
}

/* A kernel that may begin beside others takes over the waits for these that stand right before it. */
static void take_waits(struct command *command)
{
    struct command *first = NULL;
    for (struct command *at = command->stream->head; at; at = at->next) {
        bool is_one = at->ops == &nothing_ops && at->wait_count == 1 && at->waits[0].how;
        first = !is_one ? NULL : first ? first : at;
    }
    for (struct command *at = first; at; at = at->next) {
        command_add_wait(command, at->waits[0]);
        at->wait_count = 0;
    }
}

/* What the default stream means: it waits for all others, and they for it. */
static void add_default_waits(struct stream *stream, struct command *command)
{
    struct stream *first = stream->device->default_stream;
    if (stream->flags & STREAM_NON_BLOCKING)
        return;
    if (stream != first) {
        if (stream->default_seen < first->submitted)
            command_add_wait(command, (struct command_wait){first, first->submitted, WAIT_FOR_END});
        stream->default_seen = first->submitted;
        return;
    }
    for (struct stream *other = stream->device->busy; other; other = other->next_busy) {
        if (other != stream && !(other->flags & STREAM_NON_BLOCKING))
            command_add_wait(command, (struct command_wait){other, other->submitted, WAIT_FOR_END});
    }
}

/* ---- who runs what; all with the lock held ---- */

bool stream_is_ready(const struct stream *stream)
{
    if (!stream->head || stream->running)
        return false;
    for (size_t i = 0; i < stream->head->wait_count; i++) {
        const struct command_wait *wait = &stream->head->waits[i];
        if (atomic_load_explicit(&wait->stream->done, memory_order_acquire) < wait->number)
            return false;
    }
    return true;
}

/* The first stream, behind this one (NULL: of all), that is ready. */
static struct stream *find_ready(struct driver *driver, struct stream *from)
{
    unsigned index = from ? from->device->index : 0;
    struct stream *stream = from ? from->next_busy : driver->devices[0].busy;
    for (;; stream = driver->devices[index].busy) {
        for (; stream; stream = stream->next_busy) {
            if (stream_is_ready(stream))
                return stream;
        }
        if (++index >= driver->device_count)
            return NULL;
    }
}

static void *work(void *user);

/* Calls one thread: it calls the next one when it finds more than it can do. */
static void wake(struct driver *driver)
{
    struct commands *commands = &driver->commands;
    if (commands->called || commands->stop || driver->timeline)
        return;
    if (commands->idle) {
        commands->called++;
        pthread_cond_signal(&commands->work);
    } else if (commands->worker_count < commands->stream_count) {
        mem_grow(commands->workers, commands->worker_count, commands->worker_capacity);
        if (pthread_create(&commands->workers[commands->worker_count], NULL, work, driver))
            BUG("cannot start a thread for a stream");
        commands->worker_count++;
        commands->called++;
    }
}

static void become_busy(struct stream *stream)
{
    struct device *device = stream->device;
    stream->before_busy = device->last_busy;
    stream->next_busy = NULL;
    *(device->last_busy ? &device->last_busy->next_busy : &device->busy) = stream;
    device->last_busy = stream;
}

static void become_idle(struct stream *stream)
{
    struct device *device = stream->device;
    *(stream->before_busy ? &stream->before_busy->next_busy : &device->busy) = stream->next_busy;
    *(stream->next_busy ? &stream->next_busy->before_busy : &device->last_busy) = stream->before_busy;
}

void stream_retire(struct stream *stream)
{
    stream->next_ended = stream->device->ended;
    stream->device->ended = stream;
}

void stream_has_done(struct stream *stream, uint64_t number)
{
    stream->running--;
    atomic_store_explicit(&stream->done, number, memory_order_release);
    if (!stream_drained(stream))
        return;
    become_idle(stream);
    if (!stream->alive)
        stream_retire(stream);
}

static _Thread_local const struct command *running;

const struct command *commands_running(void)
{
    return running;
}

void commands_set_running(const struct command *command)
{
    running = command;
}

/* Takes the first command off and does it. The lock is open meanwhile. */
static void run_head(struct driver *driver, struct stream *stream)
{
    struct commands *commands = &driver->commands;
    struct command *command = stream->head;
    uint64_t number = command->number;
    stream->head = command->next;
    stream->running = 1;
    pthread_mutex_unlock(&commands->lock);
    commands_set_running(command);
    if (command->ops->on_error || !stream->device->error)
        command->ops->run(command);
    commands_set_running(NULL);
    command_free(command);
    pthread_mutex_lock(&commands->lock);
    stream_has_done(stream, number);
    if (commands->waiting)
        pthread_cond_broadcast(&commands->progress);
}

static void *work(void *user)
{
    struct driver *driver = user;
    struct commands *commands = &driver->commands;
    pthread_mutex_lock(&commands->lock);
    commands->called -= commands->called > 0;
    while (!commands->stop) {
        struct stream *stream = find_ready(driver, NULL);
        if (stream) {
            if (find_ready(driver, stream))
                wake(driver);
            run_head(driver, stream);
            continue;
        }
        commands->idle++;
        pthread_cond_wait(&commands->work, &commands->lock);
        commands->idle--;
        commands->called -= commands->called > 0;
    }
    pthread_mutex_unlock(&commands->lock);
    return NULL;
}

void commands_append(struct stream *stream, struct command *command, bool soon)
{
    if (stream_drained(stream))
        become_busy(stream);
    add_default_waits(stream, command);
    command->stream = stream;
    command->number = ++stream->submitted;
    command->order = ++stream->device->driver->commands.last_order;
    if (command->ops->kind != ACTION_RECORD &&
        command->ops->kind != ACTION_HOST) /* no slice is drawn of these */
        picture_submits(command->order);
    if (command->ops->enter)
        command->ops->enter(command);
    if (command->ops->is_launch)
        stream->last_launch = command->number;
    if (command->beside)
        take_waits(command);
    itracing_command(stream, command);
    if (stream->head)
        stream->tail->next = command;
    else
        stream->head = command;
    stream->tail = command;
    struct command *behind = command->ops->behind ? command->ops->behind(command) : NULL;
    if (behind)
        commands_append(stream, behind, true);
    if (!soon && stream_is_ready(stream))
        wake(stream->device->driver);
}

void commands_call(struct driver *driver, enum host_call call)
{
    itracing_call(driver, call);
    if (driver->timeline)
        timeline_call(driver, call == HOST_LAUNCHES);
}

void driver_turn(struct driver *driver, uint32_t looks)
{
    static const struct timespec soon = {.tv_nsec = 20 * 1000};
    if (driver->timeline)
        timeline_turn(driver, looks);
    if (!timeline_is_elsewhere(driver))
        nanosleep(&soon, NULL);
}

void driver_message(struct driver *driver)
{
    timeline_message(driver);
}

void driver_set_away(struct driver *driver, bool away)
{
    timeline_set_away(driver, away);
}

void driver_pass(struct driver *driver, uint64_t ps)
{
    if (driver->timeline)
        timeline_pass(driver, ps);
}

void driver_host_reached(struct driver *driver, uint64_t time_ps)
{
    if (driver->timeline)
        timeline_host_reached(driver, time_ps);
}

uint64_t driver_host_leaves(struct driver *driver)
{
    if (!driver->timeline)
        return 0;
    timeline_settle(driver);
    return timeline_now(driver);
}

uint64_t driver_time(struct driver *driver)
{
    return driver->timeline ? timeline_now(driver) : 0;
}

/* As timelines have them, where the program's own call has no name. */
static const char *const host_call_names[] = {
    [HOST_CALLS] = "call", [HOST_LAUNCHES] = "launch", [HOST_COPIES] = "copy", [HOST_WAITS] = "wait"};

enum result commands_submit(struct stream *stream, struct command *command, bool soon, uint64_t *number)
{
    struct driver *driver = stream->device->driver;
    uint64_t got = 0;
    bool takes_longer =
        command->ops->call_ps && !stream_is_captured(stream) && !driver->options.timing.plain_copies;
    enum host_call kind = command->ops->is_launch ? HOST_LAUNCHES : takes_longer ? HOST_COPIES : HOST_CALLS;
    picture_call_begins(host_call_names[kind]);
    commands_call(driver, kind);
    if (takes_longer && driver->timeline)
        timeline_pass(driver, command->ops->call_ps(command));
    pthread_mutex_lock(&driver->commands.lock);
    enum result result = device_usable(stream->device);
    if (!result && !stream->alive)
        result = driver_fail(RESULT_INVALID_HANDLE, "the stream was destroyed");
    if (!result)
        result = capture_refuses_default(stream);
    if (!result && stream->capture) {
        result = capture_add(stream, command, NULL);
    } else if (!result) {
        commands_append(stream, command, soon);
        got = command->number;
    }
    pthread_mutex_unlock(&driver->commands.lock);
    commands_keep_shallow(stream, got);
    picture_call_ends();
    if (result)
        command_free(command);
    if (number)
        *number = got;
    return result;
}

static bool is_done(const struct stream *stream, uint64_t number)
{
    return atomic_load_explicit(&stream->done, memory_order_acquire) >= number;
}

/* Someone else runs the stream: it may be over in no time. */
static void spin(struct commands *commands, struct stream *stream, uint64_t number)
{
    pthread_mutex_unlock(&commands->lock);
    for (unsigned i = 0; i < commands->spins && !is_done(stream, number); i++)
        host_relax();
    pthread_mutex_lock(&commands->lock);
}

static void wait_until(struct stream *stream, uint64_t number)
{
    struct driver *driver = stream->device->driver;
    struct commands *commands = &driver->commands;
    if (driver->timeline) {
        timeline_wait(stream, number);
    } else if (!is_done(stream, number)) {
        pthread_mutex_lock(&commands->lock);
        while (!is_done(stream, number) && !commands->stop) {
            if (stream_is_ready(stream)) {
                run_head(driver, stream);
                continue;
            }
            if (find_ready(driver, NULL))
                wake(driver);
            spin(commands, stream, number);
            if (!is_done(stream, number) && !stream_is_ready(stream) && !commands->stop) {
                commands->waiting++;
                pthread_cond_wait(&commands->progress, &commands->lock);
                commands->waiting--;
            }
        }
        if (find_ready(driver, NULL))
            wake(driver);
        pthread_mutex_unlock(&commands->lock);
    }
    device_print_flush(stream->device);
}

void commands_wait(struct stream *stream, uint64_t number)
{
    struct driver *driver = stream->device->driver;
    bool was_done = is_done(stream, number), is_plain = driver->options.timing.plain_copies;
    if (!is_plain)
        itracing_call(driver, HOST_WAITS);
    picture_call_begins(host_call_names[HOST_WAITS]);
    wait_until(stream, number);
    if (driver->timeline && !was_done && !is_plain)
        timeline_pass(driver, driver->system.spec.wait_time);
    picture_call_ends();
    if (is_done(stream, number))
        itracing_wait(stream, number); /* now: what other threads did meanwhile did not wait for it */
}

void commands_keep_shallow(struct stream *stream, uint64_t submitted)
{
    if (commands_running()) /* a command that submits others may not wait for them */
        return;
    if (submitted > DEEPEST && submitted - atomic_load(&stream->done) > DEEPEST)
        wait_until(stream, submitted - DEEPEST / 2);
}

void commands_fini(struct driver *driver)
{
    struct commands *commands = &driver->commands;
    pthread_mutex_lock(&commands->lock);
    commands->stop = true;
    pthread_cond_broadcast(&commands->work);
    pthread_cond_broadcast(&commands->progress);
    pthread_mutex_unlock(&commands->lock);
    if (driver->timeline)
        timeline_stop(driver);
    for (size_t i = 0; i < commands->worker_count; i++)
        pthread_join(commands->workers[i], NULL);
    mem_free(commands->workers);
    pthread_cond_destroy(&commands->work);
    pthread_cond_destroy(&commands->progress);
    pthread_mutex_destroy(&commands->lock);
}
