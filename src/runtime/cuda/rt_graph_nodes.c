/* Graphs made node by node. Kernel, copy, fill and host nodes have three functions each: to add one, to
 * change it, and to change it where it was instantiated. */
#include "runtime/cuda/copy.h"
#include "runtime/cuda/graph.h"

API(cudaGraphCreate, (graph, flags), struct graph **graph, unsigned flags)
{
    if (!graph || flags)
        return cudaErrorInvalidValue;
    *graph = graph_new();
    return cudaSuccess;
}

API(cudaGraphDestroyNode, (node), struct graph_node *node)
{
    return graph_remove(node);
}

static cudaError_t each_edge(struct graph_node *const *from, struct graph_node *const *to, size_t count,
                             cudaError_t (*change)(struct graph_node *, struct graph_node *))
{
    cudaError_t error = count && (!from || !to) ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t i = 0; !error && i < count; i++)
        error = change(from[i], to[i]);
    return error;
}

API(cudaGraphAddDependencies, (graph, from, to, edges, count), struct graph *graph,
    struct graph_node *const *from, struct graph_node *const *to, const void *edges, size_t count)
{
    (void)edges;
    return graph ? each_edge(from, to, count, graph_connect) : cudaErrorInvalidValue;
}

API(cudaGraphRemoveDependencies, (graph, from, to, edges, count), struct graph *graph,
    struct graph_node *const *from, struct graph_node *const *to, const void *edges, size_t count)
{
    (void)edges;
    return graph ? each_edge(from, to, count, graph_cut) : cudaErrorInvalidValue;
}

API(cudaGraphAddEmptyNode, (node, graph, before, count), struct graph_node **node, struct graph *graph,
    struct graph_node *const *before, size_t count)
{
    return graph_add(node, graph, before, count, &(struct node_work){.kind = NODE_EMPTY}, NULL);
}

API(cudaGraphAddChildGraphNode, (node, graph, before, count, child), struct graph_node **node,
    struct graph *graph, struct graph_node *const *before, size_t count, struct graph *child)
{
    return graph_add(node, graph, before, count, &(struct node_work){.kind = NODE_CHILD}, child);
}

#define NODE_FUNCTIONS(Name, KIND, field, type)                                                              \
    API(cudaGraphAdd##Name##Node, (node, graph, before, count, what), struct graph_node **node,              \
        struct graph *graph, struct graph_node *const *before, size_t count, const struct type *what)        \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return graph_add(node, graph, before, count, &work, NULL);                                           \
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
    }

NODE_FUNCTIONS(Kernel, NODE_KERNEL, kernel, cudaKernelNodeParams)
NODE_FUNCTIONS(Memcpy, NODE_COPY, copy, cudaMemcpy3DParms)
NODE_FUNCTIONS(Memset, NODE_FILL, fill, cudaMemsetParams)
NODE_FUNCTIONS(Host, NODE_HOST, host, cudaHostNodeParams)

#define NODE_QUERY(Name, KIND, field, type)                                                                  \
    API(cudaGraph##Name##NodeGetParams, (node, what), struct graph_node *node, struct type *what)            \
    {                                                                                                        \
        if (!node || !what || node_work(node)->kind != KIND)                                                 \
            return cudaErrorInvalidValue;                                                                    \
        *what = node_work(node)->field;                                                                      \
        return cudaSuccess;                                                                                  \
    }

NODE_QUERY(Memcpy, NODE_COPY, copy, cudaMemcpy3DParms)
NODE_QUERY(Memset, NODE_FILL, fill, cudaMemsetParams)
NODE_QUERY(Host, NODE_HOST, host, cudaHostNodeParams)

/* ---- copies of a run of bytes ---- */

static struct node_work run_work(void *to, const void *from, size_t bytes, int kind)
{
    return (struct node_work){.kind = NODE_COPY, .copy = cuda_run_of_bytes(to, from, bytes, kind)};
}

API(cudaGraphAddMemcpyNode1D, (node, graph, before, count, to, from, bytes, kind), struct graph_node **node,
    struct graph *graph, struct graph_node *const *before, size_t count, void *to, const void *from,
    size_t bytes, int kind)
{
    struct node_work work = run_work(to, from, bytes, kind);
    return graph_add(node, graph, before, count, &work, NULL);
}

API(cudaGraphMemcpyNodeSetParams1D, (node, to, from, bytes, kind), struct graph_node *node, void *to,
    const void *from, size_t bytes, int kind)
{
    struct node_work work = run_work(to, from, bytes, kind);
    return node_set(node, &work);
}

API(cudaGraphExecMemcpyNodeSetParams1D, (exec, node, to, from, bytes, kind), struct graph_exec *exec,
    struct graph_node *node, void *to, const void *from, size_t bytes, int kind)
{
    struct node_work work = run_work(to, from, bytes, kind);
    return graph_exec_set(exec, node, &work);
}

API(cudaGraphAddMemcpyNodeToSymbol, (node, graph, before, count, key, from, bytes, offset, kind),
    struct graph_node **node, struct graph *graph, struct graph_node *const *before, size_t count,
    const void *key, const void *from, size_t bytes, size_t offset, int kind)
{
    uint64_t to;
    cudaError_t error = cuda_in_symbol(key, bytes, offset, &to);
    struct node_work work = run_work((void *)(uintptr_t)(error ? 0 : to), from, bytes, kind);
    return error ? error : graph_add(node, graph, before, count, &work, NULL);
}

API(cudaGraphAddMemcpyNodeFromSymbol, (node, graph, before, count, to, key, bytes, offset, kind),
    struct graph_node **node, struct graph *graph, struct graph_node *const *before, size_t count, void *to,
    const void *key, size_t bytes, size_t offset, int kind)
{
    uint64_t from;
    cudaError_t error = cuda_in_symbol(key, bytes, offset, &from);
    struct node_work work = run_work(to, (void *)(uintptr_t)(error ? 0 : from), bytes, kind);
    return error ? error : graph_add(node, graph, before, count, &work, NULL);
}
