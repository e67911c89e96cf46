/* Streams and events that programs were given. A handle that is none of them is refused before anything is
 * read through it. The driver uses what was destroyed again and frees nothing while the program runs, so that
 * handles only ever are added; one that was destroyed is the driver's to refuse. */
#include "runtime/cuda/api.h"
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

bool cuda_is_default(cudaStream_t stream)
{
    return !stream || stream == STREAM_LEGACY || stream == STREAM_PER_THREAD;
}

void cuda_add_stream(const struct stream *stream)
{
    add(&streams, stream);
}

void cuda_add_event(const struct stream_event *event)
{
    add(&events, event);
}

bool cuda_stream_known(cudaStream_t stream)
{
    static _Thread_local cudaStream_t last; /* programs use the same one again and again */
    if (cuda_is_default(stream) || stream == last)
        return true;
    if (!has(&streams, stream))
        return false;
    last = stream;
    return true;
}

bool cuda_event_known(cudaEvent_t event)
{
    return event && has(&events, event);
}
