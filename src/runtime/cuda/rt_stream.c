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
        cuda_add_stream(*stream);
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
    return stream_synchronize(cuda_stream(stream));
}

API_PTSZ(cudaStreamWaitEvent, (stream, event, flags), cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    return cuda_event_known(event) ? stream_wait_event(cuda_stream(stream), event)
                                   : cudaErrorInvalidResourceHandle;
}

API_PTSZ(cudaStreamGetDevice, (stream, index), cudaStream_t stream, int *index)
{
    *index = (int)device_index(stream_device(cuda_stream(stream)));
    return cudaSuccess;
}

API_PTSZ(cudaStreamGetFlags, (stream, flags), cudaStream_t stream, unsigned *flags)
{
    *flags = stream_flags(cuda_stream(stream));
    return cudaSuccess;
}

API_PTSZ(cudaStreamGetId, (stream, id), cudaStream_t stream, unsigned long long *id)
{
    *id = stream_id(cuda_stream(stream));
    return cudaSuccess;
}

API_PTSZ(cudaStreamGetPriority, (stream, priority), cudaStream_t stream, int *priority)
{
    *priority = stream_priority(cuda_stream(stream));
    return cudaSuccess;
}

/* Attributes of streams are about caches and waiting: no result depends on them. */
API_PTSZ(cudaStreamSetAttribute, (stream, attribute, value), cudaStream_t stream, int attribute,
         const void *value)
{
    (void)stream, (void)attribute;
    return value ? cudaSuccess : cudaErrorInvalidValue;
}

API_PTSZ(cudaStreamGetAttribute, (stream, attribute, value), cudaStream_t stream, int attribute, void *value)
{
    (void)stream, (void)attribute;
    memset(value, 0, sizeof((struct cudaLaunchAttribute *)NULL)->value);
    return cudaSuccess;
}

API_PTSZ(cudaStreamCopyAttributes, (to, stream), cudaStream_t to, cudaStream_t stream)
{
    (void)to, (void)stream;
    return cudaSuccess;
}

/* ---- functions of the host ---- */

/* What a function of the program is called with, once its stream gets there. */
struct host_call {
    cudaHostFn *function;
    cudaStreamCallback *callback;
    cudaStream_t stream;
    void *user;
    bool again; /* it is part of a recording, which may be played any number of times */
};

static void make_call(void *user, enum result result)
{
    struct host_call call = *(struct host_call *)user;
    if (!call.again)
        mem_free(user);
    if (call.function)
        call.function(call.user);
    else
        call.callback(call.stream, (cudaError_t)result, call.user);
}

static cudaError_t submit_call(struct host_call call)
{
    struct host_call *kept = mem_alloc(1, sizeof *kept);
    *kept = call;
    kept->again = stream_is_recording(cuda_stream(call.stream));
    cudaError_t error = stream_host(cuda_stream(call.stream), make_call, kept, call.callback != NULL);
    if (error)
        mem_free(kept);
    return error;
}

cudaError_t cuda_host_function(cudaStream_t stream, cudaHostFn *function, void *user)
{
    return function ? submit_call((struct host_call){.function = function, .stream = stream, .user = user})
                    : cudaErrorInvalidValue;
}

cudaError_t cuda_callback(cudaStream_t stream, cudaStreamCallback *callback, void *user, unsigned flags)
{
    return callback && !flags
               ? submit_call((struct host_call){.callback = callback, .stream = stream, .user = user})
               : cudaErrorInvalidValue;
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
        cuda_add_event(*event);
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
    return cuda_event_known(event) ? event_free(event) : cudaErrorInvalidResourceHandle;
}

API_PTSZ(cudaEventRecord, (event, stream), cudaEvent_t event, cudaStream_t stream)
{
    return cuda_event_known(event) ? event_record(event, cuda_stream(stream))
                                   : cudaErrorInvalidResourceHandle;
}

API_PTSZ(cudaEventRecordWithFlags, (event, stream, flags), cudaEvent_t event, cudaStream_t stream,
         unsigned flags)
{
    (void)flags;
    return cuda_event_known(event) ? event_record(event, cuda_stream(stream))
                                   : cudaErrorInvalidResourceHandle;
}

API(cudaEventQuery, (event), cudaEvent_t event)
{
    return cuda_event_known(event) ? event_query(event) : cudaErrorInvalidResourceHandle;
}

API(cudaEventSynchronize, (event), cudaEvent_t event)
{
    return cuda_event_known(event) ? event_synchronize(event) : cudaErrorInvalidResourceHandle;
}

API(cudaEventElapsedTime, (milliseconds, from, to), float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (!milliseconds)
        return cudaErrorInvalidValue;
    return cuda_event_known(from) && cuda_event_known(to) ? event_elapsed(from, to, milliseconds)
                                                          : cudaErrorInvalidResourceHandle;
}
