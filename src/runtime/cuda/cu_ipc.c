#include "runtime/cuda/ipc.h"

CU(cuIpcGetMemHandle, (handle, address), struct ipc_handle *handle, CUdeviceptr address)
{
    return handle ? ipc_memory_export(cuda_driver(), address, handle) : cudaErrorInvalidValue;
}

CU(cuIpcOpenMemHandle_v2, (address, handle, flags), CUdeviceptr *address, struct ipc_handle handle,
   unsigned flags)
{
    void *pointer = NULL;
    cudaError_t error = address ? cuda_ipc_open(&pointer, &handle, flags) : cudaErrorInvalidValue;
    if (!error)
        *address = (CUdeviceptr)(uintptr_t)pointer;
    return error;
}
CU_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);

CU(cuIpcCloseMemHandle, (address), CUdeviceptr address)
{
    return ipc_memory_close(cuda_driver(), address);
}

CU(cuIpcGetEventHandle, (handle, event), struct ipc_handle *handle, cudaEvent_t event)
{
    return cuda_ipc_event_handle(handle, event);
}

CU(cuIpcOpenEventHandle, (event, handle), cudaEvent_t *event, struct ipc_handle handle)
{
    return cuda_ipc_open_event(event, &handle);
}
