#include "runtime/common/common.h"
#include "base/pointers.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers streams, events;

static void add(struct pointers *handles, const void *handle)
{
    pthread_mutex_lock(&lock);
    pointers_set(handles, handle, (void *)(uintptr_t)handle);
    pthread_mutex_unlock(&lock);
}

static bool has(const struct pointers *handles, const void *handle)
{
    pthread_mutex_lock(&lock);
    bool known = pointers_get(handles, handle);
    pthread_mutex_unlock(&lock);
    return known;
}

void common_add_stream(const struct stream *stream)
{
    add(&streams, stream);
}

void common_add_event(const struct stream_event *event)
{
    add(&events, event);
}

bool common_has_stream(const struct stream *stream)
{
    static _Thread_local const struct stream *last; /* programs use the same one again and again */
    if (stream && stream == last)
        return true;
    if (!stream || !has(&streams, stream))
        return false;
    last = stream;
    return true;
}

bool common_has_event(const struct stream_event *event)
{
    return event && has(&events, event);
}

/* ---- events ---- */

enum result common_event_free(struct stream_event *event)
{
    return common_has_event(event) ? event_free(event) : RESULT_INVALID_HANDLE;
}

enum result common_event_record(struct stream_event *event, struct stream *stream)
{
    return common_has_event(event) ? event_record(event, stream) : RESULT_INVALID_HANDLE;
}

enum result common_event_query(struct stream_event *event)
{
    return common_has_event(event) ? event_query(event) : RESULT_INVALID_HANDLE;
}

enum result common_event_synchronize(struct stream_event *event)
{
    return common_has_event(event) ? event_synchronize(event) : RESULT_INVALID_HANDLE;
}

enum result common_event_elapsed(struct stream_event *from, struct stream_event *to, float *milliseconds)
{
    if (!milliseconds)
        return RESULT_INVALID_VALUE;
    return common_has_event(from) && common_has_event(to) ? event_elapsed(from, to, milliseconds)
                                                          : RESULT_INVALID_HANDLE;
}

enum result common_wait_event(struct stream *stream, struct stream_event *event)
{
    return common_has_event(event) ? stream_wait_event(stream, event) : RESULT_INVALID_HANDLE;
}
