/* Capturing streams, and graphs. */
#ifndef RUNTIME_CUDA_GRAPH_H
#define RUNTIME_CUDA_GRAPH_H

#include "runtime/cuda/api.h"

struct graph;      /* a cudaGraph_t */
struct graph_exec; /* a cudaGraphExec_t */

cudaError_t cuda_capture_begin(cudaStream_t stream);
cudaError_t cuda_capture_end(cudaStream_t stream, struct graph **graph);
cudaError_t cuda_graph_instantiate(struct graph_exec **exec, struct graph *graph);
cudaError_t cuda_graph_launch(struct graph_exec *exec, cudaStream_t stream);
cudaError_t cuda_graph_destroy(struct graph *graph);
cudaError_t cuda_graph_exec_destroy(struct graph_exec *exec);

#endif
