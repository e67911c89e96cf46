#include "runtime/cuda/ipc.h"

/* The only flag, and it must be given, as an H200 has it. */
enum { LAZY_ENABLE_PEER_ACCESS = 1 };

API(cudaIpcGetMemHandle, (handle, pointer), struct ipc_handle *handle, void *pointer)
{
    return handle ? ipc_memory_export(cuda_driver(), (uint64_t)(uintptr_t)pointer, handle)
                  : cudaErrorInvalidValue;
}

cudaError_t cuda_ipc_open(void **pointer, const struct ipc_handle *handle, unsigned flags)
{
    uint64_t address = 0;
    if (!pointer || flags != LAZY_ENABLE_PEER_ACCESS)
        return cudaErrorInvalidValue;
    cudaError_t error = ipc_memory_open(cuda_device(), handle, &address);
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return error;
}

API(cudaIpcOpenMemHandle, (pointer, handle, flags), void **pointer, struct ipc_handle handle, unsigned flags)
{
    return cuda_ipc_open(pointer, &handle, flags);
}

API(cudaIpcCloseMemHandle, (pointer), void *pointer)
{
    return ipc_memory_close(cuda_driver(), (uint64_t)(uintptr_t)pointer);
}

/* ---- events ---- */

cudaError_t cuda_ipc_event_handle(struct ipc_handle *handle, struct stream_event *event)
{
    if (!handle || !event)
        return cudaErrorInvalidValue;
    return common_has_event(event) ? (cudaError_t)event_export(event, handle)
                                   : cudaErrorInvalidResourceHandle;
}

cudaError_t cuda_ipc_open_event(struct stream_event **event, const struct ipc_handle *handle)
{
    cudaError_t error = event ? (cudaError_t)event_open(cuda_device(), handle, event) : cudaErrorInvalidValue;
    if (!error)
        common_add_event(*event);
    return error;
}

API(cudaIpcGetEventHandle, (handle, event), struct ipc_handle *handle, cudaEvent_t event)
{
    return cuda_ipc_event_handle(handle, event);
}

API(cudaIpcOpenEventHandle, (event, handle), cudaEvent_t *event, struct ipc_handle handle)
{
    return cuda_ipc_open_event(event, &handle);
}
