/* Streams and events that programs were given. A handle that is none of them is refused before anything is
 * read through it. The driver uses what was destroyed again and frees nothing while the program runs, so that
 * handles only ever are added; one that was destroyed is the driver's to refuse. */
#include "runtime/hip/api.h"
#include "base/pointers.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers streams, events;

static void add(struct pointers *handles, void *handle)
{
    pthread_mutex_lock(&lock);
    pointers_set(handles, handle, handle);
    pthread_mutex_unlock(&lock);
}

static bool has(const struct pointers *handles, const void *handle)
{
    pthread_mutex_lock(&lock);
    bool known = pointers_get(handles, handle);
    pthread_mutex_unlock(&lock);
    return known;
}

bool hip_is_default(hipStream_t stream)
{
    return !stream || stream == HIP_STREAM_PER_THREAD;
}

void hip_add_stream(struct stream *stream)
{
    add(&streams, stream);
}

void hip_add_event(struct stream_event *event)
{
    add(&events, event);
}

bool hip_stream_known(hipStream_t stream)
{
    return hip_is_default(stream) || has(&streams, stream);
}

bool hip_event_known(hipEvent_t event)
{
    return has(&events, event);
}
