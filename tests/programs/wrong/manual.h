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

/* ---- external memory ---- */

static int import_external(int type, int file, unsigned long long bytes, unsigned flags = 0)
{
    cudaExternalMemory_t memory;
    cudaExternalMemoryHandleDesc desc = {};
    desc.type = (cudaExternalMemoryHandleType)type;
    desc.handle.fd = file;
    desc.size = bytes;
    desc.flags = flags;
    return cudaImportExternalMemory(&memory, &desc);
}

USE(external_null)
{
    cudaExternalMemoryHandleDesc desc = {};
    return cudaImportExternalMemory(0, &desc);
}
USE(external_no_description)
{
    cudaExternalMemory_t memory;
    return cudaImportExternalMemory(&memory, 0);
}
USE(external_no_type)
{
    return import_external(0, 0, 4096);
}
USE(external_no_file)
{
    return import_external(cudaExternalMemoryHandleTypeOpaqueFd, -1, 4096);
}
USE(external_no_bytes)
{
    return import_external(cudaExternalMemoryHandleTypeOpaqueFd, 0, 0);
}
USE(external_bad_flags)
{
    return import_external(cudaExternalMemoryHandleTypeOpaqueFd, 0, 4096, 8);
}
USE(external_of_windows)
{
    return import_external(cudaExternalMemoryHandleTypeOpaqueWin32, 0, 4096);
}
USE(external_destroy_bad)
{
    return cudaDestroyExternalMemory(FAKE(cudaExternalMemory_t));
}
USE(external_destroy_null)
{
    return cudaDestroyExternalMemory(0);
}
USE(external_buffer_of_bad)
{
    void *pointer;
    cudaExternalMemoryBufferDesc desc = {};
    desc.size = 16;
    return cudaExternalMemoryGetMappedBuffer(&pointer, FAKE(cudaExternalMemory_t), &desc);
}
USE(external_buffer_null)
{
    cudaExternalMemoryBufferDesc desc = {};
    desc.size = 16;
    return cudaExternalMemoryGetMappedBuffer(0, FAKE(cudaExternalMemory_t), &desc);
}
USE(driver_external_null)
{
    return cuImportExternalMemory(0, 0);
}
USE(driver_external_destroy_bad)
{
    return cuDestroyExternalMemory(FAKE(CUexternalMemory));
}

/* ---- references ---- */

USE(texref_of_no_module)
{
    CUtexref ref;
    return cuModuleGetTexRef(&ref, 0, "nothing");
}
USE(texref_set_array_null)
{
    return cuTexRefSetArray(0, 0, CU_TRSA_OVERRIDE_FORMAT);
}
USE(texref_filter_bad)
{
    CUtexref ref;
    NEED(cuTexRefCreate(&ref));
    return cuTexRefSetFilterMode(ref, (CUfilter_mode)2);
}
USE(texref_address_mode_bad)
{
    CUtexref ref;
    NEED(cuTexRefCreate(&ref));
    return cuTexRefSetAddressMode(ref, 3, CU_TR_ADDRESS_MODE_CLAMP);
}
USE(texref_create_null)
{
    return cuTexRefCreate(0);
}

/* ---- arrays that the device says it does not have ---- */

USE(array_sparse)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMallocArray(&array, &format, 1024, 1024, cudaArraySparse);
}
USE(array_deferred)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMallocArray(&array, &format, 1024, 1024, cudaArrayDeferredMapping);
}
USE(array_3d_sparse)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMalloc3DArray(&array, &format, make_cudaExtent(64, 64, 64), cudaArraySparse);
}
USE(mipmaps_sparse)
{
    cudaMipmappedArray_t mipmaps;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    return cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(64, 64, 0), 4, cudaArraySparse);
}
USE(array_requirements_of_plain)
{
    cudaArrayMemoryRequirements requirements;
    return cudaArrayGetMemoryRequirements(&requirements, new_array(), 0);
}

/* ---- several at a time ---- */

USE(prefetch_batch_of_plain)
{
    void *memory = new_memory();
    size_t bytes = 64, first = 0;
    cudaMemLocation place = {};
    place.type = cudaMemLocationTypeDevice;
    return cudaMemPrefetchBatchAsync(&memory, &bytes, 1, &place, &first, 1, 0, new_stream());
}
USE(prefetch_batch_in_null_stream)
{
    void *memory = new_managed();
    size_t bytes = 64, first = 0;
    cudaMemLocation place = {};
    place.type = cudaMemLocationTypeDevice;
    return cudaMemPrefetchBatchAsync(&memory, &bytes, 1, &place, &first, 1, 0, 0);
}
USE(discard_batch_flags)
{
    void *memory = new_managed();
    size_t bytes = 64;
    return cudaMemDiscardBatchAsync(&memory, &bytes, 1, 1, new_stream());
}
USE(copy_3d_batch_empty)
{
    return cudaMemcpy3DBatchAsync(0, 0, 0, new_stream());
}
USE(values_batch_too_many)
{
    static CUstreamBatchMemOpParams values[300];
    return cuStreamBatchMemOp(new_stream(), 300, values, 0);
}
