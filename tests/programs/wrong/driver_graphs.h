/* Graphs and captures by the driver API. */
#pragma once
#include "kit.h"
#include "capture.h"
#include "driver.h"

static CUgraph driver_graph()
{
    CUgraph graph = 0;
    NEED(cuGraphCreate(&graph, 0));
    return graph;
}
USE(driver_graph_flags)
{
    CUgraph graph;
    return cuGraphCreate(&graph, 1);
}
USE(driver_graph_kernel_null)
{
    CUgraphNode node;
    return cuGraphAddKernelNode(&node, driver_graph(), 0, 0, 0);
}
USE(driver_graph_kernel_no_function)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS what = {};
    what.gridDimX = what.gridDimY = what.gridDimZ = what.blockDimX = what.blockDimY = what.blockDimZ = 1;
    return cuGraphAddKernelNode(&node, driver_graph(), 0, 0, &what);
}
USE(driver_graph_kernel_no_blocks)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS what = {};
    CUdeviceptr p = 0;
    void *arguments[] = {&p};
    what.func = new_function();
    what.kernelParams = arguments;
    return cuGraphAddKernelNode(&node, driver_graph(), 0, 0, &what);
}
USE(driver_graph_fill_null_context)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS what = {};
    what.dst = (CUdeviceptr)new_memory();
    what.elementSize = 4;
    what.width = what.height = 1;
    return cuGraphAddMemsetNode(&node, driver_graph(), 0, 0, &what, 0);
}
USE(driver_graph_copy_null)
{
    CUgraphNode node;
    NEED(cuCtxGetCurrent(&some_context));
    return cuGraphAddMemcpyNode(&node, driver_graph(), 0, 0, 0, some_context);
}
USE(driver_graph_instantiate_null)
{
    CUgraphExec exec;
    return cuGraphInstantiate(&exec, 0, 0);
}
USE(driver_graph_condition_no_context)
{
    CUgraphConditionalHandle handle;
    return cuGraphConditionalHandleCreate(&handle, driver_graph(), 0, 0, 0);
}
USE(driver_graph_batch_nothing)
{
    CUgraphNode node;
    CUDA_BATCH_MEM_OP_NODE_PARAMS what = {};
    NEED(cuCtxGetCurrent(&what.ctx));
    return cuGraphAddBatchMemOpNode(&node, driver_graph(), 0, 0, &what);
}
USE(driver_capture_legacy)
{
    return cuStreamBeginCapture(0, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
USE(driver_capture_malloc)
{
    capture c;
    return cuMemAlloc(&some_address, 4096);
}
USE(driver_capture_malloc_end)
{
    capture c;
    (void)cuMemAlloc(&some_address, 4096);
    return c.end();
}
USE(driver_capture_synchronize)
{
    capture c;
    return cuCtxSynchronize();
}
USE(driver_capture_module)
{
    CUmodule module;
    capture c;
    return cuModuleLoadData(&module, ptx_text);
}
USE(driver_capture_module_end)
{
    CUmodule module;
    capture c;
    (void)cuModuleLoadData(&module, ptx_text);
    return c.end();
}
USE(driver_capture_write_value)
{
    capture c;
    return cuStreamWriteValue32(c.stream, (CUdeviceptr)managed_table, 0, 0);
}
USE(driver_capture_exchange_null)
{
    return cuThreadExchangeStreamCaptureMode(0);
}
