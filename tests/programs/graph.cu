/* Graphs: captured from streams, and made node by node. */
#include "check.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

static void CUDART_CB count(void *user)
{
    ++*(int *)user;
}

/* The same, node by node: fill, two kernels, a host function, a copy; then one kernel gets another argument. */
static void by_hand(int *d)
{
    int h[32], calls = 0, one = 1, ten = 10, hundred = 100;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, first, second, host, copy, roots[4];
    cudaGraphNodeType type;
    size_t listed = 4;
    void *arguments[] = {&d, &one};
    cudaKernelNodeParams kernel = {};
    cudaMemsetParams zero = {};
    cudaHostNodeParams call = {};
    GOOD(cudaGraphCreate(&graph, 0));
    zero.dst = d;
    zero.elementSize = 4;
    zero.width = 32;
    zero.height = 1;
    GOOD(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &zero));
    kernel.func = (void *)add;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = arguments;
    GOOD(cudaGraphAddKernelNode(&first, graph, &fill, 1, &kernel));
    arguments[1] = &ten;
    GOOD(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
    GOOD(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, h, d, sizeof h, cudaMemcpyDeviceToHost));
    call.fn = count;
    call.userData = &calls;
    GOOD(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    GOOD(cudaGraphAddDependencies(graph, &second, &copy, NULL, 1));
    GOOD(cudaGraphGetRootNodes(graph, roots, &listed));
    CHECK(listed == 1 && roots[0] == fill);
    GOOD(cudaGraphNodeGetType(copy, &type));
    CHECK(type == cudaGraphNodeTypeMemcpy);
    GOOD(cudaGraphClone(&clone, graph));
    GOOD(cudaGraphInstantiate(&exec, clone, 0));
    GOOD(cudaGraphLaunch(exec, 0));
    GOOD(cudaDeviceSynchronize());
    CHECK(h[0] == 11 && h[31] == 11 && calls == 1);
    GOOD(cudaGraphNodeFindInClone(&second, second, clone));
    arguments[1] = &hundred;
    GOOD(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
    GOOD(cudaGraphLaunch(exec, 0));
    GOOD(cudaDeviceSynchronize());
    CHECK(h[0] == 101 && calls == 2);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(clone));
    GOOD(cudaGraphDestroy(graph));
}

/* Memory that only the graph has: allocated, set, used by a kernel, copied and freed. */
static void with_memory()
{
    int h[32] = {0}, five = 5, *d;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t alloc, fill, kernel, copy, free;
    cudaMemAllocNodeParams memory = {};
    memory.bytesize = sizeof h;
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &memory));
    d = (int *)memory.dptr;
    cudaMemsetParams zero = {};
    zero.dst = d;
    zero.elementSize = 4;
    zero.width = 32;
    zero.height = 1;
    GOOD(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &zero));
    void *arguments[] = {&d, &five};
    cudaKernelNodeParams adding = {};
    adding.func = (void *)add;
    adding.gridDim = dim3(1);
    adding.blockDim = dim3(32);
    adding.kernelParams = arguments;
    GOOD(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &adding));
    GOOD(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, h, d, sizeof h, cudaMemcpyDeviceToHost));
    GOOD(cudaGraphAddMemFreeNode(&free, graph, &copy, 1, d));
    cudaGraph_t clone;
    GIVES(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
    GIVES(cudaErrorNotSupported, cudaGraphDestroyNode(alloc));
    GIVES(cudaErrorNotSupported, cudaGraphRemoveDependencies(graph, &copy, &free, NULL, 1));
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        h[31] = 0;
        GOOD(cudaGraphLaunch(exec, 0));
        GOOD(cudaDeviceSynchronize());
        CHECK(h[0] == 5 && h[31] == 5);
    }
    cudaGetLastError();
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

int main()
{
    int *d, h[32];
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamCreate(&side));
    GOOD(cudaEventCreate(&fork));
    GOOD(cudaEventCreate(&join));
    GOOD(cudaMalloc(&d, sizeof h));
    GOOD(cudaMemset(d, 0, sizeof h));

    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    GOOD(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, 32, 0, stream>>>(d, 1);
    GOOD(cudaEventRecord(fork, stream));
    GOOD(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, 32, 0, side>>>(d, 10);
    GOOD(cudaEventRecord(join, side));
    GOOD(cudaStreamWaitEvent(stream, join, 0));
    GOOD(cudaStreamDestroy(side)); /* it only joined the capture */
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
    GOOD(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 3);

    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphDestroy(graph));
    for (int i = 0; i < 5; i++)
        GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(h[0] == 55 && h[31] == 55);
    GOOD(cudaGraphExecDestroy(exec));
    by_hand(d);
    with_memory();
    return check_end("graph");
}
