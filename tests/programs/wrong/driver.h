/* The driver API: contexts, memory, modules, launches. */
#pragma once
#include "kit.h"
#include "copies.h"

static const char ptx_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .global .align 4 .u32 word;\n"
                               ".visible .entry one(.param .u64 p)\n{\nret;\n}\n";
static CUmodule new_module()
{
    CUmodule module = 0;
    NEED(cuModuleLoadData(&module, ptx_text));
    return module;
}
static CUfunction new_function()
{
    CUfunction function = 0;
    NEED(cuModuleGetFunction(&function, new_module(), "one"));
    return function;
}
static CUdevice some_device;
static CUcontext some_context;
static CUdeviceptr some_address;

FRESH(driver_no_init_device)
{
    return cuDeviceGet(&some_device, 0);
}
FRESH(driver_no_init_context)
{
    return cuCtxGetCurrent(&some_context);
}
FRESH(driver_no_init_malloc)
{
    return cuMemAlloc(&some_address, 16);
}
FRESH(driver_no_init_version)
{
    int version;
    return cuDriverGetVersion(&version);
}
FRESH(driver_init_flags)
{
    return cuInit(1);
}
FRESH(driver_no_context_malloc)
{
    NEED(cuInit(0));
    return cuMemAlloc(&some_address, 16);
}
FRESH(driver_no_context_device)
{
    NEED(cuInit(0));
    return cuCtxGetDevice(&some_device);
}
FRESH(driver_no_context_synchronize)
{
    NEED(cuInit(0));
    return cuCtxSynchronize();
}
FRESH(driver_no_context_pop)
{
    NEED(cuInit(0));
    return cuCtxPopCurrent(&some_context);
}
FRESH(driver_no_context_module)
{
    CUmodule module;
    NEED(cuInit(0));
    return cuModuleLoadData(&module, ptx_text);
}
FRESH(driver_no_context_stream)
{
    CUstream stream;
    NEED(cuInit(0));
    return cuStreamCreate(&stream, 0);
}
FRESH(driver_no_context_pointer)
{
    int value;
    NEED(cuInit(0));
    return cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 16);
}
FRESH(driver_primary_release_not_retained)
{
    NEED(cuInit(0));
    return cuDevicePrimaryCtxRelease(0);
}
FRESH(driver_primary_flags_unknown)
{
    NEED(cuInit(0));
    return cuDevicePrimaryCtxSetFlags(0, 0x4000);
}
USE(driver_device_beyond_last)
{
    return cuDeviceGet(&some_device, 1000);
}
USE(driver_device_negative)
{
    return cuDeviceGet(&some_device, -1);
}
USE(driver_device_null)
{
    return cuDeviceGet(0, 0);
}
USE(driver_device_count_null)
{
    return cuDeviceGetCount(0);
}
USE(driver_device_name_null)
{
    return cuDeviceGetName(0, 10, 0);
}
USE(driver_device_name_no_room)
{
    char name[4];
    return cuDeviceGetName(name, 0, 0);
}
USE(driver_device_name_beyond_last)
{
    char name[64];
    return cuDeviceGetName(name, 64, 1000);
}
USE(driver_device_memory_null)
{
    return cuDeviceTotalMem(0, 0);
}
USE(driver_device_attribute_unknown)
{
    int value;
    return cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0);
}
USE(driver_device_uuid_null)
{
    return cuDeviceGetUuid(0, 0);
}
USE(driver_context_create_null)
{
    return cuCtxCreate(0, 0, 0, 0);
}
USE(driver_context_create_unknown_flags)
{
    return cuCtxCreate(&some_context, 0, 0x8000, 0);
}
USE(driver_context_create_beyond_last)
{
    return cuCtxCreate(&some_context, 0, 0, 1000);
}
USE(driver_context_destroy_null)
{
    return cuCtxDestroy(0);
}
USE(driver_context_destroy_bad)
{
    return cuCtxDestroy(FAKE(CUcontext));
}
USE(driver_context_destroy_primary)
{
    NEED(cuCtxGetCurrent(&some_context));
    return cuCtxDestroy(some_context);
}
USE(driver_context_push_null)
{
    return cuCtxPushCurrent(0);
}
USE(driver_context_set_bad)
{
    return cuCtxSetCurrent(FAKE(CUcontext));
}
USE(driver_context_current_null)
{
    return cuCtxGetCurrent(0);
}
USE(driver_context_api_version_null)
{
    return cuCtxGetApiVersion(0, 0);
}
USE(driver_context_limit_unknown)
{
    size_t value;
    return cuCtxGetLimit(&value, (CUlimit)99);
}
USE(driver_primary_retain_null)
{
    return cuDevicePrimaryCtxRetain(0, 0);
}
USE(driver_primary_retain_beyond_last)
{
    return cuDevicePrimaryCtxRetain(&some_context, 1000);
}
USE(driver_primary_state_null)
{
    return cuDevicePrimaryCtxGetState(0, 0, 0);
}
USE(driver_module_null)
{
    return cuModuleLoadData(0, ptx_text);
}
USE(driver_module_no_text)
{
    CUmodule module;
    return cuModuleLoadData(&module, 0);
}
USE(driver_module_nonsense)
{
    CUmodule module;
    return cuModuleLoadData(&module, "this is not PTX");
}
USE(driver_module_syntax_error)
{
    CUmodule module;
    return cuModuleLoadData(&module,
                            ".version 7.0\n.target sm_70\n.address_size 64\n.entry x() { add.s32 ; }\n");
}
USE(driver_module_newer_target)
{
    CUmodule module;
    return cuModuleLoadData(&module,
                            ".version 8.8\n.target sm_120\n.address_size 64\n.visible .entry x() { ret; }\n");
}
USE(driver_module_newer_version)
{
    CUmodule module;
    return cuModuleLoadData(&module,
                            ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry x() { ret; }\n");
}
USE(driver_module_unresolved)
{
    CUmodule module;
    return cuModuleLoadData(&module,
                            ".version 7.0\n.target sm_70\n.address_size 64\n.extern .func elsewhere();\n"
                            ".visible .entry x() { call elsewhere; ret; }\n");
}
USE(driver_module_no_file)
{
    CUmodule module;
    return cuModuleLoad(&module, "/nonexistent.ptx");
}
USE(driver_module_no_name)
{
    CUmodule module;
    return cuModuleLoad(&module, 0);
}
USE(driver_module_unload_null)
{
    return cuModuleUnload(0);
}
USE(driver_function_absent)
{
    CUfunction function;
    return cuModuleGetFunction(&function, new_module(), "two");
}
USE(driver_function_null)
{
    return cuModuleGetFunction(0, new_module(), "one");
}
USE(driver_function_no_name)
{
    CUfunction function;
    return cuModuleGetFunction(&function, new_module(), 0);
}
USE(driver_function_no_module)
{
    CUfunction function;
    return cuModuleGetFunction(&function, 0, "one");
}
USE(driver_variable_absent)
{
    size_t size;
    return cuModuleGetGlobal(&some_address, &size, new_module(), "letter");
}
USE(driver_variable_no_name)
{
    size_t size;
    return cuModuleGetGlobal(&some_address, &size, new_module(), 0);
}
USE(driver_variable_nothing_asked)
{
    return cuModuleGetGlobal(0, 0, new_module(), "word");
}
USE(driver_function_count_null)
{
    return cuModuleGetFunctionCount(0, new_module());
}
USE(driver_function_attribute_unknown)
{
    int value;
    return cuFuncGetAttribute(&value, (CUfunction_attribute)99, new_function());
}
USE(driver_function_attribute_null)
{
    return cuFuncGetAttribute(0, CU_FUNC_ATTRIBUTE_NUM_REGS, new_function());
}
USE(driver_function_attribute_of_null)
{
    int value;
    return cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, 0);
}
USE(driver_function_set_read_only)
{
    return cuFuncSetAttribute(new_function(), CU_FUNC_ATTRIBUTE_NUM_REGS, 4);
}
USE(driver_function_name_null)
{
    return cuFuncGetName(0, new_function());
}
USE(driver_function_parameter_beyond_last)
{
    size_t offset, size;
    return cuFuncGetParamInfo(new_function(), 1, &offset, &size);
}
static int driver_launch(CUfunction function, unsigned grid, unsigned block, unsigned shared, CUstream stream)
{
    CUdeviceptr p = 0;
    void *arguments[] = {&p};
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, arguments, 0);
}
USE(driver_launch_null)
{
    return driver_launch(0, 1, 1, 0, 0);
}
USE(driver_launch_no_blocks)
{
    return driver_launch(new_function(), 0, 1, 0, 0);
}
USE(driver_launch_no_threads)
{
    return driver_launch(new_function(), 1, 0, 0, 0);
}
USE(driver_launch_too_many_threads)
{
    return driver_launch(new_function(), 1, 1025, 0, 0);
}
USE(driver_launch_shared_too_much)
{
    return driver_launch(new_function(), 1, 1, 49153, 0);
}
USE(driver_launch_bad_stream)
{
    return driver_launch(new_function(), 1, 1, 0, FAKE(CUstream));
}
USE(driver_launch_no_arguments)
{
    return cuLaunchKernel(new_function(), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
}
USE(driver_launch_both_arguments)
{
    CUdeviceptr p = 0;
    size_t size = 8;
    void *arguments[] = {&p};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(new_function(), 1, 1, 1, 1, 1, 1, 0, 0, arguments, extra);
}
USE(driver_launch_buffer_too_small)
{
    CUdeviceptr p = 0;
    size_t size = 4;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(new_function(), 1, 1, 1, 1, 1, 1, 0, 0, 0, extra);
}
USE(driver_launch_ex_null)
{
    return cuLaunchKernelEx(0, new_function(), 0, 0);
}
USE(driver_launch_cooperative_too_many)
{
    CUdeviceptr p = 0;
    void *arguments[] = {&p};
    return cuLaunchCooperativeKernel(new_function(), 1 << 20, 1, 1, 1024, 1, 1, 0, 0, arguments);
}
USE(driver_occupancy_null)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(0, new_function(), 32, 0);
}
USE(driver_occupancy_no_threads)
{
    int blocks;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, new_function(), 0, 0);
}
USE(driver_stream_create_flags)
{
    CUstream stream;
    return cuStreamCreate(&stream, 8);
}
USE(driver_stream_destroy_default)
{
    return cuStreamDestroy(0);
}
USE(driver_stream_context_null)
{
    return cuStreamGetCtx(new_stream(), 0);
}
USE(driver_wait_value_unaligned)
{
    return cuStreamWaitValue32(new_stream(), (CUdeviceptr)new_memory() + 1, 0, CU_STREAM_WAIT_VALUE_GEQ);
}
USE(driver_wait_value_unknown_flags)
{
    return cuStreamWaitValue32(new_stream(), (CUdeviceptr)new_memory(), 0, 0x100);
}
USE(driver_wait_value_null)
{
    return cuStreamWaitValue32(new_stream(), 0, 0, CU_STREAM_WAIT_VALUE_GEQ);
}
USE(driver_write_value_unaligned)
{
    return cuStreamWriteValue32(new_stream(), (CUdeviceptr)new_memory() + 1, 0, 0);
}
USE(driver_write_value_64_unaligned)
{
    return cuStreamWriteValue64(new_stream(), (CUdeviceptr)new_memory() + 4, 0, 0);
}
USE(driver_event_flags)
{
    CUevent event;
    return cuEventCreate(&event, 0x100);
}
USE(driver_event_record_null)
{
    return cuEventRecord(0, 0);
}
USE(driver_error_name_unknown)
{
    const char *name;
    return cuGetErrorName((CUresult)12345, &name);
}
USE(driver_error_name_null)
{
    return cuGetErrorName(CUDA_SUCCESS, 0);
}
USE(driver_link_nonsense)
{
    CUlinkState link;
    NEED(cuLinkCreate(0, 0, 0, &link));
    char text[] = "nonsense";
    return cuLinkAddData(link, CU_JIT_INPUT_PTX, text, sizeof text, "x", 0, 0, 0);
}
USE(driver_link_null)
{
    return cuLinkCreate(0, 0, 0, 0);
}
USE(driver_link_no_file)
{
    CUlinkState link;
    NEED(cuLinkCreate(0, 0, 0, &link));
    return cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nonexistent.ptx", 0, 0, 0);
}
USE(driver_link_nothing)
{
    CUlinkState link;
    void *cubin;
    size_t size;
    NEED(cuLinkCreate(0, 0, 0, &link));
    return cuLinkComplete(link, &cubin, &size);
}
USE(driver_library_nonsense)
{
    CUlibrary library;
    return cuLibraryLoadData(&library, "nonsense", 0, 0, 0, 0, 0, 0);
}
USE(driver_library_kernel_absent)
{
    CUlibrary library;
    CUkernel kernel;
    NEED(cuLibraryLoadData(&library, ptx_text, 0, 0, 0, 0, 0, 0));
    return cuLibraryGetKernel(&kernel, library, "two");
}
USE(driver_library_variable_absent)
{
    CUlibrary library;
    size_t size;
    NEED(cuLibraryLoadData(&library, ptx_text, 0, 0, 0, 0, 0, 0));
    return cuLibraryGetGlobal(&some_address, &size, library, "letter");
}
USE(driver_peer_enable_self)
{
    NEED(cuCtxGetCurrent(&some_context));
    return cuCtxEnablePeerAccess(some_context, 0);
}
USE(driver_peer_enable_null)
{
    return cuCtxEnablePeerAccess(0, 0);
}
USE(driver_peer_disable_self)
{
    NEED(cuCtxGetCurrent(&some_context));
    return cuCtxDisablePeerAccess(some_context);
}
USE(driver_array_null)
{
    return cuArrayCreate(0, 0);
}
USE(driver_array_three_channels)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR what = {16, 16, CU_AD_FORMAT_FLOAT, 3};
    return cuArrayCreate(&array, &what);
}
USE(driver_array_unknown_format)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR what = {16, 16, (CUarray_format)0x77, 1};
    return cuArrayCreate(&array, &what);
}
USE(driver_array_destroy_null)
{
    return cuArrayDestroy(0);
}
USE(driver_texture_null)
{
    return cuTexObjectCreate(0, 0, 0, 0);
}
