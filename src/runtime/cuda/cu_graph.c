/* Graphs with the driver API: as wholes, and questions. Nodes are in cu_graph_nodes.c. */
#include "runtime/cuda/graph_look.h"
#include "runtime/cuda/graph_memory.h"

CU(cuGraphCreate, (graph, flags), struct graph **graph, unsigned flags)
{
    return graph_create(graph, flags);
}

CU(cuGraphDestroy, (graph), struct graph *graph)
{
    return graph_destroy(graph);
}

CU(cuGraphClone, (clone, graph), struct graph **clone, struct graph *graph)
{
    return graph_clone(clone, graph);
}

CU(cuGraphInstantiateWithFlags, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
   unsigned long long flags)
{
    struct graph_trouble trouble;
    return graph_instantiate(exec, graph, flags, &trouble);
}

CU(cuGraphInstantiateWithParams, (exec, graph, parameters), struct graph_exec **exec, struct graph *graph,
   struct cudaGraphInstantiateParams *parameters)
{
    return cuda_graph_instantiate_with(exec, graph, parameters);
}

CU(cuGraphInstantiateWithParams_ptsz, (exec, graph, parameters), struct graph_exec **exec,
   struct graph *graph, struct cudaGraphInstantiateParams *parameters)
{
    return cuda_graph_instantiate_with(exec, graph, parameters);
}

CU(cuGraphExecUpdate_v2, (exec, graph, info), struct graph_exec *exec, struct graph *graph,
   struct cudaGraphExecUpdateResultInfo *info)
{
    return cuda_graph_update(exec, graph, info);
}

CU(cuGraphExecUpdate, (exec, graph, node, result), struct graph_exec *exec, struct graph *graph,
   struct graph_node **node, int *result)
{
    struct cudaGraphExecUpdateResultInfo info;
    CUresult error = cuda_graph_update(exec, graph, &info);
    if (node)
        *node = info.errorNode;
    if (result)
        *result = info.result;
    return error;
}

CU_PTSZ(cuGraphUpload, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    (void)stream;
    return graph_exec_is_known(exec) ? cudaSuccess : cudaErrorInvalidValue;
}

CU_PTSZ(cuGraphLaunch, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    return graph_exec_launch(exec, stream);
}

CU(cuGraphExecDestroy, (exec), struct graph_exec *exec)
{
    return graph_exec_destroy(exec);
}

CU(cuGraphExecGetFlags, (exec, flags), struct graph_exec *exec, uint64_t *flags)
{
    if (!graph_exec_is_known(exec) || !flags)
        return cudaErrorInvalidValue;
    *flags = graph_exec_flags(exec);
    return cudaSuccess;
}

CU(cuGraphNodeSetEnabled, (exec, node, enabled), struct graph_exec *exec, struct graph_node *node,
   unsigned enabled)
{
    return graph_exec_enable(exec, node, enabled != 0);
}

CU(cuGraphNodeGetEnabled, (exec, node, enabled), struct graph_exec *exec, struct graph_node *node,
   unsigned *enabled)
{
    return graph_exec_is_enabled(exec, node, enabled);
}

/* ---- questions ---- */

CU(cuGraphGetNodes, (graph, nodes, count), struct graph *graph, struct graph_node **nodes, size_t *count)
{
    return graph_list_nodes(graph, false, nodes, count);
}

CU(cuGraphGetRootNodes, (graph, nodes, count), struct graph *graph, struct graph_node **nodes, size_t *count)
{
    return graph_list_nodes(graph, true, nodes, count);
}

CU(cuGraphGetEdges, (graph, from, to, count), struct graph *graph, struct graph_node **from,
   struct graph_node **to, size_t *count)
{
    return graph_list_edges(graph, from, to, NULL, count);
}

CU(cuGraphGetEdges_v2, (graph, from, to, edges, count), struct graph *graph, struct graph_node **from,
   struct graph_node **to, struct cudaGraphEdgeData *edges, size_t *count)
{
    return graph_list_edges(graph, from, to, edges, count);
}

#define NEIGHBOURS(name, behind)                                                                             \
    CU(name, (node, nodes, count), struct graph_node *node, struct graph_node **nodes, size_t *count)        \
    {                                                                                                        \
        return node_list_edges(node, behind, nodes, NULL, count);                                            \
    }                                                                                                        \
    CU(name##_v2, (node, nodes, edges, count), struct graph_node *node, struct graph_node **nodes,           \
       struct cudaGraphEdgeData *edges, size_t *count)                                                       \
    {                                                                                                        \
        return node_list_edges(node, behind, nodes, edges, count);                                           \
    }

NEIGHBOURS(cuGraphNodeGetDependencies, false)
NEIGHBOURS(cuGraphNodeGetDependentNodes, true)

CU(cuGraphNodeGetType, (node, type), struct graph_node *node, int *type)
{
    if (!node || !type)
        return cudaErrorInvalidValue;
    *type = node_work(node)->kind;
    return cudaSuccess;
}

CU(cuGraphNodeFindInClone, (found, node, clone), struct graph_node **found, struct graph_node *node,
   struct graph *clone)
{
    if (!found || !node || !graph_is_known(clone))
        return cudaErrorInvalidValue;
    *found = node_in_clone(node, clone);
    return *found ? cudaSuccess : cudaErrorInvalidValue;
}

CU(cuGraphChildGraphNodeGetGraph, (node, graph), struct graph_node *node, struct graph **graph)
{
    if (!node || !graph || !node_child(node))
        return cudaErrorInvalidValue;
    *graph = node_child(node);
    return cudaSuccess;
}

CU(cuGraphDebugDotPrint, (graph, path, flags), struct graph *graph, const char *path, unsigned flags)
{
    return graph_print_dot(graph, path, flags);
}

/* ---- capture ---- */

CU_PTSZ(cuStreamBeginCapture_v2, (stream, mode), cudaStream_t stream, int mode)
{
    return graph_capture_begin(stream, mode, NULL, NULL);
}

CU_PTSZ(cuStreamBeginCaptureToGraph, (stream, graph, nodes, edges, count, mode), cudaStream_t stream,
        struct graph *graph, struct graph_node *const *nodes, const struct cudaGraphEdgeData *edges,
        size_t count, int mode)
{
    return graph_is_known(graph)
               ? graph_capture_begin(stream, mode, graph, &(struct node_list){nodes, edges, count})
               : cudaErrorInvalidValue;
}

CU_PTSZ(cuStreamEndCapture, (stream, graph), cudaStream_t stream, struct graph **graph)
{
    return graph_capture_end(stream, graph);
}

CU_PTSZ(cuStreamIsCapturing, (stream, status), cudaStream_t stream, int *status)
{
    return graph_capture_facts(stream, status, NULL, NULL, NULL, NULL, NULL);
}

CU_PTSZ(cuStreamGetCaptureInfo_v2, (stream, status, id, graph, nodes, count), cudaStream_t stream,
        int *status, unsigned long long *id, struct graph **graph, struct graph_node *const **nodes,
        size_t *count)
{
    return graph_capture_facts(stream, status, id, graph, nodes, NULL, count);
}

CU_PTSZ(cuStreamGetCaptureInfo_v3, (stream, status, id, graph, nodes, edges, count), cudaStream_t stream,
        int *status, unsigned long long *id, struct graph **graph, struct graph_node *const **nodes,
        const struct cudaGraphEdgeData **edges, size_t *count)
{
    return graph_capture_facts(stream, status, id, graph, nodes, edges, count);
}

CU_PTSZ(cuStreamUpdateCaptureDependencies, (stream, nodes, count, flags), cudaStream_t stream,
        struct graph_node *const *nodes, size_t count, unsigned flags)
{
    return graph_capture_set(stream, &(struct node_list){nodes, NULL, count}, flags);
}

CU_PTSZ(cuStreamUpdateCaptureDependencies_v2, (stream, nodes, edges, count, flags), cudaStream_t stream,
        struct graph_node *const *nodes, const struct cudaGraphEdgeData *edges, size_t count, unsigned flags)
{
    return graph_capture_set(stream, &(struct node_list){nodes, edges, count}, flags);
}

CU_ANY(cuThreadExchangeStreamCaptureMode, (mode), int *mode)
{
    return cuda_exchange_capture_mode(mode);
}

/* ---- as they were before ---- */

CU(cuGraphInstantiate_v2, (exec, graph, node, log, bytes), struct graph_exec **exec, struct graph *graph,
   struct graph_node **node, char *log, size_t bytes)
{
    struct graph_trouble trouble;
    CUresult error = graph_instantiate(exec, graph, 0, &trouble);
    if (node)
        *node = trouble.node;
    if (log && bytes)
        *log = '\0';
    return error;
}
CU_ALIAS(cuGraphInstantiate, cuGraphInstantiate_v2);

CU_PTSZ(cuStreamBeginCapture, (stream), cudaStream_t stream)
{
    return graph_capture_begin(stream, CAPTURE_GLOBAL, NULL, NULL);
}

CU_PTSZ(cuStreamGetCaptureInfo, (stream, status, id), cudaStream_t stream, int *status,
        unsigned long long *id)
{
    return graph_capture_facts(stream, status, id, NULL, NULL, NULL, NULL);
}
