/* Uses whose codes are those of CUDA's manual: they have not been run on an H200 yet (manual.txt). */
static cudaGraphNode_t kernel_node_in(cudaGraph_t *graph)
{
    static void *memory = new_memory();
    static void *arguments[] = {&memory};
    cudaGraphNode_t node = 0;
    cudaKernelNodeParams what = kernel_node_of(store, arguments);
    NEED(cudaGraphCreate(graph, 0));
    NEED(cudaGraphAddKernelNode(&node, *graph, 0, 0, &what));
    return node;
}

static cudaError_t set_updatable(cudaGraphNode_t node, int value)
{
    cudaLaunchAttributeValue attribute = {};
    attribute.deviceUpdatableKernelNode.deviceUpdatable = value;
    return cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &attribute);
}

static cudaGraphNode_t updatable_node_in(cudaGraph_t *graph)
{
    cudaGraphNode_t node = kernel_node_in(graph);
    NEED(set_updatable(node, 1));
    return node;
}

USE(updatable_two)
{
    cudaGraph_t graph;
    return set_updatable(kernel_node_in(&graph), 2);
}
USE(updatable_undone)
{
    cudaGraph_t graph;
    return set_updatable(updatable_node_in(&graph), 0);
}
USE(updatable_removed)
{
    cudaGraph_t graph;
    return cudaGraphDestroyNode(updatable_node_in(&graph));
}
USE(updatable_copied_from)
{
    cudaGraph_t graph, other;
    return cudaGraphKernelNodeCopyAttributes(kernel_node_in(&other), updatable_node_in(&graph));
}
USE(updatable_copied_to)
{
    cudaGraph_t graph, other;
    return cudaGraphKernelNodeCopyAttributes(updatable_node_in(&graph), kernel_node_in(&other));
}
USE(updatable_instantiated_twice)
{
    cudaGraph_t graph;
    cudaGraphExec_t first, second;
    updatable_node_in(&graph);
    NEED(cudaGraphInstantiate(&first, graph, 0));
    return cudaGraphInstantiate(&second, graph, 0);
}
USE(updatable_exec_update)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    updatable_node_in(&graph);
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    return cudaGraphExecUpdate(exec, graph, &info);
}
USE(updatable_not_captured)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
    config.gridDim = config.blockDim = dim3(1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, nothing);
}
