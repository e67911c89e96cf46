/* Graphs with the driver API: what there is of them. */
#include "runtime/cuda/graph_memory.h"

CU(cuGraphCreate, (graph, flags), struct graph **graph, unsigned flags)
{
    if (!graph || flags)
        return cudaErrorInvalidValue;
    *graph = graph_new();
    return cudaSuccess;
}

CU(cuGraphAddEmptyNode, (node, graph, before, count), struct graph_node **node, struct graph *graph,
   struct graph_node *const *before, size_t count)
{
    return graph_add(node, graph, before, count, &(struct node_work){.kind = NODE_EMPTY}, NULL);
}

/* CUDA_MEM_ALLOC_NODE_PARAMS has the layout of the runtime's. */
CU(cuGraphAddMemAllocNode, (node, graph, before, count, what), struct graph_node **node, struct graph *graph,
   struct graph_node *const *before, size_t count, struct cudaMemAllocNodeParams *what)
{
    return graph_add_alloc(node, graph, before, count, what);
}

CU(cuGraphAddMemFreeNode, (node, graph, before, count, address), struct graph_node **node,
   struct graph *graph, struct graph_node *const *before, size_t count, CUdeviceptr address)
{
    return graph_add_free(node, graph, before, count, (void *)(uintptr_t)address);
}

CU(cuGraphMemAllocNodeGetParams, (node, what), struct graph_node *node, struct cudaMemAllocNodeParams *what)
{
    return graph_alloc_of(node, what);
}

CU(cuGraphMemFreeNodeGetParams, (node, address), struct graph_node *node, CUdeviceptr *address)
{
    void *pointer = NULL;
    cudaError_t error = address ? graph_free_of(node, &pointer) : cudaErrorInvalidValue;
    if (!error)
        *address = (CUdeviceptr)(uintptr_t)pointer;
    return error;
}

CU_ANY(cuDeviceGetGraphMemAttribute, (device, attribute, value), int device, int attribute, uint64_t *value)
{
    return cuda_graph_memory_attribute(device, attribute, value);
}

CU_ANY(cuDeviceSetGraphMemAttribute, (device, attribute, value), int device, int attribute, uint64_t *value)
{
    return cuda_graph_memory_set_attribute(device, attribute, value);
}

CU_ANY(cuDeviceGraphMemTrim, (device), int device)
{
    return cuda_graph_memory_trim(device);
}
