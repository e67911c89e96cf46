/* Graphs, their nodes and edges. */
#include "runtime/cuda/graph_parts.h"
#include "driver/memory_graph.h"
#include "driver/updates.h"
#include "base/mem.h"
#include "base/pointers.h"

#include <pthread.h>

/* Graphs that programs have. A handle that is none of them is refused before anything is read through it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers known;
static uint64_t last_graph, last_node;

static void set_known(struct graph *graph, bool is_known)
{
    pthread_mutex_lock(&lock);
    if (is_known) {
        graph->number = ++last_graph;
        pointers_set(&known, graph, graph);
    } else {
        pointers_remove(&known, graph);
    }
    pthread_mutex_unlock(&lock);
}

bool graph_is_known(const struct graph *graph)
{
    pthread_mutex_lock(&lock);
    bool is_known = graph && pointers_get(&known, graph);
    pthread_mutex_unlock(&lock);
    return is_known;
}

struct graph *graph_new(void)
{
    struct graph *graph = mem_alloc(1, sizeof *graph);
    set_known(graph, true);
    return graph;
}

cudaError_t graph_create(struct graph **graph, unsigned flags)
{
    if (!graph || flags)
        return cudaErrorInvalidValue;
    *graph = graph_new();
    return cudaSuccess;
}

static void node_free(struct graph_node *node)
{
    updates_release(node->work.updates);
    node_release_actions(node->actions, node->action_count);
    for (size_t i = 0; i < node->body_count; i++)
        graph_free(node->bodies[i]);
    mem_free(node->bodies);
    mem_free(node->arguments);
    mem_free(node->before);
    mem_free(node);
}

void graph_free(struct graph *graph)
{
    set_known(graph, false);
    for (size_t i = 0; i < graph->count; i++)
        node_free(graph->nodes[i]);
    for (size_t i = 0; i < graph->object_count; i++)
        user_object_release(graph->objects[i].object, graph->objects[i].count);
    mem_free(graph->objects);
    mem_free(graph->handles);
    mem_free(graph->nodes);
    mem_free(graph);
}

cudaError_t graph_destroy(struct graph *graph)
{
    if (!graph_is_known(graph) || graph->owner)
        return cudaErrorInvalidValue;
    if (graph->captured)
        return cudaErrorIllegalState;
    graph_free(graph);
    return cudaSuccess;
}

/* ---- edges ---- */

bool edge_is_plain(const struct cudaGraphEdgeData *data)
{
    return !data || (!data->from_port && !data->to_port && !data->type);
}

cudaError_t edge_check(const struct graph_node *from, const struct graph_node *to,
                       const struct cudaGraphEdgeData *data)
{
    if (!data)
        return cudaSuccess;
    bool programmatic = data->type == EDGE_PROGRAMMATIC;
    bool kernels = from->work.kind == NODE_KERNEL && to->work.kind == NODE_KERNEL;
    for (size_t i = 0; i < sizeof data->reserved; i++) {
        if (data->reserved[i])
            return cudaErrorInvalidValue;
    }
    if (data->to_port || data->from_port >= PORTS || data->type > EDGE_PROGRAMMATIC)
        return cudaErrorInvalidValue;
    if (programmatic && (!kernels || !data->from_port))
        return cudaErrorInvalidValue;
    if (!programmatic && data->from_port == PORT_PROGRAMMATIC)
        return cudaErrorInvalidValue;
    return data->from_port && from->work.kind != NODE_KERNEL ? cudaErrorInvalidValue : cudaSuccess;
}

static struct graph_edge *edge_between(const struct graph_node *from, const struct graph_node *to)
{
    for (size_t i = 0; i < to->before_count; i++) {
        if (to->before[i].node == from)
            return &to->before[i];
    }
    return NULL;
}

static void add_edge(struct graph_node *from, struct graph_node *to, const struct cudaGraphEdgeData *data)
{
    mem_grow(to->before, to->before_count, to->before_capacity);
    to->before[to->before_count++] = (struct graph_edge){from, data ? *data : (struct cudaGraphEdgeData){0}};
}

static cudaError_t connect_one(struct graph_node *from, struct graph_node *to,
                               const struct cudaGraphEdgeData *data)
{
    if (edge_between(from, to))
        return cudaErrorInvalidValue;
    cudaError_t error = edge_check(from, to, data);
    if (!error)
        add_edge(from, to, data);
    return error;
}

static bool is_memory(const struct graph_node *node)
{
    return node->work.kind == NODE_ALLOC || node->work.kind == NODE_FREE;
}

/* Memory is placed by the edges that were there when its nodes were made. */
static cudaError_t disconnect_one(struct graph_node *from, struct graph_node *to,
                                  const struct cudaGraphEdgeData *data)
{
    struct graph_edge *edge = edge_between(from, to);
    if (is_memory(from) || is_memory(to))
        return cudaErrorNotSupported;
    if (!edge || (data && memcmp(data, &edge->data, sizeof *data) != 0))
        return cudaErrorInvalidValue;
    if (!data && !edge_is_plain(&edge->data)) /* no such edge, which an H200 passes over */
        return cudaSuccess;
    *edge = to->before[--to->before_count];
    return cudaSuccess;
}

static cudaError_t each_edge(struct graph *graph, const struct node_list *from, struct graph_node *const *to,
                             cudaError_t (*change)(struct graph_node *, struct graph_node *,
                                                   const struct cudaGraphEdgeData *))
{
    if (!graph_is_known(graph) || (from->count && (!from->at || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < from->count; i++) {
        if (!from->at[i] || !to[i] || from->at[i] == to[i] || from->at[i]->graph != graph ||
            to[i]->graph != graph)
            return cudaErrorInvalidValue;
    }
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < from->count && !error; i++)
        error = change(from->at[i], to[i], from->edges ? &from->edges[i] : NULL);
    return error;
}

cudaError_t graph_connect(struct graph *graph, const struct node_list *from, struct graph_node *const *to)
{
    return each_edge(graph, from, to, connect_one);
}

cudaError_t graph_disconnect(struct graph *graph, const struct node_list *from, struct graph_node *const *to)
{
    return each_edge(graph, from, to, disconnect_one);
}

/* ---- order ---- */

static void unmark(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = 0;
}

enum { UNSEEN, UNDER_WAY, ORDERED };

static bool put(struct graph_node *node, struct graph_node **nodes, size_t *count)
{
    if (node->mark)
        return node->mark == ORDERED;
    node->mark = UNDER_WAY;
    for (size_t i = 0; i < node->before_count; i++) {
        if (!put(node->before[i].node, nodes, count))
            return false;
    }
    node->mark = ORDERED;
    nodes[(*count)++] = node;
    return true;
}

bool graph_order(const struct graph *graph, struct graph_node ***nodes)
{
    size_t count = 0;
    bool good = true;
    *nodes = mem_alloc(graph->count, sizeof **nodes);
    unmark(graph);
    for (size_t i = 0; i < graph->count && good; i++)
        good = put(graph->nodes[i], *nodes, &count);
    return good;
}

static void mark_before(struct graph_node *node)
{
    if (node->mark)
        return;
    node->mark = ORDERED;
    for (size_t i = 0; i < node->before_count; i++)
        mark_before(node->before[i].node);
}

bool graph_covers(const struct graph *graph, struct graph_node *const *ends, size_t count,
                  const struct graph_node *node)
{
    unmark(graph);
    for (size_t i = 0; i < count; i++)
        mark_before(ends[i]);
    return node->mark;
}

/* ---- memory of graphs ---- */

bool graph_has_memory(const struct graph *graph)
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

/* Memory of the same kind that was freed by a node which all of this comes after; 0: none. */
static uint64_t freed_before(const struct graph *graph, const struct node_list *before,
                             const struct node_work *work)
{
    struct memory_graph_request wanted, made;
    if (graph_alloc_request(work, &wanted))
        return 0;
    unmark(graph);
    for (size_t i = 0; i < before->count; i++)
        mark_before(before->at[i]);
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        size_t allocs, frees;
        if (!node->mark || node->work.kind != NODE_FREE)
            continue;
        uint64_t address = (uint64_t)(uintptr_t)node->work.freed;
        count_uses(graph, node->work.freed, &allocs, &frees);
        if (allocs && frees == allocs && memory_graph_find(cuda_driver(), address, &made) &&
            made.bytes == wanted.bytes && made.device == wanted.device && made.peers == wanted.peers)
            return address;
    }
    return 0;
}

/* What a node of memory needs to know of the others. */
static cudaError_t look_around(const struct graph *graph, const struct node_list *before,
                               struct node_work *work)
{
    size_t allocs, frees;
    if (work->kind == NODE_ALLOC)
        work->again = freed_before(graph, before, work);
    if (work->kind != NODE_FREE)
        return cudaSuccess;
    count_uses(graph, work->freed, &allocs, &frees);
    return frees < (allocs ? allocs : 1) ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- nodes come and go ---- */

struct graph_node *graph_add_made(struct graph *graph, const struct node_list *before,
                                  const struct node_work *work, struct action **actions, size_t count)
{
    struct graph_node *node = mem_alloc(1, sizeof *node);
    node->graph = graph;
    node->index = graph->count;
    pthread_mutex_lock(&lock);
    node->number = ++last_node;
    pthread_mutex_unlock(&lock);
    node_take_work(node, work, actions, count);
    mem_grow(graph->nodes, graph->count, graph->capacity);
    graph->nodes[graph->count++] = node;
    for (size_t i = 0; before && i < before->count; i++)
        add_edge(before->at[i], node, before->edges ? &before->edges[i] : NULL);
    return node;
}

static cudaError_t check_before(struct graph *graph, const struct node_list *before,
                                const struct node_work *work)
{
    const struct graph_node added = {.work = *work};
    if (!graph_is_known(graph) || (before->count && !before->at))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < before->count; i++) {
        if (!before->at[i] || before->at[i]->graph != graph)
            return cudaErrorInvalidValue;
        for (size_t k = 0; k < i; k++) {
            if (before->at[k] == before->at[i])
                return cudaErrorInvalidValue;
        }
        cudaError_t error = edge_check(before->at[i], &added, before->edges ? &before->edges[i] : NULL);
        if (error)
            return error;
    }
    return cudaSuccess;
}

struct graph_node *graph_updatable_node(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct graph_node *node = graph->nodes[i];
        if (node->work.updates)
            return node;
        for (size_t k = 0; k < node->body_count; k++) {
            struct graph_node *inner = graph_updatable_node(node->bodies[k]);
            if (inner)
                return inner;
        }
    }
    return NULL;
}

static bool has_condition(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->work.kind == NODE_CONDITION)
            return true;
    }
    return false;
}

static cudaError_t check_child(const struct graph *graph, const struct node_work *work)
{
    const struct graph *child = work->child.graph;
    if (!graph_is_known(child) || child == graph || child->owner)
        return cudaErrorInvalidValue;
    return !work->child.ownership && (graph_has_memory(child) || has_condition(child)) ? cudaErrorNotSupported
                                                                                       : cudaSuccess;
}

/* Its bodies are made empty, for the program to fill. */
static cudaError_t check_condition(struct graph *graph, const struct node_work *work)
{
    enum { IF, WHILE, SWITCH };
    const struct cudaConditionalNodeParams *what = &work->condition;
    struct graph_handle *handle = graph_find_handle(graph, what->handle);
    unsigned most = what->type == IF ? 2 : what->type == WHILE ? 1 : what->type == SWITCH ? UINT32_MAX : 0;
    if (!handle || handle->is_used || !what->size || what->size > most)
        return cudaErrorInvalidValue;
    handle->is_used = true;
    return cudaSuccess;
}

static void add_bodies(struct graph_node *node, struct node_work *work)
{
    bool is_child = work->kind == NODE_CHILD;
    node->body_count = is_child ? 1 : work->condition.size;
    node->bodies = mem_alloc(node->body_count, sizeof(struct graph *));
    for (size_t i = 0; i < node->body_count; i++) {
        node->bodies[i] = !is_child               ? graph_new()
                          : work->child.ownership ? work->child.graph
                                                  : graph_copy(work->child.graph);
        node->bodies[i]->owner = node;
    }
    if (is_child)
        node->work.child.graph = node->bodies[0];
    else
        node->work.condition.phGraph_out = work->condition.phGraph_out = node->bodies;
}

cudaError_t graph_add(struct graph_node **node, struct graph *graph, const struct node_list *before,
                      struct node_work *work)
{
    struct action **actions;
    size_t count;
    if (!node)
        return cudaErrorInvalidValue;
    cudaError_t error = check_before(graph, before, work);
    if (!error && work->kind == NODE_CHILD)
        error = check_child(graph, work);
    if (!error)
        error = look_around(graph, before, work);
    if (!error && work->kind == NODE_CONDITION)
        error = check_condition(graph, work);
    if (!error)
        error = node_make_actions(work, &actions, &count);
    if (error)
        return error;
    *node = graph_add_made(graph, before, work, actions, count);
    if (work->kind == NODE_CHILD || work->kind == NODE_CONDITION)
        add_bodies(*node, work);
    return cudaSuccess;
}

cudaError_t graph_remove(struct graph_node *node)
{
    if (!node)
        return cudaErrorInvalidValue;
    if (is_memory(node))
        return cudaErrorNotSupported;
    if (node->work.updates)
        return cudaErrorInvalidValue;
    struct graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        struct graph_edge *edge = edge_between(node, graph->nodes[i]);
        if (edge)
            *edge = graph->nodes[i]->before[--graph->nodes[i]->before_count];
        if (graph->nodes[i] == node)
            continue;
        graph->nodes[i]->index = kept;
        graph->nodes[kept++] = graph->nodes[i];
    }
    graph->count = kept;
    node_free(node);
    return cudaSuccess;
}

/* ---- copies ---- */

static void copy_node(struct graph *copy, const struct graph_node *node)
{
    struct action **actions = mem_alloc(node->action_count, sizeof *actions);
    for (size_t i = 0; i < node->action_count; i++)
        actions[i] = action_keep(node->actions[i]);
    struct graph_node *made = graph_add_made(copy, NULL, &node->work, actions, node->action_count);
    made->origin = node;
    made->body_count = node->body_count;
    made->bodies = mem_alloc(node->body_count, sizeof *made->bodies);
    for (size_t i = 0; i < node->body_count; i++) {
        made->bodies[i] = graph_copy(node->bodies[i]);
        made->bodies[i]->owner = made;
    }
}

struct graph *graph_copy(const struct graph *graph)
{
    struct graph *copy = graph_new();
    for (size_t i = 0; i < graph->count; i++)
        copy_node(copy, graph->nodes[i]);
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        for (size_t k = 0; k < node->before_count; k++)
            add_edge(copy->nodes[node->before[k].node->index], copy->nodes[i], &node->before[k].data);
    }
    for (size_t i = 0; i < graph->handle_count; i++) {
        mem_grow(copy->handles, copy->handle_count, copy->handle_capacity);
        copy->handles[copy->handle_count++] = graph->handles[i];
    }
    for (size_t i = 0; i < graph->object_count; i++)
        graph_retain(copy, graph->objects[i].object, graph->objects[i].count, false);
    return copy;
}

cudaError_t graph_clone(struct graph **clone, struct graph *graph)
{
    if (!clone || !graph_is_known(graph))
        return cudaErrorInvalidValue;
    if (graph_has_memory(graph) || has_condition(graph) || graph_updatable_node(graph))
        return cudaErrorNotSupported;
    *clone = graph_copy(graph);
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

/* ---- conditional handles ---- */

cudaError_t graph_handle_new(struct graph *graph, struct device *device, unsigned initial, unsigned flags,
                             uint64_t *handle)
{
    if (!handle || !graph_is_known(graph) || flags & ~(unsigned)HANDLE_ASSIGN_DEFAULT)
        return cudaErrorInvalidValue;
    *handle = condition_new(device);
    if (!*handle)
        return cudaErrorMemoryAllocation;
    mem_grow(graph->handles, graph->handle_count, graph->handle_capacity);
    graph->handles[graph->handle_count++] =
        (struct graph_handle){.device = device, .at = *handle, .initial = initial, .flags = flags};
    return cudaSuccess;
}

struct graph_handle *graph_find_handle(struct graph *graph, uint64_t handle)
{
    for (; graph; graph = graph->owner ? graph->owner->graph : NULL) {
        for (size_t i = 0; i < graph->handle_count; i++) {
            if (graph->handles[i].at == handle)
                return &graph->handles[i];
        }
    }
    return NULL;
}
