/* Streams and events that programs were given. A handle that is none of them is refused before anything is
 * read through it. The driver uses what was destroyed again and frees nothing while the program runs, so that
 * handles only ever are added; one that was destroyed is the driver's to refuse. */
#include "runtime/cuda/api.h"
#include "base/mem.h"

#include <pthread.h>

/* A hash table with open addressing; NULL is a free place. */
struct handles {
    const void **at;
    size_t count, capacity; /* a power of 2, at least twice the count */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handles streams, events;

/* The place of this handle, or the free one where it belongs. */
static const void **place(const struct handles *handles, const void *handle)
{
    size_t i = (size_t)((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15 >> 20);
    for (;; i++) {
        const void **at = &handles->at[i & (handles->capacity - 1)];
        if (!*at || *at == handle)
            return at;
    }
}

static void grow(struct handles *handles)
{
    enum { FIRST = 64 };
    struct handles larger = {.capacity = handles->capacity ? 2 * handles->capacity : FIRST};
    larger.at = mem_alloc(larger.capacity, sizeof *larger.at);
    for (size_t i = 0; i < handles->capacity; i++) {
        if (handles->at[i])
            *place(&larger, handles->at[i]) = handles->at[i];
    }
    larger.count = handles->count;
    mem_free(handles->at);
    *handles = larger;
}

static void add(struct handles *handles, const void *handle)
{
    pthread_mutex_lock(&lock);
    if (2 * (handles->count + 1) > handles->capacity)
        grow(handles);
    const void **at = place(handles, handle);
    handles->count += !*at;
    *at = handle;
    pthread_mutex_unlock(&lock);
}

static bool has(const struct handles *handles, const void *handle)
{
    pthread_mutex_lock(&lock);
    bool known = handles->capacity && *place(handles, handle);
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
