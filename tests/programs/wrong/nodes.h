/* Nodes of graphs: made, changed, asked about. */
#pragma once
#include "kit.h"
#include "copies.h"
#include "graphs.h"

USE(node_type_null)
{
    cudaGraphNodeType type;
    return cudaGraphNodeGetType(0, &type);
}
USE(node_type_no_place)
{
    return cudaGraphNodeGetType(empty_node(new_graph()), 0);
}
USE(node_destroy_null)
{
    return cudaGraphDestroyNode(0);
}
USE(node_destroy_memory)
{
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&node, new_graph(), 0, 0, &what));
    return cudaGraphDestroyNode(node);
}
USE(node_add_to_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddEmptyNode(&node, 0, 0, 0);
}
USE(node_add_no_place)
{
    return cudaGraphAddEmptyNode(0, new_graph(), 0, 0);
}
USE(node_add_null_dependencies)
{
    cudaGraphNode_t node;
    return cudaGraphAddEmptyNode(&node, new_graph(), 0, 2);
}
USE(node_add_dependency_of_other_graph)
{
    cudaGraphNode_t node, other = empty_node(new_graph());
    return cudaGraphAddEmptyNode(&node, new_graph(), &other, 1);
}
USE(node_add_dependency_null)
{
    cudaGraphNode_t node, other = 0;
    return cudaGraphAddEmptyNode(&node, new_graph(), &other, 1);
}
USE(node_add_dependency_twice)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node, twice[2];
    twice[0] = twice[1] = empty_node(graph);
    return cudaGraphAddEmptyNode(&node, graph, twice, 2);
}
static cudaError_t add_kernel(cudaKernelNodeParams what)
{
    cudaGraphNode_t node;
    return cudaGraphAddKernelNode(&node, new_graph(), 0, 0, &what);
}
static int *no_memory;
static void *no_memory_arguments[] = {&no_memory};
USE(node_kernel_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddKernelNode(&node, new_graph(), 0, 0, 0);
}
USE(node_kernel_no_function)
{
    return add_kernel(kernel_node_of(0, 0));
}
USE(node_kernel_of_host)
{
    cudaKernelNodeParams what = kernel_node_of(0, 0);
    what.func = (void *)host_nothing;
    return add_kernel(what);
}
USE(node_kernel_no_arguments)
{
    return add_kernel(kernel_node_of(store, 0));
}
USE(node_kernel_no_threads)
{
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    what.blockDim = dim3(0);
    return add_kernel(what);
}
USE(node_kernel_no_blocks)
{
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    what.gridDim = dim3(0);
    return add_kernel(what);
}
USE(node_kernel_too_many_threads)
{
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    what.blockDim = dim3(2048);
    return add_kernel(what);
}
USE(node_kernel_shared_too_much)
{
    cudaKernelNodeParams what = kernel_node_of(dynamic, no_memory_arguments);
    what.sharedMemBytes = 60000;
    return add_kernel(what);
}
USE(node_kernel_params_of_empty)
{
    cudaKernelNodeParams what;
    return cudaGraphKernelNodeGetParams(empty_node(new_graph()), &what);
}
USE(node_kernel_params_null)
{
    return cudaGraphKernelNodeGetParams(kernel_node(new_graph()), 0);
}
USE(node_kernel_set_of_empty)
{
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    return cudaGraphKernelNodeSetParams(empty_node(new_graph()), &what);
}
USE(node_kernel_set_no_threads)
{
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    what.blockDim = dim3(0);
    return cudaGraphKernelNodeSetParams(kernel_node(new_graph()), &what);
}
USE(node_kernel_attribute_unknown)
{
    cudaKernelNodeAttrValue value = {};
    return cudaGraphKernelNodeSetAttribute(kernel_node(new_graph()), (cudaKernelNodeAttrID)999, &value);
}
USE(node_kernel_attribute_get_unknown)
{
    cudaKernelNodeAttrValue value = {};
    return cudaGraphKernelNodeGetAttribute(kernel_node(new_graph()), (cudaKernelNodeAttrID)999, &value);
}
USE(node_kernel_attribute_of_empty)
{
    cudaKernelNodeAttrValue value = {};
    return cudaGraphKernelNodeGetAttribute(empty_node(new_graph()), cudaKernelNodeAttributePriority, &value);
}
USE(node_kernel_copy_attributes_of_empty)
{
    cudaGraph_t graph = new_graph();
    return cudaGraphKernelNodeCopyAttributes(kernel_node(graph), empty_node(graph));
}
static cudaError_t add_fill(void *to, unsigned element, size_t width, size_t height, size_t pitch)
{
    cudaGraphNode_t node;
    cudaMemsetParams what = {};
    what.dst = to;
    what.elementSize = element;
    what.width = width;
    what.height = height;
    what.pitch = pitch;
    return cudaGraphAddMemsetNode(&node, new_graph(), 0, 0, &what);
}
USE(node_fill_null)
{
    return add_fill(0, 4, 16, 1, 0);
}
USE(node_fill_element_3)
{
    return add_fill(new_memory(), 3, 16, 1, 0);
}
USE(node_fill_element_0)
{
    return add_fill(new_memory(), 0, 16, 1, 0);
}
USE(node_fill_unaligned)
{
    return add_fill(new_memory() + 1, 4, 16, 1, 0);
}
USE(node_fill_no_width)
{
    return add_fill(new_memory(), 4, 0, 1, 0);
}
USE(node_fill_no_height)
{
    return add_fill(new_memory(), 4, 16, 0, 0);
}
USE(node_fill_pitch_too_small)
{
    return add_fill(new_memory(), 4, 16, 2, 32);
}
USE(node_fill_host)
{
    return add_fill(on_host, 4, 16, 1, 0);
}
USE(node_fill_past_end)
{
    return add_fill(new_memory(1 << 21), 4, 1 << 21, 1, 0);
}
USE(node_fill_params_of_kernel)
{
    cudaMemsetParams what;
    return cudaGraphMemsetNodeGetParams(kernel_node(new_graph()), &what);
}
static cudaError_t add_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemcpyNode1D(&node, new_graph(), 0, 0, to, from, bytes, kind);
}
USE(node_copy_null)
{
    return add_copy(0, on_host, 16, cudaMemcpyHostToDevice);
}
USE(node_copy_zero)
{
    return add_copy(new_memory(), on_host, 0, cudaMemcpyHostToDevice);
}
USE(node_copy_unknown_kind)
{
    return add_copy(new_memory(), on_host, 16, (cudaMemcpyKind)9);
}
USE(node_copy_wrong_kind)
{
    return add_copy(new_memory(), on_host, 16, cudaMemcpyDeviceToHost);
}
USE(node_copy_past_end)
{
    return add_copy(new_memory(1 << 21), on_host, 1 << 22, cudaMemcpyHostToDevice);
}
USE(node_copy_params_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemcpyNode(&node, new_graph(), 0, 0, 0);
}
USE(node_copy_params_empty)
{
    cudaGraphNode_t node;
    cudaMemcpy3DParms what = {};
    return cudaGraphAddMemcpyNode(&node, new_graph(), 0, 0, &what);
}
USE(node_copy_to_symbol_of_host)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemcpyNodeToSymbol(&node, new_graph(), 0, 0, fake_object, on_host, 16, 0,
                                          cudaMemcpyHostToDevice);
}
USE(node_copy_to_symbol_past_end)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemcpyNodeToSymbol(&node, new_graph(), 0, 0, device_table, on_host, 128, 0,
                                          cudaMemcpyHostToDevice);
}
USE(node_host_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddHostNode(&node, new_graph(), 0, 0, 0);
}
USE(node_host_no_function)
{
    cudaGraphNode_t node;
    cudaHostNodeParams what = {};
    return cudaGraphAddHostNode(&node, new_graph(), 0, 0, &what);
}
USE(node_host_params_of_empty)
{
    cudaHostNodeParams what;
    return cudaGraphHostNodeGetParams(empty_node(new_graph()), &what);
}
USE(node_child_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddChildGraphNode(&node, new_graph(), 0, 0, 0);
}
USE(node_child_itself)
{
    cudaGraphNode_t node;
    cudaGraph_t graph = new_graph();
    return cudaGraphAddChildGraphNode(&node, graph, 0, 0, graph);
}
USE(node_child_with_memory)
{
    cudaGraph_t child = new_graph();
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&node, child, 0, 0, &what));
    return cudaGraphAddChildGraphNode(&node, new_graph(), 0, 0, child);
}
USE(node_child_of_empty)
{
    cudaGraph_t child;
    return cudaGraphChildGraphNodeGetGraph(empty_node(new_graph()), &child);
}
USE(node_event_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddEventRecordNode(&node, new_graph(), 0, 0, 0);
}
USE(node_wait_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddEventWaitNode(&node, new_graph(), 0, 0, 0);
}
USE(node_event_bad)
{
    cudaGraphNode_t node;
    return cudaGraphAddEventRecordNode(&node, new_graph(), 0, 0, FAKE(cudaEvent_t));
}
USE(node_event_of_empty)
{
    cudaEvent_t event;
    return cudaGraphEventRecordNodeGetEvent(empty_node(new_graph()), &event);
}
USE(node_event_of_wait)
{
    cudaEvent_t event;
    cudaGraphNode_t node;
    NEED(cudaGraphAddEventWaitNode(&node, new_graph(), 0, 0, new_event()));
    return cudaGraphEventRecordNodeGetEvent(node, &event);
}
USE(node_alloc_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemAllocNode(&node, new_graph(), 0, 0, 0);
}
USE(node_alloc_zero)
{
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    return cudaGraphAddMemAllocNode(&node, new_graph(), 0, 0, &what);
}
USE(node_alloc_too_much)
{
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = (size_t)1 << 50;
    return cudaGraphAddMemAllocNode(&node, new_graph(), 0, 0, &what);
}
USE(node_alloc_beyond_last_device)
{
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties(cudaMemLocationTypeDevice, 1000);
    what.bytesize = 4096;
    return cudaGraphAddMemAllocNode(&node, new_graph(), 0, 0, &what);
}
USE(node_free_null)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemFreeNode(&node, new_graph(), 0, 0, 0);
}
USE(node_free_malloc)
{
    cudaGraphNode_t node;
    return cudaGraphAddMemFreeNode(&node, new_graph(), 0, 0, new_memory());
}
USE(node_free_twice)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t alloc, node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&alloc, graph, 0, 0, &what));
    NEED(cudaGraphAddMemFreeNode(&node, graph, &alloc, 1, what.dptr));
    return cudaGraphAddMemFreeNode(&node, graph, &alloc, 1, what.dptr);
}
USE(node_free_not_after_alloc)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t alloc, node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&alloc, graph, 0, 0, &what));
    return cudaGraphAddMemFreeNode(&node, graph, 0, 0, what.dptr);
}
static cudaError_t add_node(cudaGraphNodeParams what, cudaGraph_t graph = new_graph())
{
    cudaGraphNode_t node;
    return cudaGraphAddNode(&node, graph, 0, 0, 0, &what);
}
USE(node_add_nothing)
{
    cudaGraphNode_t node;
    return cudaGraphAddNode(&node, new_graph(), 0, 0, 0, 0);
}
USE(node_add_unknown_type)
{
    cudaGraphNodeParams what = {};
    what.type = (cudaGraphNodeType)77;
    return add_node(what);
}
USE(node_add_reserved_bytes)
{
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeEmpty;
    what.reserved0[0] = 1;
    return add_node(what);
}
USE(node_add_empty)
{
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeEmpty;
    return add_node(what);
}
USE(node_add_kernel_nothing)
{
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeKernel;
    return add_node(what);
}
USE(exec_kernel_set_of_other_graph)
{
    cudaGraph_t graph = new_graph();
    kernel_node(graph);
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    return cudaGraphExecKernelNodeSetParams(new_exec(graph), kernel_node(new_graph()), &what);
}
USE(exec_kernel_set_null)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = kernel_node(graph);
    return cudaGraphExecKernelNodeSetParams(new_exec(graph), node, 0);
}
USE(exec_kernel_set_of_fill)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = fill_node(graph);
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    return cudaGraphExecKernelNodeSetParams(new_exec(graph), node, &what);
}
USE(exec_kernel_set_no_threads)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = kernel_node(graph);
    cudaKernelNodeParams what = kernel_node_of(store, no_memory_arguments);
    what.blockDim = dim3(0);
    return cudaGraphExecKernelNodeSetParams(new_exec(graph), node, &what);
}
USE(exec_fill_set_to_two_rows)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = fill_node(graph);
    cudaMemsetParams what = {};
    what.dst = new_memory();
    what.elementSize = 4;
    what.width = 16;
    what.height = 2;
    what.pitch = 64;
    return cudaGraphExecMemsetNodeSetParams(new_exec(graph), node, &what);
}
USE(exec_copy_set_other_kind)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    NEED(cudaGraphAddMemcpyNode1D(&node, graph, 0, 0, new_memory(), on_host, 16, cudaMemcpyHostToDevice));
    return cudaGraphExecMemcpyNodeSetParams1D(new_exec(graph), node, new_memory(), new_memory(), 16,
                                              cudaMemcpyDeviceToDevice);
}
USE(exec_child_set_other_shape)
{
    cudaGraph_t graph = new_graph(), child = new_graph(), other = new_graph();
    cudaGraphNode_t node;
    kernel_node(child);
    kernel_node(other);
    kernel_node(other);
    NEED(cudaGraphAddChildGraphNode(&node, graph, 0, 0, child));
    return cudaGraphExecChildGraphNodeSetParams(new_exec(graph), node, other);
}
USE(exec_host_set_no_function)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = host_node(graph);
    cudaHostNodeParams what = {};
    return cudaGraphExecHostNodeSetParams(new_exec(graph), node, &what);
}
USE(exec_event_set_null)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    NEED(cudaGraphAddEventRecordNode(&node, graph, 0, 0, new_event()));
    return cudaGraphExecEventRecordNodeSetEvent(new_exec(graph), node, 0);
}
USE(exec_enable_of_empty)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = empty_node(graph);
    return cudaGraphNodeSetEnabled(new_exec(graph), node, 0);
}
USE(exec_enable_of_host)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = host_node(graph);
    return cudaGraphNodeSetEnabled(new_exec(graph), node, 0);
}
USE(exec_enabled_of_other_graph)
{
    cudaGraph_t graph = new_graph();
    kernel_node(graph);
    unsigned enabled;
    return cudaGraphNodeGetEnabled(new_exec(graph), kernel_node(new_graph()), &enabled);
}
USE(exec_enabled_null)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = kernel_node(graph);
    return cudaGraphNodeGetEnabled(new_exec(graph), node, 0);
}
USE(node_set_params_other_type)
{
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeMemset;
    return cudaGraphNodeSetParams(kernel_node(new_graph()), &what);
}
USE(exec_node_set_params_null)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = kernel_node(graph);
    return cudaGraphExecNodeSetParams(new_exec(graph), node, 0);
}
USE(exec_device_launch_flag_launch_twice)
{
    cudaGraph_t graph = new_graph();
    kernel_node(graph);
    cudaGraphExec_t exec;
    NEED(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    cudaStream_t stream = new_stream();
    NEED(cudaGraphLaunch(exec, stream));
    return cudaGraphLaunch(exec, stream);
}
