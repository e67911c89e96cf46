#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"

static struct stream *take_ended(struct device *device)
{
    struct stream *stream = device->ended;
    if (stream)
        device->ended = stream->next_ended;
    return stream;
}

static struct stream *add_stream(struct device *device)
{
    struct stream *stream = mem_alloc(1, sizeof *stream);
    stream->next = device->streams;
    device->streams = stream;
    stream->device = device;
    device->driver->commands.stream_count++;
    return stream;
}

enum result stream_new(struct device *device, unsigned flags, int priority, struct stream **stream)
{
    struct commands *commands = &device->driver->commands;
    enum result result = device_usable(device);
    if (result)
        return result;
    if (flags & ~(unsigned)STREAM_NON_BLOCKING)
        return driver_fail(RESULT_INVALID_VALUE, "there are no streams of flags 0x%x", flags);
    pthread_mutex_lock(&commands->lock);
    struct stream *made = take_ended(device);
    if (!made)
        made = add_stream(device);
    made->flags = flags;
    made->priority = priority;
    made->first_sm = made->sm_count = 0;
    made->id = device->default_stream ? ++commands->last_stream : 0;
    made->alive = true;
    pthread_mutex_unlock(&commands->lock);
    *stream = made;
    return RESULT_SUCCESS;
}

void stream_kill(struct stream *stream)
{
    stream->alive = false;
    if (stream_drained(stream))
        stream_retire(stream);
}

enum result stream_free(struct stream *stream)
{
    struct device *device = stream->device;
    if (device->driver->ended)
        return RESULT_DEINITIALIZED;
    pthread_mutex_lock(&device->driver->commands.lock);
    bool good =
        stream->alive && stream != device->default_stream && !capture_began_in(stream->capture, stream);
    if (good) {
        capture_leave(stream);
        stream_kill(stream);
    }
    pthread_mutex_unlock(&device->driver->commands.lock);
    if (!good)
        return driver_fail(RESULT_INVALID_HANDLE, "a capture began in the stream, it is a default "
                                                  "stream, or was destroyed before");
    return device->error;
}

struct stream *device_default_stream(struct device *device)
{
    return device->default_stream;
}

void stream_limit(struct stream *stream, uint32_t first_sm, uint32_t sm_count)
{
    stream->first_sm = first_sm;
    stream->sm_count = sm_count;
}

struct device *stream_device(const struct stream *stream)
{
    return stream->device;
}

unsigned stream_flags(const struct stream *stream)
{
    return stream->flags;
}

int stream_priority(const struct stream *stream)
{
    return stream->priority;
}

uint64_t stream_id(const struct stream *stream)
{
    return stream->id;
}

/* ---- of threads ---- */

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

/* A thread's own default streams: one for each device that it used. */
struct thread_stream {
    struct thread_stream *next;
    struct device *device;
    struct stream *stream;
    uint64_t driver; /* its number: a driver may be gone, and another one at its place */
    uint64_t id;     /* of the stream: a reset of the device ends it, and another may take its place */
};

static bool is_alive(struct stream *stream, uint64_t id)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    bool alive = stream->alive && stream->id == id;
    pthread_mutex_unlock(&commands->lock);
    return alive;
}

void stream_end(struct stream *stream, uint64_t id)
{
    if (is_alive(stream, id))
        stream_free(stream);
}

static void end_thread(void *value)
{
    for (struct thread_stream *next, *own = value; own; own = next) {
        next = own->next;
        driver_end_stream(own->driver, own->stream, own->id);
        mem_free(own);
    }
}

static void make_key(void)
{
    if (pthread_key_create(&thread_key, end_thread))
        BUG("no key for the streams of threads");
}

struct stream *device_thread_stream(struct device *device)
{
    pthread_once(&thread_once, make_key);
    struct thread_stream *own = pthread_getspecific(thread_key);
    while (own && (own->driver != device->driver->number || own->device != device))
        own = own->next;
    if (own && is_alive(own->stream, own->id))
        return own->stream;
    struct stream *stream;
    if (stream_new(device, 0, 0, &stream))
        return device->default_stream; /* gives the device's error to whoever uses it */
    if (!own) {
        own = mem_alloc(1, sizeof *own);
        own->next = pthread_getspecific(thread_key);
        pthread_setspecific(thread_key, own);
    }
    *own = (struct thread_stream){own->next, device, stream, device->driver->number, stream->id};
    return stream;
}

/* ---- waiting ---- */

/* Whether a wait for `stream` is one for `other`, too: the default stream stands for all blocking ones. NULL
 * is all streams of the device. */
static bool covers(const struct stream *stream, const struct stream *other)
{
    return !stream || stream == other ||
           (stream == stream->device->default_stream && !(other->flags & STREAM_NON_BLOCKING));
}

static bool all_done(struct device *device, const struct stream *stream)
{
    struct commands *commands = &device->driver->commands;
    bool done = true;
    pthread_mutex_lock(&commands->lock);
    for (struct stream *other = device->busy; other; other = other->next_busy)
        done &= !covers(stream, other);
    pthread_mutex_unlock(&commands->lock);
    return done;
}

/* For all that was submitted up to now. */
static void wait_all(struct device *device, const struct stream *stream)
{
    struct commands *commands = &device->driver->commands;
    struct command_wait *waits = NULL;
    size_t count = 0, capacity = 0;
    pthread_mutex_lock(&commands->lock);
    for (struct stream *other = device->streams; other; other = other->next) {
        bool wanted = !stream_drained(other) || other->traced; /* in another time it may not be done */
        if (wanted && covers(stream, other)) {
            mem_grow(waits, count, capacity);
            waits[count++] = (struct command_wait){other, other->submitted, WAIT_FOR_END};
        }
    }
    pthread_mutex_unlock(&commands->lock);
    for (size_t i = 0; i < count; i++)
        commands_wait(waits[i].stream, waits[i].number);
    mem_free(waits);
    device_print_flush(device);
}

static enum result no_wait_while_captured(struct stream *stream)
{
    struct commands *commands = &stream->device->driver->commands;
    if (!commands->captures)
        return RESULT_SUCCESS;
    pthread_mutex_lock(&commands->lock);
    enum result result = capture_refuses_wait(stream);
    pthread_mutex_unlock(&commands->lock);
    return result;
}

enum result stream_query(struct stream *stream)
{
    enum result result = device_usable(stream->device);
    if (!result)
        result = no_wait_while_captured(stream);
    if (!result)
        commands_call(stream->device->driver, HOST_ASKS); /* who asks often enough must get there */
    if (!result && !all_done(stream->device, stream))
        return RESULT_NOT_READY;
    return result ? result : (enum result)stream->device->error;
}

enum result stream_synchronize(struct stream *stream)
{
    enum result result = device_usable(stream->device);
    if (!result)
        result = no_wait_while_captured(stream);
    if (result)
        return result;
    wait_all(stream->device, stream);
    return stream->device->error;
}

enum result device_synchronize(struct device *device)
{
    if (device->driver->ended)
        return RESULT_DEINITIALIZED;
    wait_all(device, NULL);
    return device->error;
}
