/* What is known about kernels, and how many blocks of one fit. */
#include "runtime/hip/register.h"

#include <string.h>

/* ---- attributes ---- */

static uint64_t most_threads(const struct gcn3_kernel_info *info, const struct gpu_spec *gpu)
{
    bool limited = info->max_group_items && info->max_group_items < gpu->threads_per_block;
    return limited ? info->max_group_items : gpu->threads_per_block;
}

static void fill(const struct hip_function *function, struct hipFuncAttributes *attributes)
{
    const struct gpu_spec *gpu = device_spec(hip_device());
    const struct gcn3_kernel_info *info = function->info;
    uint64_t left = gpu->shared_per_block > info->group_bytes ? gpu->shared_per_block - info->group_bytes : 0;
    *attributes = (struct hipFuncAttributes){.localSizeBytes = info->private_bytes,
                                             .maxDynamicSharedSizeBytes = (int)left,
                                             .maxThreadsPerBlock = (int)most_threads(info, gpu),
                                             .numRegs = (int)info->vgprs,
                                             .sharedSizeBytes = info->group_bytes};
}

HIP(hipFuncGetAttributes, (attributes, symbol), struct hipFuncAttributes *attributes, const void *symbol)
{
    struct hip_function *function = hip_registered_function(symbol);
    if (!attributes || !function)
        return attributes ? hipErrorInvalidDeviceFunction : hipErrorInvalidValue;
    fill(function, attributes);
    return hipSuccess;
}

HIP(hipFuncGetAttribute, (value, attribute, function), int *value, int attribute, hipFunction_t function)
{
    struct hipFuncAttributes all;
    if (!value)
        return hipErrorInvalidValue;
    if (!hip_function_known(function))
        return hipErrorInvalidHandle;
    fill(function, &all);
    const int by_number[] = {
#define ATTRIBUTE(field) (int)all.field,
#include "runtime/common/attributes.def"
#undef ATTRIBUTE
    };
    if (attribute < 0 || attribute >= (int)(sizeof by_number / sizeof *by_number))
        return hipErrorInvalidValue;
    *value = by_number[attribute];
    return hipSuccess;
}

/* All LDS can be had without asking, and it is not shared with a cache. */
HIP(hipFuncSetAttribute, (symbol, attribute, value), const void *symbol, int attribute, int value)
{
    (void)attribute, (void)value;
    return hip_registered_function(symbol) ? hipSuccess : hipErrorInvalidDeviceFunction;
}

HIP(hipFuncSetCacheConfig, (symbol, config), const void *symbol, int config)
{
    (void)config;
    return hip_registered_function(symbol) ? hipSuccess : hipErrorInvalidDeviceFunction;
}

HIP(hipFuncSetSharedMemConfig, (symbol, config), const void *symbol, int config)
{
    (void)config;
    return hip_registered_function(symbol) ? hipSuccess : hipErrorInvalidDeviceFunction;
}

HIP_EXPORT const char *hipKernelNameRef(hipFunction_t function),
    *hipKernelNameRefByPtr(const void *symbol, hipStream_t stream);

const char *hipKernelNameRef(hipFunction_t function)
{
    return hip_function_known(function) ? function->info->name : NULL;
}

const char *hipKernelNameRefByPtr(const void *symbol, hipStream_t stream)
{
    struct hip_function *function = hip_device_set() ? NULL : hip_registered_function(symbol);
    (void)stream;
    return function ? function->info->name : NULL;
}

/* ---- occupancy ---- */

static int occupancy(struct hip_function *function, int threads, size_t shared_bytes, int *blocks)
{
    uint64_t count = 0;
    if (!blocks || threads <= 0)
        return hipErrorInvalidValue;
    if (!function)
        return hipErrorInvalidDeviceFunction;
    enum result result =
        function_occupancy(function->function, hip_device(), (uint64_t)threads, shared_bytes, &count);
    *blocks = (int)count;
    return result;
}

static int best_block(struct hip_function *function, size_t shared_bytes, int limit, int *grid, int *block)
{
    if (!grid || !block)
        return hipErrorInvalidValue;
    if (!function)
        return hipErrorInvalidDeviceFunction;
    int most = (int)most_threads(function->info, device_spec(hip_device()));
    most = limit > 0 && limit < most ? limit : most;
    return function_best_block(function->function, hip_device(), most, NULL, shared_bytes, grid, block);
}

static struct hip_function *known(hipFunction_t function)
{
    return hip_function_known(function) ? function : NULL;
}

HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor, (blocks, symbol, threads, shared_bytes), int *blocks,
    const void *symbol, int threads, size_t shared_bytes)
{
    return occupancy(hip_registered_function(symbol), threads, shared_bytes, blocks);
}

HIP(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (blocks, symbol, threads, shared_bytes, flags),
    int *blocks, const void *symbol, int threads, size_t shared_bytes, unsigned flags)
{
    (void)flags;
    return occupancy(hip_registered_function(symbol), threads, shared_bytes, blocks);
}

HIP(hipOccupancyMaxPotentialBlockSize, (grid, block, symbol, shared_bytes, limit), int *grid, int *block,
    const void *symbol, size_t shared_bytes, int limit)
{
    return best_block(hip_registered_function(symbol), shared_bytes, limit, grid, block);
}

HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, (blocks, function, threads, shared_bytes),
    int *blocks, hipFunction_t function, int threads, size_t shared_bytes)
{
    return occupancy(known(function), threads, shared_bytes, blocks);
}

HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (blocks, function, threads, shared_bytes, flags), int *blocks, hipFunction_t function, int threads,
    size_t shared_bytes, unsigned flags)
{
    (void)flags;
    return occupancy(known(function), threads, shared_bytes, blocks);
}

HIP(hipModuleOccupancyMaxPotentialBlockSize, (grid, block, function, shared_bytes, limit), int *grid,
    int *block, hipFunction_t function, size_t shared_bytes, int limit)
{
    return best_block(known(function), shared_bytes, limit, grid, block);
}

HIP(hipModuleOccupancyMaxPotentialBlockSizeWithFlags, (grid, block, function, shared_bytes, limit, flags),
    int *grid, int *block, hipFunction_t function, size_t shared_bytes, int limit, unsigned flags)
{
    (void)flags;
    return best_block(known(function), shared_bytes, limit, grid, block);
}
