/* What the files of graphs share. */
#ifndef RUNTIME_CUDA_GRAPH_PARTS_H
#define RUNTIME_CUDA_GRAPH_PARTS_H

#include "runtime/cuda/graph.h"

struct graph_edge {
    struct graph_node *node; /* that it comes from */
    struct cudaGraphEdgeData data;
};

struct graph_node {
    struct graph *graph;
    const struct graph_node *origin; /* what it was cloned from, or NULL */
    uint64_t number;
    size_t index; /* in the graph */
    struct node_work work;
    struct action **actions; /* one after another */
    size_t action_count;
    struct graph **bodies; /* of NODE_CONDITION; of NODE_CHILD the one child */
    size_t body_count;
    void **arguments; /* of NODE_KERNEL: where each is */
    struct graph_edge *before;
    size_t before_count, before_capacity;
    uint32_t step, end; /* of the play: its first action, and where it is done */
    uint32_t mark;      /* while nodes are put in order */
};

/* The value that a conditional node looks at. */
struct graph_handle {
    struct device *device;
    uint64_t at; /* its address, and what the program has as the handle */
    unsigned initial, flags;
    bool is_used;
};

struct graph_object {
    struct user_object *object;
    unsigned count;
};

struct graph {
    uint64_t number;
    struct graph_node **nodes;
    size_t count, capacity;
    struct graph_handle *handles;
    size_t handle_count, handle_capacity;
    struct graph_object *objects;
    size_t object_count, object_capacity;
    const struct graph_node *owner; /* of a body or a child; or NULL */
    struct graph_exec *exec;        /* the one that a graph with memory may have; or NULL */
    struct stream *captured;        /* which is captured into it just now; or NULL */
    bool is_program;                /* of a program, that captures into it */
    struct play *play;              /* of a graph that is instantiated: where its steps are; not its own */
};

enum { HANDLE_ASSIGN_DEFAULT = 1 };

bool graph_has_memory(const struct graph *graph);
struct graph_node *
graph_updatable_node(const struct graph *graph);     /* one that kernels may change; NULL: none */
struct graph *graph_copy(const struct graph *graph); /* of anything */
void graph_free(struct graph *graph);
struct graph_handle *graph_find_handle(struct graph *graph,
                                       uint64_t handle); /* its own, or of one it is within */
/* Nodes so that each comes after those it waits for; false: there is a circle. The caller frees the list. */
bool graph_order(const struct graph *graph, struct graph_node ***nodes);

/* What a node does: as checked now. count: of the actions. */
cudaError_t node_make_actions(struct node_work *work, struct action ***actions, size_t *count);
void node_take_work(struct graph_node *node, const struct node_work *work, struct action **actions,
                    size_t count);
void node_release_actions(struct action **actions, size_t count);
/* What a captured command does. */
void node_read_action(struct node_work *work, const struct action *action);
struct memory_graph_request;
cudaError_t graph_alloc_request(const struct node_work *work, struct memory_graph_request *request);

cudaError_t edge_check(const struct graph_node *from, const struct graph_node *to,
                       const struct cudaGraphEdgeData *data);
bool edge_is_plain(const struct cudaGraphEdgeData *data);

void user_object_release(struct user_object *object, unsigned count);
void user_object_retain(struct user_object *object, unsigned count);

#endif
