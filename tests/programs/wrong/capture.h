/* Stream capture: what it forbids, how it ends, and what is asked of it. */
#pragma once
#include "kit.h"
#include "copies.h"
#include "launches.h"
#include "memory.h"

struct capture {
    cudaStream_t stream;
    explicit capture(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal,
                     unsigned flags = cudaStreamNonBlocking)
    {
        stream = new_stream(flags);
        NEED(cudaStreamBeginCapture(stream, mode));
    }
    int end()
    {
        cudaGraph_t graph;
        cudaStream_t ended = stream;
        stream = 0;
        return cudaStreamEndCapture(ended, &graph);
    }
    ~capture()
    {
        if (stream)
            end();
    }
};
/* What a call gives while a stream captures (tens), and what the end of the capture gives then: two cases. */
#define WHILE_CAPTURING(name, ...)                                                                           \
    USE(capture_##name)                                                                                      \
    {                                                                                                        \
        capture c;                                                                                           \
        return __VA_ARGS__;                                                                                  \
    }                                                                                                        \
    USE(capture_end_after_##name)                                                                            \
    {                                                                                                        \
        capture c;                                                                                           \
        (void)(__VA_ARGS__);                                                                                 \
        return c.end();                                                                                      \
    }
static void *taken;

WHILE_CAPTURING(malloc, cudaMalloc(&taken, 4096))
WHILE_CAPTURING(free_null, cudaFree(0))
WHILE_CAPTURING(malloc_host, cudaMallocHost(&taken, 4096))
WHILE_CAPTURING(managed, cudaMallocManaged(&taken, 4096))
WHILE_CAPTURING(stream_synchronize, cudaStreamSynchronize(c.stream))
WHILE_CAPTURING(stream_query, cudaStreamQuery(c.stream))
WHILE_CAPTURING(device_synchronize, cudaDeviceSynchronize())
WHILE_CAPTURING(legacy_copy, cudaMemcpy(on_host, device_table, 0, cudaMemcpyHostToHost))
WHILE_CAPTURING(legacy_fill, cudaMemset(managed_table, 0, 16))
WHILE_CAPTURING(legacy_fill_async, cudaMemsetAsync(managed_table, 0, 16, 0))
WHILE_CAPTURING(other_stream_synchronize, cudaStreamSynchronize(cudaStreamPerThread))
WHILE_CAPTURING(begin_again, cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal))
WHILE_CAPTURING(destroy, cudaStreamDestroy(c.stream))
WHILE_CAPTURING(callback, cudaStreamAddCallback(c.stream, callback_nothing, 0, 0))
WHILE_CAPTURING(host_function, cudaLaunchHostFunc(c.stream, host_nothing, 0))
WHILE_CAPTURING(attach, cudaStreamAttachMemAsync(c.stream, managed_table, 0, cudaMemAttachSingle))
WHILE_CAPTURING(prefetch,
                cudaMemPrefetchAsync(managed_table, 64, location(cudaMemLocationTypeDevice, 0), 0, c.stream))
WHILE_CAPTURING(event_create, (new_event(), cudaPeekAtLastError()))
WHILE_CAPTURING(stream_create, (new_stream(), cudaPeekAtLastError()))
WHILE_CAPTURING(memory_info, [] {
    size_t a, b;
    return cudaMemGetInfo(&a, &b);
}())
WHILE_CAPTURING(wrong_copy, cudaMemcpyAsync(0, on_host, 16, cudaMemcpyHostToDevice, c.stream))
WHILE_CAPTURING(wrong_launch, [&] {
    nothing<<<1, 2048, 0, c.stream>>>();
    return cudaPeekAtLastError();
}())
WHILE_CAPTURING(wait_not_recorded, cudaStreamWaitEvent(c.stream, new_event(), 0))
WHILE_CAPTURING(record_external, cudaEventRecordWithFlags(new_event(), c.stream, cudaEventRecordExternal))
WHILE_CAPTURING(wait_external, cudaStreamWaitEvent(c.stream, new_event(), cudaEventWaitExternal))
WHILE_CAPTURING(free_async_not_of_graph, cudaFreeAsync((void *)fake_object, c.stream))
WHILE_CAPTURING(set_attribute, [&] {
    cudaStreamAttrValue value = {};
    value.syncPolicy = cudaSyncPolicyYield;
    return cudaStreamSetAttribute(c.stream, cudaStreamAttributeSynchronizationPolicy, &value);
}())

USE(capture_legacy)
{
    return cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);
}
USE(capture_legacy_by_handle)
{
    return cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeRelaxed);
}
USE(capture_unknown_mode)
{
    return cudaStreamBeginCapture(new_stream(), (cudaStreamCaptureMode)9);
}
USE(capture_bad_stream)
{
    return cudaStreamBeginCapture(FAKE(cudaStream_t), cudaStreamCaptureModeGlobal);
}
USE(capture_end_without_begin)
{
    cudaGraph_t graph;
    return cudaStreamEndCapture(new_stream(), &graph);
}
USE(capture_end_null)
{
    capture c;
    return cudaStreamEndCapture(c.stream, 0);
}
USE(capture_end_legacy)
{
    cudaGraph_t graph;
    return cudaStreamEndCapture(0, &graph);
}
USE(capture_blocking_then_legacy)
{
    capture c(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    return cudaMemsetAsync(managed_table, 0, 16, 0);
}
USE(capture_blocking_then_legacy_end)
{
    capture c(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    (void)cudaMemsetAsync(managed_table, 0, 16, 0);
    return c.end();
}
USE(capture_blocking_then_legacy_launch)
{
    capture c(cudaStreamCaptureModeThreadLocal, cudaStreamDefault);
    nothing<<<1, 1>>>();
    return launched();
}
USE(capture_blocking_then_legacy_record)
{
    capture c(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    return cudaEventRecord(new_event(), 0);
}
USE(capture_is_capturing_legacy_beside_blocking)
{
    capture c(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(0, &status);
}
USE(capture_is_capturing_null)
{
    return cudaStreamIsCapturing(new_stream(), 0);
}
USE(capture_info_legacy_beside_blocking)
{
    capture c(cudaStreamCaptureModeRelaxed, cudaStreamDefault);
    cudaStreamCaptureStatus status;
    return cudaStreamGetCaptureInfo(0, &status, 0, 0, 0, 0, 0);
}
USE(capture_info_null)
{
    return cudaStreamGetCaptureInfo(new_stream(), 0, 0, 0, 0, 0, 0);
}
USE(capture_relaxed_malloc)
{
    capture c(cudaStreamCaptureModeRelaxed);
    return cudaMalloc(&taken, 4096);
}
USE(capture_relaxed_device_synchronize)
{
    capture c(cudaStreamCaptureModeRelaxed);
    return cudaDeviceSynchronize();
}
USE(capture_relaxed_device_synchronize_end)
{
    capture c(cudaStreamCaptureModeRelaxed);
    (void)cudaDeviceSynchronize();
    return c.end();
}
USE(capture_relaxed_stream_synchronize)
{
    capture c(cudaStreamCaptureModeRelaxed);
    return cudaStreamSynchronize(c.stream);
}
USE(capture_thread_malloc)
{
    capture c(cudaStreamCaptureModeThreadLocal);
    return cudaMalloc(&taken, 4096);
}
USE(capture_exchanged_relaxed_malloc)
{
    capture c;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    NEED(cudaThreadExchangeStreamCaptureMode(&mode));
    int code = cudaMalloc(&taken, 4096);
    NEED(cudaThreadExchangeStreamCaptureMode(&mode));
    return code;
}
USE(capture_exchange_null)
{
    return cudaThreadExchangeStreamCaptureMode(0);
}
USE(capture_exchange_unknown)
{
    cudaStreamCaptureMode mode = (cudaStreamCaptureMode)9;
    int code = cudaThreadExchangeStreamCaptureMode(&mode);
    if (!code)
        cudaThreadExchangeStreamCaptureMode(&mode);
    return code;
}
USE(capture_unjoined)
{
    capture c;
    cudaStream_t other = new_stream();
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, c.stream));
    NEED(cudaStreamWaitEvent(other, event, 0));
    nothing<<<1, 1, 0, other>>>();
    return c.end();
}
USE(capture_unjoined_other_is_free_again)
{
    cudaStream_t other = new_stream();
    {
        capture c;
        cudaEvent_t event = new_event();
        NEED(cudaEventRecord(event, c.stream));
        NEED(cudaStreamWaitEvent(other, event, 0));
        nothing<<<1, 1, 0, other>>>();
    }
    cudaGetLastError();
    return cudaStreamSynchronize(other);
}
USE(capture_end_by_other_stream)
{
    capture c;
    cudaStream_t other = new_stream();
    cudaEvent_t event = new_event();
    cudaGraph_t graph;
    NEED(cudaEventRecord(event, c.stream));
    NEED(cudaStreamWaitEvent(other, event, 0));
    return cudaStreamEndCapture(other, &graph);
}
USE(capture_event_query)
{
    capture c;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, c.stream));
    return cudaEventQuery(event);
}
USE(capture_event_synchronize)
{
    capture c;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, c.stream));
    return cudaEventSynchronize(event);
}
USE(capture_event_synchronize_end)
{
    capture c;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, c.stream));
    (void)cudaEventSynchronize(event);
    return c.end();
}
USE(capture_event_query_after)
{
    cudaEvent_t event = new_event();
    {
        capture c;
        NEED(cudaEventRecord(event, c.stream));
    }
    return cudaEventQuery(event);
}
USE(capture_event_waited_after)
{
    cudaEvent_t event = new_event();
    {
        capture c;
        NEED(cudaEventRecord(event, c.stream));
    }
    return cudaStreamWaitEvent(new_stream(), event, 0);
}
USE(capture_event_elapsed)
{
    capture c;
    float ms;
    cudaEvent_t event = new_event(cudaEventDefault);
    NEED(cudaEventRecord(event, c.stream));
    return cudaEventElapsedTime(&ms, event, event);
}
USE(capture_wait_for_recorded_before)
{
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, new_stream()));
    capture c;
    return cudaStreamWaitEvent(c.stream, event, 0);
}
USE(capture_wait_for_recorded_before_end)
{
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, new_stream()));
    capture c;
    (void)cudaStreamWaitEvent(c.stream, event, 0);
    return c.end();
}
USE(capture_merge)
{
    capture a, b;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, a.stream));
    return cudaStreamWaitEvent(b.stream, event, 0);
}
USE(capture_merge_end)
{
    capture a, b;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, a.stream));
    (void)cudaStreamWaitEvent(b.stream, event, 0);
    return b.end();
}
USE(capture_merge_end_of_other)
{
    capture a, b;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, a.stream));
    (void)cudaStreamWaitEvent(b.stream, event, 0);
    return a.end();
}
USE(capture_legacy_waits_for_captured)
{
    capture c;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, c.stream));
    return cudaStreamWaitEvent(0, event, 0);
}
USE(capture_launch_after_invalid)
{
    capture c;
    (void)cudaStreamSynchronize(c.stream);
    cudaGetLastError();
    nothing<<<1, 1, 0, c.stream>>>();
    return launched();
}
USE(capture_copy_pageable)
{
    static int here[4];
    capture c;
    return cudaMemcpyAsync(here, managed_table, 16, cudaMemcpyDeviceToHost, c.stream);
}
USE(capture_update_not_capturing)
{
    return cudaStreamUpdateCaptureDependencies(new_stream(), 0, 0, 0, 0);
}
USE(capture_update_unknown_flags)
{
    capture c;
    return cudaStreamUpdateCaptureDependencies(c.stream, 0, 0, 0, 9);
}
USE(capture_update_null_node)
{
    capture c;
    cudaGraphNode_t nodes[] = {0};
    return cudaStreamUpdateCaptureDependencies(c.stream, nodes, 0, 1, cudaStreamAddCaptureDependencies);
}
USE(capture_to_no_graph)
{
    return cudaStreamBeginCaptureToGraph(new_stream(), 0, 0, 0, 0, cudaStreamCaptureModeGlobal);
}
USE(capture_to_graph_null_nodes)
{
    cudaGraph_t graph;
    NEED(cudaGraphCreate(&graph, 0));
    return cudaStreamBeginCaptureToGraph(new_stream(), graph, 0, 0, 1, cudaStreamCaptureModeGlobal);
}
USE(capture_graph_destroyed_while_capturing)
{
    capture c;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    NEED(cudaStreamGetCaptureInfo(c.stream, &status, 0, &graph, 0, 0, 0));
    return cudaGraphDestroy(graph);
}
USE(capture_graph_instantiated_while_capturing)
{
    capture c;
    cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    NEED(cudaStreamGetCaptureInfo(c.stream, &status, 0, &graph, 0, 0, 0));
    return cudaGraphInstantiate(&exec, graph, 0);
}
USE(capture_device_reset_end)
{
    capture c;
    return cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20);
}
