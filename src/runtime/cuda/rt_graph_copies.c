/* Copies of a run of bytes as nodes of graphs, from and to variables, too. */
#include "runtime/cuda/copy.h"
#include "runtime/cuda/graph.h"

/* A variable is one side of it, or none. */
struct run {
    void *to;
    const void *from;
    const void *to_symbol, *from_symbol;
    size_t bytes, offset;
    int kind;
};

static cudaError_t work_of(const struct run *run, struct node_work *work)
{
    uint64_t address = 0;
    const void *symbol = run->to_symbol ? run->to_symbol : run->from_symbol;
    cudaError_t error = symbol ? cuda_in_symbol(symbol, run->bytes, run->offset, &address) : cudaSuccess;
    void *there = (void *)(uintptr_t)address;
    *work = (struct node_work){.kind = NODE_COPY,
                               .device = cuda_device(),
                               .copy = cuda_run_of_bytes(run->to_symbol ? there : run->to,
                                                         run->from_symbol ? there : run->from, run->bytes,
                                                         run->kind)};
    return error;
}

static cudaError_t add(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                       size_t count, const struct run *run)
{
    struct node_work work;
    cudaError_t error = work_of(run, &work);
    return error ? error : graph_add(node, graph, &(struct node_list){before, NULL, count}, &work);
}

static cudaError_t set(struct graph_node *node, const struct run *run)
{
    struct node_work work;
    cudaError_t error = work_of(run, &work);
    return error ? error : node_set(node, &work);
}

static cudaError_t set_exec(struct graph_exec *exec, struct graph_node *node, const struct run *run)
{
    struct node_work work;
    cudaError_t error = work_of(run, &work);
    return error ? error : graph_exec_set(exec, node, &work);
}

/* A name, what the functions take to copy, and the run that this is; then one to add, to set, to set where it
 * was instantiated. */
#define RUN_FUNCTIONS(Behind, RUN, arguments, ...)                                                           \
    API(cudaGraphAddMemcpyNode##Behind, (node, graph, before, count, UNPACK arguments),                      \
        struct graph_node **node, struct graph *graph, struct graph_node *const *before, size_t count,       \
        __VA_ARGS__)                                                                                         \
    {                                                                                                        \
        return add(node, graph, before, count, &(struct run)RUN);                                            \
    }                                                                                                        \
    API(cudaGraphMemcpyNodeSetParams##Behind, (node, UNPACK arguments), struct graph_node *node,             \
        __VA_ARGS__)                                                                                         \
    {                                                                                                        \
        return set(node, &(struct run)RUN);                                                                  \
    }                                                                                                        \
    API(cudaGraphExecMemcpyNodeSetParams##Behind, (exec, node, UNPACK arguments), struct graph_exec *exec,   \
        struct graph_node *node, __VA_ARGS__)                                                                \
    {                                                                                                        \
        return set_exec(exec, node, &(struct run)RUN);                                                       \
    }

#define PLAIN_RUN                                                                                            \
    {                                                                                                        \
        .to = to, .from = from, .bytes = bytes, .kind = kind                                                 \
    }
#define TO_SYMBOL                                                                                            \
    {                                                                                                        \
        .to_symbol = key, .from = from, .bytes = bytes, .offset = offset, .kind = kind                       \
    }
#define FROM_SYMBOL                                                                                          \
    {                                                                                                        \
        .to = to, .from_symbol = key, .bytes = bytes, .offset = offset, .kind = kind                         \
    }

RUN_FUNCTIONS(1D, PLAIN_RUN, (to, from, bytes, kind), void *to, const void *from, size_t bytes, int kind)
RUN_FUNCTIONS(ToSymbol, TO_SYMBOL, (key, from, bytes, offset, kind), const void *key, const void *from,
              size_t bytes, size_t offset, int kind)
RUN_FUNCTIONS(FromSymbol, FROM_SYMBOL, (to, key, bytes, offset, kind), void *to, const void *key,
              size_t bytes, size_t offset, int kind)
