/* Graphs made node by node. Kernel, copy, fill, host and event nodes have three functions each: to add one,
 * to change it, and to change it where it was instantiated. */
#include "runtime/cuda/copy.h"
#include "runtime/cuda/graph.h"

API_ANY(cudaGraphCreate, (graph, flags), struct graph **graph, unsigned flags)
{
    return graph_create(graph, flags);
}

API(cudaGraphDestroyNode, (node), struct graph_node *node)
{
    return graph_remove(node);
}

API(cudaGraphAddDependencies, (graph, from, to, edges, count), struct graph *graph,
    struct graph_node *const *from, struct graph_node *const *to, const struct cudaGraphEdgeData *edges,
    size_t count)
{
    return graph_connect(graph, &(struct node_list){from, edges, count}, to);
}

API(cudaGraphRemoveDependencies, (graph, from, to, edges, count), struct graph *graph,
    struct graph_node *const *from, struct graph_node *const *to, const struct cudaGraphEdgeData *edges,
    size_t count)
{
    return graph_disconnect(graph, &(struct node_list){from, edges, count}, to);
}

static cudaError_t add(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                       size_t count, struct node_work *work)
{
    work->device = cuda_device();
    return graph_add(node, graph, &(struct node_list){before, NULL, count}, work);
}

API(cudaGraphAddEmptyNode, (node, graph, before, count), struct graph_node **node, struct graph *graph,
    struct graph_node *const *before, size_t count)
{
    return add(node, graph, before, count, &(struct node_work){.kind = NODE_EMPTY});
}

API(cudaGraphAddChildGraphNode, (node, graph, before, count, child), struct graph_node **node,
    struct graph *graph, struct graph_node *const *before, size_t count, struct graph *child)
{
    return add(node, graph, before, count, &(struct node_work){.kind = NODE_CHILD, .child = {child, 0}});
}

API(cudaGraphExecChildGraphNodeSetParams, (exec, node, child), struct graph_exec *exec,
    struct graph_node *node, struct graph *child)
{
    return graph_exec_set_child(exec, node, child);
}

#define NODE_FUNCTIONS(Name, KIND, field, type)                                                              \
    API(cudaGraphAdd##Name##Node, (node, graph, before, count, what), struct graph_node **node,              \
        struct graph *graph, struct graph_node *const *before, size_t count, const struct type *what)        \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return add(node, graph, before, count, &work);                                                       \
    }                                                                                                        \
    API(cudaGraph##Name##NodeSetParams, (node, what), struct graph_node *node, const struct type *what)      \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return node_set(node, &work);                                                                        \
    }                                                                                                        \
    API(cudaGraphExec##Name##NodeSetParams, (exec, node, what), struct graph_exec *exec,                     \
        struct graph_node *node, const struct type *what)                                                    \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return graph_exec_set(exec, node, &work);                                                            \
    }                                                                                                        \
    API(cudaGraph##Name##NodeGetParams, (node, what), struct graph_node *node, struct type *what)            \
    {                                                                                                        \
        if (!node || !what || node_work(node)->kind != KIND)                                                 \
            return cudaErrorInvalidValue;                                                                    \
        *what = node_work(node)->field;                                                                      \
        return cudaSuccess;                                                                                  \
    }

NODE_FUNCTIONS(Kernel, NODE_KERNEL, kernel, cudaKernelNodeParams)
NODE_FUNCTIONS(Memcpy, NODE_COPY, copy, cudaMemcpy3DParms)
NODE_FUNCTIONS(Memset, NODE_FILL, fill, cudaMemsetParams)
NODE_FUNCTIONS(Host, NODE_HOST, host, cudaHostNodeParams)

#define EVENT_FUNCTIONS(Name, KIND)                                                                          \
    API(cudaGraphAddEvent##Name##Node, (node, graph, before, count, event), struct graph_node **node,        \
        struct graph *graph, struct graph_node *const *before, size_t count, cudaEvent_t event)              \
    {                                                                                                        \
        return add(node, graph, before, count, &(struct node_work){.kind = KIND, .event = event});           \
    }                                                                                                        \
    API(cudaGraphEvent##Name##NodeSetEvent, (node, event), struct graph_node *node, cudaEvent_t event)       \
    {                                                                                                        \
        return node_set(node, &(struct node_work){.kind = KIND, .event = event});                            \
    }                                                                                                        \
    API(cudaGraphExecEvent##Name##NodeSetEvent, (exec, node, event), struct graph_exec *exec,                \
        struct graph_node *node, cudaEvent_t event)                                                          \
    {                                                                                                        \
        return graph_exec_set(exec, node, &(struct node_work){.kind = KIND, .event = event});                \
    }                                                                                                        \
    API(cudaGraphEvent##Name##NodeGetEvent, (node, event), struct graph_node *node, cudaEvent_t *event)      \
    {                                                                                                        \
        if (!node || !event || node_work(node)->kind != KIND)                                                \
            return cudaErrorInvalidValue;                                                                    \
        *event = node_work(node)->event;                                                                     \
        return cudaSuccess;                                                                                  \
    }

EVENT_FUNCTIONS(Record, NODE_RECORD)
EVENT_FUNCTIONS(Wait, NODE_WAIT)

/* ---- attributes of kernels' nodes ---- */

API(cudaGraphKernelNodeGetAttribute, (node, id, value), struct graph_node *node, int id, void *value)
{
    return node_get_attribute(node, id, value);
}

API(cudaGraphKernelNodeSetAttribute, (node, id, value), struct graph_node *node, int id, const void *value)
{
    return node_set_attribute(node, id, value);
}

API(cudaGraphKernelNodeCopyAttributes, (to, from), struct graph_node *to, struct graph_node *from)
{
    return node_copy_attributes(to, from);
}

/* ---- nodes of any kind ---- */

API(cudaGraphAddNode, (node, graph, before, edges, count, what), struct graph_node **node,
    struct graph *graph, struct graph_node *const *before, const struct cudaGraphEdgeData *edges,
    size_t count, struct cudaGraphNodeParams *what)
{
    struct node_work work;
    cudaError_t error = node_work_of(&work, what);
    if (!error)
        error = graph_add(node, graph, &(struct node_list){before, edges, count}, &work);
    if (!error)
        node_tell_made(&work, what);
    return error;
}

API(cudaGraphNodeSetParams, (node, what), struct graph_node *node, struct cudaGraphNodeParams *what)
{
    struct node_work work;
    cudaError_t error = node_work_of(&work, what);
    return error ? error : node_change(node, &work);
}

API(cudaGraphExecNodeSetParams, (exec, node, what), struct graph_exec *exec, struct graph_node *node,
    struct cudaGraphNodeParams *what)
{
    struct node_work work;
    cudaError_t error = node_work_of(&work, what);
    return error ? error : graph_exec_change(exec, node, &work);
}

API(cudaGraphConditionalHandleCreate, (handle, graph, initial, flags), uint64_t *handle, struct graph *graph,
    unsigned initial, unsigned flags)
{
    return graph_handle_new(graph, cuda_device(), initial, flags, handle);
}
