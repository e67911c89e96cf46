/* Queues in and out of order, events, user events, callbacks, profiling. */
#include "start.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { COUNT = 1 << 16, BYTES = COUNT * (int)sizeof(int) };

static int data[COUNT], back[COUNT];
static cl_mem buffer;

static cl_int status_of(cl_event event)
{
    cl_int status = 12345;
    GOOD(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static void profiling(void)
{
    static const cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                              CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_event event;
    cl_ulong times[4];
    GOOD(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, data, 0, NULL, &event));
    GOOD(clWaitForEvents(1, &event));
    CHECK(status_of(event) == CL_COMPLETE);
    for (int i = 0; i < 4; i++)
        GOOD(clGetEventProfilingInfo(event, names[i], sizeof times[i], &times[i], NULL));
    CHECK(times[0] <= times[1] && times[1] <= times[2] && times[2] < times[3]);
    printf("copy: %llu ns\n", (unsigned long long)(times[3] - times[2]));
    GOOD(clReleaseEvent(event));
}

static void user_events(void)
{
    cl_event user = clCreateUserEvent(context, &error), written, copied;
    GOOD(error);
    int seven = 7, got = 0;
    GOOD(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof seven, &seven, 1, &user, &written));
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof got, &got, 0, NULL, &copied));
    CHECK(status_of(user) == CL_SUBMITTED);
    CHECK(status_of(written) > CL_COMPLETE && status_of(copied) > CL_COMPLETE);
    GOOD(clSetUserEventStatus(user, CL_COMPLETE));
    GIVES(CL_INVALID_OPERATION, clSetUserEventStatus(user, CL_COMPLETE));
    GOOD(clWaitForEvents(1, &copied));
    CHECK(got == 7 && status_of(written) == CL_COMPLETE);
    GIVES(CL_INVALID_EVENT, clSetUserEventStatus(written, CL_COMPLETE));
    GOOD(clReleaseEvent(user));
    GOOD(clReleaseEvent(written));
    GOOD(clReleaseEvent(copied));
}

static void failed_user_events(void)
{
    cl_event user = clCreateUserEvent(context, &error), written;
    int eight = 8;
    GOOD(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof eight, &eight, 1, &user, &written));
    GOOD(clSetUserEventStatus(user, -5));
    GIVES(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &written));
    CHECK(status_of(written) < 0);
    GOOD(clReleaseEvent(user));
    GOOD(clReleaseEvent(written));
    int got = 0;
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    CHECK(got == 7);
}

static void *decide(void *user)
{
    usleep(20000);
    GOOD(clSetUserEventStatus((cl_event)user, CL_COMPLETE));
    return NULL;
}

static void another_thread_decides(void)
{
    cl_event user = clCreateUserEvent(context, &error);
    pthread_t thread;
    int got = 0;
    pthread_create(&thread, NULL, decide, user);
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, &got, 1, &user, NULL));
    CHECK(got == 7);
    pthread_join(thread, NULL);
    GOOD(clReleaseEvent(user));
}

static _Atomic int called;

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *user)
{
    (void)event;
    CHECK(status == CL_COMPLETE);
    called += *(int *)user;
}

static void CL_CALLBACK decide_in_callback(cl_event event, cl_int status, void *user)
{
    (void)event, (void)status;
    GOOD(clSetUserEventStatus((cl_event)user, CL_COMPLETE));
}

static void wait_for_calls(int count)
{
    for (int i = 0; i < 1000 && called < count; i++)
        usleep(1000);
    CHECK(called == count);
}

static void callbacks(void)
{
    cl_event user = clCreateUserEvent(context, &error), held, done;
    int one = 1, ten = 10, got = 0;
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof got, &got, 1, &user, &held));
    GOOD(clSetEventCallback(held, CL_COMPLETE, count_call, &one));
    GOOD(clSetEventCallback(held, CL_COMPLETE, count_call, &ten));
    CHECK(!called);
    GOOD(clSetUserEventStatus(user, CL_COMPLETE));
    GOOD(clFinish(queue));
    wait_for_calls(11);
    GOOD(clSetEventCallback(held, CL_COMPLETE, count_call, &one));
    wait_for_calls(12);
    GOOD(clReleaseEvent(held));
    GOOD(clReleaseEvent(user));
    /* a callback lets a command go that the host waits for */
    user = clCreateUserEvent(context, &error);
    GOOD(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, data, 0, NULL, &done));
    GOOD(clSetEventCallback(done, CL_COMPLETE, decide_in_callback, user));
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, back, 1, &user, NULL));
    CHECK(!memcmp(data, back, BYTES));
    GOOD(clReleaseEvent(done));
    GOOD(clReleaseEvent(user));
}

static void out_of_order(void)
{
    cl_command_queue free_queue =
        clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    GOOD(error);
    cl_event user = clCreateUserEvent(context, &error), first, second, third, marker;
    int a = 1, b = 2, got[3] = {0, 0, 0};
    GOOD(clEnqueueWriteBuffer(free_queue, buffer, CL_FALSE, 0, 4, &a, 1, &user, &first));
    GOOD(clEnqueueWriteBuffer(free_queue, buffer, CL_FALSE, 4, 4, &b, 0, NULL, &second)); /* does not wait */
    GOOD(clWaitForEvents(1, &second));
    CHECK(status_of(first) > CL_COMPLETE);
    GOOD(clEnqueueMarkerWithWaitList(free_queue, 0, NULL, &marker));
    GOOD(clEnqueueBarrierWithWaitList(free_queue, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(free_queue, buffer, CL_FALSE, 0, sizeof got, got, 0, NULL, &third));
    CHECK(status_of(marker) > CL_COMPLETE && status_of(third) > CL_COMPLETE);
    GOOD(clSetUserEventStatus(user, CL_COMPLETE));
    GOOD(clFinish(free_queue));
    CHECK(got[0] == 1 && got[1] == 2 && got[2] == data[2]);
    CHECK(status_of(first) == CL_COMPLETE && status_of(marker) == CL_COMPLETE);
    cl_event list[] = {user, first, second, third, marker};
    for (int i = 0; i < 5; i++)
        GOOD(clReleaseEvent(list[i]));
    GOOD(clReleaseCommandQueue(free_queue));
}

static void many_commands(void)
{
    cl_command_queue other = clCreateCommandQueue(context, device, 0, &error);
    cl_event last = NULL;
    for (int i = 0; i < 300; i++) { /* each waits for the one before, in the other queue */
        cl_event event;
        GOOD(clEnqueueWriteBuffer(i % 2 ? queue : other, buffer, CL_FALSE, 0, sizeof(int), &data[i],
                                  last != NULL, last ? &last : NULL, &event));
        if (last)
            GOOD(clReleaseEvent(last));
        last = event;
    }
    int got = 0;
    GOOD(clEnqueueReadBuffer(other, buffer, CL_TRUE, 0, sizeof got, &got, 1, &last, NULL));
    CHECK(got == data[299]);
    GOOD(clReleaseEvent(last));
    GOOD(clReleaseCommandQueue(other));
}

static void CL_CALLBACK native(void *arguments)
{
    called = *(int *)arguments;
}

struct doubled {
    int count;
    int *values; /* a buffer's */
};

static void CL_CALLBACK double_all(void *arguments)
{
    const struct doubled *doubled = arguments;
    for (int i = 0; i < doubled->count; i++)
        doubled->values[i] *= 2;
}

static void native_kernels_with_buffers(void)
{
    struct doubled arguments = {COUNT, NULL};
    const void *place = &arguments.values;
    static int got[COUNT];
    GOOD(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, BYTES, data, 0, NULL, NULL));
    GOOD(clEnqueueNativeKernel(queue, double_all, &arguments, sizeof arguments, 1, &buffer, &place, 0, NULL,
                               NULL));
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i] == 2 * data[i]);
    cl_mem none = NULL;
    GIVES(CL_INVALID_MEM_OBJECT, clEnqueueNativeKernel(queue, double_all, &arguments, sizeof arguments, 1,
                                                       &none, &place, 0, NULL, NULL));
}

static void native_kernels(void)
{
    int value = 500;
    cl_device_exec_capabilities can;
    GOOD(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL));
    if (!(can & CL_EXEC_NATIVE_KERNEL))
        return;
    GOOD(clEnqueueNativeKernel(queue, native, &value, sizeof value, 0, NULL, NULL, 0, NULL, NULL));
    value = 0; /* it has a copy */
    GOOD(clFinish(queue));
    CHECK(called == 500);
    native_kernels_with_buffers();
}

static void wrong_lists(void)
{
    cl_event event = NULL;
    GIVES(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, NULL, NULL));
    GIVES(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &event, NULL));
    GIVES(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
}

int main(void)
{
    start();
    for (int i = 0; i < COUNT; i++)
        data[i] = 5 * i + 3;
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
    GOOD(error);
    profiling();
    user_events();
    failed_user_events();
    another_thread_decides();
    callbacks();
    out_of_order();
    many_commands();
    native_kernels();
    wrong_lists();
    GOOD(clReleaseMemObject(buffer));
    return end("queues");
}
