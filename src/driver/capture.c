#include "driver/internal.h"
#include "base/mem.h"

struct capture {
    struct capture *next; /* of the driver's, but for private ones */
    struct stream *origin;
    struct capture_owner owner;
    enum capture_mode mode;
    pthread_t thread;
    uint64_t id;
    bool is_invalid;
    struct captured_list left; /* where streams had come to that were destroyed */
    struct command **commands; /* all that were added; the graph's */
    size_t count, capacity;
};

static _Thread_local enum capture_mode thread_mode = CAPTURE_GLOBAL;

void captured_copy(struct captured_list *to, const struct captured_list *from)
{
    to->count = 0;
    for (size_t i = 0; from && i < from->count; i++) {
        mem_grow(to->at, to->count, to->capacity);
        to->at[to->count++] = from->at[i];
    }
}

static void captured_merge(struct captured_list *to, const struct captured_list *from)
{
    for (size_t i = 0; i < from->count; i++) {
        size_t k = 0;
        while (k < to->count && to->at[k].node != from->at[i].node)
            k++;
        if (k < to->count)
            continue;
        mem_grow(to->at, to->count, to->capacity);
        to->at[to->count++] = from->at[i];
    }
}

static void captured_clear(struct captured_list *list)
{
    mem_free(list->at);
    *list = (struct captured_list){0};
}

enum result capture_invalidate(struct capture *capture, enum result why)
{
    capture->is_invalid = true;
    return why;
}

bool capture_began_in(const struct capture *capture, const struct stream *stream)
{
    return capture && capture->origin == stream;
}

struct command *const *capture_commands(const struct capture *capture, size_t *count)
{
    *count = capture->count;
    return capture->commands;
}

/* ---- what streams do ---- */

enum result capture_refuses_default(const struct stream *stream)
{
    struct device *device = stream->device;
    enum result result = RESULT_SUCCESS;
    if (stream != device->default_stream || !device->driver->commands.captures)
        return result;
    for (struct stream *other = device->streams; other; other = other->next) {
        if (!other->capture || other->flags & STREAM_NON_BLOCKING || other->capture->mode == CAPTURE_PRIVATE)
            continue;
        result = capture_invalidate(other->capture, RESULT_STREAM_CAPTURE_IMPLICIT);
    }
    return result ? driver_fail(result, "the default stream would wait for a stream that is captured")
                  : result;
}

enum result capture_refuses_wait(struct stream *stream)
{
    enum result result = capture_refuses_default(stream);
    if (result || !stream->capture)
        return result;
    bool was_invalid = stream->capture->is_invalid;
    capture_invalidate(stream->capture, RESULT_SUCCESS);
    return was_invalid ? RESULT_STREAM_CAPTURE_INVALIDATED
                       : driver_fail(RESULT_STREAM_CAPTURE_UNSUPPORTED,
                                     "nothing can wait for a stream that is captured");
}

enum result capture_add(struct stream *stream, struct command *command, struct stream_event *event)
{
    struct capture *capture = stream->capture;
    if (capture->is_invalid)
        return driver_fail(RESULT_STREAM_CAPTURE_INVALIDATED, "the capture is invalid by an earlier mistake");
    void *node = capture->owner.add(capture->owner.graph, command, event, stream->device, &stream->captured);
    if (command) {
        mem_grow(capture->commands, capture->count, capture->capacity);
        capture->commands[capture->count++] = command;
    }
    captured_copy(&stream->captured, &(struct captured_list){&(struct captured){.node = node}, 1, 1});
    return RESULT_SUCCESS;
}

enum result capture_join(struct capture *capture, struct stream *stream, const struct captured_list *list)
{
    if (stream == stream->device->default_stream) {
        capture_invalidate(capture, RESULT_SUCCESS);
        return driver_fail(RESULT_STREAM_CAPTURE_IMPLICIT, "the default stream cannot be captured");
    }
    if (stream->capture && stream->capture != capture) {
        capture_invalidate(stream->capture, RESULT_SUCCESS);
        capture_invalidate(capture, RESULT_SUCCESS);
        return driver_fail(RESULT_STREAM_CAPTURE_MERGE, "the stream is captured already, by itself");
    }
    stream->capture = capture;
    captured_merge(&stream->captured, list);
    return RESULT_SUCCESS;
}

void capture_leave(struct stream *stream)
{
    if (stream->capture)
        captured_merge(&stream->capture->left, &stream->captured);
    stream->capture = NULL;
    captured_clear(&stream->captured);
}

/* ---- begin and end ---- */

static enum result begin(struct stream *stream, struct capture *capture)
{
    struct commands *commands = &stream->device->driver->commands;
    enum result result = device_usable(stream->device);
    if (result)
        return result;
    if (stream->capture)
        return driver_fail(RESULT_ILLEGAL_STATE, "the stream is captured already");
    stream->capture = capture;
    commands->captures++;
    capture->id = ++commands->last_capture;
    if (capture->mode != CAPTURE_PRIVATE) {
        capture->next = commands->first_capture;
        commands->first_capture = capture;
    }
    return RESULT_SUCCESS;
}

enum result capture_begin(struct stream *stream, enum capture_mode mode, const struct capture_owner *owner,
                          const struct captured_list *from)
{
    struct commands *commands = &stream->device->driver->commands;
    if (stream == stream->device->default_stream)
        return driver_fail(RESULT_STREAM_CAPTURE_UNSUPPORTED, "the default stream cannot be captured");
    struct capture *capture = mem_alloc(1, sizeof *capture);
    *capture = (struct capture){.origin = stream, .owner = *owner, .mode = mode, .thread = pthread_self()};
    pthread_mutex_lock(&commands->lock);
    enum result result = begin(stream, capture);
    if (!result)
        captured_copy(&stream->captured, from);
    pthread_mutex_unlock(&commands->lock);
    if (result)
        mem_free(capture);
    return result;
}

static bool is_joined(const struct capture *capture, const struct captured_list *ends,
                      const struct captured_list *list)
{
    return capture->owner.covers(capture->owner.graph, ends, list);
}

/* All streams that joined go back to work. Whether all that they did comes before where the first one has
 * come to. */
static bool release(struct driver *driver, struct capture *capture)
{
    const struct captured_list *ends = &capture->origin->captured;
    bool joined = is_joined(capture, ends, &capture->left);
    for (unsigned i = 0; i < driver->device_count; i++) {
        struct device *device = &driver->devices[i];
        for (struct stream *stream = device->streams; stream; stream = stream->next) {
            if (stream->capture != capture || stream == capture->origin)
                continue;
            joined &= is_joined(capture, ends, &stream->captured);
            stream->capture = NULL;
            captured_clear(&stream->captured);
        }
        events_leave(device, capture);
    }
    captured_clear(&capture->origin->captured);
    capture->origin->capture = NULL;
    return joined;
}

static void take_off(struct commands *commands, const struct capture *capture)
{
    for (struct capture **link = &commands->first_capture; *link; link = &(*link)->next) {
        if (*link == capture) {
            *link = capture->next;
            break;
        }
    }
    commands->captures--;
}

enum result capture_end(struct stream *stream, void **graph)
{
    struct driver *driver = stream->device->driver;
    struct capture *capture = NULL;
    bool joined = true;
    *graph = NULL;
    pthread_mutex_lock(&driver->commands.lock);
    enum result result = RESULT_SUCCESS;
    if (!stream->capture) {
        result = driver_fail(RESULT_ILLEGAL_STATE, "no capture was begun in this stream");
    } else if (stream->capture->origin != stream) {
        capture_invalidate(stream->capture, RESULT_SUCCESS);
        result = driver_fail(RESULT_STREAM_CAPTURE_UNMATCHED, "the capture was begun in another stream");
    } else if (stream->capture->mode < CAPTURE_RELAXED &&
               !pthread_equal(stream->capture->thread, pthread_self())) {
        result = driver_fail(RESULT_STREAM_CAPTURE_WRONG_THREAD, "another thread has begun the capture");
    } else {
        capture = stream->capture;
        joined = release(driver, capture);
        take_off(&driver->commands, capture);
    }
    pthread_mutex_unlock(&driver->commands.lock);
    if (!capture)
        return result;
    *graph = capture->owner.graph;
    if (capture->is_invalid)
        result =
            driver_fail(RESULT_STREAM_CAPTURE_INVALIDATED, "the capture is invalid by an earlier mistake");
    else if (!joined)
        result = driver_fail(RESULT_STREAM_CAPTURE_UNJOINED,
                             "a stream that joined the capture has not been joined back");
    captured_clear(&capture->left);
    mem_free(capture->commands);
    mem_free(capture);
    return result;
}

/* ---- questions ---- */

bool stream_is_captured(const struct stream *stream)
{
    struct commands *commands = &stream->device->driver->commands;
    if (!commands->captures)
        return false;
    pthread_mutex_lock(&commands->lock);
    bool captured = stream->capture;
    pthread_mutex_unlock(&commands->lock);
    return captured;
}

enum result capture_facts(struct stream *stream, struct capture_facts *facts)
{
    struct commands *commands = &stream->device->driver->commands;
    pthread_mutex_lock(&commands->lock);
    const struct capture *capture = stream->capture;
    enum result result = RESULT_SUCCESS;
    *facts = (struct capture_facts){CAPTURE_NONE, 0, NULL};
    if (capture) {
        *facts = (struct capture_facts){capture->is_invalid ? CAPTURE_INVALID : CAPTURE_ACTIVE, capture->id,
                                        capture->owner.graph};
    } else if (stream == stream->device->default_stream) {
        for (struct stream *other = stream->device->streams; other && !result; other = other->next) {
            if (other->capture && !(other->flags & STREAM_NON_BLOCKING))
                result = RESULT_STREAM_CAPTURE_IMPLICIT;
        }
    }
    pthread_mutex_unlock(&commands->lock);
    return result;
}

struct captured_list *capture_list(struct stream *stream)
{
    return stream->capture && !stream->capture->is_invalid ? &stream->captured : NULL;
}

/* ---- calls that name no stream ---- */

enum capture_mode capture_exchange_mode(enum capture_mode mode)
{
    enum capture_mode before = thread_mode;
    thread_mode = mode;
    return before;
}

static bool forbids(const struct capture *capture)
{
    bool own = pthread_equal(capture->thread, pthread_self());
    if (thread_mode == CAPTURE_RELAXED || capture->mode == CAPTURE_RELAXED)
        return false;
    return own || (capture->mode == CAPTURE_GLOBAL && thread_mode == CAPTURE_GLOBAL);
}

void capture_poison(struct stream *stream)
{
    struct commands *commands = &stream->device->driver->commands;
    if (!commands->captures)
        return;
    pthread_mutex_lock(&commands->lock);
    if (stream->capture)
        capture_invalidate(stream->capture, RESULT_SUCCESS);
    pthread_mutex_unlock(&commands->lock);
}

static enum result check(struct driver *driver, bool (*is_forbidden_by)(const struct capture *capture))
{
    struct commands *commands = &driver->commands;
    enum result result = RESULT_SUCCESS;
    if (!commands->captures)
        return result;
    pthread_mutex_lock(&commands->lock);
    for (struct capture *capture = commands->first_capture; capture; capture = capture->next) {
        if (is_forbidden_by(capture))
            result = capture_invalidate(capture, RESULT_STREAM_CAPTURE_UNSUPPORTED);
    }
    pthread_mutex_unlock(&commands->lock);
    return result ? driver_fail(result, "the call may wait for a stream that is captured") : result;
}

static bool forbids_always(const struct capture *capture)
{
    (void)capture;
    return true;
}

enum result capture_check_device(struct driver *driver)
{
    return check(driver, forbids_always);
}

enum result capture_check_call(struct driver *driver)
{
    return check(driver, forbids);
}
