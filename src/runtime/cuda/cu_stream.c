/* The driver API: streams, events and graphs. */
#include "runtime/cuda/graph.h"
#include "runtime/cuda/stream.h"

#include <string.h>

CU(cuStreamCreate, (stream, flags), cudaStream_t *stream, unsigned flags)
{
    return cuda_stream_new(stream, flags, 0);
}

CU(cuStreamCreateWithPriority, (stream, flags, priority), cudaStream_t *stream, unsigned flags, int priority)
{
    return cuda_stream_new(stream, flags, priority);
}

CU(cuStreamDestroy_v2, (stream), cudaStream_t stream)
{
    return cuda_is_default(stream) || !cuda_stream_known(stream) ? cudaErrorInvalidResourceHandle
                                                                 : (CUresult)stream_free(stream);
}
CU_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);

CU_PTSZ(cuStreamQuery, (stream), cudaStream_t stream)
{
    return stream_query(cuda_stream(stream));
}

CU_PTSZ(cuStreamSynchronize, (stream), cudaStream_t stream)
{
    CUresult result = capture_check_call(cuda_driver());
    return result ? result : (CUresult)stream_synchronize(cuda_stream(stream));
}

CU_PTSZ(cuStreamWaitEvent, (stream, event, flags), cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return cuda_wait_event(stream, event, flags);
}

CU_PTSZ(cuStreamGetPriority, (stream, priority), cudaStream_t stream, int *priority)
{
    *priority = stream_priority(cuda_stream(stream));
    return cudaSuccess;
}

CU_PTSZ(cuStreamGetFlags, (stream, flags), cudaStream_t stream, unsigned *flags)
{
    *flags = stream_flags(cuda_stream(stream));
    return cudaSuccess;
}

CU_PTSZ(cuStreamGetId, (stream, id), cudaStream_t stream, unsigned long long *id)
{
    *id = stream_id(cuda_stream(stream));
    return cudaSuccess;
}

CU_PTSZ(cuStreamGetDevice, (stream, device), cudaStream_t stream, CUdevice *device)
{
    *device = (CUdevice)device_index(stream_device(cuda_stream(stream)));
    return cudaSuccess;
}

/* Which of its device's contexts a stream was made in makes no difference: the primary one stands for all. */
CU_PTSZ(cuStreamGetCtx, (stream, context), cudaStream_t stream, CUcontext *context)
{
    struct device *device = stream_device(cuda_stream(stream));
    if (!context)
        return cudaErrorInvalidValue;
    *context = cuda_context()->device == device ? cuda_context() : cuda_primary(device_index(device));
    return cudaSuccess;
}

CU_PTSZ(cuStreamAddCallback, (stream, callback, user, flags), cudaStream_t stream,
        cudaStreamCallback *callback, void *user, unsigned flags)
{
    return cuda_callback(stream, callback, user, flags);
}

CU_PTSZ(cuLaunchHostFunc, (stream, function, user), cudaStream_t stream, cudaHostFn *function, void *user)
{
    return cuda_host_function(stream, function, user);
}

CU_PTSZ(cuStreamSetAttribute, (stream, attribute, value), cudaStream_t stream, int attribute,
        const void *value)
{
    (void)stream, (void)attribute;
    return value ? cudaSuccess : cudaErrorInvalidValue;
}

CU_PTSZ(cuStreamGetAttribute, (stream, attribute, value), cudaStream_t stream, int attribute, void *value)
{
    (void)stream, (void)attribute;
    memset(value, 0, sizeof((struct cudaLaunchAttribute *)NULL)->value);
    return cudaSuccess;
}

CU_PTSZ(cuStreamCopyAttributes, (to, stream), cudaStream_t to, cudaStream_t stream)
{
    (void)to, (void)stream;
    return cudaSuccess;
}

/* ---- values that a stream waits for, or writes ---- */

enum { WAIT_COMPARE = 3, WAIT_FLUSH = 1 << 30 }; /* bits of the flags: how, and that writes are flushed */

CU_PTSZ(cuStreamWaitValue32_v2, (stream, address, value, flags), cudaStream_t stream, CUdeviceptr address,
        uint32_t value, unsigned flags)
{
    if (flags & ~(unsigned)(WAIT_COMPARE | WAIT_FLUSH))
        return cudaErrorInvalidValue;
    return stream_wait_value(cuda_stream(stream), address, value, 4,
                             (enum stream_compare)(flags & WAIT_COMPARE));
}
CU_ALIAS(cuStreamWaitValue32, cuStreamWaitValue32_v2);

CU_PTSZ(cuStreamWaitValue64_v2, (stream, address, value, flags), cudaStream_t stream, CUdeviceptr address,
        uint64_t value, unsigned flags)
{
    if (flags & ~(unsigned)(WAIT_COMPARE | WAIT_FLUSH))
        return cudaErrorInvalidValue;
    return stream_wait_value(cuda_stream(stream), address, value, 8,
                             (enum stream_compare)(flags & WAIT_COMPARE));
}
CU_ALIAS(cuStreamWaitValue64, cuStreamWaitValue64_v2);

CU_PTSZ(cuStreamWriteValue32_v2, (stream, address, value, flags), cudaStream_t stream, CUdeviceptr address,
        uint32_t value, unsigned flags)
{
    (void)flags;
    return stream_write_value(cuda_stream(stream), address, value, 4);
}
CU_ALIAS(cuStreamWriteValue32, cuStreamWriteValue32_v2);

CU_PTSZ(cuStreamWriteValue64_v2, (stream, address, value, flags), cudaStream_t stream, CUdeviceptr address,
        uint64_t value, unsigned flags)
{
    (void)flags;
    return stream_write_value(cuda_stream(stream), address, value, 8);
}
CU_ALIAS(cuStreamWriteValue64, cuStreamWriteValue64_v2);

CU_PTSZ(cuStreamBatchMemOp_v2, (stream, count, values, flags), cudaStream_t stream, unsigned count,
        union CUstreamBatchMemOpParams *values, unsigned flags)
{
    enum { MOST = 256 };
    if (flags || count > MOST || (count && !values))
        return cudaErrorInvalidValue;
    return cuda_stream_values(cuda_stream(stream),
                              &(struct CUDA_BATCH_MEM_OP_NODE_PARAMS){.count = count, .paramArray = values});
}
CU_ALIAS(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);
CU_ALIAS(cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp_v2_ptsz);
CU_ALIAS(cuStreamWaitValue32_ptsz, cuStreamWaitValue32_v2_ptsz);
CU_ALIAS(cuStreamWaitValue64_ptsz, cuStreamWaitValue64_v2_ptsz);
CU_ALIAS(cuStreamWriteValue32_ptsz, cuStreamWriteValue32_v2_ptsz);
CU_ALIAS(cuStreamWriteValue64_ptsz, cuStreamWriteValue64_v2_ptsz);

/* ---- events ---- */

CU(cuEventCreate, (event, flags), cudaEvent_t *event, unsigned flags)
{
    return cuda_event_new(event, flags);
}

CU(cuEventDestroy_v2, (event), cudaEvent_t event)
{
    return common_event_free(event);
}
CU_ALIAS(cuEventDestroy, cuEventDestroy_v2);

CU_PTSZ(cuEventRecord, (event, stream), cudaEvent_t event, cudaStream_t stream)
{
    return common_event_record(event, cuda_stream(stream));
}

CU_PTSZ(cuEventRecordWithFlags, (event, stream, flags), cudaEvent_t event, cudaStream_t stream,
        unsigned flags)
{
    return cuda_event_record(event, stream, flags);
}

CU(cuEventQuery, (event), cudaEvent_t event)
{
    return common_event_query(event);
}

CU(cuEventSynchronize, (event), cudaEvent_t event)
{
    return common_event_synchronize(event);
}

CU(cuEventElapsedTime_v2, (milliseconds, from, to), float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    return common_event_elapsed(from, to, milliseconds);
}
CU_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2);
