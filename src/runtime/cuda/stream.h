/* Streams and events, as both APIs make and use them. */
#ifndef RUNTIME_CUDA_STREAM_H
#define RUNTIME_CUDA_STREAM_H

#include "runtime/cuda/api.h"

cudaError_t cuda_stream_new(struct stream **stream, unsigned flags, int priority);
cudaError_t cuda_event_new(struct stream_event **event, unsigned flags);
cudaError_t cuda_event_record(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cuda_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cuda_check_stream_attribute(int attribute, const void *value);
cudaError_t cuda_refuse_captured(cudaStream_t stream); /* SUCCESS: it is not captured */
cudaError_t cuda_host_function(cudaStream_t stream, cudaHostFn *function, void *user);
cudaError_t cuda_callback(cudaStream_t stream, cudaStreamCallback *callback, void *user, unsigned flags);

/* Values that are waited for, or written, one after another. */
cudaError_t cuda_stream_values(struct stream *stream, const struct CUDA_BATCH_MEM_OP_NODE_PARAMS *what);

#endif
