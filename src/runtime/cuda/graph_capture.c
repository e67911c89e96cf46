/* Stream capture into graphs. */
#include "runtime/cuda/graph_parts.h"
#include "base/mem.h"

static uint64_t pack_edge(const struct cudaGraphEdgeData *data)
{
    uint64_t edge = 0;
    if (data)
        memcpy(&edge, data, sizeof *data);
    return edge;
}

/* The caller frees both lists. */
static struct node_list unpack(const struct captured_list *from)
{
    struct graph_node **nodes = mem_alloc(from->count, sizeof(struct graph_node *));
    struct cudaGraphEdgeData *edges = mem_alloc(from->count, sizeof *edges);
    for (size_t i = 0; i < from->count; i++) {
        nodes[i] = from->at[i].node;
        memcpy(&edges[i], &from->at[i].edge, sizeof edges[i]);
    }
    return (struct node_list){nodes, edges, from->count};
}

static void free_list(const struct node_list *list)
{
    mem_free((void *)(uintptr_t)list->at);
    mem_free((void *)(uintptr_t)list->edges);
}

/* A kernel that may begin early has programmatic edges from kernels before it. */
static void set_edges(struct node_list *list, const struct node_work *work, const struct action *action)
{
    struct action_launch facts;
    if (!action || work->kind != NODE_KERNEL)
        return;
    action_launch(action, &facts);
    for (size_t i = 0; facts.config->programmatic && i < list->count; i++) {
        if (list->at[i]->work.kind == NODE_KERNEL)
            ((struct cudaGraphEdgeData *)(uintptr_t)list->edges)[i] =
                (struct cudaGraphEdgeData){.from_port = PORT_PROGRAMMATIC, .type = EDGE_PROGRAMMATIC};
    }
}

static void *add(void *user, struct command *command, struct stream_event *event, struct device *device,
                 const struct captured_list *after)
{
    struct graph *graph = user;
    struct node_work work = {.kind = NODE_WAIT, .device = device};
    struct action **actions = mem_alloc(1, sizeof(struct action *));
    work.event = event;
    if (command) {
        actions[0] = action_new(command);
        node_read_action(&work, actions[0]);
    }
    struct node_list before = unpack(after);
    set_edges(&before, &work, actions[0]);
    struct graph_node *node = graph_add_made(graph, &before, &work, actions, command ? 1 : 0);
    free_list(&before);
    return node;
}

static bool covers(void *user, const struct captured_list *ends, const struct captured_list *before)
{
    struct node_list list = unpack(ends);
    bool all = true;
    for (size_t i = 0; i < before->count && all; i++)
        all = graph_covers(user, list.at, list.count, before->at[i].node);
    free_list(&list);
    return all;
}

static cudaError_t check_list(const struct graph *graph, const struct node_list *nodes)
{
    if (nodes->count && !nodes->at)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < nodes->count; i++) {
        if (!nodes->at[i] || nodes->at[i]->graph != graph)
            return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static void pack(struct captured_list *to, const struct node_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        mem_grow(to->at, to->count, to->capacity);
        to->at[to->count++] =
            (struct captured){nodes->at[i], pack_edge(nodes->edges ? &nodes->edges[i] : NULL)};
    }
}

static bool is_legacy(cudaStream_t stream)
{
    return !stream || stream == STREAM_LEGACY; /* blocking streams wait for it, so it cannot be captured */
}

cudaError_t graph_capture_begin(cudaStream_t handle, int mode, struct graph *into,
                                const struct node_list *from)
{
    if (mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED)
        return cudaErrorInvalidValue;
    if (is_legacy(handle))
        return cudaErrorStreamCaptureUnsupported;
    struct graph *graph = into ? into : graph_new();
    struct captured_list list = {0};
    const struct capture_owner owner = {graph, add, covers};
    cudaError_t error = into ? check_list(into, from) : cudaSuccess;
    if (into && !error)
        pack(&list, from);
    if (!error)
        error = capture_begin(cuda_stream(handle), (enum capture_mode)mode, &owner, &list);
    mem_free(list.at);
    if (!error) {
        graph->captured = cuda_stream(handle);
        graph->is_program |= into != NULL;
    }
    if (error && !into)
        graph_free(graph);
    return error;
}

/* A graph that the program has made stays its own, be the capture good or not. */
cudaError_t graph_capture_end(cudaStream_t stream, struct graph **graph)
{
    void *captured;
    cudaError_t error =
        is_legacy(stream) ? cudaErrorIllegalState : (cudaError_t)capture_end(cuda_stream(stream), &captured);
    if (is_legacy(stream) || !captured) {
        if (graph)
            *graph = NULL;
        return error;
    }
    struct graph *made = captured;
    made->captured = NULL;
    if ((error || !graph) && !made->is_program)
        graph_free(made);
    if (graph)
        *graph = error ? NULL : made;
    return error;
}

/* The lists stay until the next call of this thread. */
cudaError_t graph_capture_facts(cudaStream_t handle, int *status, unsigned long long *id,
                                struct graph **graph, struct graph_node *const **nodes,
                                const struct cudaGraphEdgeData **edges, size_t *count)
{
    static _Thread_local struct node_list told;
    struct capture_facts facts;
    if (!status)
        return cudaErrorInvalidValue;
    struct stream *stream = cuda_stream(handle);
    cudaError_t error = capture_facts(stream, &facts);
    if (error)
        return error;
    *status = (int)facts.state;
    if (facts.state != CAPTURE_ACTIVE)
        return cudaSuccess;
    free_list(&told);
    told = unpack(capture_list(stream));
    if (id)
        *id = facts.id;
    if (graph)
        *graph = facts.graph;
    bool plain = true;
    for (size_t i = 0; i < told.count; i++)
        plain &= edge_is_plain(&told.edges[i]);
    if (nodes && !edges && !plain)
        return cudaErrorLossyQuery;
    if (nodes)
        *nodes = told.at;
    if (edges)
        *edges = told.edges;
    if (count)
        *count = told.count;
    return cudaSuccess;
}

cudaError_t graph_capture_set(cudaStream_t handle, const struct node_list *nodes, unsigned flags)
{
    enum { ADD, SET }; /* CUDA's numbers */
    struct capture_facts facts;
    struct stream *stream = cuda_stream(handle);
    if (flags > SET)
        return cudaErrorInvalidValue;
    cudaError_t error = capture_facts(stream, &facts);
    if (!error && facts.state != CAPTURE_ACTIVE)
        error = facts.state == CAPTURE_NONE ? cudaErrorIllegalState : cudaErrorStreamCaptureInvalidated;
    if (!error)
        error = check_list(facts.graph, nodes);
    if (error)
        return error;
    struct captured_list *list = capture_list(stream);
    if (flags == SET)
        list->count = 0;
    pack(list, nodes);
    return cudaSuccess;
}
