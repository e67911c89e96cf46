/* Graphs: capturing them, launching them. Looking at them is in rt_graph_look.c, making them node by node in
 * rt_graph_nodes.c. */
#include "runtime/cuda/graph_look.h"

API_PTSZ(cudaStreamBeginCapture, (stream, mode), cudaStream_t stream, int mode)
{
    return graph_capture_begin(stream, mode, NULL, NULL);
}

API_PTSZ(cudaStreamBeginCaptureToGraph, (stream, graph, nodes, edges, count, mode), cudaStream_t stream,
         struct graph *graph, struct graph_node *const *nodes, const struct cudaGraphEdgeData *edges,
         size_t count, int mode)
{
    return graph_is_known(graph)
               ? graph_capture_begin(stream, mode, graph, &(struct node_list){nodes, edges, count})
               : cudaErrorInvalidValue;
}

API_PTSZ(cudaStreamEndCapture, (stream, graph), cudaStream_t stream, struct graph **graph)
{
    return graph_capture_end(stream, graph);
}

API_PTSZ(cudaStreamIsCapturing, (stream, status), cudaStream_t stream, int *status)
{
    return graph_capture_facts(stream, status, NULL, NULL, NULL, NULL, NULL);
}

API_PTSZ(cudaStreamGetCaptureInfo, (stream, status, id, graph, nodes, edges, count), cudaStream_t stream,
         int *status, unsigned long long *id, struct graph **graph, struct graph_node *const **nodes,
         const struct cudaGraphEdgeData **edges, size_t *count)
{
    return graph_capture_facts(stream, status, id, graph, nodes, edges, count);
}

API_PTSZ(cudaStreamUpdateCaptureDependencies, (stream, nodes, edges, count, flags), cudaStream_t stream,
         struct graph_node *const *nodes, const struct cudaGraphEdgeData *edges, size_t count, unsigned flags)
{
    return graph_capture_set(stream, &(struct node_list){nodes, edges, count}, flags);
}

cudaError_t cuda_exchange_capture_mode(int *mode)
{
    if (!mode)
        return cudaErrorInvalidValue;
    *mode = (int)capture_exchange_mode((enum capture_mode) * mode);
    return cudaSuccess;
}

API_ANY(cudaThreadExchangeStreamCaptureMode, (mode), int *mode)
{
    return cuda_exchange_capture_mode(mode);
}

/* ---- launching ---- */

static cudaError_t instantiate(struct graph_exec **exec, struct graph *graph, unsigned long long flags)
{
    struct graph_trouble trouble;
    return graph_instantiate(exec, graph, flags, &trouble);
}

API(cudaGraphInstantiate, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
    unsigned long long flags)
{
    return instantiate(exec, graph, flags);
}

API(cudaGraphInstantiateWithFlags, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
    unsigned long long flags)
{
    return instantiate(exec, graph, flags);
}

cudaError_t cuda_graph_instantiate_with(struct graph_exec **exec, struct graph *graph,
                                        struct cudaGraphInstantiateParams *parameters)
{
    struct graph_trouble trouble;
    if (!parameters)
        return cudaErrorInvalidValue;
    cudaError_t error = graph_instantiate(exec, graph, parameters->flags, &trouble);
    parameters->errNode_out = trouble.node;
    parameters->result_out = trouble.result;
    return error;
}

API(cudaGraphInstantiateWithParams, (exec, graph, parameters), struct graph_exec **exec, struct graph *graph,
    struct cudaGraphInstantiateParams *parameters)
{
    return cuda_graph_instantiate_with(exec, graph, parameters);
}

API(cudaGraphInstantiateWithParams_ptsz, (exec, graph, parameters), struct graph_exec **exec,
    struct graph *graph, struct cudaGraphInstantiateParams *parameters)
{
    return cuda_graph_instantiate_with(exec, graph, parameters);
}

cudaError_t cuda_graph_update(struct graph_exec *exec, struct graph *graph,
                              struct cudaGraphExecUpdateResultInfo *info)
{
    struct graph_trouble trouble;
    cudaError_t error = graph_exec_update(exec, graph, &trouble);
    if (info)
        *info = (struct cudaGraphExecUpdateResultInfo){trouble.result, trouble.node, trouble.from};
    return error;
}

API(cudaGraphExecUpdate, (exec, graph, info), struct graph_exec *exec, struct graph *graph,
    struct cudaGraphExecUpdateResultInfo *info)
{
    return cuda_graph_update(exec, graph, info);
}

API_PTSZ(cudaGraphUpload, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    (void)stream;
    return graph_exec_is_known(exec) ? cudaSuccess : cudaErrorInvalidValue;
}

API_PTSZ(cudaGraphLaunch, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    return graph_exec_launch(exec, stream);
}

API(cudaGraphExecDestroy, (exec), struct graph_exec *exec)
{
    return graph_exec_destroy(exec);
}

API(cudaGraphDestroy, (graph), struct graph *graph)
{
    return graph_destroy(graph);
}

API(cudaGraphClone, (clone, graph), struct graph **clone, struct graph *graph)
{
    return graph_clone(clone, graph);
}

API(cudaGraphExecGetFlags, (exec, flags), struct graph_exec *exec, unsigned long long *flags)
{
    if (!graph_exec_is_known(exec) || !flags)
        return cudaErrorInvalidValue;
    *flags = graph_exec_flags(exec);
    return cudaSuccess;
}

API(cudaGraphNodeSetEnabled, (exec, node, enabled), struct graph_exec *exec, struct graph_node *node,
    unsigned enabled)
{
    return graph_exec_enable(exec, node, enabled != 0);
}

API(cudaGraphNodeGetEnabled, (exec, node, enabled), struct graph_exec *exec, struct graph_node *node,
    unsigned *enabled)
{
    return graph_exec_is_enabled(exec, node, enabled);
}
