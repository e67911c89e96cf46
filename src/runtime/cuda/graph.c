#include "runtime/cuda/graph.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/register.h"
#include "runtime/cuda/stream.h"
#include "base/mem.h"

/* A recording that nodes and instantiated graphs share. */
struct action {
    struct recording *recording;
    _Atomic unsigned users;
};

struct graph_node {
    struct graph *graph;
    const struct graph_node *origin; /* what it was cloned from, or NULL */
    struct node_work work;
    struct action *action; /* NULL: nothing to do */
    struct graph *child;   /* of NODE_CHILD */
    struct graph_node **before;
    size_t before_count, before_capacity;
    bool seen; /* while nodes are put in order */
};

struct graph {
    struct graph_node **nodes;
    size_t count, capacity;
};

/* A step of an instantiated graph, in an order that suits the edges. */
struct step {
    const struct graph_node *node;
    struct action *action;
    bool enabled;
};

struct graph_exec {
    struct step *steps;
    size_t count, capacity;
};

/* ---- actions ---- */

static struct action *action_new(struct recording *recording)
{
    struct action *action = mem_alloc(1, sizeof *action);
    action->recording = recording;
    action->users = 1;
    return action;
}

static struct action *action_keep(struct action *action)
{
    if (action)
        action->users++;
    return action;
}

static void action_release(struct action *action)
{
    if (!action || --action->users)
        return;
    recording_free(action->recording);
    mem_free(action);
}

static cudaError_t submit_fill(struct stream *stream, const struct cudaMemsetParams *what)
{
    struct fill fill = {
        .to = {.address = (uint64_t)(uintptr_t)what->dst, .pitch = what->pitch, .must_be_device = true},
        .value = what->value,
        .element_bytes = what->elementSize,
        .width = what->width,
        .height = what->height,
        .depth = 1};
    bool fits = what->elementSize == 1 || what->elementSize == 2 || what->elementSize == 4;
    return fits ? (cudaError_t)stream_fill(stream, &fill, false) : cudaErrorInvalidValue;
}

static cudaError_t submit(struct stream *stream, const struct node_work *work)
{
    switch (work->kind) {
    case NODE_KERNEL: {
        const struct cudaKernelNodeParams *kernel = &work->kernel;
        return cuda_launch_any(cuda_function(kernel->func),
                               &(struct launch_request){.grid = kernel->gridDim,
                                                        .block = kernel->blockDim,
                                                        .shared_bytes = kernel->sharedMemBytes,
                                                        .stream = stream},
                               kernel->kernelParams, kernel->extra);
    }
    case NODE_COPY:
        return cuda_copy_box(stream, &work->copy, false);
    case NODE_FILL:
        return submit_fill(stream, &work->fill);
    case NODE_HOST:
        return cuda_host_function(stream, work->host.fn, work->host.userData);
    default:
        return cudaSuccess;
    }
}

/* Submits the work to a stream of its own that records: all is checked and copied then. */
static cudaError_t record(const struct node_work *work, struct action **action)
{
    struct stream *stream;
    struct recording *recording = NULL;
    *action = NULL;
    if (work->kind >= NODE_CHILD)
        return cudaSuccess;
    cudaError_t error = stream_new(cuda_device(), STREAM_NON_BLOCKING, 0, &stream);
    if (error)
        return error;
    error = stream_record_begin(stream);
    if (!error) {
        error = submit(stream, work);
        cudaError_t end = stream_record_end(stream, &recording);
        error = error ? error : end;
    }
    stream_free(stream);
    if (!error)
        *action = action_new(recording);
    else if (recording)
        recording_free(recording);
    return error;
}

/* ---- graphs and nodes ---- */

struct graph *graph_new(void)
{
    return mem_alloc(1, sizeof(struct graph));
}

static struct graph_node *node_new(struct graph *graph, const struct node_work *work, struct action *action)
{
    struct graph_node *node = mem_alloc(1, sizeof *node);
    node->graph = graph;
    node->work = *work;
    if (work->kind == NODE_KERNEL)
        node->work.kernel.kernelParams = node->work.kernel.extra = NULL; /* they were read, and may be gone */
    node->action = action;
    mem_grow(graph->nodes, graph->count, graph->capacity);
    graph->nodes[graph->count++] = node;
    return node;
}

static void node_free(struct graph_node *node)
{
    action_release(node->action);
    if (node->child)
        graph_destroy(node->child);
    mem_free(node->before);
    mem_free(node);
}

cudaError_t graph_destroy(struct graph *graph)
{
    if (!graph)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < graph->count; i++)
        node_free(graph->nodes[i]);
    mem_free(graph->nodes);
    mem_free(graph);
    return cudaSuccess;
}

cudaError_t graph_connect(struct graph_node *from, struct graph_node *to)
{
    if (!from || !to || from == to || from->graph != to->graph)
        return cudaErrorInvalidValue;
    mem_grow(to->before, to->before_count, to->before_capacity);
    to->before[to->before_count++] = from;
    return cudaSuccess;
}

cudaError_t graph_disconnect(struct graph_node *from, struct graph_node *to)
{
    for (size_t i = 0; to && i < to->before_count; i++) {
        if (to->before[i] == from) {
            to->before[i] = to->before[--to->before_count];
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidValue;
}

cudaError_t graph_remove(struct graph_node *node)
{
    if (!node)
        return cudaErrorInvalidValue;
    struct graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        graph_disconnect(node, graph->nodes[i]);
        if (graph->nodes[i] != node)
            graph->nodes[kept++] = graph->nodes[i];
    }
    graph->count = kept;
    node_free(node);
    return cudaSuccess;
}

cudaError_t graph_add(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                      size_t count, const struct node_work *work, struct graph *child)
{
    struct action *action;
    struct graph *copy = NULL;
    if (!node || !graph || (count && !before) || (work->kind == NODE_CHILD && !child))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        if (!before[i] || before[i]->graph != graph)
            return cudaErrorInvalidValue;
    }
    cudaError_t error = child ? graph_clone(&copy, child) : cudaSuccess;
    error = error ? error : record(work, &action);
    if (error)
        return error;
    *node = node_new(graph, work, action);
    (*node)->child = copy;
    for (size_t i = 0; i < count; i++)
        graph_connect(before[i], *node);
    return cudaSuccess;
}

struct graph_node *node_in_clone(const struct graph_node *node, const struct graph *clone)
{
    for (size_t i = 0; i < clone->count; i++) {
        if (clone->nodes[i]->origin == node)
            return clone->nodes[i];
    }
    return NULL;
}

cudaError_t graph_clone(struct graph **clone, struct graph *graph)
{
    if (!clone || !graph)
        return cudaErrorInvalidValue;
    *clone = graph_new();
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        struct graph_node *copy = node_new(*clone, &node->work, action_keep(node->action));
        copy->origin = node;
        if (node->child)
            graph_clone(&copy->child, node->child);
    }
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t k = 0; k < graph->nodes[i]->before_count; k++)
            graph_connect(node_in_clone(graph->nodes[i]->before[k], *clone), (*clone)->nodes[i]);
    }
    return cudaSuccess;
}

struct graph_node *graph_node_at(const struct graph *graph, size_t index)
{
    return index < graph->count ? graph->nodes[index] : NULL;
}

struct graph_node *node_dependency(const struct graph_node *node, size_t index)
{
    return index < node->before_count ? node->before[index] : NULL;
}

struct graph *node_child(const struct graph_node *node)
{
    return node->child;
}

bool graph_is_captured(const struct graph *graph, size_t *commands)
{
    bool captured = graph->count == 1 && graph->nodes[0]->work.kind == NODE_CAPTURED;
    *commands = captured ? recording_count(graph->nodes[0]->action->recording) : 0;
    return captured;
}

const struct node_work *node_work(const struct graph_node *node)
{
    return &node->work;
}

cudaError_t node_set(struct graph_node *node, const struct node_work *work)
{
    struct action *action;
    if (!node || node->work.kind != work->kind)
        return cudaErrorInvalidValue;
    cudaError_t error = record(work, &action);
    if (error)
        return error;
    action_release(node->action);
    node->action = action;
    node->work = *work;
    return cudaSuccess;
}

/* ---- capturing ---- */

cudaError_t cuda_capture_begin(cudaStream_t stream)
{
    bool legacy = !stream || stream == STREAM_LEGACY; /* blocking streams wait for it, so it cannot record */
    return legacy ? cudaErrorStreamCaptureUnsupported : (cudaError_t)stream_record_begin(cuda_stream(stream));
}

cudaError_t cuda_capture_end(cudaStream_t stream, struct graph **graph)
{
    struct recording *recording;
    if (!graph)
        return cudaErrorInvalidValue;
    *graph = NULL;
    cudaError_t error = stream_record_end(cuda_stream(stream), &recording);
    if (error)
        return error;
    *graph = graph_new();
    node_new(*graph, &(struct node_work){.kind = NODE_CAPTURED}, action_new(recording));
    return cudaSuccess;
}

/* ---- instantiated graphs ---- */

static void add_steps(struct graph_exec *exec, const struct graph *graph);

/* What it waits for comes first. */
static void add_step(struct graph_exec *exec, struct graph_node *node)
{
    if (node->seen)
        return;
    node->seen = true;
    for (size_t i = 0; i < node->before_count; i++)
        add_step(exec, node->before[i]);
    mem_grow(exec->steps, exec->count, exec->capacity);
    exec->steps[exec->count++] = (struct step){node, action_keep(node->action), true};
    if (node->child)
        add_steps(exec, node->child);
}

static void add_steps(struct graph_exec *exec, const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->seen = false;
    for (size_t i = 0; i < graph->count; i++)
        add_step(exec, graph->nodes[i]);
}

static void drop_steps(struct graph_exec *exec)
{
    for (size_t i = 0; i < exec->count; i++)
        action_release(exec->steps[i].action);
    exec->count = 0;
}

cudaError_t graph_instantiate(struct graph_exec **exec, struct graph *graph)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    *exec = mem_alloc(1, sizeof **exec);
    add_steps(*exec, graph);
    return cudaSuccess;
}

cudaError_t graph_exec_update(struct graph_exec *exec, struct graph *graph)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    drop_steps(exec);
    add_steps(exec, graph);
    return cudaSuccess;
}

static struct step *step_of(struct graph_exec *exec, const struct graph_node *node)
{
    for (size_t i = 0; exec && i < exec->count; i++) {
        if (exec->steps[i].node == node)
            return &exec->steps[i];
    }
    return NULL;
}

cudaError_t graph_exec_set(struct graph_exec *exec, const struct graph_node *node,
                           const struct node_work *work)
{
    struct step *step = step_of(exec, node);
    struct action *action;
    if (!step || node->work.kind != work->kind)
        return cudaErrorInvalidValue;
    cudaError_t error = record(work, &action);
    if (error)
        return error;
    action_release(step->action);
    step->action = action;
    return cudaSuccess;
}

bool *graph_exec_enabled(struct graph_exec *exec, const struct graph_node *node)
{
    struct step *step = step_of(exec, node);
    return step ? &step->enabled : NULL;
}

cudaError_t graph_exec_launch(struct graph_exec *exec, cudaStream_t stream)
{
    cudaError_t error = exec ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < exec->count; i++) {
        const struct step *step = &exec->steps[i];
        if (step->action && step->enabled)
            error = recording_play(step->action->recording, cuda_stream(stream));
    }
    return error;
}

cudaError_t graph_exec_destroy(struct graph_exec *exec)
{
    if (!exec)
        return cudaErrorInvalidValue;
    drop_steps(exec);
    mem_free(exec->steps);
    mem_free(exec);
    return cudaSuccess;
}
