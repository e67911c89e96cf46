/* Handles of memory and events for other processes, the same in both APIs. */
#ifndef RUNTIME_CUDA_IPC_H
#define RUNTIME_CUDA_IPC_H

#include "runtime/cuda/api.h"
#include "driver/ipc.h"

cudaError_t cuda_ipc_open(void **pointer, const struct ipc_handle *handle, unsigned flags);
cudaError_t cuda_ipc_open_event(struct stream_event **event, const struct ipc_handle *handle);
cudaError_t cuda_ipc_event_handle(struct ipc_handle *handle, struct stream_event *event);

#endif
