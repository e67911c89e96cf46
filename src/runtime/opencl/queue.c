#include "runtime/opencl/command.h"
#include "base/mem.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"

static const cl_command_queue_properties known =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

static cl_int make(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                   cl_command_queue *made)
{
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!opencl_is(device, OPENCL_DEVICE) || !opencl_context_has(context, device))
        return CL_INVALID_DEVICE;
    if (properties & ~known)
        return properties & ~(known | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)
                   ? CL_INVALID_VALUE
                   : CL_INVALID_QUEUE_PROPERTIES;
    struct stream *streams[QUEUE_STREAMS];
    unsigned count = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? QUEUE_STREAMS : 1;
    for (unsigned i = 0; i < count; i++) {
        enum result result = stream_new(device->device, STREAM_NON_BLOCKING, 0, &streams[i]);
        if (result)
            return opencl_result(context, result);
    }
    cl_command_queue queue = *made = opencl_object_new(OPENCL_QUEUE, sizeof *queue);
    opencl_retain(context);
    queue->context = context;
    queue->device = device;
    queue->properties = properties;
    queue->stream_count = count;
    memcpy(queue->streams, streams, count * sizeof *streams);
    return CL_SUCCESS;
}

cl_command_queue API(clCreateCommandQueue)(cl_context context, cl_device_id device,
                                           cl_command_queue_properties properties, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_command_queue queue = NULL;
    return opencl_made(errcode_ret, make(context, device, properties, &queue), queue);
}

cl_command_queue API(clCreateCommandQueueWithProperties)(cl_context context, cl_device_id device,
                                                         const cl_queue_properties *properties,
                                                         cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_command_queue_properties bits = 0;
    cl_command_queue queue = NULL;
    cl_int error = CL_SUCCESS;
    for (; properties && *properties && !error; properties += 2) {
        if (*properties == CL_QUEUE_PROPERTIES)
            bits = properties[1];
        else
            error = CL_INVALID_VALUE;
    }
    if (!error)
        error = make(context, device, bits, &queue);
    return opencl_made(errcode_ret, error, queue);
}

void opencl_queue_end(cl_command_queue queue)
{
    for (unsigned i = 0; i < queue->stream_count; i++)
        stream_free(queue->streams[i]); /* what it has is still done */
    for (size_t i = 0; i < queue->open_count; i++)
        opencl_release(queue->open[i]);
    mem_free(queue->open);
    opencl_release(queue->last);
    opencl_release(queue->barrier);
    opencl_release(queue->context);
}

cl_int API(clGetCommandQueueInfo)(cl_command_queue queue, cl_command_queue_info name, size_t bytes,
                                  void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(queue, OPENCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    switch (name) {
        INFO(CL_QUEUE_CONTEXT, cl_context, queue->context)
        INFO(CL_QUEUE_DEVICE, cl_device_id, queue->device)
        INFO(CL_QUEUE_REFERENCE_COUNT, cl_uint, queue->base.references)
        INFO(CL_QUEUE_PROPERTIES, cl_command_queue_properties, queue->properties)
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int API(clSetCommandQueueProperty)(cl_command_queue queue, cl_command_queue_properties properties,
                                      cl_bool enable, cl_command_queue_properties *old)
{
    OPENCL_CALL;
    if (!opencl_is(queue, OPENCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (old)
        *old = queue->properties;
    if (properties & ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE)
        return CL_INVALID_QUEUE_PROPERTIES; /* its streams are made for the order it has */
    queue->properties = enable ? queue->properties | properties : queue->properties & ~properties;
    return CL_SUCCESS;
}

/* All commands are on their way as soon as they can be. */
cl_int API(clFlush)(cl_command_queue queue)
{
    OPENCL_CALL;
    return opencl_is(queue, OPENCL_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

/* ---- markers and barriers ---- */

static enum result do_nothing(struct opencl_command *command, struct stream *stream)
{
    (void)command, (void)stream;
    return RESULT_SUCCESS;
}

static const struct opencl_command_ops nothing_ops = {sizeof(struct opencl_command), do_nothing, NULL};

static cl_int enqueue(cl_command_queue queue, cl_command_type type, bool blocking, cl_uint wait_count,
                      const cl_event *waits, cl_event *event)
{
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    struct opencl_command *command = opencl_command_new(queue, &nothing_ops, type);
    command->is_barrier = type == CL_COMMAND_BARRIER;
    command->waits_for_all = !wait_count;
    return opencl_enqueue(command, blocking, wait_count, waits, event);
}

/* The last command of a queue that is in order ends last. */
static cl_int finish_in_order(cl_command_queue queue)
{
    opencl_events_lock();
    cl_event last = queue->last;
    opencl_retain(last);
    opencl_events_unlock();
    if (last)
        opencl_event_wait(last);
    opencl_release(last);
    return device_error(queue->device->device) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int API(clFinish)(cl_command_queue queue)
{
    OPENCL_CALL;
    if (!opencl_is(queue, OPENCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return finish_in_order(queue);
    return enqueue(queue, CL_COMMAND_MARKER, true, 0, NULL, NULL) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int API(clEnqueueMarkerWithWaitList)(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                                        cl_event *event)
{
    OPENCL_CALL;
    return enqueue(queue, CL_COMMAND_MARKER, false, wait_count, waits, event);
}

cl_int API(clEnqueueBarrierWithWaitList)(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                                         cl_event *event)
{
    OPENCL_CALL;
    return enqueue(queue, CL_COMMAND_BARRIER, false, wait_count, waits, event);
}

cl_int API(clEnqueueMarker)(cl_command_queue queue, cl_event *event)
{
    OPENCL_CALL;
    return event ? enqueue(queue, CL_COMMAND_MARKER, false, 0, NULL, event) : CL_INVALID_VALUE;
}

cl_int API(clEnqueueBarrier)(cl_command_queue queue)
{
    OPENCL_CALL;
    return enqueue(queue, CL_COMMAND_BARRIER, false, 0, NULL, NULL);
}

cl_int API(clEnqueueWaitForEvents)(cl_command_queue queue, cl_uint wait_count, const cl_event *waits)
{
    OPENCL_CALL;
    if (!wait_count || !waits)
        return CL_INVALID_VALUE;
    cl_int error = enqueue(queue, CL_COMMAND_BARRIER, false, wait_count, waits, NULL);
    return error == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : error;
}
