#include "runtime/opencl/command.h"
#include "base/bits.h"
#include "base/mem.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"

struct event_callback {
    struct event_callback *next;
    cl_event event;
    cl_int type;
    void(CL_CALLBACK *function)(cl_event event, cl_int status, void *user);
    void *user;
};

cl_event opencl_event_new(cl_context context, cl_command_queue queue, cl_command_type type)
{
    cl_event event = opencl_object_new(OPENCL_EVENT, sizeof *event);
    opencl_retain(context);
    event->context = context;
    event->queue = queue;
    event->device = queue ? queue->device : context->devices[0];
    event->type = type;
    event->profiled = queue && queue->properties & CL_QUEUE_PROFILING_ENABLE;
    event->queued_ps = driver_clock_ps(device_driver(event->device->device));
    return event;
}

void opencl_event_end(cl_event event)
{
    if (event->start)
        event_free(event->start);
    if (event->end)
        event_free(event->end);
    opencl_release(event->context);
}

/* ---- callbacks ---- */

static __thread unsigned callbacks_deep;

bool opencl_is_in_callback(void)
{
    return callbacks_deep;
}

struct call {
    stream_host_fn *function;
    void *user;
};

static void run_call(void *user, enum result result)
{
    struct call *call = user;
    callbacks_deep++;
    call->function(call->user, result);
    callbacks_deep--;
    mem_free(call);
}

enum result opencl_call_in(struct stream *stream, stream_host_fn *function, void *user)
{
    struct call *call = mem_alloc(1, sizeof *call);
    *call = (struct call){function, user};
    enum result result = stream_host(stream, run_call, call, true);
    if (result)
        mem_free(call);
    return result;
}

static void call_back(void *user, enum result result)
{
    struct event_callback *callback = user;
    cl_event event = callback->event;
    cl_int status = event->state == EVENT_ENDED ? event->status : opencl_result(event->context, result);
    callback->function(event, status < 0 ? status : callback->type, callback->user);
    opencl_release(event);
    mem_free(callback);
}

/* In a stream of its own, which waits for the event: callbacks of one event do not wait for another's. */
static void call_later(struct event_callback *callback)
{
    cl_event event = callback->event;
    bool is_over = event->state == EVENT_ENDED; /* the callback may be the last to know the event */
    struct stream *stream;
    enum result result = stream_new(event->device->device, STREAM_NON_BLOCKING, 0, &stream);
    if (!result && event->end && callback->type != CL_SUBMITTED)
        result = stream_wait_event(stream, event->end);
    if (!result)
        result = opencl_call_in(stream, call_back, callback);
    if (result) { /* the device has a fault */
        call_back(callback, result);
        return;
    }
    if (is_over) /* in simulated time, somebody has to look */
        stream_query(stream);
    stream_free(stream);
}

void opencl_event_call_back(cl_event event)
{
    opencl_events_lock();
    struct event_callback *list = event->callbacks;
    event->callbacks = NULL;
    opencl_events_unlock();
    for (struct event_callback *next; list; list = next) {
        next = list->next;
        call_later(list);
    }
}

cl_int API(clSetEventCallback)(cl_event event, cl_int type,
                               void(CL_CALLBACK *function)(cl_event event, cl_int status, void *user),
                               void *user)
{
    OPENCL_CALL;
    if (!opencl_is(event, OPENCL_EVENT))
        return CL_INVALID_EVENT;
    if (!function || (type != CL_SUBMITTED && type != CL_RUNNING && type != CL_COMPLETE))
        return CL_INVALID_VALUE;
    struct event_callback *callback = mem_alloc(1, sizeof *callback);
    *callback = (struct event_callback){.event = event, .type = type, .function = function, .user = user};
    opencl_retain(event);
    opencl_events_lock();
    bool held = event->state == EVENT_HELD;
    if (held) {
        callback->next = event->callbacks;
        event->callbacks = callback;
    }
    opencl_events_unlock();
    if (!held)
        call_later(callback);
    return CL_SUCCESS;
}

/* ---- user events ---- */

static cl_int make_user(cl_context context, cl_event *made)
{
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    *made = opencl_event_new(context, NULL, CL_COMMAND_USER);
    return CL_SUCCESS;
}

cl_event API(clCreateUserEvent)(cl_context context, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_event event = NULL;
    return opencl_made(errcode_ret, make_user(context, &event), event);
}

cl_int API(clSetUserEventStatus)(cl_event event, cl_int status)
{
    OPENCL_CALL;
    if (!opencl_is(event, OPENCL_EVENT) || event->queue)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    if (opencl_event_status(event) <= CL_COMPLETE)
        return CL_INVALID_OPERATION;
    opencl_event_decide(event, status);
    return CL_SUCCESS;
}

/* ---- what is known of one ---- */

cl_int API(clWaitForEvents)(cl_uint count, const cl_event *events)
{
    OPENCL_CALL;
    if (!count || !events)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(events[i], OPENCL_EVENT))
            return CL_INVALID_EVENT;
        if (events[i]->context != events[0]->context)
            return CL_INVALID_CONTEXT;
    }
    bool failed = false;
    for (cl_uint i = 0; i < count; i++)
        failed |= opencl_event_wait(events[i]) < 0;
    return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int API(clGetEventInfo)(cl_event event, cl_event_info name, size_t bytes, void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(event, OPENCL_EVENT))
        return CL_INVALID_EVENT;
    switch (name) {
        INFO(CL_EVENT_COMMAND_QUEUE, cl_command_queue, event->queue)
        INFO(CL_EVENT_CONTEXT, cl_context, event->context)
        INFO(CL_EVENT_COMMAND_TYPE, cl_command_type, event->type)
        INFO(CL_EVENT_COMMAND_EXECUTION_STATUS, cl_int, opencl_event_status(event))
        INFO(CL_EVENT_REFERENCE_COUNT, cl_uint, event->base.references)
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int API(clGetEventProfilingInfo)(cl_event event, cl_profiling_info name, size_t bytes, void *value,
                                    size_t *needed)
{
    OPENCL_CALL;
    enum { PS_PER_NS = 1000 };
    uint64_t start, end;
    if (!opencl_is(event, OPENCL_EVENT))
        return CL_INVALID_EVENT;
    if (!event->profiled || opencl_event_status(event) != CL_COMPLETE ||
        event_time_ps(event->start, &start) || event_time_ps(event->end, &end))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (name) {
        INFO(CL_PROFILING_COMMAND_QUEUED, cl_ulong, event->queued_ps / PS_PER_NS)
        INFO(CL_PROFILING_COMMAND_SUBMIT, cl_ulong, event->submitted_ps / PS_PER_NS)
        INFO(CL_PROFILING_COMMAND_START, cl_ulong, max_u64(start, event->submitted_ps) / PS_PER_NS)
        INFO(CL_PROFILING_COMMAND_END, cl_ulong, max_u64(end, event->submitted_ps) / PS_PER_NS)
        INFO(CL_PROFILING_COMMAND_COMPLETE, cl_ulong, max_u64(end, event->submitted_ps) / PS_PER_NS)
    default:
        return CL_INVALID_VALUE;
    }
}
