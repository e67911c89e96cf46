/* Launches, and what can be set or asked for a kernel. */
#pragma once
#include "kit.h"

static int launched()
{
    return cudaPeekAtLastError();
}
USE(launch_block_too_big)
{
    store<<<1, 2048>>>((int *)new_memory());
    return launched();
}
USE(launch_no_blocks)
{
    store<<<0, 32>>>((int *)new_memory());
    return launched();
}
USE(launch_no_threads)
{
    store<<<1, 0>>>((int *)new_memory());
    return launched();
}
USE(launch_grid_y_too_big)
{
    store<<<dim3(1, 65536), 1>>>((int *)new_memory());
    return launched();
}
USE(launch_grid_z_too_big)
{
    store<<<dim3(1, 1, 65536), 1>>>((int *)new_memory());
    return launched();
}
USE(launch_grid_x_too_big)
{
    nothing<<<dim3(0x80000000u), 1>>>();
    return launched();
}
USE(launch_block_z_too_big)
{
    store<<<1, dim3(1, 1, 65)>>>((int *)new_memory());
    return launched();
}
USE(launch_block_y_too_big)
{
    store<<<1, dim3(1, 1025)>>>((int *)new_memory());
    return launched();
}
USE(launch_beyond_bounds)
{
    bounded<<<1, 256>>>((int *)new_memory());
    return launched();
}
USE(launch_shared_too_much)
{
    dynamic<<<1, 32, 49153>>>((int *)new_memory());
    return launched();
}
USE(launch_shared_beyond_gpu)
{
    dynamic<<<1, 32, 300000>>>((int *)new_memory());
    return launched();
}
USE(launch_shared_huge)
{
    dynamic<<<1, 32, (size_t)1 << 40>>>((int *)new_memory());
    return launched();
}
USE(launch_bad_stream)
{
    store<<<1, 1, 0, FAKE(cudaStream_t)>>>((int *)new_memory());
    return launched();
}
USE(launch_destroyed_stream)
{
    cudaStream_t stream = new_stream();
    NEED(cudaStreamDestroy(stream));
    store<<<1, 1, 0, stream>>>((int *)new_memory());
    return launched();
}
USE(launch_no_kernel)
{
    return cudaLaunchKernel((const void *)0, dim3(1), dim3(1), 0, 0, 0);
}
USE(launch_host_function)
{
    return cudaLaunchKernel((const void *)host_nothing, dim3(1), dim3(1), 0, 0, 0);
}
USE(launch_variable)
{
    return cudaLaunchKernel((const void *)device_table, dim3(1), dim3(1), 0, 0, 0);
}
USE(launch_clears_no_error)
{
    NEED(cudaSetDevice(1000) == cudaErrorInvalidDevice ? 0 : 1);
    nothing<<<1, 1>>>();
    return launched();
}
USE(cooperative_too_many)
{
    int *p = (int *)new_memory();
    void *arguments[] = {&p};
    return cudaLaunchCooperativeKernel((const void *)store, dim3(1 << 20), dim3(1024), arguments, 0, 0);
}
USE(cooperative_no_threads)
{
    int *p = (int *)new_memory();
    void *arguments[] = {&p};
    return cudaLaunchCooperativeKernel((const void *)store, dim3(1), dim3(0), arguments, 0, 0);
}
USE(launch_ex_null)
{
    return cudaLaunchKernelExC(0, (const void *)nothing, 0);
}
static cudaError_t launch_with(cudaLaunchAttribute *attributes, unsigned count, dim3 grid = dim3(4))
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(32);
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, (const void *)nothing, 0);
}
static cudaError_t launch_with_cluster(unsigned x, unsigned y, unsigned z, dim3 grid = dim3(4))
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = x;
    attribute.val.clusterDim.y = y;
    attribute.val.clusterDim.z = z;
    return launch_with(&attribute, 1, grid);
}
USE(launch_ex_no_attributes)
{
    return launch_with(0, 1);
}
USE(launch_ex_unknown_attribute)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = (cudaLaunchAttributeID)999;
    return launch_with(&attribute, 1);
}
USE(launch_ex_cluster_zero)
{
    return launch_with_cluster(0, 1, 1);
}
USE(launch_ex_cluster_not_divisor)
{
    return launch_with_cluster(3, 1, 1);
}
USE(launch_ex_cluster_too_big)
{
    return launch_with_cluster(16, 1, 1, dim3(16));
}
USE(launch_ex_cluster_huge)
{
    return launch_with_cluster(64, 1, 1, dim3(64));
}
USE(launch_ex_priority_unknown)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 1000;
    return launch_with(&attribute, 1);
}
USE(launch_ex_event_null)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    return launch_with(&attribute, 1);
}
USE(launch_ex_event_with_timing)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = new_event(cudaEventDefault);
    return launch_with(&attribute, 1);
}
USE(launch_ex_completion_event_with_timing)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = new_event(cudaEventDefault);
    return launch_with(&attribute, 1);
}
USE(launch_ex_cooperative_and_serialization)
{
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeCooperative;
    attributes[0].val.cooperative = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    return launch_with(attributes, 2);
}
USE(function_attributes_null)
{
    return cudaFuncGetAttributes(0, (const void *)nothing);
}
USE(function_attributes_of_host)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)host_nothing);
}
USE(function_attributes_of_null)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)0);
}
USE(function_set_unknown)
{
    return cudaFuncSetAttribute((const void *)nothing, (cudaFuncAttribute)99, 1);
}
USE(function_set_read_only)
{
    return cudaFuncSetAttribute((const void *)nothing, (cudaFuncAttribute)0, 1);
}
USE(function_set_shared_too_much)
{
    return cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449);
}
USE(function_set_shared_negative)
{
    return cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, -1);
}
USE(function_set_carveout_too_much)
{
    return cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101);
}
USE(function_set_carveout_negative)
{
    return cudaFuncSetAttribute((const void *)dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, -2);
}
USE(function_set_of_host)
{
    return cudaFuncSetAttribute((const void *)host_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 16);
}
USE(function_set_cluster_width_negative)
{
    return cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeRequiredClusterWidth, -1);
}
USE(function_cache_unknown)
{
    return cudaFuncSetCacheConfig((const void *)nothing, (cudaFuncCache)9);
}
USE(function_cache_of_host)
{
    return cudaFuncSetCacheConfig((const void *)host_nothing, cudaFuncCachePreferL1);
}
USE(function_name_null)
{
    return cudaFuncGetName(0, (const void *)nothing);
}
USE(function_name_of_host)
{
    const char *name;
    return cudaFuncGetName(&name, (const void *)host_nothing);
}
USE(function_parameter_beyond_last)
{
    size_t offset, size;
    return cudaFuncGetParamInfo((const void *)store, 1, &offset, &size);
}
USE(function_parameter_null)
{
    return cudaFuncGetParamInfo((const void *)store, 0, 0, 0);
}
USE(function_by_symbol_of_host)
{
    cudaFunction_t function;
    return cudaGetFuncBySymbol(&function, (const void *)host_nothing);
}
USE(function_by_symbol_null)
{
    return cudaGetFuncBySymbol(0, (const void *)nothing);
}
USE(kernel_of_host)
{
    cudaKernel_t kernel;
    return cudaGetKernel(&kernel, (const void *)host_nothing);
}
USE(occupancy_null)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(0, (const void *)nothing, 32, 0);
}
USE(occupancy_of_host)
{
    int blocks;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)host_nothing, 32, 0);
}
USE(occupancy_no_threads)
{
    int blocks;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)nothing, 0, 0);
}
USE(occupancy_negative_threads)
{
    int blocks;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)nothing, -5, 0);
}
USE(occupancy_too_many_threads)
{
    int blocks;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)nothing, 4096, 0);
}
USE(occupancy_unknown_flags)
{
    int blocks;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)nothing, 32, 0, 8);
}
USE(occupancy_shared_no_blocks)
{
    size_t bytes;
    return cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, (const void *)nothing, 0, 32);
}
USE(occupancy_shared_too_many_blocks)
{
    size_t bytes;
    return cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, (const void *)nothing, 1000, 32);
}
USE(occupancy_clusters_no_cluster)
{
    int clusters;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(32);
    return cudaOccupancyMaxActiveClusters(&clusters, (const void *)nothing, &config);
}
USE(host_function_null)
{
    return cudaLaunchHostFunc(0, 0, 0);
}
USE(host_function_bad_stream)
{
    return cudaLaunchHostFunc(FAKE(cudaStream_t), host_nothing, 0);
}
static int inside_code;
static void call_inside(void *)
{
    void *p;
    inside_code = cudaMalloc(&p, 16);
}
USE(host_function_calls_cuda)
{
    cudaStream_t stream = new_stream();
    NEED(cudaLaunchHostFunc(stream, call_inside, 0));
    NEED(cudaStreamSynchronize(stream));
    return inside_code;
}
USE(library_load_nonsense)
{
    cudaLibrary_t library;
    return cudaLibraryLoadData(&library, "nonsense", 0, 0, 0, 0, 0, 0);
}
USE(library_load_null)
{
    cudaLibrary_t library;
    return cudaLibraryLoadData(&library, 0, 0, 0, 0, 0, 0, 0);
}
USE(library_load_no_file)
{
    cudaLibrary_t library;
    return cudaLibraryLoadFromFile(&library, "/nonexistent", 0, 0, 0, 0, 0, 0);
}
USE(library_unload_null)
{
    return cudaLibraryUnload(0);
}
USE(library_kernel_of_null)
{
    cudaKernel_t kernel;
    return cudaLibraryGetKernel(&kernel, 0, "x");
}
