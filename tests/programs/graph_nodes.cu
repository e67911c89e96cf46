/* Graphs: captured node by node, looked at, changed; conditional, event and child nodes. */
#include "check.h"

#include <string.h>

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

__global__ void count_down(int *p, cudaGraphConditionalHandle handle)
{
    p[0]--;
    p[1]++;
    cudaGraphSetConditional(handle, p[0] > 0);
}

__global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

static int *data;
static cudaStream_t stream;

static void set(int a, int b)
{
    int values[4] = {a, b, 0, 0};
    GOOD(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
}

static int at(int index)
{
    int values[4];
    GOOD(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
    return values[index];
}

static void launch(cudaGraphExec_t exec)
{
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
}

static cudaGraphExec_t ready(cudaGraph_t graph)
{
    cudaGraphExec_t exec = 0;
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNode_t before, int *p, int value)
{
    cudaGraphNode_t node;
    void *arguments[] = {&p, &value};
    cudaKernelNodeParams what = {};
    what.func = (void *)add;
    what.gridDim = what.blockDim = dim3(1);
    what.kernelParams = arguments;
    GOOD(cudaGraphAddKernelNode(&node, graph, before ? &before : 0, before ? 1 : 0, &what));
    return node;
}

/* Two branches; the nodes are found again, and one is changed. */
static void captured()
{
    cudaGraph_t graph;
    cudaGraphNode_t nodes[8], found[8];
    cudaStream_t other;
    cudaEvent_t fork, join;
    size_t count = 8, edges;
    static int host[4];
    GOOD(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    GOOD(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    GOOD(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(data, 1);
    GOOD(cudaEventRecord(fork, stream));
    GOOD(cudaStreamWaitEvent(other, fork, 0));
    add<<<1, 1, 0, other>>>(data + 1, 10);
    GOOD(cudaEventRecord(join, other));
    GOOD(cudaMemsetAsync(data + 2, 0, 4, stream));
    GOOD(cudaStreamWaitEvent(stream, join, 0));
    GOOD(cudaMemcpyAsync(host, data, 8, cudaMemcpyDeviceToHost, stream));
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *last;
    size_t last_count;
    cudaGraph_t seen;
    GOOD(cudaStreamGetCaptureInfo(stream, &status, 0, &seen, &last, 0, &last_count));
    CHECK(status == cudaStreamCaptureStatusActive && last_count == 1);
    GOOD(cudaStreamEndCapture(stream, &graph));
    CHECK(seen == graph);
    GOOD(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(count == 4);
    GOOD(cudaGraphGetEdges(graph, 0, 0, 0, &edges));
    CHECK(edges == 4);
    int kernels = 0;
    cudaGraphNode_t first = 0;
    for (size_t i = 0; i < count; i++) {
        cudaGraphNodeType type;
        cudaKernelNodeParams what;
        GOOD(cudaGraphNodeGetType(nodes[i], &type));
        if (type != cudaGraphNodeTypeKernel)
            continue;
        GOOD(cudaGraphKernelNodeGetParams(nodes[i], &what));
        kernels++;
        if (*(int *)what.kernelParams[1] == 1)
            first = nodes[i];
    }
    CHECK(kernels == 2 && first);
    count = 8;
    GOOD(cudaGraphGetRootNodes(graph, found, &count));
    CHECK(count == 1 && found[0] == first);
    count = 8;
    GOOD(cudaGraphNodeGetDependentNodes(first, found, 0, &count));
    CHECK(count == 2);
    cudaGraphExec_t exec = ready(graph);
    set(0, 0);
    launch(exec);
    CHECK(host[0] == 1 && host[1] == 10);
    int *p = data, value = 5;
    void *arguments[] = {&p, &value};
    cudaKernelNodeParams what = {};
    what.func = (void *)add;
    what.gridDim = what.blockDim = dim3(1);
    what.kernelParams = arguments;
    GOOD(cudaGraphExecKernelNodeSetParams(exec, first, &what));
    launch(exec);
    CHECK(host[0] == 6 && host[1] == 20);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeConditional;
    what.conditional.handle = handle;
    what.conditional.type = type;
    what.conditional.size = size;
    return what;
}

/* While data[0] is above 0. */
static cudaGraphNode_t add_loop(cudaGraph_t graph, cudaGraphNode_t before, int *p, unsigned initial)
{
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t loop, node;
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, initial, cudaGraphCondAssignDefault));
    cudaGraphNodeParams what = condition(handle, cudaGraphCondTypeWhile, 1);
    GOOD(cudaGraphAddNode(&loop, graph, before ? &before : 0, 0, before ? 1 : 0, &what));
    void *arguments[] = {&p, &handle};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)count_down;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    GOOD(cudaGraphAddKernelNode(&node, what.conditional.phGraph_out[0], 0, 0, &kernel));
    return loop;
}

static void loops()
{
    cudaGraph_t graph;
    GOOD(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t loop = add_loop(graph, add_node(graph, 0, data + 2, 1), data, 1);
    add_node(graph, loop, data + 3, 7);
    cudaGraphExec_t exec = ready(graph);
    set(5, 0);
    launch(exec);
    CHECK(at(0) == 0 && at(1) == 5 && at(2) == 1 && at(3) == 7);
    set(3, 0);
    launch(exec);
    CHECK(at(0) == 0 && at(1) == 3 && at(3) == 7);
    set(2, 0);
    for (int i = 0; i < 3; i++)
        GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(at(0) == -2 && at(1) == 4 && at(3) == 21);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

/* An if with an else, and a switch, by a value that a kernel before sets. */
static void branches(cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node, chooser;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    unsigned value = 0;
    void *arguments[] = {&handle, &value};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)choose;
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    GOOD(cudaGraphAddKernelNode(&chooser, graph, 0, 0, &kernel));
    cudaGraphNodeParams what = condition(handle, type, size);
    GOOD(cudaGraphAddNode(&node, graph, &chooser, 0, 1, &what));
    for (unsigned i = 0; i < size; i++)
        add_node(what.conditional.phGraph_out[i], 0, data, 1 << 4 * i);
    cudaGraphExec_t exec = ready(graph);
    for (value = 0; value <= size; value++) {
        GOOD(cudaGraphExecKernelNodeSetParams(exec, chooser, &kernel));
        set(0, 0);
        launch(exec);
        int body = type == cudaGraphCondTypeSwitch ? (int)value : value ? 0 : 1;
        CHECK(at(0) == (body < (int)size ? 1 << 4 * body : 0));
    }
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

static void events_and_children()
{
    cudaGraph_t graph, child;
    cudaGraphNode_t record, inner, wait;
    cudaEvent_t event;
    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphCreate(&child, 0));
    add_node(child, add_node(child, 0, data, 3), data, 4);
    GOOD(cudaGraphAddChildGraphNode(&inner, graph, 0, 0, child));
    GOOD(cudaGraphAddEventRecordNode(&record, graph, &inner, 1, event));
    GOOD(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    add_node(graph, wait, data + 1, 1);
    cudaGraphExec_t exec = ready(graph);
    GOOD(cudaGraphDestroy(child));
    set(0, 0);
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaEventSynchronize(event));
    CHECK(at(0) == 7);
    GOOD(cudaStreamSynchronize(stream));
    CHECK(at(1) == 1);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

static int destroyed;
static void destroy(void *)
{
    destroyed++;
}

static void updates()
{
    cudaGraph_t graph, other;
    cudaGraphExecUpdateResultInfo info;
    cudaUserObject_t object;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphCreate(&other, 0));
    add_node(graph, add_node(graph, 0, data, 1), data + 1, 2);
    add_node(other, add_node(other, 0, data, 10), data + 1, 20);
    GOOD(cudaUserObjectCreate(&object, data, destroy, 1, cudaUserObjectNoDestructorSync));
    GOOD(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t exec = ready(graph);
    set(0, 0);
    launch(exec);
    GOOD(cudaGraphExecUpdate(exec, other, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    launch(exec);
    CHECK(at(0) == 11 && at(1) == 22);
    add_node(other, 0, data, 1);
    GIVES(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGetLastError();
    launch(exec);
    CHECK(at(0) == 21 && at(1) == 42);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    GOOD(cudaGraphDestroy(other));
    GOOD(cudaDeviceSynchronize());
    for (int i = 0; i < 1000000000 && !*(volatile int *)&destroyed; i++) {
    }
    CHECK(destroyed == 1);
}

/* A capture into a graph that there is; the launch of a graph cannot be captured. */
static void captured_into()
{
    cudaGraph_t inner, outer;
    cudaGraphNode_t first;
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<1, 1, 0, stream>>>(data, 2);
    GOOD(cudaStreamEndCapture(stream, &inner));
    cudaGraphExec_t exec = ready(inner);
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaGraphLaunch(exec, stream) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &inner) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    GOOD(cudaGraphCreate(&outer, 0));
    first = add_node(outer, 0, data, 1);
    GOOD(cudaStreamBeginCaptureToGraph(stream, outer, &first, 0, 1, cudaStreamCaptureModeRelaxed));
    add<<<1, 1, 0, stream>>>(data, 4);
    cudaGraph_t same;
    GOOD(cudaStreamEndCapture(stream, &same));
    CHECK(same == outer);
    size_t count;
    GOOD(cudaGraphGetNodes(outer, 0, &count));
    CHECK(count == 2);
    set(0, 0);
    launch(ready(outer));
    CHECK(at(0) == 5);
}

int main()
{
    GOOD(cudaMalloc(&data, 64));
    GOOD(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    captured();
    loops();
    branches(cudaGraphCondTypeIf, 1);
    branches(cudaGraphCondTypeIf, 2);
    branches(cudaGraphCondTypeSwitch, 3);
    events_and_children();
    updates();
    captured_into();
    return check_end("graph_nodes");
}
