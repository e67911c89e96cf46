/* Graphs: work that is described once and submitted many times. What a node does is kept as a recording of
 * the driver's, as if it had been captured; a graph that comes from capturing a stream is one node. */
#ifndef RUNTIME_CUDA_GRAPH_H
#define RUNTIME_CUDA_GRAPH_H

#include "runtime/cuda/api.h"

struct graph;      /* a cudaGraph_t */
struct graph_node; /* a cudaGraphNode_t */
struct graph_exec; /* a cudaGraphExec_t */

enum node_kind { /* CUDA's numbers, but for the last */
                 NODE_KERNEL,
                 NODE_COPY,
                 NODE_FILL,
                 NODE_HOST,
                 NODE_CHILD,
                 NODE_EMPTY,
                 NODE_ALLOC = 10,
                 NODE_FREE,
                 NODE_CAPTURED
};

/* What a node is to do. */
struct node_work {
    enum node_kind kind;
    union {
        struct cudaKernelNodeParams kernel; /* its arguments are the caller's, and read at once */
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        struct cudaMemAllocNodeParams alloc; /* its address is written when the node is made */
        void *freed;
    };
    uint64_t again; /* of NODE_ALLOC: an address that is free by then; or 0 */
};

cudaError_t cuda_capture_begin(cudaStream_t stream);
cudaError_t cuda_capture_end(cudaStream_t stream, struct graph **graph);

struct graph *graph_new(void);
cudaError_t graph_destroy(struct graph *graph);
cudaError_t graph_clone(struct graph **clone, struct graph *graph);

/* The nodes it waits for must be of the same graph. `child` is for NODE_CHILD alone, and copied. */
cudaError_t graph_add(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                      size_t count, struct node_work *work, struct graph *child);
cudaError_t graph_connect(struct graph_node *from, struct graph_node *to);
cudaError_t graph_disconnect(struct graph_node *from, struct graph_node *to);
cudaError_t graph_cut(struct graph_node *from, struct graph_node *to); /* for programs: not of memory */
cudaError_t graph_remove(struct graph_node *node);

/* Nodes one by one, in the order they came in; NULL beyond the last. */
struct graph_node *graph_node_at(const struct graph *graph, size_t index);
struct graph_node *node_dependency(const struct graph_node *node, size_t index);
bool graph_is_captured(const struct graph *graph, size_t *commands);
struct graph *node_child(const struct graph_node *node);
struct graph_node *node_in_clone(const struct graph_node *node, const struct graph *clone);

const struct node_work *node_work(const struct graph_node *node);
cudaError_t node_set(struct graph_node *node, struct node_work *work);

enum { GRAPH_AUTO_FREE = 1 /* CUDA's bit, of flags */ };
cudaError_t graph_instantiate(struct graph_exec **exec, struct graph *graph, unsigned long long flags);
unsigned long long graph_exec_flags(const struct graph_exec *exec);
cudaError_t graph_exec_update(struct graph_exec *exec, struct graph *graph);
cudaError_t graph_exec_set(struct graph_exec *exec, const struct graph_node *node, struct node_work *work);
bool *graph_exec_enabled(struct graph_exec *exec, const struct graph_node *node); /* NULL: not of it */
cudaError_t graph_exec_launch(struct graph_exec *exec, cudaStream_t stream);
cudaError_t graph_exec_destroy(struct graph_exec *exec);

#endif
