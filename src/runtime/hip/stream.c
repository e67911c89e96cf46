/* Streams and events. */
#include "runtime/hip/api.h"
#include "base/mem.h"

enum { PRIORITY_LEAST = 1, PRIORITY_GREATEST = -1 }; /* as AMD's library has them */
enum { EVENT_FLAGS = EVENT_BLOCKING_SYNC | EVENT_NO_TIMING | EVENT_INTERPROCESS };
static const unsigned EVENT_RELEASES =
    0x40000000u | 0x80000000u; /* how caches are flushed: changes no result */

static int new_stream(hipStream_t *stream, unsigned flags, int priority)
{
    if (!stream || flags & ~(unsigned)STREAM_NON_BLOCKING)
        return hipErrorInvalidValue;
    priority = priority > PRIORITY_LEAST      ? PRIORITY_LEAST
               : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST
                                              : priority;
    enum result result = stream_new(hip_device(), flags, priority, stream);
    if (!result)
        hip_add_stream(*stream);
    return result;
}

HIP(hipStreamCreate, (stream), hipStream_t *stream)
{
    return new_stream(stream, 0, 0);
}

HIP(hipStreamCreateWithFlags, (stream, flags), hipStream_t *stream, unsigned flags)
{
    return new_stream(stream, flags, 0);
}

HIP(hipStreamCreateWithPriority, (stream, flags, priority), hipStream_t *stream, unsigned flags, int priority)
{
    return new_stream(stream, flags, priority);
}

HIP(hipDeviceGetStreamPriorityRange, (least, greatest), int *least, int *greatest)
{
    if (least)
        *least = PRIORITY_LEAST;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return hipSuccess;
}

HIP_STREAM(hipStreamDestroy, (stream), hipStream_t stream)
{
    return hip_is_default(stream) ? hipErrorInvalidHandle : (int)stream_free(stream);
}

HIP_STREAM_TWINS(hipStreamQuery, (stream), hipStream_t stream)
{
    return stream_query(hip_stream(stream));
}

HIP_STREAM_TWINS(hipStreamSynchronize, (stream), hipStream_t stream)
{
    return stream_synchronize(hip_stream(stream));
}

HIP_STREAM_TWINS(hipStreamWaitEvent, (stream, event, flags), hipStream_t stream, hipEvent_t event,
                 unsigned flags)
{
    (void)flags;
    return hip_event_known(event) ? (int)stream_wait_event(hip_stream(stream), event) : hipErrorInvalidHandle;
}

HIP_STREAM_TWINS(hipStreamGetFlags, (stream, flags), hipStream_t stream, unsigned *flags)
{
    if (flags)
        *flags = stream_flags(hip_stream(stream));
    return flags ? hipSuccess : hipErrorInvalidValue;
}

HIP_STREAM_TWINS(hipStreamGetPriority, (stream, priority), hipStream_t stream, int *priority)
{
    if (priority)
        *priority = stream_priority(hip_stream(stream));
    return priority ? hipSuccess : hipErrorInvalidValue;
}

HIP_EXPORT int hipGetStreamDeviceId(hipStream_t stream);
int hipGetStreamDeviceId(hipStream_t stream)
{
    if (hip_device_set() || !hip_stream_known(stream))
        return -1;
    return (int)device_index(stream_device(hip_stream(stream)));
}

/* ---- values in memory ---- */

/* Only the bits of the mask are compared, which the driver has no comparison for unless they are all. */
#define WAIT_VALUE(name, type)                                                                               \
    HIP_STREAM(name, (stream, pointer, value, compare, mask), hipStream_t stream, void *pointer, type value, \
               unsigned compare, type mask)                                                                  \
    {                                                                                                        \
        if (compare > STREAM_NOR)                                                                            \
            return hipErrorInvalidValue;                                                                     \
        if (mask != (type)-1)                                                                                \
            return hipErrorNotSupported;                                                                     \
        return stream_wait_value(hip_stream(stream), (uint64_t)(uintptr_t)pointer, value, sizeof value,      \
                                 (enum stream_compare)compare);                                              \
    }
WAIT_VALUE(hipStreamWaitValue32, uint32_t)
WAIT_VALUE(hipStreamWaitValue64, uint64_t)
#undef WAIT_VALUE

#define WRITE_VALUE(name, type)                                                                              \
    HIP_STREAM(name, (stream, pointer, value, flags), hipStream_t stream, void *pointer, type value,         \
               unsigned flags)                                                                               \
    {                                                                                                        \
        (void)flags;                                                                                         \
        return stream_write_value(hip_stream(stream), (uint64_t)(uintptr_t)pointer, value, sizeof value);    \
    }
WRITE_VALUE(hipStreamWriteValue32, uint32_t)
WRITE_VALUE(hipStreamWriteValue64, uint64_t)
#undef WRITE_VALUE

/* ---- functions of the host ---- */

typedef void hip_callback(hipStream_t stream, hipError_t error, void *user);

/* What a function of the program is called with, once its stream gets there. */
struct host_call {
    hip_callback *callback;
    hipStream_t stream;
    void *user;
};

static void make_call(void *user, enum result result)
{
    struct host_call call = *(struct host_call *)user;
    mem_free(user);
    call.callback(call.stream, (hipError_t)result, call.user);
}

HIP_STREAM(hipStreamAddCallback, (stream, callback, user, flags), hipStream_t stream, hip_callback *callback,
           void *user, unsigned flags)
{
    if (!callback || flags)
        return hipErrorInvalidValue;
    struct host_call *kept = mem_alloc(1, sizeof *kept);
    *kept = (struct host_call){callback, stream, user};
    enum result result = stream_host(hip_stream(stream), make_call, kept, true);
    if (result)
        mem_free(kept);
    return result;
}

/* ---- events ---- */

static int new_event(hipEvent_t *event, unsigned flags)
{
    if (!event || flags & ~(EVENT_FLAGS | EVENT_RELEASES) || (flags & EVENT_RELEASES) == EVENT_RELEASES)
        return hipErrorInvalidValue;
    enum result result = event_new(hip_device(), flags & EVENT_FLAGS, event);
    if (!result)
        hip_add_event(*event);
    return result;
}

HIP(hipEventCreate, (event), hipEvent_t *event)
{
    return new_event(event, 0);
}

HIP(hipEventCreateWithFlags, (event, flags), hipEvent_t *event, unsigned flags)
{
    return new_event(event, flags);
}

HIP(hipEventDestroy, (event), hipEvent_t event)
{
    return hip_event_known(event) ? (int)event_free(event) : hipErrorInvalidHandle;
}

HIP_STREAM(hipEventRecord, (event, stream), hipEvent_t event, hipStream_t stream)
{
    return hip_event_known(event) ? (int)event_record(event, hip_stream(stream)) : hipErrorInvalidHandle;
}

HIP(hipEventQuery, (event), hipEvent_t event)
{
    return hip_event_known(event) ? (int)event_query(event) : hipErrorInvalidHandle;
}

HIP(hipEventSynchronize, (event), hipEvent_t event)
{
    return hip_event_known(event) ? (int)event_synchronize(event) : hipErrorInvalidHandle;
}

HIP(hipEventElapsedTime, (milliseconds, from, to), float *milliseconds, hipEvent_t from, hipEvent_t to)
{
    if (!milliseconds)
        return hipErrorInvalidValue;
    return hip_event_known(from) && hip_event_known(to) ? (int)event_elapsed(from, to, milliseconds)
                                                        : hipErrorInvalidHandle;
}
