/* Nodes of graphs: what is told of one, and changes of it. */
#include "runtime/cuda/graph_parts.h"
#include "driver/updates.h"
#include "base/mem.h"

#include <stdatomic.h>

const struct node_work *node_work(const struct graph_node *node)
{
    return &node->work;
}

struct graph *node_child(const struct graph_node *node)
{
    return node->work.kind == NODE_CHILD ? node->bodies[0] : NULL;
}

unsigned long long node_number(const struct graph_node *node)
{
    return node->number;
}

cudaError_t node_set(struct graph_node *node, struct node_work *work)
{
    struct action **actions;
    size_t count;
    if (!node || node->work.kind != work->kind)
        return cudaErrorInvalidValue;
    work->device = node->work.device;
    if (node->work.updates) {
        work->updates = node->work.updates;
        work->attributes[LAUNCH_UPDATABLE] = node->work.attributes[LAUNCH_UPDATABLE];
    }
    cudaError_t error = node_make_actions(work, &actions, &count);
    if (error)
        return error;
    struct action **before = node->actions;
    size_t before_count = node->action_count;
    node_take_work(node, work, actions, count);
    node_release_actions(before, before_count);
    return cudaSuccess;
}

/* ---- attributes of kernels ---- */

bool node_has_attribute(int attribute)
{
    static const bool has[KERNEL_NODE_ATTRIBUTES] = {
        [1] = true,  [2] = true,  [4] = true,  [5] = true,  [8] = true, [9] = true,
        [10] = true, [11] = true, [13] = true, [14] = true, [16] = true};
    return attribute > 0 && attribute < KERNEL_NODE_ATTRIBUTES && has[attribute];
}

cudaError_t node_get_attribute(struct graph_node *node, int id, void *value)
{
    if (!node || !value || node_work(node)->kind != NODE_KERNEL || !node_has_attribute(id))
        return cudaErrorInvalidValue;
    memcpy(value, &node_work(node)->attributes[id].value, sizeof node_work(node)->attributes[id].value);
    return cudaSuccess;
}

/* Its handle is written to the value, constant as that is in the call: the manual has it so. Nothing undoes
 * it. */
static cudaError_t node_make_updatable(struct graph_node *node, void *value)
{
    struct node_work work = *node_work(node);
    struct cudaLaunchAttribute *own = &work.attributes[LAUNCH_UPDATABLE];
    int is_on;
    memcpy(&is_on, value, sizeof is_on);
    if (is_on != 1)
        return is_on || work.updates ? cudaErrorInvalidValue : cudaSuccess;
    bool is_new = !work.updates;
    if (is_new)
        work.updates = updates_new();
    *own = (struct cudaLaunchAttribute){.id = LAUNCH_UPDATABLE,
                                        .value.updatable = {1, updates_handle(work.updates)}};
    cudaError_t error = is_new ? node_set(node, &work) : cudaSuccess;
    if (!error)
        memcpy(value, &own->value.updatable, sizeof own->value.updatable);
    if (is_new)
        updates_release(work.updates); /* the node keeps it */
    return error;
}

cudaError_t node_set_attribute(struct graph_node *node, int id, const void *value)
{
    if (!node || !value || node_work(node)->kind != NODE_KERNEL || !node_has_attribute(id))
        return cudaErrorInvalidValue;
    if (id == LAUNCH_UPDATABLE)
        return node_make_updatable(node, (void *)(uintptr_t)value);
    struct node_work work = *node_work(node);
    work.attributes[id].id = id;
    memcpy(&work.attributes[id].value, value, sizeof work.attributes[id].value);
    return node_set(node, &work);
}

cudaError_t node_copy_attributes(struct graph_node *to, struct graph_node *from)
{
    if (!to || !from || node_work(to)->kind != NODE_KERNEL || node_work(from)->kind != NODE_KERNEL)
        return cudaErrorInvalidValue;
    if (node_work(to)->updates || node_work(from)->updates)
        return cudaErrorInvalidValue;
    struct node_work work = *node_work(to);
    memcpy(work.attributes, node_work(from)->attributes, sizeof work.attributes);
    return node_set(to, &work);
}

/* ---- nodes of any kind ---- */

cudaError_t node_work_of(struct node_work *work, const struct cudaGraphNodeParams *what)
{
    *work = (struct node_work){0};
    if (!what || what->reserved0[0] || what->reserved0[1] || what->reserved0[2] || what->reserved2)
        return cudaErrorInvalidValue;
    work->kind = (enum node_kind)what->type;
    work->device = cuda_device();
    switch (work->kind) {
    case NODE_KERNEL:
        work->kernel = what->kernel;
        return cudaSuccess;
    case NODE_COPY:
        work->copy = what->memcpy.copyParams;
        return cudaSuccess;
    case NODE_FILL:
        work->fill = what->memset;
        return cudaSuccess;
    case NODE_HOST:
        work->host = what->host;
        return cudaSuccess;
    case NODE_CHILD:
        work->child = what->graph;
        return cudaSuccess;
    case NODE_WAIT:
        work->event = what->eventWait.event;
        return cudaSuccess;
    case NODE_RECORD:
        work->event = what->eventRecord.event;
        return cudaSuccess;
    case NODE_ALLOC:
        work->alloc = what->alloc;
        return cudaSuccess;
    case NODE_FREE:
        work->freed = what->release.dptr;
        return cudaSuccess;
    case NODE_CONDITION:
        work->condition = what->conditional;
        return cudaSuccess;
    case NODE_EMPTY:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

void node_tell_made(const struct node_work *work, struct cudaGraphNodeParams *what)
{
    if (work->kind == NODE_ALLOC)
        what->alloc.dptr = work->alloc.dptr;
    if (work->kind == NODE_CONDITION)
        what->conditional.phGraph_out = work->condition.phGraph_out;
}

static bool can_change(enum node_kind kind)
{
    return kind != NODE_CONDITION && kind != NODE_ALLOC && kind != NODE_FREE && kind != NODE_EMPTY;
}

cudaError_t node_change(struct graph_node *node, struct node_work *work)
{
    return can_change(work->kind) && work->kind != NODE_CHILD ? node_set(node, work) : cudaErrorInvalidValue;
}

cudaError_t graph_exec_change(struct graph_exec *exec, struct graph_node *node, struct node_work *work)
{
    if (!can_change(work->kind))
        return cudaErrorInvalidValue;
    return work->kind == NODE_CHILD ? graph_exec_set_child(exec, node, work->child.graph)
                                    : graph_exec_set(exec, node, work);
}

/* ---- objects of the program ---- */

struct user_object {
    void *pointer;
    cudaHostFn *destroy;
    _Atomic unsigned count;
};

void user_object_release(struct user_object *object, unsigned count)
{
    if (atomic_fetch_sub(&object->count, count) > count)
        return;
    object->destroy(object->pointer);
    mem_free(object);
}

void user_object_retain(struct user_object *object, unsigned count)
{
    object->count += count;
}

cudaError_t graph_retain(struct graph *graph, struct user_object *object, unsigned count, bool moved)
{
    size_t i = 0;
    while (i < graph->object_count && graph->objects[i].object != object)
        i++;
    if (i == graph->object_count) {
        mem_grow(graph->objects, graph->object_count, graph->object_capacity);
        graph->objects[graph->object_count++] = (struct graph_object){object, 0};
    }
    graph->objects[i].count += count;
    if (!moved)
        user_object_retain(object, count);
    return cudaSuccess;
}

/* What the graph does not have is passed over, as by an H200. */
cudaError_t graph_release(struct graph *graph, struct user_object *object, unsigned count)
{
    for (size_t i = 0; i < graph->object_count; i++) {
        struct graph_object *own = &graph->objects[i];
        if (own->object != object)
            continue;
        unsigned released = count < own->count ? count : own->count;
        own->count -= released;
        if (!own->count)
            *own = graph->objects[--graph->object_count];
        user_object_release(object, released);
        break;
    }
    return cudaSuccess;
}

enum { NO_DESTRUCTOR_SYNC = 1, RETAIN_MOVE = 1 }; /* CUDA's bits */

static cudaError_t user_object_new(struct user_object **object, void *pointer, cudaHostFn *destroy,
                                   unsigned count, unsigned flags)
{
    if (!object || !destroy || !count || flags != NO_DESTRUCTOR_SYNC)
        return cudaErrorInvalidValue;
    *object = mem_alloc(1, sizeof **object);
    **object = (struct user_object){pointer, destroy, count};
    return cudaSuccess;
}

static cudaError_t user_object_change(struct user_object *object, unsigned count, bool retain)
{
    if (!object || !count)
        return cudaErrorInvalidValue;
    if (retain)
        user_object_retain(object, count);
    else
        user_object_release(object, count);
    return cudaSuccess;
}

static cudaError_t user_object_give(struct graph *graph, struct user_object *object, unsigned count,
                                    unsigned flags)
{
    if (!graph_is_known(graph) || !object || !count || flags & ~(unsigned)RETAIN_MOVE)
        return cudaErrorInvalidValue;
    return graph_retain(graph, object, count, flags & RETAIN_MOVE);
}

static cudaError_t user_object_take(struct graph *graph, struct user_object *object, unsigned count)
{
    return graph_is_known(graph) && object && count ? graph_release(graph, object, count)
                                                    : cudaErrorInvalidValue;
}

/* Both APIs have the same. */
#define OBJECT_FUNCTIONS(KIND, PREFIX)                                                                       \
    KIND(PREFIX##UserObjectCreate, (object, pointer, destroy, count, flags), struct user_object **object,    \
         void *pointer, cudaHostFn *destroy, unsigned count, unsigned flags)                                 \
    {                                                                                                        \
        return user_object_new(object, pointer, destroy, count, flags);                                      \
    }                                                                                                        \
    KIND(PREFIX##UserObjectRetain, (object, count), struct user_object *object, unsigned count)              \
    {                                                                                                        \
        return user_object_change(object, count, true);                                                      \
    }                                                                                                        \
    KIND(PREFIX##UserObjectRelease, (object, count), struct user_object *object, unsigned count)             \
    {                                                                                                        \
        return user_object_change(object, count, false);                                                     \
    }                                                                                                        \
    KIND(PREFIX##GraphRetainUserObject, (graph, object, count, flags), struct graph *graph,                  \
         struct user_object *object, unsigned count, unsigned flags)                                         \
    {                                                                                                        \
        return user_object_give(graph, object, count, flags);                                                \
    }                                                                                                        \
    KIND(PREFIX##GraphReleaseUserObject, (graph, object, count), struct graph *graph,                        \
         struct user_object *object, unsigned count)                                                         \
    {                                                                                                        \
        return user_object_take(graph, object, count);                                                       \
    }

OBJECT_FUNCTIONS(API, cuda)
OBJECT_FUNCTIONS(CU, cu)
