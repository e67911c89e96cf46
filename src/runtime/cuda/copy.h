/* Copies, for who submits them otherwise than by a call. */
#ifndef RUNTIME_CUDA_COPY_H
#define RUNTIME_CUDA_COPY_H

#include "runtime/cuda/api.h"

cudaError_t cuda_copy_bytes(cudaStream_t stream, void *to, const void *from, size_t bytes);
cudaError_t cuda_copy_box(cudaStream_t stream, const struct cudaMemcpy3DParms *box, bool wait);
struct cudaMemcpy3DParms cuda_box_of(const struct copy *copy); /* that was asked for */

bool cuda_copy_of_box(const struct CUDA_MEMCPY3D *box, struct copy *copy); /* false: it names no memory */

struct CUDA_MEMCPY3D cuda_box_for_driver(const struct cudaMemcpy3DParms *box);

/* A run of bytes as a box, from or to a variable or not. */
struct cudaMemcpy3DParms cuda_run_of_bytes(void *to, const void *from, size_t bytes, int kind);
cudaError_t cuda_in_symbol(const void *key, size_t bytes, size_t offset, uint64_t *address);

#endif
