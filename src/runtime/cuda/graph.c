#include "runtime/cuda/graph.h"
#include "driver/memory_graph.h"
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
    struct graph_exec *exec; /* the one that a graph with memory may have; or NULL */
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
    unsigned long long flags;
    struct graph *graph;        /* of a graph with memory: whose exec it is; NULL: it has gone */
    bool has_memory;            /* so its launches come one after another, in whatever streams: */
    struct stream_event *ended; /* the last one has; or NULL */
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

/* A bit for each device that is named. */
static cudaError_t peers_of(const struct cudaMemAllocNodeParams *what, uint64_t *peers)
{
    *peers = 0;
    for (size_t i = 0; i < what->accessDescCount; i++) {
        const struct cudaMemAccessDesc *one = &what->accessDescs[i];
        if (one->location.type != LOCATION_DEVICE || !cuda_device_at(one->location.id))
            return cudaErrorInvalidValue;
        *peers |= one->flags ? UINT64_C(1) << one->location.id : 0;
    }
    return cudaSuccess;
}

static cudaError_t request_of(const struct node_work *work, struct memory_graph_request *request)
{
    enum { PINNED = 1 };
    const struct cudaMemPoolProps *pool = &work->alloc.poolProps;
    struct device *device = pool->location.type == LOCATION_DEVICE ? cuda_device_at(pool->location.id) : NULL;
    if (!device || pool->allocType != PINNED || !work->alloc.bytesize)
        return cudaErrorInvalidValue;
    if (pool->handleTypes)
        return cudaErrorNotSupported;
    *request =
        (struct memory_graph_request){.device = device, .bytes = work->alloc.bytesize, .again = work->again};
    return peers_of(&work->alloc, &request->peers);
}

static cudaError_t submit_alloc(struct stream *stream, struct node_work *work)
{
    struct memory_graph_request request;
    uint64_t address = 0;
    cudaError_t error = request_of(work, &request);
    error = error ? error : (cudaError_t)memory_graph_alloc(stream, &request, &address);
    work->alloc.dptr = (void *)(uintptr_t)address;
    work->alloc.accessDescs = NULL; /* they were read, and may be gone */
    work->alloc.accessDescCount = 0;
    return error;
}

static cudaError_t submit(struct stream *stream, struct node_work *work)
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
    case NODE_ALLOC:
        return submit_alloc(stream, work);
    case NODE_FREE:
        return memory_graph_free(stream, (uint64_t)(uintptr_t)work->freed);
    default:
        return cudaSuccess;
    }
}

/* Submits the work to a stream of its own that records: all is checked and copied then. */
static cudaError_t record(struct node_work *work, struct action **action)
{
    struct stream *stream;
    struct recording *recording = NULL;
    *action = NULL;
    if (work->kind == NODE_CHILD || work->kind == NODE_EMPTY)
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
    if (graph->exec)
        graph->exec->graph = NULL;
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

/* ---- memory of graphs ---- */

static bool is_memory(const struct graph_node *node)
{
    return node->work.kind == NODE_ALLOC || node->work.kind == NODE_FREE ||
           (node->work.kind == NODE_CAPTURED && memory_graph_is_used(node->action->recording));
}

static bool has_memory(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (is_memory(graph->nodes[i]))
            return true;
    }
    return false;
}

/* How many nodes of the graph allocate this address; and free it. */
static void count_uses(const struct graph *graph, const void *address, size_t *allocs, size_t *frees)
{
    *allocs = *frees = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const struct node_work *work = &graph->nodes[i]->work;
        *allocs += work->kind == NODE_ALLOC && work->alloc.dptr == address;
        *frees += work->kind == NODE_FREE && work->freed == address;
    }
}

static void mark_before(struct graph_node *node)
{
    if (node->seen)
        return;
    node->seen = true;
    for (size_t i = 0; i < node->before_count; i++)
        mark_before(node->before[i]);
}

/* Memory of the same kind that was freed by a node which all of this comes after; 0: none. */
static uint64_t freed_before(const struct graph *graph, struct graph_node *const *before, size_t count,
                             const struct node_work *work)
{
    struct memory_graph_request wanted, made;
    if (request_of(work, &wanted))
        return 0;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->seen = false;
    for (size_t i = 0; i < count; i++)
        mark_before(before[i]);
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        uint64_t address = (uint64_t)(uintptr_t)node->work.freed;
        size_t allocs, frees;
        if (!node->seen || node->work.kind != NODE_FREE)
            continue;
        count_uses(graph, node->work.freed, &allocs, &frees);
        if (allocs && frees == allocs && memory_graph_find(cuda_driver(), address, &made) &&
            made.bytes == wanted.bytes && made.device == wanted.device && made.peers == wanted.peers)
            return address;
    }
    return 0;
}

/* What a node of memory needs to know of the others. */
static cudaError_t look_around(const struct graph *graph, struct graph_node *const *before, size_t count,
                               struct node_work *work)
{
    size_t allocs, frees;
    if (work->kind == NODE_ALLOC)
        work->again = freed_before(graph, before, count, work);
    if (work->kind != NODE_FREE)
        return cudaSuccess;
    count_uses(graph, work->freed, &allocs, &frees);
    return frees < (allocs ? allocs : 1) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t graph_cut(struct graph_node *from, struct graph_node *to)
{
    bool refused = from && to && (is_memory(from) || is_memory(to));
    return refused ? cudaErrorNotSupported : graph_disconnect(from, to);
}

/* ---- nodes come and go ---- */

cudaError_t graph_remove(struct graph_node *node)
{
    if (!node)
        return cudaErrorInvalidValue;
    if (is_memory(node))
        return cudaErrorNotSupported;
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
                      size_t count, struct node_work *work, struct graph *child)
{
    struct action *action;
    struct graph *copy = NULL;
    if (!node || !graph || (count && !before) || (work->kind == NODE_CHILD && !child))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        if (!before[i] || before[i]->graph != graph)
            return cudaErrorInvalidValue;
    }
    cudaError_t error = child ? graph_clone(&copy, child) : look_around(graph, before, count, work);
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
    if (has_memory(graph))
        return cudaErrorNotSupported;
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

cudaError_t node_set(struct graph_node *node, struct node_work *work)
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

cudaError_t graph_instantiate(struct graph_exec **exec, struct graph *graph, unsigned long long flags)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    bool memory = has_memory(graph);
    if (memory && graph->exec)
        return cudaErrorNotSupported;
    *exec = mem_alloc(1, sizeof **exec);
    (*exec)->flags = flags;
    (*exec)->has_memory = memory;
    if (memory) {
        (*exec)->graph = graph;
        graph->exec = *exec;
    }
    add_steps(*exec, graph);
    return cudaSuccess;
}

unsigned long long graph_exec_flags(const struct graph_exec *exec)
{
    return exec->flags;
}

cudaError_t graph_exec_update(struct graph_exec *exec, struct graph *graph)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    if (exec->has_memory || has_memory(graph))
        return cudaErrorGraphExecUpdateFailure;
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

cudaError_t graph_exec_set(struct graph_exec *exec, const struct graph_node *node, struct node_work *work)
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
    return step && node->work.kind <= NODE_FILL ? &step->enabled : NULL;
}

static cudaError_t wait_for_last(struct graph_exec *exec, struct stream *stream)
{
    return exec->ended ? (cudaError_t)stream_wait_event(stream, exec->ended) : cudaSuccess;
}

/* An event is of one device: one of another gets another. */
static cudaError_t note_last(struct graph_exec *exec, struct stream *stream)
{
    if (exec->ended)
        event_free(exec->ended);
    exec->ended = NULL;
    cudaError_t error = event_new(stream_device(stream), EVENT_NO_TIMING, &exec->ended);
    return error ? error : (cudaError_t)event_note(exec->ended, stream);
}

cudaError_t graph_exec_launch(struct graph_exec *exec, cudaStream_t handle)
{
    if (!exec)
        return cudaErrorInvalidValue;
    struct stream *stream = cuda_stream(handle);
    if (exec->has_memory && stream_is_recording(stream)) /* it cannot be a part of another graph */
        return cudaErrorNotSupported;
    struct recording **recordings = mem_alloc(exec->count + 1, sizeof *recordings);
    size_t count = 0;
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->steps[i].action && exec->steps[i].enabled)
            recordings[count++] = exec->steps[i].action->recording;
    }
    cudaError_t error = exec->has_memory ? wait_for_last(exec, stream) : cudaSuccess;
    if (!error)
        error = recordings_play(recordings, count, stream, exec->flags & GRAPH_AUTO_FREE);
    if (!error && exec->has_memory)
        error = note_last(exec, stream);
    mem_free(recordings);
    return error;
}

cudaError_t graph_exec_destroy(struct graph_exec *exec)
{
    if (!exec)
        return cudaErrorInvalidValue;
    drop_steps(exec);
    if (exec->graph)
        exec->graph->exec = NULL;
    if (exec->ended)
        event_free(exec->ended);
    mem_free(exec->steps);
    mem_free(exec);
    return cudaSuccess;
}
