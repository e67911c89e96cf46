/* Conditional nodes of graphs. */
#pragma once
#include "kit.h"
#include "nodes.h"

USE(handle_null)
{
    return cudaGraphConditionalHandleCreate(0, new_graph(), 0, 0);
}
USE(handle_of_null)
{
    cudaGraphConditionalHandle handle;
    return cudaGraphConditionalHandleCreate(&handle, 0, 0, 0);
}
USE(handle_unknown_flags)
{
    cudaGraphConditionalHandle handle;
    return cudaGraphConditionalHandleCreate(&handle, new_graph(), 0, 8);
}
static cudaGraphConditionalHandle new_handle(cudaGraph_t graph)
{
    cudaGraphConditionalHandle handle = 0;
    NEED(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    return handle;
}
static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                     unsigned size)
{
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeConditional;
    what.conditional.handle = handle;
    what.conditional.type = type;
    what.conditional.size = size;
    return what;
}
USE(condition_no_handle)
{
    return add_node(condition(0, cudaGraphCondTypeIf, 1));
}
USE(condition_handle_of_other_graph)
{
    return add_node(condition(new_handle(new_graph()), cudaGraphCondTypeIf, 1));
}
USE(condition_no_size)
{
    cudaGraph_t graph = new_graph();
    return add_node(condition(new_handle(graph), cudaGraphCondTypeIf, 0), graph);
}
USE(condition_if_of_3)
{
    cudaGraph_t graph = new_graph();
    return add_node(condition(new_handle(graph), cudaGraphCondTypeIf, 3), graph);
}
USE(condition_while_of_2)
{
    cudaGraph_t graph = new_graph();
    return add_node(condition(new_handle(graph), cudaGraphCondTypeWhile, 2), graph);
}
USE(condition_unknown_type)
{
    cudaGraph_t graph = new_graph();
    return add_node(condition(new_handle(graph), (cudaGraphConditionalNodeType)9, 1), graph);
}
USE(condition_handle_twice)
{
    cudaGraph_t graph = new_graph();
    cudaGraphConditionalHandle handle = new_handle(graph);
    NEED(add_node(condition(handle, cudaGraphCondTypeIf, 1), graph));
    return add_node(condition(handle, cudaGraphCondTypeIf, 1), graph);
}
static cudaGraph_t conditional_body(cudaGraph_t graph)
{
    cudaGraphNode_t node;
    cudaGraphNodeParams what = condition(new_handle(graph), cudaGraphCondTypeIf, 1);
    NEED(cudaGraphAddNode(&node, graph, 0, 0, 0, &what));
    return what.conditional.phGraph_out[0];
}
USE(condition_body_host_node)
{
    cudaGraphNode_t node;
    cudaHostNodeParams what = {host_nothing, 0};
    return cudaGraphAddHostNode(&node, conditional_body(new_graph()), 0, 0, &what);
}
USE(condition_body_host_node_instantiate)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaHostNodeParams what = {host_nothing, 0};
    (void)cudaGraphAddHostNode(&node, conditional_body(graph), 0, 0, &what);
    return cudaGraphInstantiate(&exec, graph, 0);
}
USE(condition_body_alloc_node)
{
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    return cudaGraphAddMemAllocNode(&node, conditional_body(new_graph()), 0, 0, &what);
}
USE(condition_body_event_node)
{
    cudaGraphNode_t node;
    return cudaGraphAddEventRecordNode(&node, conditional_body(new_graph()), 0, 0, new_event());
}
USE(condition_body_destroyed)
{
    return cudaGraphDestroy(conditional_body(new_graph()));
}
USE(condition_body_instantiated)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, conditional_body(new_graph()), 0);
}
USE(condition_unused_handle_instantiate)
{
    cudaGraph_t graph = new_graph();
    cudaGraphExec_t exec;
    new_handle(graph);
    return cudaGraphInstantiate(&exec, graph, 0);
}
USE(condition_clone)
{
    cudaGraph_t graph = new_graph(), clone;
    conditional_body(graph);
    return cudaGraphClone(&clone, graph);
}
USE(condition_as_child)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    conditional_body(graph);
    return cudaGraphAddChildGraphNode(&node, new_graph(), 0, 0, graph);
}
