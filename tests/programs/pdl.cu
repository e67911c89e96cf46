/* Programmatic dependent launch: the second kernel may begin early, and waits for what the first one wrote; in a stream and
 * captured; in another stream, by an event of the launch; in a graph with a fork. Built for compute capability 9.0. */
#include "check.h"

__global__ void first(int *p)
{
    p[0] = 5;
    cudaTriggerProgrammaticLaunchCompletion();
    p[1] = 6;
}

__global__ void second(int *p)
{
    cudaGridDependencySynchronize();
    p[2] += p[0] + p[1];
}

static void launch_second(cudaStream_t stream, int *p)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    GOOD(cudaLaunchKernelEx(&config, second, p));
}

/* The first kernel records the event; one of another stream waits for it. */
static void launch_by_event(cudaStream_t stream, cudaStream_t other, int *p, cudaLaunchAttributeID id)
{
    cudaEvent_t event;
    cudaLaunchAttribute attribute = {};
    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    attribute.id = id;
    if (id == cudaLaunchAttributeProgrammaticEvent)
        attribute.val.programmaticEvent.event = event;
    else
        attribute.val.launchCompletionEvent.event = event;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    GOOD(cudaLaunchKernelEx(&config, first, p));
    GOOD(cudaStreamWaitEvent(other, event, 0));
    second<<<1, 1, 0, other>>>(id == cudaLaunchAttributeProgrammaticEvent ? p : p + 3);
    GOOD(cudaStreamSynchronize(other));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaEventDestroy(event));
}

/* first -> two kernels that may begin beside it -> one that comes after both. */
static void play_fork(cudaStream_t stream, int *p)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t root, left, right, end;
    cudaKernelNodeParams params = {};
    void *arguments[] = {&p};
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    params.func = (void *)first;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphAddKernelNode(&root, graph, NULL, 0, &params));
    params.func = (void *)second;
    GOOD(cudaGraphAddKernelNode(&left, graph, NULL, 0, &params));
    int *q = p + 3;
    arguments[0] = &q;
    GOOD(cudaGraphAddKernelNode(&right, graph, NULL, 0, &params));
    arguments[0] = &p;
    GOOD(cudaGraphAddKernelNode(&end, graph, NULL, 0, &params));
    cudaGraphEdgeData early = {};
    early.type = cudaGraphDependencyTypeProgrammatic;
    early.from_port = cudaGraphKernelNodePortProgrammatic;
    GOOD(cudaGraphAddDependencies(graph, &root, &left, &early, 1));
    GOOD(cudaGraphAddDependencies(graph, &root, &right, &early, 1));
    GOOD(cudaGraphAddDependencies(graph, &left, &end, &early, 1));
    GOOD(cudaGraphAddDependencies(graph, &right, &end, NULL, 1));
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
}

int main()
{
    int *p, host[6];
    cudaStream_t stream, other;
    GOOD(cudaMalloc(&p, sizeof host));
    GOOD(cudaMemset(p, 0, sizeof host));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    first<<<1, 1, 0, stream>>>(p);
    launch_second(stream, p);
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 11);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t from, to;
    cudaGraphEdgeData edge;
    size_t count = 1;
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    first<<<1, 1, 0, stream>>>(p);
    launch_second(stream, p);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetEdges(graph, &from, &to, &edge, &count));
    CHECK(count == 1 && edge.type == cudaGraphDependencyTypeProgrammatic);
    CHECK(edge.from_port == cudaGraphKernelNodePortProgrammatic);
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 22);

    launch_by_event(stream, other, p, cudaLaunchAttributeProgrammaticEvent);
    launch_by_event(stream, other, p, cudaLaunchAttributeLaunchCompletionEvent);
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 33 && host[5] == 0);

    play_fork(stream, p);
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 33 + 4 * 11 && host[5] == 0);
    return check_end("pdl");
}
