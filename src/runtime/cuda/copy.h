/* Copies, for who submits them otherwise than by a call. */
#ifndef RUNTIME_CUDA_COPY_H
#define RUNTIME_CUDA_COPY_H

#include "runtime/cuda/api.h"

cudaError_t cuda_copy_box(cudaStream_t stream, const struct cudaMemcpy3DParms *box, bool wait);

/* A run of bytes as a box, from or to a variable or not. */
struct cudaMemcpy3DParms cuda_run_of_bytes(void *to, const void *from, size_t bytes, int kind);
cudaError_t cuda_in_symbol(const void *key, size_t bytes, size_t offset, uint64_t *address);

#endif
