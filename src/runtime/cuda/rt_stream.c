/* Streams and events. */
#include "runtime/cuda/stream.h"
#include "base/mem.h"

enum { STREAM_FLAGS = STREAM_NON_BLOCKING };
enum { EVENT_FLAGS = EVENT_BLOCKING_SYNC | EVENT_NO_TIMING | EVENT_INTERPROCESS };

cudaError_t cuda_stream_new(struct stream **stream, unsigned flags, int priority)
{
    if (!stream || flags & ~(unsigned)STREAM_FLAGS)
        return cudaErrorInvalidValue;
    priority = priority > 0 ? 0 : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST : priority;
    cudaError_t error = stream_new(cuda_device(), flags, priority, stream);
    if (!error)
        cuda_green_limit(cuda_context(), *stream);
    if (!error)
        common_add_stream(*stream);
    return error;
}

API(cudaStreamCreate, (stream), cudaStream_t *stream)
{
    return cuda_stream_new(stream, 0, 0);
}

API(cudaStreamCreateWithFlags, (stream, flags), cudaStream_t *stream, unsigned flags)
{
    return cuda_stream_new(stream, flags, 0);
}

API(cudaStreamCreateWithPriority, (stream, flags, priority), cudaStream_t *stream, unsigned flags,
    int priority)
{
    return cuda_stream_new(stream, flags, priority);
}

API(cudaStreamDestroy, (stream), cudaStream_t stream)
{
    return cuda_is_default(stream) || !cuda_stream_known(stream) ? cudaErrorInvalidResourceHandle
                                                                 : stream_free(stream);
}

API_PTSZ(cudaStreamQuery, (stream), cudaStream_t stream)
{
    return stream_query(cuda_stream(stream));
}

API_PTSZ(cudaStreamSynchronize, (stream), cudaStream_t stream)
{
    cudaError_t error = capture_check_call(cuda_driver());
    return error ? error : (cudaError_t)stream_synchronize(cuda_stream(stream));
}

API_PTSZ(cudaStreamWaitEvent, (stream, event, flags), cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return cuda_wait_event(stream, event, flags);
}

API_PTSZ(cudaStreamGetDevice, (stream, index), cudaStream_t stream, int *index)
{
    if (index)
        *index = (int)device_index(stream_device(cuda_stream(stream)));
    return index ? cudaSuccess : cudaErrorInvalidValue;
}

API_PTSZ(cudaStreamGetFlags, (stream, flags), cudaStream_t stream, unsigned *flags)
{
    if (flags)
        *flags = stream_flags(cuda_stream(stream));
    return flags ? cudaSuccess : cudaErrorInvalidValue;
}

API_PTSZ(cudaStreamGetId, (stream, id), cudaStream_t stream, unsigned long long *id)
{
    if (id)
        *id = stream_id(cuda_stream(stream));
    return id ? cudaSuccess : cudaErrorInvalidValue;
}

API_PTSZ(cudaStreamGetPriority, (stream, priority), cudaStream_t stream, int *priority)
{
    if (priority)
        *priority = stream_priority(cuda_stream(stream));
    return priority ? cudaSuccess : cudaErrorInvalidValue;
}

static bool is_stream_attribute(int attribute)
{
    return attribute == LAUNCH_ACCESS_WINDOW || attribute == LAUNCH_SYNCHRONIZATION ||
           attribute == LAUNCH_PRIORITY || attribute == LAUNCH_DOMAIN_MAP || attribute == LAUNCH_DOMAIN;
}

cudaError_t cuda_check_stream_attribute(int attribute, const void *value)
{
    enum { POLICY_BLOCKING = 4 }; /* the last one: they are 1 to 4 */
    const struct cudaAccessPolicyWindow *window = value;
    if (!value || !is_stream_attribute(attribute))
        return cudaErrorInvalidValue;
    if (attribute == LAUNCH_SYNCHRONIZATION)
        return *(const unsigned *)value <= POLICY_BLOCKING ? cudaSuccess : cudaErrorInvalidValue;
    bool fits = attribute != LAUNCH_ACCESS_WINDOW ||
                (window->num_bytes <= device_spec(cuda_device())->l2_window_max && window->hitRatio >= 0 &&
                 window->hitRatio <= 1);
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

/* Attributes of streams are about caches and waiting: no result depends on them. */
API_PTSZ(cudaStreamSetAttribute, (stream, attribute, value), cudaStream_t stream, int attribute,
         const void *value)
{
    (void)stream;
    return cuda_check_stream_attribute(attribute, value);
}

API_PTSZ(cudaStreamGetAttribute, (stream, attribute, value), cudaStream_t stream, int attribute, void *value)
{
    (void)stream;
    if (!value || !is_stream_attribute(attribute))
        return cudaErrorInvalidValue;
    memset(value, 0, sizeof((struct cudaLaunchAttribute *)NULL)->value);
    return cudaSuccess;
}

API_PTSZ(cudaStreamCopyAttributes, (to, stream), cudaStream_t to, cudaStream_t stream)
{
    (void)stream;
    return cuda_stream_known(to) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/* What can be neither captured nor done meanwhile. */
cudaError_t cuda_refuse_captured(cudaStream_t stream)
{
    if (!stream_is_captured(cuda_stream(stream)))
        return cudaSuccess;
    capture_poison(cuda_stream(stream));
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t cuda_event_record(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    enum { EXTERNAL = 1 };
    if (flags & ~(unsigned)EXTERNAL)
        return cudaErrorInvalidValue;
    if (!(flags & EXTERNAL))
        return common_event_record(event, cuda_stream(stream));
    return common_has_event(event) ? (cudaError_t)event_record_external(event, cuda_stream(stream))
                                   : cudaErrorInvalidResourceHandle;
}

cudaError_t cuda_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    enum { EXTERNAL = 1 };
    if (flags & ~(unsigned)EXTERNAL)
        return cudaErrorInvalidValue;
    if (!(flags & EXTERNAL))
        return common_wait_event(cuda_stream(stream), event);
    return common_has_event(event) ? (cudaError_t)stream_wait_event_external(cuda_stream(stream), event)
                                   : cudaErrorInvalidResourceHandle;
}

/* ---- functions of the host ---- */

cudaError_t cuda_host_function(cudaStream_t stream, cudaHostFn *function, void *user)
{
    if (!function)
        return cudaErrorInvalidValue;
    return common_call_later(cuda_stream(stream), &(struct common_call){.function = function, .user = user});
}

cudaError_t cuda_callback(cudaStream_t stream, cudaStreamCallback *callback, void *user, unsigned flags)
{
    if (!callback || flags)
        return cudaErrorInvalidValue;
    cudaError_t error = cuda_refuse_captured(stream);
    if (error)
        return error;
    return common_call_later(cuda_stream(stream),
                             &(struct common_call){.callback = callback, .handle = stream, .user = user});
}

API_PTSZ(cudaLaunchHostFunc, (stream, function, user), cudaStream_t stream, cudaHostFn *function, void *user)
{
    return cuda_host_function(stream, function, user);
}

API_PTSZ(cudaStreamAddCallback, (stream, callback, user, flags), cudaStream_t stream,
         cudaStreamCallback *callback, void *user, unsigned flags)
{
    return cuda_callback(stream, callback, user, flags);
}

/* ---- events ---- */

cudaError_t cuda_event_new(struct stream_event **event, unsigned flags)
{
    bool odd = flags & EVENT_INTERPROCESS && !(flags & EVENT_NO_TIMING);
    if (!event || flags & ~(unsigned)EVENT_FLAGS || odd)
        return cudaErrorInvalidValue;
    cudaError_t error = event_new(cuda_device(), flags, event);
    if (!error)
        common_add_event(*event);
    return error;
}

API(cudaEventCreate, (event), cudaEvent_t *event)
{
    return cuda_event_new(event, 0);
}

API(cudaEventCreateWithFlags, (event, flags), cudaEvent_t *event, unsigned flags)
{
    return cuda_event_new(event, flags);
}

API(cudaEventDestroy, (event), cudaEvent_t event)
{
    return common_event_free(event);
}

API_PTSZ(cudaEventRecord, (event, stream), cudaEvent_t event, cudaStream_t stream)
{
    return common_event_record(event, cuda_stream(stream));
}

API_PTSZ(cudaEventRecordWithFlags, (event, stream, flags), cudaEvent_t event, cudaStream_t stream,
         unsigned flags)
{
    return cuda_event_record(event, stream, flags);
}

API(cudaEventQuery, (event), cudaEvent_t event)
{
    return common_event_query(event);
}

API(cudaEventSynchronize, (event), cudaEvent_t event)
{
    return common_event_synchronize(event);
}

API(cudaEventElapsedTime, (milliseconds, from, to), float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    return common_event_elapsed(from, to, milliseconds);
}
