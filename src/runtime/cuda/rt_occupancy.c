/* How many blocks of a kernel fit: on an SM, in clusters. */
#include "runtime/cuda/launch.h"
#include "runtime/cuda/register.h"

cudaError_t cuda_occupancy(struct function *function, int threads, size_t shared_bytes, int *blocks)
{
    uint64_t count = 0;
    if (!blocks || threads <= 0)
        return cudaErrorInvalidValue;
    if (!function)
        return cudaErrorInvalidResourceHandle;
    cudaError_t error = function_occupancy(function, cuda_device(), (uint64_t)threads, shared_bytes, &count);
    *blocks = (int)count;
    return error;
}

cudaError_t cuda_available_shared(struct function *function, int blocks, int threads, size_t *bytes)
{
    uint64_t available = 0;
    if (!bytes || blocks <= 0 || threads <= 0)
        return cudaErrorInvalidValue;
    if (!function)
        return cudaErrorInvalidResourceHandle;
    cudaError_t error =
        function_available_shared(function, cuda_device(), (uint64_t)blocks, (uint64_t)threads, &available);
    *bytes = available;
    return error;
}

cudaError_t cuda_cluster_size(struct function *function, int *blocks)
{
    const struct gpu_spec *gpu = device_spec(cuda_device());
    struct function_facts facts;
    if (!blocks || !function)
        return blocks ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    cudaError_t error = function_facts(function, cuda_device(), &facts);
    if (!error)
        *blocks = (int)(facts.non_portable ? gpu->cluster_blocks_optin : gpu->cluster_blocks);
    return error;
}

cudaError_t cuda_clusters(struct function *function, const struct launch_request *request, int *clusters)
{
    struct function_facts facts;
    uint64_t found = 0;
    if (!clusters || !function)
        return clusters ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    cudaError_t error = function_facts(function, cuda_device(), &facts);
    if (error)
        return error;
    const uint32_t *own = facts.kernel->cluster; /* 0 without; then the launch has to say it */
    uint64_t cluster = (uint64_t)own[0] * own[1] * own[2];
    for (unsigned i = 0; i < request->attribute_count; i++) {
        const struct dim3 *size = &request->attributes[i].value.cluster;
        if (request->attributes[i].id == LAUNCH_CLUSTER)
            cluster = (uint64_t)size->x * size->y * size->z;
    }
    uint64_t threads = (uint64_t)request->block.x * request->block.y * request->block.z;
    if (cluster)
        error = function_clusters(function, cuda_device(), threads, request->shared_bytes, cluster, &found);
    *clusters = (int)found;
    return error;
}

API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (blocks, function, threads, shared_bytes), int *blocks,
    const void *function, int threads, size_t shared_bytes)
{
    return cuda_occupancy(cuda_function(function), threads, shared_bytes, blocks);
}

API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (blocks, function, threads, shared_bytes, flags),
    int *blocks, const void *function, int threads, size_t shared_bytes, unsigned flags)
{
    enum { CACHING_OVERRIDE = 1 }; /* of L1, which takes nothing from shared memory */
    if (flags & ~(unsigned)CACHING_OVERRIDE)
        return cudaErrorInvalidValue;
    return cuda_occupancy(cuda_function(function), threads, shared_bytes, blocks);
}

API(cudaOccupancyAvailableDynamicSMemPerBlock, (bytes, function, blocks, threads), size_t *bytes,
    const void *function, int blocks, int threads)
{
    return cuda_available_shared(cuda_function(function), blocks, threads, bytes);
}

API(cudaOccupancyMaxPotentialClusterSize, (blocks, function, config), int *blocks, const void *function,
    const struct cudaLaunchConfig *config)
{
    (void)config;
    return cuda_cluster_size(cuda_function(function), blocks);
}

API(cudaOccupancyMaxActiveClusters, (clusters, function, config), int *clusters, const void *function,
    const struct cudaLaunchConfig *config)
{
    return cuda_clusters(cuda_function(function),
                         &(struct launch_request){.block = config->blockDim,
                                                  .shared_bytes = config->dynamicSmemBytes,
                                                  .attributes = config->attrs,
                                                  .attribute_count = config->numAttrs},
                         clusters);
}
