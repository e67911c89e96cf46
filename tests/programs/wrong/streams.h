/* Streams and events. */
#pragma once
#include "kit.h"

USE(stream_create_null)
{
    return cudaStreamCreate(0);
}
USE(stream_create_unknown_flags)
{
    cudaStream_t stream;
    return cudaStreamCreateWithFlags(&stream, 8);
}
USE(stream_create_low_priority)
{
    cudaStream_t stream;
    return cudaStreamCreateWithPriority(&stream, 0, 100);
}
USE(stream_destroy_null)
{
    return cudaStreamDestroy(0);
}
USE(stream_destroy_legacy)
{
    return cudaStreamDestroy(cudaStreamLegacy);
}
USE(stream_destroy_per_thread)
{
    return cudaStreamDestroy(cudaStreamPerThread);
}
USE(stream_destroy_bad)
{
    return cudaStreamDestroy(FAKE(cudaStream_t));
}
USE(stream_destroy_twice)
{
    cudaStream_t stream = new_stream();
    NEED(cudaStreamDestroy(stream));
    return cudaStreamDestroy(stream);
}
USE(stream_query_bad)
{
    return cudaStreamQuery(FAKE(cudaStream_t));
}
USE(stream_query_destroyed)
{
    cudaStream_t stream = new_stream();
    NEED(cudaStreamDestroy(stream));
    return cudaStreamQuery(stream);
}
USE(stream_query_busy)
{
    busy_stream busy;
    return cudaStreamQuery(busy.stream);
}
USE(stream_synchronize_bad)
{
    return cudaStreamSynchronize(FAKE(cudaStream_t));
}
USE(stream_flags_null)
{
    return cudaStreamGetFlags(new_stream(), 0);
}
USE(stream_flags_bad)
{
    unsigned flags;
    return cudaStreamGetFlags(FAKE(cudaStream_t), &flags);
}
USE(stream_priority_null)
{
    return cudaStreamGetPriority(new_stream(), 0);
}
USE(stream_id_null)
{
    return cudaStreamGetId(new_stream(), 0);
}
USE(stream_device_null)
{
    return cudaStreamGetDevice(new_stream(), 0);
}
USE(stream_attribute_null)
{
    return cudaStreamGetAttribute(new_stream(), cudaStreamAttributeSynchronizationPolicy, 0);
}
USE(stream_attribute_unknown)
{
    cudaStreamAttrValue value = {};
    return cudaStreamGetAttribute(new_stream(), (cudaStreamAttrID)99, &value);
}
USE(stream_attribute_set_unknown)
{
    cudaStreamAttrValue value = {};
    return cudaStreamSetAttribute(new_stream(), (cudaStreamAttrID)99, &value);
}
USE(stream_attribute_set_null)
{
    return cudaStreamSetAttribute(new_stream(), cudaStreamAttributeSynchronizationPolicy, 0);
}
USE(stream_attribute_set_cluster)
{
    cudaStreamAttrValue value = {};
    return cudaStreamSetAttribute(new_stream(), cudaLaunchAttributeClusterDimension, &value);
}
USE(stream_attribute_set_policy_unknown)
{
    cudaStreamAttrValue value = {};
    value.syncPolicy = (cudaSynchronizationPolicy)77;
    return cudaStreamSetAttribute(new_stream(), cudaStreamAttributeSynchronizationPolicy, &value);
}
USE(stream_attribute_window_too_big)
{
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.base_ptr = new_memory();
    value.accessPolicyWindow.num_bytes = (size_t)1 << 40;
    value.accessPolicyWindow.hitRatio = 1;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    return cudaStreamSetAttribute(new_stream(), cudaStreamAttributeAccessPolicyWindow, &value);
}
USE(stream_attribute_hit_ratio_above_one)
{
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.base_ptr = new_memory();
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 2;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    return cudaStreamSetAttribute(new_stream(), cudaStreamAttributeAccessPolicyWindow, &value);
}
USE(stream_copy_attributes_bad)
{
    return cudaStreamCopyAttributes(new_stream(), FAKE(cudaStream_t));
}
USE(callback_null)
{
    return cudaStreamAddCallback(new_stream(), 0, 0, 0);
}
USE(callback_flags)
{
    return cudaStreamAddCallback(new_stream(), callback_nothing, 0, 1);
}
USE(callback_bad_stream)
{
    return cudaStreamAddCallback(FAKE(cudaStream_t), callback_nothing, 0, 0);
}
USE(event_create_null)
{
    return cudaEventCreate((cudaEvent_t *)0);
}
USE(event_create_unknown_flags)
{
    cudaEvent_t event;
    return cudaEventCreateWithFlags(&event, 0x100);
}
USE(event_create_shared_with_timing)
{
    cudaEvent_t event;
    return cudaEventCreateWithFlags(&event, cudaEventInterprocess);
}
USE(event_destroy_null)
{
    return cudaEventDestroy(0);
}
USE(event_destroy_bad)
{
    return cudaEventDestroy(FAKE(cudaEvent_t));
}
USE(event_destroy_twice)
{
    cudaEvent_t event = new_event();
    NEED(cudaEventDestroy(event));
    return cudaEventDestroy(event);
}
USE(event_record_null)
{
    return cudaEventRecord(0, 0);
}
USE(event_record_bad)
{
    return cudaEventRecord(FAKE(cudaEvent_t), 0);
}
USE(event_record_bad_stream)
{
    return cudaEventRecord(new_event(), FAKE(cudaStream_t));
}
USE(event_record_destroyed)
{
    cudaEvent_t event = new_event();
    NEED(cudaEventDestroy(event));
    return cudaEventRecord(event, 0);
}
USE(event_record_unknown_flags)
{
    return cudaEventRecordWithFlags(new_event(), 0, 8);
}
USE(event_record_external_outside_capture)
{
    return cudaEventRecordWithFlags(new_event(), new_stream(), cudaEventRecordExternal);
}
USE(event_query_null)
{
    return cudaEventQuery(0);
}
USE(event_query_not_recorded)
{
    return cudaEventQuery(new_event());
}
USE(event_query_busy)
{
    busy_stream busy;
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, busy.stream));
    return cudaEventQuery(event);
}
USE(event_synchronize_null)
{
    return cudaEventSynchronize(0);
}
USE(event_synchronize_not_recorded)
{
    return cudaEventSynchronize(new_event());
}
USE(event_elapsed_null)
{
    return cudaEventElapsedTime(0, new_event(cudaEventDefault), new_event(cudaEventDefault));
}
USE(event_elapsed_not_recorded)
{
    float ms;
    return cudaEventElapsedTime(&ms, new_event(cudaEventDefault), new_event(cudaEventDefault));
}
USE(event_elapsed_no_timing)
{
    float ms;
    cudaEvent_t from = new_event(), to = new_event();
    NEED(cudaEventRecord(from, 0));
    NEED(cudaEventRecord(to, 0));
    NEED(cudaDeviceSynchronize());
    return cudaEventElapsedTime(&ms, from, to);
}
USE(event_elapsed_busy)
{
    float ms;
    cudaEvent_t from = new_event(cudaEventDefault), to = new_event(cudaEventDefault);
    NEED(cudaEventRecord(from, 0));
    busy_stream busy;
    NEED(cudaEventRecord(to, busy.stream));
    return cudaEventElapsedTime(&ms, from, to);
}
USE(event_elapsed_null_event)
{
    float ms;
    return cudaEventElapsedTime(&ms, 0, new_event(cudaEventDefault));
}
USE(wait_event_null)
{
    return cudaStreamWaitEvent(new_stream(), 0, 0);
}
USE(wait_event_not_recorded)
{
    return cudaStreamWaitEvent(new_stream(), new_event(), 0);
}
USE(wait_event_flags)
{
    return cudaStreamWaitEvent(new_stream(), new_event(), 8);
}
USE(wait_event_bad)
{
    return cudaStreamWaitEvent(new_stream(), FAKE(cudaEvent_t), 0);
}
USE(wait_event_bad_stream)
{
    return cudaStreamWaitEvent(FAKE(cudaStream_t), new_event(), 0);
}
USE(wait_event_external_outside_capture)
{
    return cudaStreamWaitEvent(new_stream(), new_event(), cudaEventWaitExternal);
}
