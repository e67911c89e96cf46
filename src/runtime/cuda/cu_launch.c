/* The driver API: launches, and what is known about kernels. */
#include "runtime/cuda/launch.h"

CU_PTSZ(cuLaunchKernel,
        (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
         extra),
        CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
        unsigned block_y, unsigned block_z, unsigned shared_bytes, cudaStream_t stream, void **parameters,
        void **extra)
{
    return cuda_launch_any(function,
                           &(struct launch_request){.grid = {grid_x, grid_y, grid_z},
                                                    .block = {block_x, block_y, block_z},
                                                    .shared_bytes = shared_bytes,
                                                    .stream = stream},
                           parameters, extra);
}

CU_PTSZ(cuLaunchCooperativeKernel,
        (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters),
        CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
        unsigned block_y, unsigned block_z, unsigned shared_bytes, cudaStream_t stream, void **parameters)
{
    return cuda_launch_any(function,
                           &(struct launch_request){.grid = {grid_x, grid_y, grid_z},
                                                    .block = {block_x, block_y, block_z},
                                                    .shared_bytes = shared_bytes,
                                                    .stream = stream,
                                                    .cooperative = true},
                           parameters, NULL);
}

static struct launch_request request_of(const struct CUlaunchConfig *config, cudaStream_t default_stream)
{
    return (struct launch_request){.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                   .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                   .shared_bytes = config->sharedMemBytes,
                                   .stream = config->hStream ? config->hStream : default_stream,
                                   .attributes = config->attrs,
                                   .attribute_count = config->numAttrs};
}

CU(cuLaunchKernelEx, (config, function, parameters, extra), const struct CUlaunchConfig *config,
   CUfunction function, void **parameters, void **extra)
{
    if (!config || !cuda_stream_known(config->hStream))
        return config ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    struct launch_request request = request_of(config, STREAM_LEGACY);
    return cuda_launch_any(function, &request, parameters, extra);
}

CU(cuLaunchKernelEx_ptsz, (config, function, parameters, extra), const struct CUlaunchConfig *config,
   CUfunction function, void **parameters, void **extra)
{
    if (!config || !cuda_stream_known(config->hStream))
        return config ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    struct launch_request request = request_of(config, STREAM_PER_THREAD);
    return cuda_launch_any(function, &request, parameters, extra);
}

/* ---- about kernels ---- */

static CUresult attribute_of(int *value, int attribute, struct function *function, struct device *device)
{
    struct cudaFuncAttributes all;
    if (!value)
        return cudaErrorInvalidValue;
    CUresult result = cuda_function_attributes(function, device, &all);
    if (result)
        return result;
    const int by_number[] = {
#define ATTRIBUTE(field) (int)all.field,
#include "runtime/common/attributes.def"
#undef ATTRIBUTE
        all.clusterDimMustBeSet,  all.requiredClusterWidth,          all.requiredClusterHeight,
        all.requiredClusterDepth, all.nonPortableClusterSizeAllowed, all.clusterSchedulingPolicyPreference};
    if (attribute < 0 || attribute >= (int)(sizeof by_number / sizeof *by_number))
        return cudaErrorInvalidValue;
    *value = by_number[attribute];
    return cudaSuccess;
}

CU(cuFuncGetParamInfo, (function, index, offset, bytes), CUfunction function, size_t index, size_t *offset,
   size_t *bytes)
{
    return cuda_parameter(function, index, offset, bytes);
}

CU(cuKernelGetParamInfo, (kernel, index, offset, bytes), CUkernel kernel, size_t index, size_t *offset,
   size_t *bytes)
{
    return cuda_parameter(kernel, index, offset, bytes);
}

CU(cuFuncGetAttribute, (value, attribute, function), int *value, int attribute, CUfunction function)
{
    return attribute_of(value, attribute, function, cuda_device());
}

CU(cuFuncSetAttribute, (function, attribute, value), CUfunction function, int attribute, int value)
{
    return function ? (CUresult)function_set(function, cuda_device(), attribute, value)
                    : cudaErrorInvalidResourceHandle;
}

CU(cuFuncSetCacheConfig, (function, config), CUfunction function, int config)
{
    return function ? (CUresult)function_set(function, cuda_device(), FUNCTION_CACHE, config)
                    : cudaErrorInvalidResourceHandle;
}

CU(cuFuncSetSharedMemConfig, (function, config), CUfunction function, int config)
{
    (void)config;
    return function ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

CU(cuFuncLoad, (function), CUfunction function)
{
    return function ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

CU(cuFuncIsLoaded, (state, function), int *state, CUfunction function)
{
    enum { UNLOADED, LOADED };
    if (!state || !function)
        return cudaErrorInvalidValue;
    *state = LOADED;
    return cudaSuccess;
}

CU(cuKernelGetAttribute, (value, attribute, kernel, device), int *value, int attribute, CUkernel kernel,
   CUdevice device)
{
    return cuda_device_at(device) ? attribute_of(value, attribute, kernel, cuda_device_at(device))
                                  : cudaErrorInvalidDevice;
}

CU(cuKernelSetAttribute, (attribute, value, kernel, device), int attribute, int value, CUkernel kernel,
   CUdevice device)
{
    if (!cuda_device_at(device) || !kernel)
        return kernel ? cudaErrorInvalidDevice : cudaErrorInvalidResourceHandle;
    return function_set(kernel, cuda_device_at(device), attribute, value);
}

CU(cuKernelSetCacheConfig, (kernel, config, device), CUkernel kernel, int config, CUdevice device)
{
    if (!cuda_device_at(device) || !kernel)
        return kernel ? cudaErrorInvalidDevice : cudaErrorInvalidResourceHandle;
    return function_set(kernel, cuda_device_at(device), FUNCTION_CACHE, config);
}

/* ---- occupancy ---- */

CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, (blocks, function, threads, shared_bytes), int *blocks,
   CUfunction function, int threads, size_t shared_bytes)
{
    return cuda_occupancy(function, threads, shared_bytes, blocks);
}

CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (blocks, function, threads, shared_bytes, flags),
   int *blocks, CUfunction function, int threads, size_t shared_bytes, unsigned flags)
{
    (void)flags;
    return cuda_occupancy(function, threads, shared_bytes, blocks);
}

static CUresult best_block(struct function *function, size_t (*shared_of)(int threads), size_t shared_bytes,
                           int limit, int *grid, int *block)
{
    int most;
    CUresult result = attribute_of(&most, 0, function, cuda_device());
    if (result)
        return result;
    most = limit > 0 && limit < most ? limit : most;
    return function_best_block(function, cuda_device(), most, shared_of, shared_bytes, grid, block);
}

CU(cuOccupancyMaxPotentialBlockSize, (grid, block, function, shared_of, shared_bytes, limit), int *grid,
   int *block, CUfunction function, size_t (*shared_of)(int threads), size_t shared_bytes, int limit)
{
    return grid && block ? best_block(function, shared_of, shared_bytes, limit, grid, block)
                         : cudaErrorInvalidValue;
}

CU(cuOccupancyMaxPotentialBlockSizeWithFlags, (grid, block, function, shared_of, shared_bytes, limit, flags),
   int *grid, int *block, CUfunction function, size_t (*shared_of)(int threads), size_t shared_bytes,
   int limit, unsigned flags)
{
    (void)flags;
    return grid && block ? best_block(function, shared_of, shared_bytes, limit, grid, block)
                         : cudaErrorInvalidValue;
}

CU(cuOccupancyAvailableDynamicSMemPerBlock, (bytes, function, blocks, threads), size_t *bytes,
   CUfunction function, int blocks, int threads)
{
    return cuda_available_shared(function, blocks, threads, bytes);
}

CU(cuOccupancyMaxPotentialClusterSize, (blocks, function, config), int *blocks, CUfunction function,
   const struct CUlaunchConfig *config)
{
    (void)config;
    return cuda_cluster_size(function, blocks);
}

CU(cuOccupancyMaxActiveClusters, (clusters, function, config), int *clusters, CUfunction function,
   const struct CUlaunchConfig *config)
{
    struct launch_request request = request_of(config, STREAM_LEGACY);
    return cuda_clusters(function, &request, clusters);
}
