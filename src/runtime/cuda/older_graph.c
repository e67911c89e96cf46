/* Graphs and captures as CUDA 11 and 12 had them: edges have no data. And the launch calls of CUDA 7 to 10.
 */
#include "runtime/cuda/older.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/register.h"

#include "base/mem.h"

#include <string.h>

/* ---- graphs ---- */

EXPORT cudaError_t older_graph_connect(struct graph *, const cudaGraphNode_t *, const cudaGraphNode_t *,
                                       size_t);
EXPORT cudaError_t older_graph_cut(struct graph *, const cudaGraphNode_t *, const cudaGraphNode_t *, size_t);
EXPORT cudaError_t older_graph_edges(struct graph *, cudaGraphNode_t *, cudaGraphNode_t *, size_t *);
EXPORT cudaError_t older_graph_add(cudaGraphNode_t *, struct graph *, const cudaGraphNode_t *, size_t,
                                   void *);
EXPORT cudaError_t older_node_before(cudaGraphNode_t, cudaGraphNode_t *, size_t *);
EXPORT cudaError_t older_node_after(cudaGraphNode_t, cudaGraphNode_t *, size_t *);
EXPORT cudaError_t older_11_graph_instantiate(struct graph_exec **, struct graph *, cudaGraphNode_t *, char *,
                                              size_t);
EXPORT cudaError_t older_11_graph_update(struct graph_exec *, struct graph *, cudaGraphNode_t *, int *);
EXPORT cudaError_t older_12_graph_instantiate(struct graph_exec **, struct graph *, unsigned long long);
EXPORT cudaError_t older_12_graph_update(struct graph_exec *, struct graph *,
                                         struct cudaGraphExecUpdateResultInfo *);
EXPORT cudaError_t cudaGraphAddDependencies_v2(struct graph *, const cudaGraphNode_t *,
                                               const cudaGraphNode_t *, const void *, size_t);
EXPORT cudaError_t cudaGraphRemoveDependencies_v2(struct graph *, const cudaGraphNode_t *,
                                                  const cudaGraphNode_t *, const void *, size_t);
EXPORT cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *, struct graph *, const cudaGraphNode_t *,
                                       const void *, size_t, void *);
EXPORT cudaError_t cudaGraphGetEdges_v2(struct graph *, cudaGraphNode_t *, cudaGraphNode_t *, void *,
                                        size_t *);
EXPORT cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *);
EXPORT cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *);

cudaError_t older_graph_connect(struct graph *graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}

cudaError_t cudaGraphAddDependencies_v2(struct graph *graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const void *edges, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, edges, count);
}

cudaError_t older_graph_cut(struct graph *graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                            size_t count)
{
    return cudaGraphRemoveDependencies(graph, from, to, NULL, count);
}

cudaError_t cudaGraphRemoveDependencies_v2(struct graph *graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, const void *edges, size_t count)
{
    return cudaGraphRemoveDependencies(graph, from, to, edges, count);
}

cudaError_t older_graph_edges(struct graph *graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, NULL, count);
}

cudaError_t cudaGraphGetEdges_v2(struct graph *graph, cudaGraphNode_t *from, cudaGraphNode_t *to, void *edges,
                                 size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, edges, count);
}

cudaError_t older_graph_add(cudaGraphNode_t *node, struct graph *graph, const cudaGraphNode_t *before,
                            size_t count, void *parameters)
{
    return cudaGraphAddNode(node, graph, before, NULL, count, parameters);
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, struct graph *graph, const cudaGraphNode_t *before,
                                const void *edges, size_t count, void *parameters)
{
    return cudaGraphAddNode(node, graph, before, edges, count, parameters);
}

cudaError_t older_node_before(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, nodes, NULL, count);
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes, void *edges,
                                            size_t *count)
{
    return cudaGraphNodeGetDependencies(node, nodes, edges, count);
}

cudaError_t older_node_after(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return cudaGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes, void *edges,
                                              size_t *count)
{
    return cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}

cudaError_t older_11_graph_instantiate(struct graph_exec **exec, struct graph *graph, cudaGraphNode_t *node,
                                       char *log, size_t bytes)
{
    if (node)
        *node = NULL;
    if (log && bytes)
        *log = 0;
    return cudaGraphInstantiate(exec, graph, 0);
}

cudaError_t older_12_graph_instantiate(struct graph_exec **exec, struct graph *graph,
                                       unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t older_11_graph_update(struct graph_exec *exec, struct graph *graph, cudaGraphNode_t *node,
                                  int *result)
{
    struct cudaGraphExecUpdateResultInfo info = {0};
    cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    if (node)
        *node = info.errorNode;
    if (result)
        *result = info.result;
    return error;
}

cudaError_t older_12_graph_update(struct graph_exec *exec, struct graph *graph,
                                  struct cudaGraphExecUpdateResultInfo *info)
{
    return cudaGraphExecUpdate(exec, graph, info);
}

/* ---- captures ---- */

#define CAPTURE(ending)                                                                                      \
    EXPORT cudaError_t older_capture##ending(cudaStream_t, int *, unsigned long long *);                     \
    EXPORT cudaError_t cudaStreamGetCaptureInfo_v2##ending(                                                  \
        cudaStream_t, int *, unsigned long long *, struct graph **, const cudaGraphNode_t **, size_t *);     \
    EXPORT cudaError_t cudaStreamGetCaptureInfo_v3##ending(cudaStream_t, int *, unsigned long long *,        \
                                                           struct graph **, const cudaGraphNode_t **,        \
                                                           const void **, size_t *);                         \
    EXPORT cudaError_t older_update_capture##ending(cudaStream_t, cudaGraphNode_t *, size_t, unsigned);      \
    EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_v2##ending(cudaStream_t, cudaGraphNode_t *,       \
                                                                      const void *, size_t, unsigned);       \
    cudaError_t older_capture##ending(cudaStream_t stream, int *status, unsigned long long *id)              \
    {                                                                                                        \
        return cudaStreamGetCaptureInfo##ending(stream, status, id, NULL, NULL, NULL, NULL);                 \
    }                                                                                                        \
    cudaError_t cudaStreamGetCaptureInfo_v2##ending(cudaStream_t stream, int *status,                        \
                                                    unsigned long long *id, struct graph **graph,            \
                                                    const cudaGraphNode_t **nodes, size_t *count)            \
    {                                                                                                        \
        return cudaStreamGetCaptureInfo##ending(stream, status, id, graph, nodes, NULL, count);              \
    }                                                                                                        \
    cudaError_t cudaStreamGetCaptureInfo_v3##ending(                                                         \
        cudaStream_t stream, int *status, unsigned long long *id, struct graph **graph,                      \
        const cudaGraphNode_t **nodes, const void **edges, size_t *count)                                    \
    {                                                                                                        \
        return cudaStreamGetCaptureInfo##ending(stream, status, id, graph, nodes, edges, count);             \
    }                                                                                                        \
    cudaError_t older_update_capture##ending(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count,      \
                                             unsigned flags)                                                 \
    {                                                                                                        \
        return cudaStreamUpdateCaptureDependencies##ending(stream, nodes, NULL, count, flags);               \
    }                                                                                                        \
    cudaError_t cudaStreamUpdateCaptureDependencies_v2##ending(                                              \
        cudaStream_t stream, cudaGraphNode_t *nodes, const void *edges, size_t count, unsigned flags)        \
    {                                                                                                        \
        return cudaStreamUpdateCaptureDependencies##ending(stream, nodes, edges, count, flags);              \
    }
CAPTURE_FUNCTIONS(CAPTURE)

#define OLDER_IN_plain(...)
#define OLDER_IN_graph(...) __VA_ARGS__
#include "runtime/cuda/older_symbols.h"

/* ---- launches in three calls: the configuration, each argument, the kernel ---- */

enum { MOST_CALLS = 16, ARGUMENT_BYTES = 4096 };
struct call {
    struct launch_request request;
    size_t bytes;
    _Alignas(16) unsigned char arguments[ARGUMENT_BYTES];
};
static __thread struct call *calls; /* an argument may launch something itself */
static __thread unsigned call_count;

API(cudaConfigureCall, (grid, block, shared_bytes, stream), struct dim3 grid, struct dim3 block,
    size_t shared_bytes, cudaStream_t stream)
{
    if (!cuda_stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (call_count == MOST_CALLS)
        return cudaErrorLaunchOutOfResources;
    if (!calls)
        calls = mem_alloc(MOST_CALLS, sizeof *calls);
    struct call *call = &calls[call_count++];
    call->request =
        (struct launch_request){.grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream};
    call->bytes = 0;
    return cudaSuccess;
}

API(cudaSetupArgument, (argument, bytes, offset), const void *argument, size_t bytes, size_t offset)
{
    if (!call_count)
        return cudaErrorMissingConfiguration;
    struct call *call = &calls[call_count - 1];
    if (!argument || offset > sizeof call->arguments || bytes > sizeof call->arguments - offset)
        return cudaErrorInvalidValue;
    memcpy(call->arguments + offset, argument, bytes);
    call->bytes = call->bytes > offset + bytes ? call->bytes : offset + bytes;
    return cudaSuccess;
}

API(cudaLaunch, (function), const void *function)
{
    if (!call_count)
        return cudaErrorMissingConfiguration;
    struct call *call = &calls[--call_count];
    struct function *kernel = cuda_function(function);
    void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, call->arguments, CU_LAUNCH_PARAM_BUFFER_SIZE,
                      &call->bytes, CU_LAUNCH_PARAM_END};
    cudaError_t error =
        kernel ? cuda_launch_any(kernel, &call->request, NULL, packed) : cudaErrorInvalidDeviceFunction;
    if (!call_count) {
        mem_free(calls);
        calls = NULL;
    }
    return error;
}

/* One kernel on several devices, whose blocks wait for each other: that Heddle does not have. */
API(cudaLaunchCooperativeKernelMultiDevice, (launches, count, flags), void *launches, unsigned count,
    unsigned flags)
{
    static _Atomic bool said;
    (void)launches, (void)count, (void)flags;
    if (!said)
        fprintf(stderr, "heddle: cudaLaunchCooperativeKernelMultiDevice is not supported; it answers "
                        "cudaErrorNotSupported\n");
    said = true;
    return cudaErrorNotSupported;
}
