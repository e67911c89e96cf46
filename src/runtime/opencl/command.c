#include "runtime/opencl/command.h"
#include "base/mem.h"
#include "runtime/common/common.h"
#include "runtime/opencl/errors.h"

#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* of all events, and of queues' lists of them */
static pthread_cond_t decided = PTHREAD_COND_INITIALIZER; /* an event is not held any more */

void opencl_events_lock(void)
{
    pthread_mutex_lock(&lock);
}

void opencl_events_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct opencl_command *opencl_command_new(cl_command_queue queue, const struct opencl_command_ops *ops,
                                          cl_command_type type)
{
    struct opencl_command *command = mem_alloc(1, ops->bytes);
    command->ops = ops;
    command->type = type;
    command->queue = queue;
    opencl_retain(queue);
    return command;
}

void opencl_command_free(struct opencl_command *command)
{
    if (command->ops->fini)
        command->ops->fini(command);
    for (size_t i = 0; i < command->wait_count; i++)
        opencl_release(command->waits[i]);
    for (size_t i = 0; i < COMMAND_MEMS; i++)
        opencl_release(command->mems[i]);
    mem_free(command->waits);
    opencl_release(command->event);
    opencl_release(command->queue);
    mem_free(command);
}

cl_int opencl_check_enqueue(cl_command_queue queue, cl_uint wait_count, const cl_event *waits)
{
    if (!opencl_is(queue, OPENCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!waits != !wait_count)
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < wait_count; i++) {
        if (!opencl_is(waits[i], OPENCL_EVENT))
            return CL_INVALID_EVENT_WAIT_LIST;
        if (waits[i]->context != queue->context)
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

/* ---- what a command waits for; with the lock held ---- */

static void add_wait(struct opencl_command *command, cl_event event)
{
    opencl_retain(event);
    command->waits[command->wait_count++] = event;
    if (event->state != EVENT_HELD)
        return;
    mem_grow(event->dependents, event->dependent_count, event->dependent_capacity);
    event->dependents[event->dependent_count++] = command;
    command->pending++;
}

static bool is_out_of_order(cl_command_queue queue)
{
    return queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
}

static void add_waits(struct opencl_command *command, cl_uint wait_count, const cl_event *waits)
{
    cl_command_queue queue = command->queue;
    command->waits = mem_alloc(wait_count + queue->open_count + 2, sizeof *command->waits);
    for (cl_uint i = 0; i < wait_count; i++)
        add_wait(command, waits[i]);
    command->explicit_count = wait_count;
    if (!is_out_of_order(queue)) { /* once the last one is in the stream, this one comes behind it */
        if (queue->last && queue->last->state == EVENT_HELD)
            add_wait(command, queue->last);
        return;
    }
    if (queue->barrier)
        add_wait(command, queue->barrier);
    for (size_t i = 0; command->waits_for_all && i < queue->open_count; i++)
        add_wait(command, queue->open[i]);
}

static void set_event(cl_event *place, cl_event event)
{
    opencl_retain(event);
    opencl_release(*place);
    *place = event;
}

/* Events that have ended leave the list whenever it has doubled. */
static void add_open(cl_command_queue queue, cl_event event)
{
    enum { FEW = 64 };
    if (queue->open_count >= queue->open_enough) {
        size_t kept = 0;
        for (size_t i = 0; i < queue->open_count; i++) {
            cl_event one = queue->open[i];
            if (one->state == EVENT_ENDED || (one->state == EVENT_SUBMITTED && !event_query(one->end)))
                opencl_release(one);
            else
                queue->open[kept++] = one;
        }
        queue->open_count = kept;
        queue->open_enough = 2 * kept + FEW;
    }
    opencl_retain(event);
    mem_grow(queue->open, queue->open_count, queue->open_capacity);
    queue->open[queue->open_count++] = event;
}

static void enter_queue(struct opencl_command *command)
{
    cl_command_queue queue = command->queue;
    set_event(&queue->last, command->event);
    if (!is_out_of_order(queue))
        return;
    add_open(queue, command->event);
    if (command->is_barrier)
        set_event(&queue->barrier, command->event);
}

/* ---- from the queue to a stream ---- */

static struct stream *choose_stream(cl_command_queue queue)
{
    unsigned number = atomic_fetch_add((_Atomic unsigned *)&queue->next_stream, 1);
    return queue->streams[number % queue->stream_count];
}

static bool wait_failed(const struct opencl_command *command)
{
    for (size_t i = 0; i < command->explicit_count; i++) {
        if (command->waits[i]->state == EVENT_ENDED && command->waits[i]->status < 0)
            return true;
    }
    return false;
}

static cl_int to_stream(struct opencl_command *command)
{
    cl_event event = command->event;
    struct device *device = command->queue->device->device;
    struct stream *stream = choose_stream(command->queue);
    event->submitted_ps = driver_clock_ps(device_driver(device));
    enum result result = event_new(device, 0, &event->end);
    if (!result && event->profiled)
        result = event_new(device, 0, &event->start);
    for (size_t i = 0; i < command->wait_count && !result; i++) {
        if (command->waits[i]->end)
            result = stream_wait_event(stream, command->waits[i]->end);
    }
    if (!result && event->start)
        result = event_note_start(event->start, stream);
    if (!result) {
        result = command->ops->submit(command, stream);
        enum result noted = event_note(event->end, stream); /* always: the start waits for what follows it */
        result = result ? result : noted;
    }
    return opencl_result(event->context, result);
}

/* What waited for this event alone is ready now. With the lock held. */
static void leave_hold(cl_event event, enum event_state state, struct opencl_command **ready)
{
    event->state = state;
    for (size_t i = 0; i < event->dependent_count; i++) {
        struct opencl_command *command = event->dependents[i];
        if (--command->pending)
            continue;
        while (*ready)
            ready = &(*ready)->next;
        *ready = command;
    }
    mem_free(event->dependents);
    event->dependents = NULL;
    event->dependent_count = event->dependent_capacity = 0;
    pthread_cond_broadcast(&decided);
}

static cl_int submit(struct opencl_command *command, struct opencl_command **ready)
{
    cl_event event = command->event;
    cl_int error = wait_failed(command) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : to_stream(command);
    pthread_mutex_lock(&lock);
    event->status = error;
    leave_hold(event, error ? EVENT_ENDED : EVENT_SUBMITTED, ready);
    pthread_mutex_unlock(&lock);
    opencl_event_call_back(event);
    opencl_command_free(command);
    return error;
}

static void submit_all(struct opencl_command *ready)
{
    while (ready) {
        struct opencl_command *command = ready;
        ready = command->next;
        command->next = NULL;
        submit(command, &ready);
    }
}

cl_int opencl_enqueue(struct opencl_command *command, bool blocking, cl_uint wait_count,
                      const cl_event *waits, cl_event *event)
{
    cl_command_queue queue = command->queue;
    cl_event own = command->event = opencl_event_new(queue->context, queue, command->type);
    struct opencl_command *ready = NULL;
    cl_int error = CL_SUCCESS;
    opencl_retain(own);
    pthread_mutex_lock(&lock);
    add_waits(command, wait_count, waits);
    enter_queue(command);
    bool is_ready = !command->pending;
    pthread_mutex_unlock(&lock);
    if (is_ready) {
        error = submit(command, &ready);
        submit_all(ready);
    }
    if (error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && !blocking)
        error = CL_SUCCESS; /* which its event tells */
    if (!error && blocking) {
        cl_int status = opencl_event_wait(own);
        error = status < 0 ? status : CL_SUCCESS;
    }
    if (error || !event)
        opencl_release(own);
    else
        *event = own;
    return error;
}

/* ---- events ---- */

void opencl_event_decide(cl_event event, cl_int status)
{
    struct opencl_command *ready = NULL;
    pthread_mutex_lock(&lock);
    event->status = status;
    leave_hold(event, EVENT_ENDED, &ready);
    pthread_mutex_unlock(&lock);
    opencl_event_call_back(event);
    submit_all(ready);
}

cl_int opencl_event_status(cl_event event)
{
    pthread_mutex_lock(&lock);
    enum event_state state = event->state;
    cl_int status = event->status;
    pthread_mutex_unlock(&lock);
    if (state == EVENT_HELD)
        return event->queue ? CL_QUEUED : CL_SUBMITTED;
    if (state == EVENT_ENDED)
        return status;
    enum result result = event_query(event->end);
    if (result == RESULT_NOT_READY)
        return event->start && !event_query(event->start) ? CL_RUNNING : CL_SUBMITTED;
    status = opencl_result(event->context, result);
    pthread_mutex_lock(&lock);
    event->status = status;
    event->state = EVENT_ENDED;
    pthread_mutex_unlock(&lock);
    return status;
}

/* Somebody else has to decide a user event. That may be a callback of work that is under way, so this work is
 * brought to its end first. */
static void wait_for_decision(cl_event event)
{
    static const long nap_ns = 1000000;
    pthread_mutex_lock(&lock);
    while (event->state == EVENT_HELD) {
        pthread_mutex_unlock(&lock);
        for (cl_uint i = 0; i < event->context->device_count; i++)
            device_synchronize(event->context->devices[i]->device);
        common_pause();
        pthread_mutex_lock(&lock);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += nap_ns;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (event->state == EVENT_HELD)
            pthread_cond_timedwait(&decided, &lock, &until);
        common_resume();
    }
    pthread_mutex_unlock(&lock);
}

cl_int opencl_event_wait(cl_event event)
{
    wait_for_decision(event);
    if (event->end && event->state == EVENT_SUBMITTED)
        event_synchronize(event->end);
    return opencl_event_status(event);
}
