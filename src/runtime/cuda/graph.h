/* Graphs: work that is described once and submitted many times. What a node does is kept as commands of the
 * driver's, as if it had been captured (driver/play.h). */
#ifndef RUNTIME_CUDA_GRAPH_H
#define RUNTIME_CUDA_GRAPH_H

#include "runtime/cuda/api.h"
#include "driver/play.h"

struct graph;      /* a cudaGraph_t */
struct graph_node; /* a cudaGraphNode_t */
struct graph_exec; /* a cudaGraphExec_t */

enum node_kind { /* CUDA's numbers */
                 NODE_KERNEL,
                 NODE_COPY,
                 NODE_FILL,
                 NODE_HOST,
                 NODE_CHILD,
                 NODE_EMPTY,
                 NODE_WAIT,
                 NODE_RECORD,
                 NODE_ALLOC = 10,
                 NODE_FREE,
                 NODE_VALUES,
                 NODE_CONDITION
};

/* What a node is to do. */
struct node_work {
    enum node_kind kind;
    struct device *device;
    union {
        struct cudaKernelNodeParams kernel; /* of a node: its arguments are the node's own */
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        struct cudaMemAllocNodeParams alloc; /* its address is written when the node is made */
        void *freed;
        cudaEvent_t event;
        struct cudaChildGraphNodeParams child;
        struct cudaConditionalNodeParams condition;  /* its graphs are written when the node is made */
        struct CUDA_BATCH_MEM_OP_NODE_PARAMS values; /* of a node: the list is its own */
    };
    uint64_t again; /* of NODE_ALLOC: an address that is free by then; or 0 */
    struct cudaLaunchAttribute attributes[KERNEL_NODE_ATTRIBUTES]; /* of NODE_KERNEL; id 0: not set */
    struct updates *updates; /* of NODE_KERNEL that kernels may change: kept by nodes; or NULL */
};

/* Nodes that another comes after, and of which kind each edge is (NULL: all plain). */
struct node_list {
    struct graph_node *const *at;
    const struct cudaGraphEdgeData *edges;
    size_t count;
};

/* ---- graphs; a handle that is none gives INVALID_VALUE ---- */

cudaError_t graph_create(struct graph **graph, unsigned flags);
struct graph *graph_new(void);
bool graph_is_known(const struct graph *graph);
cudaError_t graph_destroy(struct graph *graph);
cudaError_t graph_clone(struct graph **clone, struct graph *graph); /* not of memory, nor of conditions */

cudaError_t graph_add(struct graph_node **node, struct graph *graph, const struct node_list *before,
                      struct node_work *work);
/* One that is made otherwise; its actions (count of them) are its own from now on. */
struct graph_node *graph_add_made(struct graph *graph, const struct node_list *before,
                                  const struct node_work *work, struct action **actions, size_t count);
cudaError_t graph_remove(struct graph_node *node);
cudaError_t graph_connect(struct graph *graph, const struct node_list *from, struct graph_node *const *to);
cudaError_t graph_disconnect(struct graph *graph, const struct node_list *from, struct graph_node *const *to);
bool graph_covers(const struct graph *graph, struct graph_node *const *ends, size_t count,
                  const struct graph_node *node);

cudaError_t graph_handle_new(struct graph *graph, struct device *device, unsigned initial, unsigned flags,
                             uint64_t *handle);

/* Objects of the program that live as long as a graph uses them. */
struct user_object;
cudaError_t graph_retain(struct graph *graph, struct user_object *object, unsigned count, bool moved);
cudaError_t graph_release(struct graph *graph, struct user_object *object, unsigned count);

/* ---- nodes ---- */

const struct node_work *node_work(const struct graph_node *node);
cudaError_t node_set(struct graph_node *node, struct node_work *work);
struct graph_node *node_in_clone(const struct graph_node *node, const struct graph *clone);
struct graph *node_child(const struct graph_node *node); /* or NULL */
unsigned long long node_number(const struct graph_node *node);

/* Of cudaGraphAddNode and its like; what the node has then is written back. */
cudaError_t node_work_of(struct node_work *work, const struct cudaGraphNodeParams *what);
void node_tell_made(const struct node_work *work, struct cudaGraphNodeParams *what);
cudaError_t node_change(struct graph_node *node, struct node_work *work);
cudaError_t graph_exec_change(struct graph_exec *exec, struct graph_node *node, struct node_work *work);

bool node_has_attribute(int attribute);
cudaError_t node_get_attribute(struct graph_node *node, int id, void *value);
cudaError_t node_set_attribute(struct graph_node *node, int id, const void *value);
cudaError_t node_copy_attributes(struct graph_node *to, struct graph_node *from);

/* ---- instantiated graphs ---- */

enum {
    GRAPH_AUTO_FREE = 1,
    GRAPH_UPLOAD = 2,
    GRAPH_DEVICE_LAUNCH = 4,
    GRAPH_USE_PRIORITY = 8
};                              /* CUDA's bits, */
enum graph_instantiate_result { /* and its numbers, also here */
                                GRAPH_INSTANTIATED,
                                GRAPH_ERROR,
                                GRAPH_INVALID_STRUCTURE,
                                GRAPH_NODE_NOT_SUPPORTED,
                                GRAPH_SEVERAL_DEVICES,
                                GRAPH_HANDLE_UNUSED
};
enum graph_update_result {
    UPDATE_SUCCESS,
    UPDATE_ERROR,
    UPDATE_TOPOLOGY_CHANGED,
    UPDATE_TYPE_CHANGED,
    UPDATE_FUNCTION_CHANGED,
    UPDATE_PARAMETERS_CHANGED,
    UPDATE_NOT_SUPPORTED
};

struct graph_trouble {
    int result;
    struct graph_node *node, *from;
};
cudaError_t graph_instantiate(struct graph_exec **exec, struct graph *graph, unsigned long long flags,
                              struct graph_trouble *trouble);
bool graph_exec_is_known(const struct graph_exec *exec);
unsigned long long graph_exec_flags(const struct graph_exec *exec);
unsigned long long graph_exec_number(const struct graph_exec *exec);
cudaError_t graph_exec_update(struct graph_exec *exec, struct graph *graph, struct graph_trouble *trouble);
cudaError_t graph_exec_set(struct graph_exec *exec, const struct graph_node *node, struct node_work *work);
cudaError_t graph_exec_set_child(struct graph_exec *exec, const struct graph_node *node, struct graph *child);
cudaError_t graph_exec_enable(struct graph_exec *exec, const struct graph_node *node, bool enabled);
cudaError_t graph_exec_is_enabled(struct graph_exec *exec, const struct graph_node *node, unsigned *enabled);
cudaError_t graph_exec_launch(struct graph_exec *exec, cudaStream_t stream);
const struct play *graph_exec_for_kernels(uint64_t handle); /* that kernels launch; NULL: they may not */
cudaError_t graph_exec_destroy(struct graph_exec *exec);

/* ---- capture ---- */

cudaError_t graph_capture_begin(cudaStream_t stream, int mode, struct graph *graph,
                                const struct node_list *from);
cudaError_t graph_capture_end(cudaStream_t stream, struct graph **graph);
cudaError_t graph_capture_facts(cudaStream_t stream, int *status, unsigned long long *id,
                                struct graph **graph, struct graph_node *const **nodes,
                                const struct cudaGraphEdgeData **edges, size_t *count);
cudaError_t graph_capture_set(cudaStream_t stream, const struct node_list *nodes, unsigned flags);

#endif
