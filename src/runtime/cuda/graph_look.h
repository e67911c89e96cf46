/* Questions about graphs, the same in both APIs. */
#ifndef RUNTIME_CUDA_GRAPH_LOOK_H
#define RUNTIME_CUDA_GRAPH_LOOK_H

#include "runtime/cuda/graph.h"

cudaError_t cuda_exchange_capture_mode(int *mode);
cudaError_t cuda_graph_instantiate_with(struct graph_exec **exec, struct graph *graph,
                                        struct cudaGraphInstantiateParams *parameters);
cudaError_t cuda_graph_update(struct graph_exec *exec, struct graph *graph,
                              struct cudaGraphExecUpdateResultInfo *info);

/* Lists are asked for twice: without a place, how many there are; then up to that many. */
cudaError_t graph_list_nodes(struct graph *graph, bool roots, struct graph_node **nodes, size_t *count);
cudaError_t graph_list_edges(struct graph *graph, struct graph_node **from, struct graph_node **to,
                             struct cudaGraphEdgeData *edges, size_t *count);
cudaError_t node_list_edges(struct graph_node *node, bool behind, struct graph_node **nodes,
                            struct cudaGraphEdgeData *edges, size_t *count);
cudaError_t graph_print_dot(struct graph *graph, const char *path, unsigned flags);

#endif
