/* Stream capture, and graphs that come from it. A graph is what was submitted while a stream recorded;
 * launching it submits that again. Graphs built node by node are not supported. */
#include "runtime/cuda/graph.h"
#include "runtime/cuda/stream.h"
#include "base/mem.h"

/* Shared by the handle that the program has and by what was instantiated from it. */
struct graph {
    struct recording *recording;
    _Atomic unsigned users;
};

struct graph_exec {
    struct graph *graph;
};

static void release(struct graph *graph)
{
    if (--graph->users)
        return;
    recording_free(graph->recording);
    mem_free(graph);
}

cudaError_t cuda_capture_begin(cudaStream_t stream)
{
    bool legacy =
        !stream || stream == STREAM_LEGACY; /* all blocking streams wait for it, so it cannot record */
    return legacy ? cudaErrorStreamCaptureUnsupported : stream_record_begin(cuda_stream(stream));
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
    *graph = mem_alloc(1, sizeof **graph);
    (*graph)->recording = recording;
    (*graph)->users = 1;
    return cudaSuccess;
}

cudaError_t cuda_graph_instantiate(struct graph_exec **exec, struct graph *graph)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    *exec = mem_alloc(1, sizeof **exec);
    (*exec)->graph = graph;
    graph->users++;
    return cudaSuccess;
}

cudaError_t cuda_graph_launch(struct graph_exec *exec, cudaStream_t stream)
{
    return exec ? recording_play(exec->graph->recording, cuda_stream(stream)) : cudaErrorInvalidValue;
}

cudaError_t cuda_graph_destroy(struct graph *graph)
{
    if (!graph)
        return cudaErrorInvalidValue;
    release(graph);
    return cudaSuccess;
}

cudaError_t cuda_graph_exec_destroy(struct graph_exec *exec)
{
    if (!exec)
        return cudaErrorInvalidValue;
    release(exec->graph);
    mem_free(exec);
    return cudaSuccess;
}

API_PTSZ(cudaStreamBeginCapture, (stream, mode), cudaStream_t stream, int mode)
{
    (void)mode;
    return cuda_capture_begin(stream);
}

API_PTSZ(cudaStreamEndCapture, (stream, graph), cudaStream_t stream, struct graph **graph)
{
    return cuda_capture_end(stream, graph);
}

API_PTSZ(cudaStreamIsCapturing, (stream, status), cudaStream_t stream, int *status)
{
    *status = stream_is_recording(cuda_stream(stream));
    return cudaSuccess;
}

API_PTSZ(cudaStreamGetCaptureInfo, (stream, status, id, graph, nodes, edges, count), cudaStream_t stream,
         int *status, unsigned long long *id, struct graph **graph, const void **nodes, const void **edges,
         size_t *count)
{
    *status = stream_is_recording(cuda_stream(stream));
    if (id)
        *id = *status ? stream_id(cuda_stream(stream)) : 0;
    if (graph)
        *graph = NULL;
    if (nodes)
        *nodes = NULL;
    if (edges)
        *edges = NULL;
    if (count)
        *count = 0;
    return cudaSuccess;
}

/* Which calls of other threads a capture forbids: none are forbidden here. */
API_ANY(cudaThreadExchangeStreamCaptureMode, (mode), int *mode)
{
    static __thread int current;
    int before = current;
    if (!mode)
        return cudaErrorInvalidValue;
    current = *mode;
    *mode = before;
    return cudaSuccess;
}

API(cudaGraphInstantiate, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
    unsigned long long flags)
{
    (void)flags;
    return cuda_graph_instantiate(exec, graph);
}

API(cudaGraphInstantiateWithFlags, (exec, graph, flags), struct graph_exec **exec, struct graph *graph,
    unsigned long long flags)
{
    (void)flags;
    return cuda_graph_instantiate(exec, graph);
}

API(cudaGraphExecUpdate, (exec, graph, info), struct graph_exec *exec, struct graph *graph,
    struct cudaGraphExecUpdateResultInfo *info)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    graph->users++;
    release(exec->graph);
    exec->graph = graph;
    if (info)
        *info = (struct cudaGraphExecUpdateResultInfo){0};
    return cudaSuccess;
}

API_PTSZ(cudaGraphUpload, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    (void)stream;
    return exec ? cudaSuccess : cudaErrorInvalidValue;
}

API_PTSZ(cudaGraphLaunch, (exec, stream), struct graph_exec *exec, cudaStream_t stream)
{
    return cuda_graph_launch(exec, stream);
}

API(cudaGraphExecDestroy, (exec), struct graph_exec *exec)
{
    return cuda_graph_exec_destroy(exec);
}

API(cudaGraphDestroy, (graph), struct graph *graph)
{
    return cuda_graph_destroy(graph);
}

/* How many nodes there are can be told, but not which. */
API(cudaGraphGetNodes, (graph, nodes, count), struct graph *graph, void **nodes, size_t *count)
{
    if (!graph || !count)
        return cudaErrorInvalidValue;
    *count = recording_count(graph->recording);
    return nodes ? cudaErrorNotSupported : cudaSuccess;
}
