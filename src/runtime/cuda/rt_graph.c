/* Graphs: capturing them, launching them, looking at them. Making them node by node is in rt_graph_nodes.c.
 */
#include "runtime/cuda/graph.h"

API_PTSZ(cudaStreamBeginCapture, (stream, mode), cudaStream_t stream, int mode)
{
    (void)mode;
    return cuda_capture_begin(stream);
}

API_PTSZ(cudaStreamEndCapture, (stream, graph), cudaStream_t stream, struct graph **graph)
{
    return cuda_capture_end(stream, graph);
}

API_PTSZ(cudaStreamIsCapturing, (stream, status), cudaStream_t stream, int *status)
{
    *status = stream_is_recording(cuda_stream(stream));
    return cudaSuccess;
}

API_PTSZ(cudaStreamGetCaptureInfo, (stream, status, id, graph, nodes, edges, count), cudaStream_t stream,
         int *status, unsigned long long *id, struct graph **graph, const void **nodes, const void **edges,
         size_t *count)
{
    *status = stream_is_recording(cuda_stream(stream));
    if (id)
        *id = *status ? stream_id(cuda_stream(stream)) : 0;
    if (graph)
        *graph = NULL;
    if (nodes)
        *nodes = NULL;
    if (edges)
        *edges = NULL;
    if (count)
        *count = 0;
    return cudaSuccess;
}

/* Which calls of other threads a capture forbids: none are forbidden here. */
API_ANY(cudaThreadExchangeStreamCaptureMode, (mode), int *mode)
{
    static __thread int current;
    int before = current;
    if (!mode)
        return cudaErrorInvalidValue;
    current = *mode;
    *mode = before;
    return cudaSuccess;
}

/* ---- launching ---- */

API(cudaGraphInstantiate, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
    unsigned long long flags)
{
    return graph_instantiate(exec, graph, flags);
}

API(cudaGraphInstantiateWithFlags, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
    unsigned long long flags)
{
    return graph_instantiate(exec, graph, flags);
}

static cudaError_t instantiate_with(struct graph_exec **exec, struct graph *graph,
                                    struct cudaGraphInstantiateParams *parameters)
{
    if (!parameters)
        return cudaErrorInvalidValue;
    parameters->errNode_out = NULL;
    parameters->result_out = 0;
    return graph_instantiate(exec, graph, parameters->flags);
}

API(cudaGraphInstantiateWithParams, (exec, graph, parameters), struct graph_exec **exec, struct graph *graph,
    struct cudaGraphInstantiateParams *parameters)
{
    return instantiate_with(exec, graph, parameters);
}

API(cudaGraphInstantiateWithParams_ptsz, (exec, graph, parameters), struct graph_exec **exec,
    struct graph *graph, struct cudaGraphInstantiateParams *parameters)
{
    return instantiate_with(exec, graph, parameters);
}

API(cudaGraphExecUpdate, (exec, graph, info), struct graph_exec *exec, struct graph *graph,
    struct cudaGraphExecUpdateResultInfo *info)
{
    cudaError_t error = graph_exec_update(exec, graph);
    if (info)
        *info = (struct cudaGraphExecUpdateResultInfo){.result = error != 0};
    return error;
}

API_PTSZ(cudaGraphUpload, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    (void)stream;
    return exec ? cudaSuccess : cudaErrorInvalidValue;
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
    if (!exec || !flags)
        return cudaErrorInvalidValue;
    *flags = graph_exec_flags(exec);
    return cudaSuccess;
}

API(cudaGraphNodeSetEnabled, (exec, node, enabled), struct graph_exec *exec, struct graph_node *node,
    unsigned enabled)
{
    bool *place = graph_exec_enabled(exec, node);
    if (place)
        *place = enabled != 0;
    return place ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaGraphNodeGetEnabled, (exec, node, enabled), struct graph_exec *exec, struct graph_node *node,
    unsigned *enabled)
{
    bool *place = graph_exec_enabled(exec, node);
    if (place && enabled)
        *enabled = *place;
    return place && enabled ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- looking ---- */

/* Lists are asked for twice: without a place, how many there are; then up to that many. */
struct list {
    struct graph_node **at;
    size_t room, count;
};

static void list_add(struct list *list, struct graph_node *node)
{
    if (list->at && list->count < list->room)
        list->at[list->count] = node;
    list->count++;
}

static cudaError_t list_end(struct list *list, size_t *count)
{
    for (size_t i = list->count; list->at && i < list->room; i++)
        list->at[i] = NULL;
    *count = list->count;
    return cudaSuccess;
}

/* How many nodes a captured graph has can be told, but not which. */
API(cudaGraphGetNodes, (graph, nodes, count), struct graph *graph, struct graph_node **nodes, size_t *count)
{
    if (!graph || !count)
        return cudaErrorInvalidValue;
    if (graph_is_captured(graph, count))
        return nodes ? cudaErrorNotSupported : cudaSuccess;
    struct list list = {nodes, nodes ? *count : 0, 0};
    for (size_t i = 0; graph_node_at(graph, i); i++)
        list_add(&list, graph_node_at(graph, i));
    return list_end(&list, count);
}

API(cudaGraphGetRootNodes, (graph, nodes, count), struct graph *graph, struct graph_node **nodes,
    size_t *count)
{
    size_t captured;
    if (!graph || !count)
        return cudaErrorInvalidValue;
    if (graph_is_captured(graph, &captured))
        return cudaErrorNotSupported;
    struct list list = {nodes, nodes ? *count : 0, 0};
    for (size_t i = 0; graph_node_at(graph, i); i++) {
        if (!node_dependency(graph_node_at(graph, i), 0))
            list_add(&list, graph_node_at(graph, i));
    }
    return list_end(&list, count);
}

API(cudaGraphNodeGetDependencies, (node, nodes, edges, count), struct graph_node *node,
    struct graph_node **nodes, void *edges, size_t *count)
{
    (void)edges;
    if (!node || !count)
        return cudaErrorInvalidValue;
    struct list list = {nodes, nodes ? *count : 0, 0};
    for (size_t i = 0; node_dependency(node, i); i++)
        list_add(&list, node_dependency(node, i));
    return list_end(&list, count);
}

API(cudaGraphNodeGetType, (node, type), struct graph_node *node, int *type)
{
    if (!node || !type)
        return cudaErrorInvalidValue;
    *type = node_work(node)->kind;
    return cudaSuccess;
}

API(cudaGraphNodeFindInClone, (found, node, clone), struct graph_node **found, struct graph_node *node,
    struct graph *clone)
{
    if (!found || !node || !clone)
        return cudaErrorInvalidValue;
    *found = node_in_clone(node, clone);
    return *found ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaGraphChildGraphNodeGetGraph, (node, graph), struct graph_node *node, struct graph **graph)
{
    if (!node || !graph || !node_child(node))
        return cudaErrorInvalidValue;
    *graph = node_child(node);
    return cudaSuccess;
}
