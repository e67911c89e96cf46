/* Nodes of graphs that allocate and free memory, the same in both APIs. */
#ifndef RUNTIME_CUDA_GRAPH_MEMORY_H
#define RUNTIME_CUDA_GRAPH_MEMORY_H

#include "runtime/cuda/graph.h"

cudaError_t graph_add_alloc(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                            size_t count, struct cudaMemAllocNodeParams *what);
cudaError_t graph_add_free(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                           size_t count, void *address);
cudaError_t graph_alloc_of(const struct graph_node *node, struct cudaMemAllocNodeParams *what);
cudaError_t graph_free_of(const struct graph_node *node, void **address);

cudaError_t cuda_graph_memory_attribute(int device, int attribute, uint64_t *value);
cudaError_t cuda_graph_memory_set_attribute(int device, int attribute, const uint64_t *value);
cudaError_t cuda_graph_memory_trim(int device);

#endif
