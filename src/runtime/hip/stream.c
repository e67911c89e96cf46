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
        common_add_stream(*stream);
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
    return common_wait_event(hip_stream(stream), event);
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

HIP_STREAM(hipStreamAddCallback, (stream, callback, user, flags), hipStream_t stream, hip_callback *callback,
           void *user, unsigned flags)
{
    if (!callback || flags)
        return hipErrorInvalidValue;
    return common_call_later(hip_stream(stream),
                             &(struct common_call){.callback = callback, .handle = stream, .user = user});
}

/* ---- events ---- */

static int new_event(hipEvent_t *event, unsigned flags)
{
    if (!event || flags & ~(EVENT_FLAGS | EVENT_RELEASES) || (flags & EVENT_RELEASES) == EVENT_RELEASES)
        return hipErrorInvalidValue;
    enum result result = event_new(hip_device(), flags & EVENT_FLAGS, event);
    if (!result)
        common_add_event(*event);
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
    return common_event_free(event);
}

HIP_STREAM(hipEventRecord, (event, stream), hipEvent_t event, hipStream_t stream)
{
    return common_event_record(event, hip_stream(stream));
}

HIP(hipEventQuery, (event), hipEvent_t event)
{
    return common_event_query(event);
}

HIP(hipEventSynchronize, (event), hipEvent_t event)
{
    return common_event_synchronize(event);
}

HIP(hipEventElapsedTime, (milliseconds, from, to), float *milliseconds, hipEvent_t from, hipEvent_t to)
{
    return common_event_elapsed(from, to, milliseconds);
}
