/* Kernels, as both APIs launch and ask about them. */
#ifndef RUNTIME_CUDA_LAUNCH_H
#define RUNTIME_CUDA_LAUNCH_H

#include "runtime/cuda/api.h"

struct launch_request {
    struct dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    struct cudaLaunchAttribute *attributes;
    unsigned attribute_count;
    bool cooperative;
    struct updates *updates; /* of a graph's node that has them; or NULL */
};

/* The function may be NULL: no such kernel. */
cudaError_t cuda_launch(struct function *function, const struct launch_request *request, void **arguments);
/* The same where the arguments may come in a buffer, which is named in a list of keys and values. */
cudaError_t cuda_launch_any(struct function *function, const struct launch_request *request, void **arguments,
                            void **extra);

/* As kernels are told. */
uint32_t cuda_fill_attributes(const struct function_facts *facts, void *to, size_t room);
cudaError_t cuda_function_attributes(struct function *function, struct device *device,
                                     struct cudaFuncAttributes *attributes);

/* Where a parameter is in the arguments as one buffer. */
cudaError_t cuda_parameter(struct function *function, size_t index, size_t *offset, size_t *bytes);

/* Blocks on an SM; dynamic shared memory for this many blocks; clusters on the GPU; blocks that a cluster can
 * have. */
cudaError_t cuda_occupancy(struct function *function, int threads, size_t shared_bytes, int *blocks);
cudaError_t cuda_available_shared(struct function *function, int blocks, int threads, size_t *bytes);
cudaError_t cuda_clusters(struct function *function, const struct launch_request *request, int *clusters);
cudaError_t cuda_cluster_size(struct function *function, int *blocks);

#endif
