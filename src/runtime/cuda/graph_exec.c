/* Instantiated graphs: a copy of the graph, and the driver's play of it. */
#include "runtime/cuda/graph_parts.h"
#include "runtime/cuda/stream.h"
#include "driver/capture.h"
#include "driver/updates.h"
#include "base/mem.h"
#include "base/pointers.h"

#include <pthread.h>

struct graph_exec {
    struct graph *copy;
    struct play *play;
    unsigned long long flags;
    uint64_t number;
    struct graph *of; /* of a graph with memory: whose exec it is; NULL: of others */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers known;
static uint64_t last_number;

bool graph_exec_is_known(const struct graph_exec *exec)
{
    pthread_mutex_lock(&lock);
    bool is_known = exec && pointers_get(&known, exec);
    pthread_mutex_unlock(&lock);
    return is_known;
}

static void set_known(struct graph_exec *exec, bool is_known)
{
    pthread_mutex_lock(&lock);
    if (is_known) {
        exec->number = ++last_number;
        pointers_set(&known, exec, exec);
    } else {
        pointers_remove(&known, exec);
    }
    pthread_mutex_unlock(&lock);
}

unsigned long long graph_exec_flags(const struct graph_exec *exec)
{
    return exec->flags;
}

unsigned long long graph_exec_number(const struct graph_exec *exec)
{
    return exec->number;
}

/* ---- from a graph to a play ---- */

struct steps {
    struct play_edge *at;
    uint32_t count, capacity;
};

static void add_step(struct steps *steps, struct play_edge step)
{
    size_t count = steps->count, capacity = steps->capacity;
    mem_grow(steps->at, count, capacity);
    steps->capacity = (uint32_t)capacity;
    steps->at[steps->count++] = step;
}

static struct steps build(struct play *play, struct graph *graph, const struct steps *entry);

static uint32_t add_to_play(struct play *play, const struct graph_node *node, struct action *action,
                            const struct steps *after)
{
    return play_add(play,
                    &(struct play_step){.action = action,
                                        .awaited = node->work.kind == NODE_WAIT ? node->work.event : NULL,
                                        .device = node->work.device,
                                        .after = after->at,
                                        .after_count = after->count});
}

static uint32_t add_condition(struct play *play, const struct graph_node *node, const struct steps *after)
{
    const struct cudaConditionalNodeParams *what = &node->work.condition;
    struct play **bodies = mem_alloc(node->body_count, sizeof *bodies);
    for (size_t i = 0; i < node->body_count; i++) {
        bodies[i] = play_new();
        struct steps ends = build(bodies[i], node->bodies[i], &(struct steps){0});
        mem_free(ends.at);
    }
    struct action *action = condition_action(node->work.device, what->handle, (enum condition_kind)what->type,
                                             bodies, (uint32_t)node->body_count);
    uint32_t step = add_to_play(play, node, action, after);
    action_release(action);
    mem_free(bodies);
    return step;
}

static void build_node(struct play *play, struct graph_node *node, const struct steps *after)
{
    if (node->work.kind == NODE_CONDITION) {
        node->step = node->end = add_condition(play, node, after);
    } else if (node->work.kind == NODE_CHILD) {
        struct steps ends = build(play, node->bodies[0], after);
        node->step = node->end = add_to_play(play, node, NULL, &ends);
        mem_free(ends.at);
    } else {
        node->step = node->end = add_to_play(play, node, node->action_count ? node->actions[0] : NULL, after);
        for (size_t i = 1; i < node->action_count; i++) {
            struct steps before = {&(struct play_edge){node->end, WAIT_FOR_END}, 1, 1};
            node->end = add_to_play(play, node, node->actions[i], &before);
        }
    }
}

/* What a kernel waits for of a kernel before it. */
static struct play_edge edge_of(const struct graph_node *to, const struct graph_edge *edge)
{
    static const enum launch_wait by_port[] = {[PORT_DEFAULT] = WAIT_FOR_END,
                                               [PORT_PROGRAMMATIC] = WAIT_FOR_TRIGGER,
                                               [PORT_LAUNCH_ORDER] = WAIT_FOR_START_APART};
    bool kernels = to->work.kind == NODE_KERNEL && edge->node->work.kind == NODE_KERNEL;
    return (struct play_edge){edge->node->end, kernels ? by_port[edge->data.from_port] : WAIT_FOR_END};
}

/* Gives the steps that nothing of the graph comes after. */
static struct steps build(struct play *play, struct graph *graph, const struct steps *entry)
{
    struct graph_node **nodes;
    struct steps ends = {0}, after = {0};
    graph->play = play;
    graph_order(graph, &nodes);
    for (size_t i = 0; i < graph->count; i++) {
        after.count = 0;
        for (size_t k = 0; k < nodes[i]->before_count; k++)
            add_step(&after, edge_of(nodes[i], &nodes[i]->before[k]));
        build_node(play, nodes[i], after.count ? &after : entry);
    }
    for (size_t i = 0; i < graph->count; i++)
        nodes[i]->mark = 0;
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t k = 0; k < nodes[i]->before_count; k++)
            nodes[i]->before[k].node->mark = 1;
    }
    for (size_t i = 0; i < graph->count; i++) {
        if (!nodes[i]->mark)
            add_step(&ends, (struct play_edge){nodes[i]->end, WAIT_FOR_END});
    }
    for (uint32_t i = 0; !graph->count && i < entry->count; i++)
        add_step(&ends, entry->at[i]);
    mem_free(after.at);
    mem_free(nodes);
    return ends;
}

/* Conditional handles begin each launch with their value. */
static void add_initial_values(struct play *play, const struct graph *graph, struct steps *entry)
{
    for (size_t i = 0; i < graph->handle_count; i++) {
        const struct graph_handle *handle = &graph->handles[i];
        union CUstreamBatchMemOpParams set = {
            .value = {.operation = CU_WRITE_VALUE_32, .address = handle->at, .value = handle->initial}};
        struct node_work work = {.kind = NODE_VALUES, .device = handle->device, .values = {NULL, 1, &set, 0}};
        struct action **actions;
        size_t count;
        if (!(handle->flags & HANDLE_ASSIGN_DEFAULT) || node_make_actions(&work, &actions, &count))
            continue;
        uint32_t step = play_add(play, &(struct play_step){.action = actions[0],
                                                           .device = handle->device,
                                                           .after = entry->at,
                                                           .after_count = entry->count});
        node_release_actions(actions, count);
        entry->count = 0;
        add_step(entry, (struct play_edge){step, WAIT_FOR_END});
    }
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t k = 0; k < graph->nodes[i]->body_count; k++)
            add_initial_values(play, graph->nodes[i]->bodies[k], entry);
    }
}

static struct play *play_of(struct graph *graph)
{
    struct play *play = play_new();
    struct steps entry = {0};
    add_initial_values(play, graph, &entry);
    struct steps ends = build(play, graph, &entry);
    mem_free(ends.at);
    mem_free(entry.at);
    return play;
}

/* ---- what can be instantiated ---- */

static bool body_allows(enum node_kind kind)
{
    return kind == NODE_KERNEL || kind == NODE_COPY || kind == NODE_FILL || kind == NODE_CHILD ||
           kind == NODE_EMPTY || kind == NODE_CONDITION;
}

static cudaError_t fails(struct graph_trouble *trouble, int result, struct graph_node *node)
{
    *trouble = (struct graph_trouble){result, node, NULL};
    return cudaErrorInvalidValue;
}

static cudaError_t check_graph(const struct graph *graph, bool is_body, struct graph_trouble *trouble)
{
    struct graph_node **nodes;
    bool ordered = graph_order(graph, &nodes);
    mem_free(nodes);
    if (!ordered)
        return fails(trouble, GRAPH_INVALID_STRUCTURE, NULL);
    for (size_t i = 0; i < graph->handle_count; i++) {
        if (!graph->handles[i].is_used)
            return fails(trouble, GRAPH_HANDLE_UNUSED, NULL);
    }
    for (size_t i = 0; i < graph->count; i++) {
        struct graph_node *node = graph->nodes[i];
        bool condition = node->work.kind == NODE_CONDITION;
        if (is_body && !body_allows(node->work.kind))
            return fails(trouble, GRAPH_NODE_NOT_SUPPORTED, node);
        if (node->work.kind == NODE_RECORD && !node->action_count)
            return fails(trouble, GRAPH_ERROR, node);
        for (size_t k = 0; k < node->body_count; k++) {
            cudaError_t error = check_graph(node->bodies[k], is_body || condition, trouble);
            if (error)
                return error;
        }
    }
    return cudaSuccess;
}

/* Graphs that kernels launch have kernels, copies and fills of one device. */
static cudaError_t check_for_device(const struct graph *graph, unsigned long long flags,
                                    struct graph_trouble *trouble)
{
    if (!(flags & GRAPH_DEVICE_LAUNCH))
        return cudaSuccess;
    if (flags & GRAPH_AUTO_FREE || !graph->count)
        return fails(trouble, GRAPH_ERROR, NULL);
    for (size_t i = 0; i < graph->count; i++) {
        enum node_kind kind = graph->nodes[i]->work.kind;
        if (kind != NODE_KERNEL && kind != NODE_COPY && kind != NODE_FILL && kind != NODE_CHILD &&
            kind != NODE_EMPTY)
            return fails(trouble, GRAPH_NODE_NOT_SUPPORTED, graph->nodes[i]);
        if (graph->nodes[i]->work.device != graph->nodes[0]->work.device)
            return fails(trouble, GRAPH_SEVERAL_DEVICES, graph->nodes[i]);
    }
    return cudaSuccess;
}

static bool some_are_taken(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        if (node->work.updates && updates_is_taken(node->work.updates))
            return true;
        for (size_t k = 0; k < node->body_count; k++)
            if (some_are_taken(node->bodies[k]))
                return true;
    }
    return false;
}

/* Nodes that kernels may change are of one instantiated graph alone. False: of another one already, and none
 * was taken. */
static bool take_updatable(const struct graph *graph)
{
    if (some_are_taken(graph))
        return false;
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        if (node->work.updates)
            (void)updates_take(node->work.updates);
        for (size_t k = 0; k < node->body_count; k++)
            (void)take_updatable(node->bodies[k]);
    }
    return true;
}

static void give_updatable_back(const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        if (node->work.updates)
            updates_give_back(node->work.updates);
        for (size_t k = 0; k < node->body_count; k++)
            give_updatable_back(node->bodies[k]);
    }
}

static bool within_condition(const struct graph *graph)
{
    return graph->owner && graph->owner->work.kind == NODE_CONDITION;
}

cudaError_t graph_instantiate(struct graph_exec **exec, struct graph *graph, unsigned long long flags,
                              struct graph_trouble *trouble)
{
    const unsigned long long all = GRAPH_AUTO_FREE | GRAPH_UPLOAD | GRAPH_DEVICE_LAUNCH | GRAPH_USE_PRIORITY;
    *trouble = (struct graph_trouble){GRAPH_INSTANTIATED, NULL, NULL};
    if (!exec || !graph_is_known(graph) || flags & ~all)
        return fails(trouble, GRAPH_ERROR, NULL);
    if (graph->captured) {
        capture_poison(graph->captured);
        trouble->result = GRAPH_ERROR;
        return cudaErrorStreamCaptureUnsupported;
    }
    bool memory = graph_has_memory(graph);
    if (within_condition(graph) || (memory && graph->exec)) {
        trouble->result = GRAPH_ERROR;
        return cudaErrorNotSupported;
    }
    cudaError_t error = check_graph(graph, false, trouble);
    error = error ? error : check_for_device(graph, flags, trouble);
    if (!error && !take_updatable(graph))
        return fails(trouble, GRAPH_ERROR, graph_updatable_node(graph));
    if (error)
        return error;
    *exec = mem_alloc(1, sizeof **exec);
    (*exec)->flags = flags;
    (*exec)->copy = graph_copy(graph);
    (*exec)->play = play_of((*exec)->copy);
    if (flags & GRAPH_DEVICE_LAUNCH)
        play_set_handle((*exec)->play, (uintptr_t)*exec);
    if (memory) {
        (*exec)->of = graph;
        graph->exec = *exec;
    }
    set_known(*exec, true);
    return cudaSuccess;
}

/* ---- changes ---- */

/* The exec's own node for one of the graph's, or of a graph within. */
static struct graph_node *find(struct graph *copy, const struct graph_node *node)
{
    for (size_t i = 0; i < copy->count; i++) {
        struct graph_node *own = copy->nodes[i];
        if (own->origin == node)
            return own;
        for (size_t k = 0; k < own->body_count; k++) {
            struct graph_node *inner = find(own->bodies[k], node);
            if (inner)
                return inner;
        }
    }
    return NULL;
}

static bool is_row(const struct cudaMemcpy3DParms *copy)
{
    return copy->extent.height <= 1 && copy->extent.depth <= 1;
}

static bool is_of_device(const void *pointer)
{
    struct memory_facts facts;
    return memory_find(cuda_driver(), (uint64_t)(uintptr_t)pointer, &facts) && facts.device;
}

/* What an H200 lets be changed of a node: not where memory is, nor how many dimensions there are. */
static bool change_fits(const struct node_work *from, const struct node_work *to)
{
    if (from->kind == NODE_FILL)
        return (from->fill.height <= 1) == (to->fill.height <= 1);
    if (from->kind != NODE_COPY)
        return true;
    const struct cudaMemcpy3DParms *a = &from->copy, *b = &to->copy;
    return is_row(a) == is_row(b) && !a->srcArray == !b->srcArray && !a->dstArray == !b->dstArray &&
           is_of_device(a->srcPtr.ptr) == is_of_device(b->srcPtr.ptr) &&
           is_of_device(a->dstPtr.ptr) == is_of_device(b->dstPtr.ptr);
}

static void give_actions(struct graph_node *own, const struct node_work *work, struct action **actions,
                         size_t count)
{
    struct play *play = own->graph->play;
    for (size_t i = 0; i < count; i++)
        play_set_action(play, own->step + (uint32_t)i, actions[i]);
    node_release_actions(own->actions, own->action_count);
    node_take_work(own, work, actions, count);
}

cudaError_t graph_exec_set(struct graph_exec *exec, const struct graph_node *node, struct node_work *work)
{
    struct graph_node *own = graph_exec_is_known(exec) && node ? find(exec->copy, node) : NULL;
    struct action **actions;
    size_t count;
    if (!own || own->work.kind != work->kind || !change_fits(&own->work, work))
        return cudaErrorInvalidValue;
    if (work->kind == NODE_KERNEL)
        memcpy(work->attributes, own->work.attributes, sizeof work->attributes);
    work->updates = own->work.updates;
    work->device = own->work.device;
    cudaError_t error = node_make_actions(work, &actions, &count);
    if (!error && count != own->action_count) {
        node_release_actions(actions, count);
        error = cudaErrorInvalidValue;
    }
    if (error)
        return error;
    if (work->kind == NODE_WAIT)
        play_step(own->graph->play, own->step)->awaited = work->event;
    give_actions(own, work, actions, count);
    return cudaSuccess;
}

static int differs(struct graph_trouble *trouble, int result, struct graph_node *node)
{
    *trouble = (struct graph_trouble){result, node, NULL};
    return result;
}

static int compare_nodes(const struct graph_node *own, struct graph_node *node,
                         struct graph_trouble *trouble);

/* Nodes go together by the order in which they were made. */
static int compare(const struct graph *own, const struct graph *graph, struct graph_trouble *trouble)
{
    if (own->count != graph->count)
        return differs(trouble, UPDATE_TOPOLOGY_CHANGED, NULL);
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *a = own->nodes[i];
        struct graph_node *b = graph->nodes[i];
        if (a->before_count != b->before_count)
            return differs(trouble, UPDATE_TOPOLOGY_CHANGED, b);
        for (size_t k = 0; k < a->before_count; k++) {
            if (a->before[k].node->index != b->before[k].node->index ||
                memcmp(&a->before[k].data, &b->before[k].data, sizeof a->before[k].data) != 0)
                return differs(trouble, UPDATE_TOPOLOGY_CHANGED, b);
        }
    }
    int result = UPDATE_SUCCESS;
    for (size_t i = 0; i < graph->count && !result; i++)
        result = compare_nodes(own->nodes[i], graph->nodes[i], trouble);
    return result;
}

static int compare_nodes(const struct graph_node *own, struct graph_node *node, struct graph_trouble *trouble)
{
    if (own->work.kind != node->work.kind)
        return differs(trouble, UPDATE_TYPE_CHANGED, node);
    if (own->body_count != node->body_count || own->action_count != node->action_count ||
        own->work.device != node->work.device || !change_fits(&own->work, &node->work) ||
        (own->work.kind == NODE_CONDITION && own->work.condition.type != node->work.condition.type))
        return differs(trouble, UPDATE_PARAMETERS_CHANGED, node);
    if (own->work.kind == NODE_ALLOC && own->origin != node)
        return differs(trouble, UPDATE_NOT_SUPPORTED, node);
    int result = UPDATE_SUCCESS;
    for (size_t i = 0; i < own->body_count && !result; i++)
        result = compare(own->bodies[i], node->bodies[i], trouble);
    return result;
}

/* The actions of the one graph for the other, which is like it. */
static void set_all(struct graph *own, const struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        struct action **actions = mem_alloc(node->action_count, sizeof *actions);
        for (size_t k = 0; k < node->action_count; k++)
            actions[k] = action_keep(node->actions[k]);
        give_actions(own->nodes[i], &node->work, actions, node->action_count);
        for (size_t k = 0; k < node->body_count; k++)
            set_all(own->nodes[i]->bodies[k], node->bodies[k]);
    }
}

cudaError_t graph_exec_set_child(struct graph_exec *exec, const struct graph_node *node, struct graph *child)
{
    struct graph_trouble trouble;
    struct graph_node *own = graph_exec_is_known(exec) && node ? find(exec->copy, node) : NULL;
    if (!own || own->work.kind != NODE_CHILD || !graph_is_known(child))
        return cudaErrorInvalidValue;
    if (compare(own->bodies[0], child, &trouble))
        return cudaErrorGraphExecUpdateFailure;
    set_all(own->bodies[0], child);
    return cudaSuccess;
}

static bool can_be_off(const struct graph_node *node)
{
    return node->work.kind == NODE_KERNEL || node->work.kind == NODE_COPY || node->work.kind == NODE_FILL;
}

static struct graph_node *switch_of(struct graph_exec *exec, const struct graph_node *node)
{
    struct graph_node *own = graph_exec_is_known(exec) && node ? find(exec->copy, node) : NULL;
    return own && can_be_off(own) ? own : NULL;
}

cudaError_t graph_exec_enable(struct graph_exec *exec, const struct graph_node *node, bool enabled)
{
    const struct graph_node *own = switch_of(exec, node);
    if (!own)
        return cudaErrorInvalidValue;
    if (own->work.updates)
        updates_enable(own->work.updates, enabled);
    else
        play_step(own->graph->play, own->step)->is_off = !enabled;
    return cudaSuccess;
}

cudaError_t graph_exec_is_enabled(struct graph_exec *exec, const struct graph_node *node, unsigned *enabled)
{
    const struct graph_node *own = switch_of(exec, node);
    if (!own || !enabled)
        return cudaErrorInvalidValue;
    *enabled = own->work.updates ? updates_is_enabled(own->work.updates)
                                 : !play_step(own->graph->play, own->step)->is_off;
    return cudaSuccess;
}

/* ---- updates ---- */

/* What the program knows of the old nodes stays. */
static void carry_over(const struct graph *from, struct graph *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct graph_node *old = from->nodes[i];
        struct graph_node *own = to->nodes[i];
        own->origin = old->origin;
        play_step(to->play, own->step)->is_off = play_step(from->play, old->step)->is_off;
        for (size_t k = 0; k < own->body_count; k++)
            carry_over(old->bodies[k], own->bodies[k]);
    }
}

static void take_graph(struct graph_exec *exec, const struct graph *graph)
{
    struct graph *copy = graph_copy(graph);
    struct play *play = play_of(copy);
    carry_over(exec->copy, copy);
    play_follow(play, exec->play);
    graph_free(exec->copy);
    play_free(exec->play);
    exec->copy = copy;
    if (exec->flags & GRAPH_DEVICE_LAUNCH)
        play_set_handle(play, (uintptr_t)exec);
    exec->play = play;
}

cudaError_t graph_exec_update(struct graph_exec *exec, struct graph *graph, struct graph_trouble *trouble)
{
    *trouble = (struct graph_trouble){UPDATE_ERROR, NULL, NULL};
    if (!graph_exec_is_known(exec) || !graph_is_known(graph))
        return cudaErrorInvalidValue;
    struct graph_node *updatable = graph_updatable_node(graph);
    if (updatable || graph_updatable_node(exec->copy)) {
        differs(trouble, UPDATE_NOT_SUPPORTED, updatable);
        return cudaErrorGraphExecUpdateFailure;
    }
    if (compare(exec->copy, graph, trouble))
        return cudaErrorGraphExecUpdateFailure;
    take_graph(exec, graph);
    trouble->result = UPDATE_SUCCESS;
    return cudaSuccess;
}

/* ---- launches ---- */

const struct play *graph_exec_for_kernels(uint64_t handle)
{
    const struct graph_exec *exec = (const struct graph_exec *)(uintptr_t)handle;
    return graph_exec_is_known(exec) && exec->flags & GRAPH_DEVICE_LAUNCH ? exec->play : NULL;
}

cudaError_t graph_exec_launch(struct graph_exec *exec, cudaStream_t handle)
{
    if (!graph_exec_is_known(exec))
        return cudaErrorInvalidValue;
    cudaError_t error = cuda_refuse_captured(handle);
    if (error)
        return error;
    return stream_play(cuda_stream(handle), exec->play, exec->flags & GRAPH_AUTO_FREE);
}

cudaError_t graph_exec_destroy(struct graph_exec *exec)
{
    if (!graph_exec_is_known(exec))
        return cudaErrorInvalidValue;
    set_known(exec, false);
    if (exec->copy->object_count)
        play_wait(exec->play); /* the program's objects are used until then */
    if (exec->of && graph_is_known(exec->of))
        exec->of->exec = NULL;
    give_updatable_back(exec->copy);
    graph_free(exec->copy);
    play_free(exec->play);
    mem_free(exec);
    return cudaSuccess;
}
