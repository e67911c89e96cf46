/* What both APIs know about memory. */
#ifndef RUNTIME_CUDA_MEMORY_H
#define RUNTIME_CUDA_MEMORY_H

#include "runtime/cuda/api.h"

bool cuda_is_pinned(const void *pointer, struct memory_facts *facts);

/* Success when all of it is of one managed allocation; when there is such a place. */
cudaError_t cuda_managed_range(const void *pointer, size_t bytes);
cudaError_t cuda_location(struct cudaMemLocation location);
cudaError_t cuda_advise(const void *pointer, size_t bytes, int advice, struct cudaMemLocation location);
cudaError_t cuda_attach(cudaStream_t stream, const void *pointer, size_t bytes, unsigned flags);
cudaError_t cuda_prefetch(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags,
                          cudaStream_t stream);
struct cudaMemLocation cuda_location_of(int device); /* as older calls name it */
cudaError_t cuda_range_attribute(void *data, size_t bytes, int attribute, const void *pointer, size_t range);

cudaError_t cuda_pool_attribute(struct memory_pool *pool, int attribute, void *value);
cudaError_t cuda_pool_set_attribute(struct memory_pool *pool, int attribute, const void *value);
cudaError_t cuda_pool_set_access(struct memory_pool *pool, const struct cudaMemAccessDesc *accesses,
                                 size_t count);
cudaError_t cuda_pool_new(struct memory_pool **pool, const struct cudaMemPoolProps *properties);

#endif
