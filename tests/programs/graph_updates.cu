/* Kernels that change kernel nodes of graphs: parameters, grids, whether they run. Built with -rdc=true. */
#include "check.h"

#include <cstddef>

/* Adds to out[0] what it is given, once for each block. */
__global__ void add(int *out, int value, short twice)
{
    if (!threadIdx.x)
        atomicAdd(out, twice ? 2 * value : value);
}

struct plan {
    cudaGraphDeviceNode_t node;
    int value, blocks, on;
    short twice;
    int codes[8];
};

__global__ void change(struct plan *p)
{
    short twice = p->twice;
    p->codes[0] = cudaGraphKernelNodeSetParam(p->node, sizeof(int *), &p->value, sizeof p->value);
    p->codes[1] = cudaGraphKernelNodeSetGridDim(p->node, dim3(p->blocks));
    p->codes[2] = cudaGraphKernelNodeSetEnabled(p->node, p->on);
    p->codes[3] = cudaGraphKernelNodeSetParam(p->node, sizeof(int *) + sizeof(int), twice);
}

/* The same as a list, in memory of the thread and of the GPU; written by the kernel that applies it. */
__device__ alignas(cudaGraphKernelNodeUpdate) char list[2 * sizeof(cudaGraphKernelNodeUpdate)];
__global__ void change_list(struct plan *p)
{
    alignas(cudaGraphKernelNodeUpdate) char own[2 * sizeof(cudaGraphKernelNodeUpdate)];
    cudaGraphKernelNodeUpdate *local = (cudaGraphKernelNodeUpdate *)own;
    cudaGraphKernelNodeUpdate *global = (cudaGraphKernelNodeUpdate *)list;
    int value = p->value;
    local[0].node = local[1].node = global[0].node = global[1].node = p->node;
    local[0].field = cudaGraphKernelNodeFieldParam;
    local[0].updateData.param.pValue = &value;
    local[0].updateData.param.offset = sizeof(int *);
    local[0].updateData.param.size = sizeof value;
    local[1].field = cudaGraphKernelNodeFieldGridDim;
    local[1].updateData.gridDim = dim3(p->blocks);
    p->codes[0] = cudaGraphKernelNodeUpdatesApply(local, 2);
    global[0].field = cudaGraphKernelNodeFieldEnabled;
    global[0].updateData.isEnabled = p->on;
    global[1].field = cudaGraphKernelNodeFieldParam;
    global[1].updateData.param.pValue = &p->twice;
    global[1].updateData.param.offset = sizeof(int *) + sizeof(int);
    global[1].updateData.param.size = sizeof p->twice;
    p->codes[1] = cudaGraphKernelNodeUpdatesApply(global, 2);
    p->codes[2] = p->codes[3] = 0;
}

__global__ void wrong(struct plan *p)
{
    long value = 0;
    alignas(cudaGraphKernelNodeUpdate) char own[sizeof(cudaGraphKernelNodeUpdate)];
    cudaGraphKernelNodeUpdate *one = (cudaGraphKernelNodeUpdate *)own;
    p->codes[0] = cudaGraphKernelNodeSetParam((cudaGraphDeviceNode_t)p, 0, value); /* no node */
    p->codes[1] = cudaGraphKernelNodeSetParam(p->node, 8, value);                  /* too long: 14 bytes */
    p->codes[2] = cudaGraphKernelNodeSetGridDim(p->node, dim3(0));
    p->codes[3] = cudaGraphKernelNodeSetGridDim(p->node, dim3(1, 65536));
    p->codes[4] = cudaGraphKernelNodeSetEnabled(0, true);
    one->node = p->node;
    one->field = cudaGraphKernelNodeFieldInvalid;
    p->codes[5] = cudaGraphKernelNodeUpdatesApply(one, 1);
    p->codes[6] = cudaGraphKernelNodeUpdatesApply(one, 0);
    p->codes[7] = cudaGraphKernelNodeSetParam(p->node, ~(size_t)0, &value, 4);
}

static int *sum;
static struct plan *plan;
static cudaStream_t stream;

static cudaGraphDeviceNode_t make_updatable(cudaGraphNode_t node)
{
    cudaLaunchAttributeValue value = {};
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    GOOD(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
    cudaLaunchAttributeValue told = {};
    GOOD(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &told));
    CHECK(value.deviceUpdatableKernelNode.devNode && told.deviceUpdatableKernelNode.deviceUpdatable == 1 &&
          told.deviceUpdatableKernelNode.devNode == value.deviceUpdatableKernelNode.devNode);
    return value.deviceUpdatableKernelNode.devNode;
}

/* A graph of a kernel that changes, and one that is changed; `add` begins with 2 blocks and 10. */
static cudaGraph_t make_graph(void (*kernel)(struct plan *), cudaGraphNode_t *first, cudaGraphNode_t *second)
{
    cudaGraph_t graph;
    int value = 10;
    short twice = 0;
    void *plans[] = {&plan}, *values[] = {&sum, &value, &twice};
    cudaKernelNodeParams changer = {}, changed = {};
    changer.func = (void *)kernel;
    changer.gridDim = changer.blockDim = dim3(1);
    changer.kernelParams = plans;
    changed.func = (void *)add;
    changed.gridDim = dim3(2);
    changed.blockDim = dim3(32);
    changed.kernelParams = values;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphAddKernelNode(first, graph, NULL, 0, &changer));
    GOOD(cudaGraphAddKernelNode(second, graph, first, 1, &changed));
    return graph;
}

static int launched(cudaGraphExec_t exec)
{
    int got;
    GOOD(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    return got;
}

static struct plan wants(cudaGraphDeviceNode_t node, int value, int blocks, int on, short twice)
{
    struct plan own = {node, value, blocks, on, twice, {-1, -1, -1, -1, -1, -1, -1, -1}};
    GOOD(cudaMemcpy(plan, &own, sizeof own, cudaMemcpyHostToDevice));
    return own;
}

static void codes(int *to)
{
    GOOD(cudaMemcpy(to, (char *)plan + offsetof(struct plan, codes), 8 * sizeof *to, cudaMemcpyDeviceToHost));
}

static void check_within(void (*kernel)(struct plan *))
{
    cudaGraphNode_t first, second;
    cudaGraph_t graph = make_graph(kernel, &first, &second);
    cudaGraphDeviceNode_t node = make_updatable(second);
    cudaGraphExec_t exec;
    int got[8];
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphUpload(exec, stream));
    wants(node, 7, 5, 1, 0);
    CHECK(launched(exec) == 7 * 5);
    codes(got);
    CHECK(!got[0] && !got[1] && !got[2] && !got[3]);
    wants(node, 3, 70, 1, 1);
    CHECK(launched(exec) == 2 * 3 * 70);
    wants(node, 3, 70, 0, 1);
    CHECK(launched(exec) == 0);
    wants(node, 4, 1, 1, 0);
    CHECK(launched(exec) == 4);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

/* By a kernel outside of the graph: what it changes stays for all launches. */
static void check_outside()
{
    cudaGraphNode_t first, second;
    cudaGraph_t graph = make_graph(change, &first, &second);
    GOOD(cudaGraphDestroyNode(first));
    cudaGraphDeviceNode_t node = make_updatable(second);
    cudaGraphExec_t exec;
    unsigned enabled;
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphUpload(exec, stream));
    CHECK(launched(exec) == 20);
    wants(node, 100, 3, 1, 0);
    change<<<1, 1, 0, stream>>>(plan);
    CHECK(launched(exec) == 300 && launched(exec) == 300);
    wants(node, 100, 3, 0, 0);
    change<<<1, 1, 0, stream>>>(plan);
    CHECK(launched(exec) == 0);
    GOOD(cudaGraphNodeGetEnabled(exec, second, &enabled));
    CHECK(!enabled);
    GOOD(cudaGraphNodeSetEnabled(exec, second, 1)); /* and by the host */
    CHECK(launched(exec) == 300);
    int value = 1;
    short twice = 1;
    void *values[] = {&sum, &value, &twice};
    cudaKernelNodeParams params = {};
    params.func = (void *)add;
    params.gridDim = dim3(6);
    params.blockDim = dim3(64);
    params.kernelParams = values;
    GOOD(cudaGraphExecKernelNodeSetParams(exec, second, &params));
    GOOD(cudaGraphUpload(exec, stream));
    CHECK(launched(exec) == 12);

    int got[8];
    wants(node, 0, 0, 0, 0);
    wrong<<<1, 1, 0, stream>>>(plan);
    GOOD(cudaStreamSynchronize(stream));
    codes(got);
    for (int i = 0; i < 8; i++)
        CHECK(got[i] == (i == 6 ? cudaSuccess : cudaErrorInvalidValue));
    CHECK(launched(exec) == 12);
    GOOD(cudaGraphExecDestroy(exec));
    change<<<1, 1, 0, stream>>>(plan); /* the graph is there still, and the node */
    GOOD(cudaGraphDestroy(graph));
    wants(node, 1, 1, 1, 0);
    change<<<1, 1, 0, stream>>>(plan);
    GOOD(cudaStreamSynchronize(stream));
    codes(got);
    CHECK(got[0] == cudaErrorInvalidValue && got[1] == cudaErrorInvalidValue);
}

/* A launch that is captured tells the node's handle. */
static void check_captured()
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, add, sum, 1, (short)0) == cudaErrorInvalidValue);
    cudaGetLastError();
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    change<<<1, 1, 0, stream>>>(plan);
    GOOD(cudaLaunchKernelEx(&config, add, sum, 1, (short)0));
    GOOD(cudaStreamEndCapture(stream, &graph));
    cudaGraphDeviceNode_t node = attribute.val.deviceUpdatableKernelNode.devNode;
    CHECK(node);
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    wants(node, 5, 9, 1, 0);
    CHECK(launched(exec) == 45);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

static void check_refused()
{
    cudaGraphNode_t first, second;
    cudaGraph_t graph = make_graph(change, &first, &second);
    cudaLaunchAttributeValue value = {};
    cudaGraphExec_t exec, again;
    cudaGraphExecUpdateResultInfo info;
    const cudaLaunchAttributeID id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    value.deviceUpdatableKernelNode.deviceUpdatable = 2;
    CHECK(cudaGraphKernelNodeSetAttribute(second, id, &value) == cudaErrorInvalidValue);
    make_updatable(second);
    value.deviceUpdatableKernelNode.deviceUpdatable = 0;
    CHECK(cudaGraphKernelNodeSetAttribute(second, id, &value) == cudaErrorInvalidValue);
    CHECK(cudaGraphDestroyNode(second) == cudaErrorInvalidValue);
    CHECK(cudaGraphKernelNodeCopyAttributes(first, second) == cudaErrorInvalidValue);
    CHECK(cudaGraphKernelNodeCopyAttributes(second, first) == cudaErrorInvalidValue);
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphInstantiate(&again, graph, 0) == cudaErrorInvalidValue);
    CHECK(cudaGraphExecUpdate(exec, graph, &info) == cudaErrorGraphExecUpdateFailure &&
          info.result == cudaGraphExecUpdateErrorNotSupported);
    cudaGetLastError();
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

int main()
{
    GOOD(cudaMalloc(&sum, sizeof *sum));
    GOOD(cudaMalloc(&plan, sizeof *plan));
    GOOD(cudaStreamCreate(&stream));
    check_within(change);
    check_within(change_list);
    check_outside();
    check_captured();
    check_refused();
    return check_end("graph_updates");
}
