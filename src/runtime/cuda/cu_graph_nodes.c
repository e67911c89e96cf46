/* Graphs made node by node, with the driver API. */
#include "runtime/cuda/copy.h"
#include "runtime/cuda/graph_memory.h"

static CUresult add(struct graph_node **node, struct graph *graph, struct graph_node *const *before,
                    size_t count, struct node_work *work)
{
    work->device = work->device ? work->device : cuda_device();
    return graph_add(node, graph, &(struct node_list){before, NULL, count}, work);
}

static struct device *device_of(CUcontext context)
{
    return context ? context->device : cuda_device();
}

CU(cuGraphDestroyNode, (node), struct graph_node *node)
{
    return graph_remove(node);
}

CU(cuGraphAddEmptyNode, (node, graph, before, count), struct graph_node **node, struct graph *graph,
   struct graph_node *const *before, size_t count)
{
    return add(node, graph, before, count, &(struct node_work){.kind = NODE_EMPTY});
}

CU(cuGraphAddChildGraphNode, (node, graph, before, count, child), struct graph_node **node,
   struct graph *graph, struct graph_node *const *before, size_t count, struct graph *child)
{
    return add(node, graph, before, count, &(struct node_work){.kind = NODE_CHILD, .child = {child, 0}});
}

CU(cuGraphExecChildGraphNodeSetParams, (exec, node, child), struct graph_exec *exec, struct graph_node *node,
   struct graph *child)
{
    return graph_exec_set_child(exec, node, child);
}

#define EDGES(name, change)                                                                                  \
    CU(name, (graph, from, to, count), struct graph *graph, struct graph_node *const *from,                  \
       struct graph_node *const *to, size_t count)                                                           \
    {                                                                                                        \
        return change(graph, &(struct node_list){from, NULL, count}, to);                                    \
    }                                                                                                        \
    CU(name##_v2, (graph, from, to, edges, count), struct graph *graph, struct graph_node *const *from,      \
       struct graph_node *const *to, const struct cudaGraphEdgeData *edges, size_t count)                    \
    {                                                                                                        \
        return change(graph, &(struct node_list){from, edges, count}, to);                                   \
    }

EDGES(cuGraphAddDependencies, graph_connect)
EDGES(cuGraphRemoveDependencies, graph_disconnect)

/* ---- kernels: version 1 has neither a CUkernel nor a context ---- */

static CUresult kernel_work(struct node_work *work, const struct CUDA_KERNEL_NODE_PARAMS *what, int version)
{
    *work = (struct node_work){.kind = NODE_KERNEL};
    if (!what)
        return cudaErrorInvalidValue;
    CUfunction function = what->func || version == 1 ? what->func : what->kern;
    work->device = version == 1 ? cuda_device() : device_of(what->ctx);
    work->kernel = (struct cudaKernelNodeParams){
        function, what->gridDim, what->blockDim, what->sharedMemBytes, what->kernelParams, what->extra};
    return function ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

static CUresult get_kernel(struct graph_node *node, struct CUDA_KERNEL_NODE_PARAMS *what, int version)
{
    if (!node || !what || node_work(node)->kind != NODE_KERNEL)
        return cudaErrorInvalidValue;
    const struct cudaKernelNodeParams *kernel = &node_work(node)->kernel;
    what->func = kernel->func;
    what->gridDim = kernel->gridDim;
    what->blockDim = kernel->blockDim;
    what->sharedMemBytes = kernel->sharedMemBytes;
    what->kernelParams = kernel->kernelParams;
    what->extra = kernel->extra;
    if (version > 1) {
        what->kern = NULL;
        what->ctx = cuda_primary(device_index(node_work(node)->device));
    }
    return cudaSuccess;
}

#define KERNEL_FUNCTIONS(behind, version)                                                                    \
    CU(cuGraphAddKernelNode##behind, (node, graph, before, count, what), struct graph_node **node,           \
       struct graph *graph, struct graph_node *const *before, size_t count,                                  \
       const struct CUDA_KERNEL_NODE_PARAMS *what)                                                           \
    {                                                                                                        \
        struct node_work work;                                                                               \
        CUresult error = kernel_work(&work, what, version);                                                  \
        return error ? error : add(node, graph, before, count, &work);                                       \
    }                                                                                                        \
    CU(cuGraphKernelNodeSetParams##behind, (node, what), struct graph_node *node,                            \
       const struct CUDA_KERNEL_NODE_PARAMS *what)                                                           \
    {                                                                                                        \
        struct node_work work;                                                                               \
        CUresult error = kernel_work(&work, what, version);                                                  \
        return error ? error : node_set(node, &work);                                                        \
    }                                                                                                        \
    CU(cuGraphExecKernelNodeSetParams##behind, (exec, node, what), struct graph_exec *exec,                  \
       struct graph_node *node, const struct CUDA_KERNEL_NODE_PARAMS *what)                                  \
    {                                                                                                        \
        struct node_work work;                                                                               \
        CUresult error = kernel_work(&work, what, version);                                                  \
        return error ? error : graph_exec_set(exec, node, &work);                                            \
    }                                                                                                        \
    CU(cuGraphKernelNodeGetParams##behind, (node, what), struct graph_node *node,                            \
       struct CUDA_KERNEL_NODE_PARAMS *what)                                                                 \
    {                                                                                                        \
        return get_kernel(node, what, version);                                                              \
    }

KERNEL_FUNCTIONS(, 1)
KERNEL_FUNCTIONS(_v2, 2)

CU(cuGraphKernelNodeGetAttribute, (node, id, value), struct graph_node *node, int id, void *value)
{
    return node_get_attribute(node, id, value);
}

CU(cuGraphKernelNodeSetAttribute, (node, id, value), struct graph_node *node, int id, const void *value)
{
    return node_set_attribute(node, id, value);
}

CU(cuGraphKernelNodeCopyAttributes, (to, from), struct graph_node *to, struct graph_node *from)
{
    return node_copy_attributes(to, from);
}

/* ---- copies and fills, which name a context ---- */

static CUresult copy_work(struct node_work *work, const struct CUDA_MEMCPY3D *what, CUcontext context)
{
    struct copy copy;
    if (!what || !cuda_copy_of_box(what, &copy))
        return cudaErrorInvalidValue;
    *work = (struct node_work){.kind = NODE_COPY, .device = device_of(context), .copy = cuda_box_of(&copy)};
    return cudaSuccess;
}

CU(cuGraphAddMemcpyNode, (node, graph, before, count, what, context), struct graph_node **node,
   struct graph *graph, struct graph_node *const *before, size_t count, const struct CUDA_MEMCPY3D *what,
   CUcontext context)
{
    struct node_work work;
    CUresult error = copy_work(&work, what, context);
    return error ? error : add(node, graph, before, count, &work);
}

CU(cuGraphMemcpyNodeSetParams, (node, what), struct graph_node *node, const struct CUDA_MEMCPY3D *what)
{
    struct node_work work;
    CUresult error = copy_work(&work, what, NULL);
    return error ? error : node_set(node, &work);
}

CU(cuGraphExecMemcpyNodeSetParams, (exec, node, what, context), struct graph_exec *exec,
   struct graph_node *node, const struct CUDA_MEMCPY3D *what, CUcontext context)
{
    struct node_work work;
    CUresult error = copy_work(&work, what, context);
    return error ? error : graph_exec_set(exec, node, &work);
}

CU(cuGraphMemcpyNodeGetParams, (node, what), struct graph_node *node, struct CUDA_MEMCPY3D *what)
{
    if (!node || !what || node_work(node)->kind != NODE_COPY)
        return cudaErrorInvalidValue;
    *what = cuda_box_for_driver(&node_work(node)->copy);
    return cudaSuccess;
}

static CUresult fill_work(struct node_work *work, const struct cudaMemsetParams *what, CUcontext context)
{
    *work = (struct node_work){.kind = NODE_FILL, .device = device_of(context)};
    if (what)
        work->fill = *what;
    return what ? cudaSuccess : cudaErrorInvalidValue;
}

CU(cuGraphAddMemsetNode, (node, graph, before, count, what, context), struct graph_node **node,
   struct graph *graph, struct graph_node *const *before, size_t count, const struct cudaMemsetParams *what,
   CUcontext context)
{
    struct node_work work;
    CUresult error = fill_work(&work, what, context);
    return error ? error : add(node, graph, before, count, &work);
}

CU(cuGraphMemsetNodeSetParams, (node, what), struct graph_node *node, const struct cudaMemsetParams *what)
{
    struct node_work work;
    CUresult error = fill_work(&work, what, NULL);
    return error ? error : node_set(node, &work);
}

CU(cuGraphExecMemsetNodeSetParams, (exec, node, what, context), struct graph_exec *exec,
   struct graph_node *node, const struct cudaMemsetParams *what, CUcontext context)
{
    struct node_work work;
    CUresult error = fill_work(&work, what, context);
    return error ? error : graph_exec_set(exec, node, &work);
}

CU(cuGraphMemsetNodeGetParams, (node, what), struct graph_node *node, struct cudaMemsetParams *what)
{
    if (!node || !what || node_work(node)->kind != NODE_FILL)
        return cudaErrorInvalidValue;
    *what = node_work(node)->fill;
    return cudaSuccess;
}

/* ---- host functions, values, events: a node has one field ---- */

#define FIELD_FUNCTIONS(Add, Set, SetExec, Get, KIND, field, type)                                           \
    CU(Add, (node, graph, before, count, what), struct graph_node **node, struct graph *graph,               \
       struct graph_node *const *before, size_t count, const struct type *what)                              \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return add(node, graph, before, count, &work);                                                       \
    }                                                                                                        \
    CU(Set, (node, what), struct graph_node *node, const struct type *what)                                  \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return node_set(node, &work);                                                                        \
    }                                                                                                        \
    CU(SetExec, (exec, node, what), struct graph_exec *exec, struct graph_node *node,                        \
       const struct type *what)                                                                              \
    {                                                                                                        \
        struct node_work work = {.kind = KIND};                                                              \
        if (!what)                                                                                           \
            return cudaErrorInvalidValue;                                                                    \
        work.field = *what;                                                                                  \
        return graph_exec_set(exec, node, &work);                                                            \
    }                                                                                                        \
    CU(Get, (node, what), struct graph_node *node, struct type *what)                                        \
    {                                                                                                        \
        if (!node || !what || node_work(node)->kind != KIND)                                                 \
            return cudaErrorInvalidValue;                                                                    \
        *what = node_work(node)->field;                                                                      \
        return cudaSuccess;                                                                                  \
    }

FIELD_FUNCTIONS(cuGraphAddHostNode, cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams,
                cuGraphHostNodeGetParams, NODE_HOST, host, cudaHostNodeParams)
FIELD_FUNCTIONS(cuGraphAddBatchMemOpNode, cuGraphBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams,
                cuGraphBatchMemOpNodeGetParams, NODE_VALUES, values, CUDA_BATCH_MEM_OP_NODE_PARAMS)

#define EVENT_FUNCTIONS(Name, KIND)                                                                          \
    CU(cuGraphAddEvent##Name##Node, (node, graph, before, count, event), struct graph_node **node,           \
       struct graph *graph, struct graph_node *const *before, size_t count, cudaEvent_t event)               \
    {                                                                                                        \
        return add(node, graph, before, count, &(struct node_work){.kind = KIND, .event = event});           \
    }                                                                                                        \
    CU(cuGraphEvent##Name##NodeSetEvent, (node, event), struct graph_node *node, cudaEvent_t event)          \
    {                                                                                                        \
        return node_set(node, &(struct node_work){.kind = KIND, .event = event});                            \
    }                                                                                                        \
    CU(cuGraphExecEvent##Name##NodeSetEvent, (exec, node, event), struct graph_exec *exec,                   \
       struct graph_node *node, cudaEvent_t event)                                                           \
    {                                                                                                        \
        return graph_exec_set(exec, node, &(struct node_work){.kind = KIND, .event = event});                \
    }                                                                                                        \
    CU(cuGraphEvent##Name##NodeGetEvent, (node, event), struct graph_node *node, cudaEvent_t *event)         \
    {                                                                                                        \
        if (!node || !event || node_work(node)->kind != KIND)                                                \
            return cudaErrorInvalidValue;                                                                    \
        *event = node_work(node)->event;                                                                     \
        return cudaSuccess;                                                                                  \
    }

EVENT_FUNCTIONS(Record, NODE_RECORD)
EVENT_FUNCTIONS(Wait, NODE_WAIT)

/* ---- conditions, nodes of any kind ---- */

CU(cuGraphConditionalHandleCreate, (handle, graph, context, initial, flags), uint64_t *handle,
   struct graph *graph, CUcontext context, unsigned initial, unsigned flags)
{
    return context ? graph_handle_new(graph, context->device, initial, flags, handle)
                   : cudaErrorDeviceUninitialized;
}

/* CUgraphNodeParams: as the runtime's, but for kernels and copies. */
union driver_params {
    struct CUDA_KERNEL_NODE_PARAMS kernel;
    struct {
        int flags, reserved;
        CUcontext context;
        struct CUDA_MEMCPY3D copy;
    } copy;
    struct {
        struct cudaMemsetParams fill;
        CUcontext context;
    } fill;
    struct CUDA_BATCH_MEM_OP_NODE_PARAMS values;
};

static CUresult work_of(struct node_work *work, const struct cudaGraphNodeParams *what)
{
    *work = (struct node_work){0};
    if (!what || what->reserved0[0] || what->reserved0[1] || what->reserved0[2] || what->reserved2)
        return cudaErrorInvalidValue;
    const union driver_params *own = (const union driver_params *)(const void *)what->reserved1;
    switch (what->type) {
    case NODE_KERNEL:
        return kernel_work(work, &own->kernel, 3);
    case NODE_COPY:
        return copy_work(work, &own->copy.copy, own->copy.context);
    case NODE_FILL:
        return fill_work(work, &own->fill.fill, own->fill.context);
    case NODE_VALUES:
        *work = (struct node_work){.kind = NODE_VALUES, .device = device_of(own->values.ctx)};
        work->values = own->values;
        return cudaSuccess;
    default:
        return node_work_of(work, what);
    }
}

static CUresult add_any(struct graph_node **node, struct graph *graph, const struct node_list *before,
                        struct cudaGraphNodeParams *what)
{
    struct node_work work;
    CUresult error = work_of(&work, what);
    if (!error)
        error = graph_add(node, graph, before, &work);
    if (!error)
        node_tell_made(&work, what);
    return error;
}

CU(cuGraphAddNode, (node, graph, before, count, what), struct graph_node **node, struct graph *graph,
   struct graph_node *const *before, size_t count, struct cudaGraphNodeParams *what)
{
    return add_any(node, graph, &(struct node_list){before, NULL, count}, what);
}

CU(cuGraphAddNode_v2, (node, graph, before, edges, count, what), struct graph_node **node,
   struct graph *graph, struct graph_node *const *before, const struct cudaGraphEdgeData *edges, size_t count,
   struct cudaGraphNodeParams *what)
{
    return add_any(node, graph, &(struct node_list){before, edges, count}, what);
}

CU(cuGraphNodeSetParams, (node, what), struct graph_node *node, struct cudaGraphNodeParams *what)
{
    struct node_work work;
    CUresult error = work_of(&work, what);
    return error ? error : node_change(node, &work);
}

CU(cuGraphExecNodeSetParams, (exec, node, what), struct graph_exec *exec, struct graph_node *node,
   struct cudaGraphNodeParams *what)
{
    struct node_work work;
    CUresult error = work_of(&work, what);
    return error ? error : graph_exec_change(exec, node, &work);
}

/* ---- memory: CUDA_MEM_ALLOC_NODE_PARAMS has the layout of the runtime's ---- */

CU(cuGraphAddMemAllocNode, (node, graph, before, count, what), struct graph_node **node, struct graph *graph,
   struct graph_node *const *before, size_t count, struct cudaMemAllocNodeParams *what)
{
    return graph_add_alloc(node, graph, before, count, what);
}

CU(cuGraphAddMemFreeNode, (node, graph, before, count, address), struct graph_node **node,
   struct graph *graph, struct graph_node *const *before, size_t count, CUdeviceptr address)
{
    return graph_add_free(node, graph, before, count, (void *)(uintptr_t)address);
}

CU(cuGraphMemAllocNodeGetParams, (node, what), struct graph_node *node, struct cudaMemAllocNodeParams *what)
{
    return graph_alloc_of(node, what);
}

CU(cuGraphMemFreeNodeGetParams, (node, address), struct graph_node *node, CUdeviceptr *address)
{
    void *pointer = NULL;
    cudaError_t error = address ? graph_free_of(node, &pointer) : cudaErrorInvalidValue;
    if (!error)
        *address = (CUdeviceptr)(uintptr_t)pointer;
    return error;
}

CU_ANY(cuDeviceGetGraphMemAttribute, (device, attribute, value), int device, int attribute, uint64_t *value)
{
    return cuda_graph_memory_attribute(device, attribute, value);
}

CU_ANY(cuDeviceSetGraphMemAttribute, (device, attribute, value), int device, int attribute, uint64_t *value)
{
    return cuda_graph_memory_set_attribute(device, attribute, value);
}

CU_ANY(cuDeviceGraphMemTrim, (device), int device)
{
    return cuda_graph_memory_trim(device);
}
