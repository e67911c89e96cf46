/* Graphs as a whole: made, instantiated, updated, launched, destroyed. */
#pragma once
#include "kit.h"
#include "pools.h"

static cudaGraph_t new_graph()
{
    cudaGraph_t graph = 0;
    NEED(cudaGraphCreate(&graph, 0));
    return graph;
}
static cudaGraphNode_t empty_node(cudaGraph_t graph)
{
    cudaGraphNode_t node = 0;
    NEED(cudaGraphAddEmptyNode(&node, graph, 0, 0));
    return node;
}
static cudaGraphNode_t kernel_node(cudaGraph_t graph)
{
    static int *p;
    static void *arguments[] = {&p};
    p = (int *)new_memory();
    cudaKernelNodeParams what = kernel_node_of(store, arguments);
    cudaGraphNode_t node = 0;
    NEED(cudaGraphAddKernelNode(&node, graph, 0, 0, &what));
    return node;
}
static cudaGraphNode_t fill_node(cudaGraph_t graph)
{
    cudaMemsetParams what = {};
    what.dst = new_memory();
    what.elementSize = 4;
    what.width = 16;
    what.height = 1;
    cudaGraphNode_t node = 0;
    NEED(cudaGraphAddMemsetNode(&node, graph, 0, 0, &what));
    return node;
}
static cudaGraphNode_t host_node(cudaGraph_t graph)
{
    cudaHostNodeParams what = {host_nothing, 0};
    cudaGraphNode_t node = 0;
    NEED(cudaGraphAddHostNode(&node, graph, 0, 0, &what));
    return node;
}
static cudaGraphExec_t new_exec(cudaGraph_t graph)
{
    cudaGraphExec_t exec = 0;
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}
USE(graph_create_null)
{
    return cudaGraphCreate(0, 0);
}
USE(graph_create_flags)
{
    cudaGraph_t graph;
    return cudaGraphCreate(&graph, 1);
}
USE(graph_destroy_null)
{
    return cudaGraphDestroy(0);
}
USE(graph_destroy_bad)
{
    return cudaGraphDestroy(FAKE(cudaGraph_t));
}
USE(graph_destroy_twice)
{
    cudaGraph_t graph = new_graph();
    NEED(cudaGraphDestroy(graph));
    return cudaGraphDestroy(graph);
}
USE(graph_instantiate_null)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, 0, 0);
}
USE(graph_instantiate_no_place)
{
    return cudaGraphInstantiate(0, new_graph(), 0);
}
USE(graph_instantiate_bad)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, FAKE(cudaGraph_t), 0);
}
USE(graph_instantiate_unknown_flags)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, new_graph(), 0x1000);
}
USE(graph_instantiate_empty)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, new_graph(), 0);
}
USE(graph_instantiate_cycle)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t nodes[] = {empty_node(graph), empty_node(graph)};
    cudaGraphNode_t others[] = {nodes[1], nodes[0]};
    NEED(cudaGraphAddDependencies(graph, nodes, others, 0, 2));
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, graph, 0);
}
USE(graph_instantiate_for_device_host_node)
{
    cudaGraph_t graph = new_graph();
    host_node(graph);
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch);
}
USE(graph_instantiate_for_device_empty)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(&exec, new_graph(), cudaGraphInstantiateFlagDeviceLaunch);
}
USE(graph_instantiate_for_device_and_auto_free)
{
    cudaGraph_t graph = new_graph();
    kernel_node(graph);
    cudaGraphExec_t exec;
    return cudaGraphInstantiate(
        &exec, graph, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagAutoFreeOnLaunch);
}
USE(graph_instantiate_params_null)
{
    cudaGraphExec_t exec;
    return cudaGraphInstantiateWithParams(&exec, new_graph(), 0);
}
USE(graph_instantiate_params_cycle_result)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t nodes[] = {empty_node(graph), empty_node(graph)};
    cudaGraphNode_t others[] = {nodes[1], nodes[0]};
    NEED(cudaGraphAddDependencies(graph, nodes, others, 0, 2));
    cudaGraphExec_t exec;
    cudaGraphInstantiateParams parameters = {};
    int code = cudaGraphInstantiateWithParams(&exec, graph, &parameters);
    return code * 100 + parameters.result_out;
}
USE(graph_instantiate_params_good_result)
{
    cudaGraphExec_t exec;
    cudaGraphInstantiateParams parameters = {};
    int code = cudaGraphInstantiateWithParams(&exec, new_graph(), &parameters);
    return code * 100 + parameters.result_out;
}
USE(graph_launch_null)
{
    return cudaGraphLaunch(0, 0);
}
USE(graph_launch_bad)
{
    return cudaGraphLaunch(FAKE(cudaGraphExec_t), 0);
}
USE(graph_launch_bad_stream)
{
    return cudaGraphLaunch(new_exec(new_graph()), FAKE(cudaStream_t));
}
USE(graph_launch_destroyed)
{
    cudaGraphExec_t exec = new_exec(new_graph());
    NEED(cudaGraphExecDestroy(exec));
    return cudaGraphLaunch(exec, 0);
}
USE(graph_upload_null)
{
    return cudaGraphUpload(0, 0);
}
USE(graph_exec_destroy_null)
{
    return cudaGraphExecDestroy(0);
}
USE(graph_exec_destroy_twice)
{
    cudaGraphExec_t exec = new_exec(new_graph());
    NEED(cudaGraphExecDestroy(exec));
    return cudaGraphExecDestroy(exec);
}
USE(graph_exec_flags_null)
{
    return cudaGraphExecGetFlags(new_exec(new_graph()), 0);
}
USE(graph_clone_null)
{
    return cudaGraphClone(0, new_graph());
}
USE(graph_clone_of_null)
{
    cudaGraph_t clone;
    return cudaGraphClone(&clone, 0);
}
USE(graph_clone_with_memory_node)
{
    cudaGraph_t graph = new_graph(), clone;
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&node, graph, 0, 0, &what));
    return cudaGraphClone(&clone, graph);
}
USE(graph_find_in_other)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = empty_node(graph), found;
    return cudaGraphNodeFindInClone(&found, node, new_graph());
}
USE(graph_find_in_original)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = empty_node(graph), found;
    return cudaGraphNodeFindInClone(&found, node, graph);
}
USE(graph_nodes_no_count)
{
    return cudaGraphGetNodes(new_graph(), 0, 0);
}
USE(graph_nodes_of_null)
{
    size_t count;
    return cudaGraphGetNodes(0, 0, &count);
}
USE(graph_roots_of_null)
{
    size_t count;
    return cudaGraphGetRootNodes(0, 0, &count);
}
USE(graph_edges_of_null)
{
    size_t count;
    return cudaGraphGetEdges(0, 0, 0, 0, &count);
}
USE(graph_edges_no_count)
{
    return cudaGraphGetEdges(new_graph(), 0, 0, 0, 0);
}
USE(graph_edges_half_asked)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph), b = empty_node(graph), from[1];
    NEED(cudaGraphAddDependencies(graph, &a, &b, 0, 1));
    size_t count = 1;
    return cudaGraphGetEdges(graph, from, 0, 0, &count);
}
static cudaGraph_t graph_with_programmatic_edge()
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = kernel_node(graph);
    cudaGraphEdgeData edge = {};
    edge.type = cudaGraphDependencyTypeProgrammatic;
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    NEED(cudaGraphAddDependencies(graph, &a, &b, &edge, 1));
    return graph;
}
USE(graph_edges_data_lost)
{
    cudaGraphNode_t from[1], to[1];
    size_t count = 1;
    return cudaGraphGetEdges(graph_with_programmatic_edge(), from, to, 0, &count);
}
USE(graph_edge_programmatic_from_empty)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph), b = kernel_node(graph);
    cudaGraphEdgeData edge = {};
    edge.type = cudaGraphDependencyTypeProgrammatic;
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    return cudaGraphAddDependencies(graph, &a, &b, &edge, 1);
}
USE(graph_edge_programmatic_to_empty)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = empty_node(graph);
    cudaGraphEdgeData edge = {};
    edge.type = cudaGraphDependencyTypeProgrammatic;
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    return cudaGraphAddDependencies(graph, &a, &b, &edge, 1);
}
USE(graph_edge_unknown_type)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = kernel_node(graph);
    cudaGraphEdgeData edge = {};
    edge.type = 9;
    return cudaGraphAddDependencies(graph, &a, &b, &edge, 1);
}
USE(graph_edge_unknown_port)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = kernel_node(graph);
    cudaGraphEdgeData edge = {};
    edge.from_port = 9;
    return cudaGraphAddDependencies(graph, &a, &b, &edge, 1);
}
USE(graph_edge_reserved_bytes)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = kernel_node(graph);
    cudaGraphEdgeData edge = {};
    edge.reserved[0] = 1;
    return cudaGraphAddDependencies(graph, &a, &b, &edge, 1);
}
USE(graph_edge_full_port_programmatic)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = kernel_node(graph);
    cudaGraphEdgeData edge = {};
    edge.type = cudaGraphDependencyTypeProgrammatic;
    return cudaGraphAddDependencies(graph, &a, &b, &edge, 1);
}
USE(graph_edge_to_itself)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph);
    return cudaGraphAddDependencies(graph, &a, &a, 0, 1);
}
USE(graph_edge_twice)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph), b = empty_node(graph);
    NEED(cudaGraphAddDependencies(graph, &a, &b, 0, 1));
    return cudaGraphAddDependencies(graph, &a, &b, 0, 1);
}
USE(graph_edge_of_other_graph)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph), b = empty_node(new_graph());
    return cudaGraphAddDependencies(graph, &a, &b, 0, 1);
}
USE(graph_edge_null_node)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph), b = 0;
    return cudaGraphAddDependencies(graph, &a, &b, 0, 1);
}
USE(graph_edge_null_lists)
{
    return cudaGraphAddDependencies(new_graph(), 0, 0, 0, 1);
}
USE(graph_edge_remove_absent)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t a = empty_node(graph), b = empty_node(graph);
    return cudaGraphRemoveDependencies(graph, &a, &b, 0, 1);
}
USE(graph_edge_remove_other_data)
{
    cudaGraph_t graph = graph_with_programmatic_edge();
    cudaGraphNode_t from, to;
    cudaGraphEdgeData edge;
    size_t count = 1;
    NEED(cudaGraphGetEdges(graph, &from, &to, &edge, &count));
    return cudaGraphRemoveDependencies(graph, &from, &to, 0, 1);
}
/* The code of an update times 100, and the reason. */
static int update(cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = {};
    int code = cudaGraphExecUpdate(exec, graph, &info);
    return code * 100 + info.result;
}
USE(graph_update_null_exec)
{
    cudaGraphExecUpdateResultInfo info;
    return cudaGraphExecUpdate(0, new_graph(), &info);
}
USE(graph_update_null_graph)
{
    cudaGraphExecUpdateResultInfo info;
    return cudaGraphExecUpdate(new_exec(new_graph()), 0, &info);
}
USE(graph_update_no_result)
{
    return cudaGraphExecUpdate(new_exec(new_graph()), new_graph(), 0);
}
USE(graph_update_more_nodes)
{
    cudaGraph_t graph = new_graph(), more = new_graph();
    kernel_node(graph);
    kernel_node(more);
    kernel_node(more);
    return update(new_exec(graph), more);
}
USE(graph_update_fewer_nodes)
{
    cudaGraph_t graph = new_graph(), fewer = new_graph();
    kernel_node(graph);
    kernel_node(graph);
    kernel_node(fewer);
    return update(new_exec(graph), fewer);
}
USE(graph_update_other_type)
{
    cudaGraph_t graph = new_graph(), other = new_graph();
    kernel_node(graph);
    host_node(other);
    return update(new_exec(graph), other);
}
USE(graph_update_other_edges)
{
    cudaGraph_t graph = new_graph(), other = new_graph();
    cudaGraphNode_t a = kernel_node(graph), b = kernel_node(graph);
    NEED(cudaGraphAddDependencies(graph, &a, &b, 0, 1));
    kernel_node(other);
    kernel_node(other);
    return update(new_exec(graph), other);
}
USE(graph_update_other_kernel)
{
    cudaGraph_t graph = new_graph(), other = new_graph();
    kernel_node(graph);
    cudaKernelNodeParams what = kernel_node_of(0, 0);
    what.func = (void *)nothing;
    cudaGraphNode_t node;
    NEED(cudaGraphAddKernelNode(&node, other, 0, 0, &what));
    return update(new_exec(graph), other);
}
USE(graph_update_fill_to_two_rows)
{
    cudaGraph_t graph = new_graph(), other = new_graph();
    fill_node(graph);
    cudaMemsetParams what = {};
    what.dst = new_memory();
    what.elementSize = 4;
    what.width = 16;
    what.height = 2;
    what.pitch = 64;
    cudaGraphNode_t node;
    NEED(cudaGraphAddMemsetNode(&node, other, 0, 0, &what));
    return update(new_exec(graph), other);
}
USE(graph_update_same)
{
    cudaGraph_t graph = new_graph();
    kernel_node(graph);
    fill_node(graph);
    return update(new_exec(graph), graph);
}
USE(graph_update_memory_nodes)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&node, graph, 0, 0, &what));
    return update(new_exec(graph), graph);
}
USE(graph_two_execs_with_memory)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    cudaGraphExec_t second;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&node, graph, 0, 0, &what));
    new_exec(graph);
    return cudaGraphInstantiate(&second, graph, 0);
}
USE(graph_launch_twice_without_free)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node;
    cudaMemAllocNodeParams what = {};
    what.poolProps = pool_properties();
    what.bytesize = 4096;
    NEED(cudaGraphAddMemAllocNode(&node, graph, 0, 0, &what));
    cudaGraphExec_t exec = new_exec(graph);
    cudaStream_t stream = new_stream();
    NEED(cudaGraphLaunch(exec, stream));
    int code = cudaGraphLaunch(exec, stream);
    cudaFreeAsync(what.dptr, stream);
    return code;
}
USE(graph_dot_no_file)
{
    return cudaGraphDebugDotPrint(new_graph(), "/nonexistent/graph.dot", 0);
}
USE(graph_dot_null)
{
    return cudaGraphDebugDotPrint(new_graph(), 0, 0);
}
USE(user_object_null)
{
    return cudaUserObjectCreate(0, fake_object, host_nothing, 1, cudaUserObjectNoDestructorSync);
}
USE(user_object_no_flag)
{
    cudaUserObject_t object;
    return cudaUserObjectCreate(&object, fake_object, host_nothing, 1, 0);
}
USE(user_object_no_references)
{
    cudaUserObject_t object;
    return cudaUserObjectCreate(&object, fake_object, host_nothing, 0, cudaUserObjectNoDestructorSync);
}
USE(user_object_no_function)
{
    cudaUserObject_t object;
    return cudaUserObjectCreate(&object, fake_object, 0, 1, cudaUserObjectNoDestructorSync);
}
static cudaUserObject_t new_object(unsigned count = 1)
{
    cudaUserObject_t object = 0;
    NEED(cudaUserObjectCreate(&object, fake_object, host_nothing, count, cudaUserObjectNoDestructorSync));
    return object;
}
USE(user_object_retain_zero)
{
    return cudaUserObjectRetain(new_object(), 0);
}
USE(user_object_release_null)
{
    return cudaUserObjectRelease(0, 1);
}
USE(user_object_graph_unknown_flags)
{
    return cudaGraphRetainUserObject(new_graph(), new_object(), 1, 8);
}
USE(user_object_graph_release_absent)
{
    return cudaGraphReleaseUserObject(new_graph(), new_object(), 1);
}
USE(user_object_graph_zero)
{
    return cudaGraphRetainUserObject(new_graph(), new_object(), 0, 0);
}
