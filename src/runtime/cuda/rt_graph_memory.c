#include "runtime/cuda/graph_memory.h"
#include "driver/memory_graph.h"

cudaError_t graph_add_alloc(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                            size_t count, struct cudaMemAllocNodeParams *what)
{
    struct node_work work = {.kind = NODE_ALLOC, .device = cuda_device()};
    if (!what || (what->accessDescCount && !what->accessDescs))
        return cudaErrorInvalidValue;
    work.alloc = *what;
    cudaError_t error = graph_add(node, graph, &(struct node_list){before, NULL, count}, &work);
    if (!error)
        what->dptr = work.alloc.dptr;
    return error;
}

cudaError_t graph_add_free(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                           size_t count, void *address)
{
    struct node_work work = {.kind = NODE_FREE, .device = cuda_device(), .freed = address};
    return graph_add(node, graph, &(struct node_list){before, NULL, count}, &work);
}

cudaError_t graph_alloc_of(const struct graph_node *node, struct cudaMemAllocNodeParams *what)
{
    if (!node || !what || node_work(node)->kind != NODE_ALLOC)
        return cudaErrorInvalidValue;
    *what = node_work(node)->alloc;
    return cudaSuccess;
}

cudaError_t graph_free_of(const struct graph_node *node, void **address)
{
    if (!node || !address || node_work(node)->kind != NODE_FREE)
        return cudaErrorInvalidValue;
    *address = node_work(node)->freed;
    return cudaSuccess;
}

API(cudaGraphAddMemAllocNode, (node, graph, before, count, what), struct graph_node **node,
    struct graph *graph, struct graph_node *const *before, size_t count, struct cudaMemAllocNodeParams *what)
{
    return graph_add_alloc(node, graph, before, count, what);
}

API(cudaGraphAddMemFreeNode, (node, graph, before, count, address), struct graph_node **node,
    struct graph *graph, struct graph_node *const *before, size_t count, void *address)
{
    return graph_add_free(node, graph, before, count, address);
}

API(cudaGraphMemAllocNodeGetParams, (node, what), struct graph_node *node,
    struct cudaMemAllocNodeParams *what)
{
    return graph_alloc_of(node, what);
}

API(cudaGraphMemFreeNodeGetParams, (node, address), struct graph_node *node, void **address)
{
    return graph_free_of(node, address);
}

/* ---- what graphs use of a GPU's memory: what is reserved is used ---- */

enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH, ATTRIBUTES }; /* CUDA's numbers */

cudaError_t cuda_graph_memory_attribute(int device, int attribute, uint64_t *value)
{
    struct memory_graph_facts facts;
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    if (!value || attribute < USED || attribute >= ATTRIBUTES)
        return cudaErrorInvalidValue;
    memory_graph_facts(cuda_device_at(device), &facts);
    const uint64_t values[ATTRIBUTES] = {facts.used, facts.used_high, facts.used, facts.reserved_high};
    *value = values[attribute];
    return cudaSuccess;
}

/* The high ones can be set, to 0 alone: they begin anew. */
cudaError_t cuda_graph_memory_set_attribute(int device, int attribute, const uint64_t *value)
{
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    if (!value || *value || (attribute != USED_HIGH && attribute != RESERVED_HIGH))
        return cudaErrorInvalidValue;
    memory_graph_reset_high(cuda_device_at(device), attribute == RESERVED_HIGH);
    return cudaSuccess;
}

cudaError_t cuda_graph_memory_trim(int device)
{
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    memory_graph_trim(cuda_device_at(device));
    return cudaSuccess;
}

API(cudaDeviceGetGraphMemAttribute, (device, attribute, value), int device, int attribute, uint64_t *value)
{
    return cuda_graph_memory_attribute(device, attribute, value);
}

API(cudaDeviceSetGraphMemAttribute, (device, attribute, value), int device, int attribute, uint64_t *value)
{
    return cuda_graph_memory_set_attribute(device, attribute, value);
}

API(cudaDeviceGraphMemTrim, (device), int device)
{
    return cuda_graph_memory_trim(device);
}
