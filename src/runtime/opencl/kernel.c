#include "runtime/opencl/kernel.h"
#include "base/bits.h"
#include "base/mem.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"
#include "runtime/opencl/svm.h"

/* ---- making them ---- */

static cl_int make(cl_program program, const struct gcn3_kernel_info *info, cl_kernel *made)
{
    struct function *function;
    enum result result = module_function(program->module, info->name, &function);
    if (result)
        return opencl_result(program->context, result);
    cl_kernel kernel = *made = opencl_object_new(OPENCL_KERNEL, sizeof *kernel);
    pthread_mutex_init(&kernel->lock, NULL);
    opencl_retain(program);
    kernel->program = program;
    kernel->info = info;
    kernel->function = function;
    kernel->args = mem_alloc(info->explicit_count + 1, sizeof *kernel->args);
    atomic_fetch_add((_Atomic unsigned *)&program->kernels, 1);
    return CL_SUCCESS;
}

static cl_int check_program(cl_program program)
{
    if (!opencl_is(program, OPENCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    return program->object && program->status == CL_BUILD_SUCCESS ? CL_SUCCESS
                                                                  : CL_INVALID_PROGRAM_EXECUTABLE;
}

static cl_int find(cl_program program, const char *name, cl_kernel *made)
{
    cl_int error = check_program(program);
    if (error || !name)
        return error ? error : CL_INVALID_VALUE;
    const struct gcn3_kernel_info *info = gcn3_object_kernel(program->object, name);
    return info ? make(program, info, made)
                : opencl_fail(program->context, CL_INVALID_KERNEL_NAME, "the program has no kernel %s", name);
}

cl_kernel API(clCreateKernel)(cl_program program, const char *name, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_kernel kernel = NULL;
    return opencl_made(errcode_ret, find(program, name, &kernel), kernel);
}

cl_int API(clCreateKernelsInProgram)(cl_program program, cl_uint count, cl_kernel *kernels, cl_uint *found)
{
    OPENCL_CALL;
    cl_int error = check_program(program);
    if (error)
        return error;
    size_t there = program->object->kernel_count;
    if (kernels && count < there)
        return CL_INVALID_VALUE;
    if (found)
        *found = (cl_uint)there;
    for (size_t i = 0; kernels && i < there && !error; i++)
        error = make(program, &program->object->kernels[i], &kernels[i]);
    return error;
}

void opencl_kernel_end(cl_kernel kernel)
{
    for (uint32_t i = 0; i < kernel->info->explicit_count; i++)
        mem_free(kernel->args[i].value);
    mem_free(kernel->args);
    atomic_fetch_sub((_Atomic unsigned *)&kernel->program->kernels, 1);
    pthread_mutex_destroy(&kernel->lock);
    opencl_release(kernel->program);
}

/* ---- arguments ---- */

void opencl_args_free(struct opencl_arg *args, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        opencl_release(args[i].mem);
        opencl_release(args[i].sampler);
        mem_free(args[i].value);
    }
    mem_free(args);
}

static struct opencl_arg copy_arg(const struct opencl_arg *arg)
{
    struct opencl_arg copy = *arg;
    if (arg->value)
        copy.value = memcpy(mem_alloc(arg->bytes, 1), arg->value, arg->bytes);
    return copy;
}

struct opencl_arg *opencl_args_copy(cl_kernel kernel)
{
    uint32_t count = kernel->info->explicit_count;
    struct opencl_arg *copy = mem_alloc(count + 1, sizeof *copy);
    pthread_mutex_lock(&kernel->lock);
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = copy_arg(&kernel->args[i]);
        opencl_retain(copy[i].mem);
        opencl_retain(copy[i].sampler);
    }
    pthread_mutex_unlock(&kernel->lock);
    return copy;
}

/* A buffer or image; a NULL is no buffer. */
static cl_int take_mem(cl_kernel kernel, bool image, size_t bytes, const void *value, struct opencl_arg *arg)
{
    cl_mem mem = NULL;
    if (bytes != sizeof mem)
        return CL_INVALID_ARG_SIZE;
    if (value)
        memcpy(&mem, value, sizeof mem);
    if (!mem)
        return image ? CL_INVALID_MEM_OBJECT : CL_SUCCESS;
    if (!opencl_is(mem, OPENCL_MEM) || opencl_is_image(mem) != image ||
        mem->context != kernel->program->context)
        return CL_INVALID_MEM_OBJECT;
    arg->mem = mem;
    return CL_SUCCESS;
}

static cl_int take_sampler(size_t bytes, const void *value, struct opencl_arg *arg)
{
    if (bytes != sizeof arg->sampler)
        return CL_INVALID_ARG_SIZE;
    if (!value)
        return CL_INVALID_SAMPLER;
    memcpy(&arg->sampler, value, sizeof arg->sampler);
    return opencl_is(arg->sampler, OPENCL_SAMPLER) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

static cl_int take(cl_kernel kernel, const struct gcn3_arg *info, size_t bytes, const void *value,
                   struct opencl_arg *arg)
{
    arg->is_set = true;
    arg->bytes = bytes;
    switch (info->kind) {
    case GCN3_ARG_DYNAMIC_SHARED_POINTER:
        return value ? CL_INVALID_ARG_VALUE : bytes ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
    case GCN3_ARG_GLOBAL_BUFFER:
        return take_mem(kernel, false, bytes, value, arg);
    case GCN3_ARG_IMAGE:
        return take_mem(kernel, true, bytes, value, arg);
    case GCN3_ARG_SAMPLER:
        return take_sampler(bytes, value, arg);
    default:
        if (bytes != info->bytes)
            return CL_INVALID_ARG_SIZE;
        if (!value)
            return CL_INVALID_ARG_VALUE;
        arg->value = (void *)(uintptr_t)value; /* until it is copied */
        return CL_SUCCESS;
    }
}

static void set_arg(cl_kernel kernel, cl_uint index, const struct opencl_arg *arg)
{
    struct opencl_arg copy = copy_arg(arg);
    pthread_mutex_lock(&kernel->lock);
    void *before = kernel->args[index].value;
    kernel->args[index] = copy;
    pthread_mutex_unlock(&kernel->lock);
    mem_free(before);
}

cl_int API(clSetKernelArg)(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    OPENCL_CALL;
    struct opencl_arg arg = {0};
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->info->explicit_count)
        return CL_INVALID_ARG_INDEX;
    cl_int error = take(kernel, &kernel->info->args[index], bytes, value, &arg);
    if (!error)
        set_arg(kernel, index, &arg);
    return error;
}

/* Any place in shared virtual memory, or NULL. */
cl_int API(clSetKernelArgSVMPointer)(cl_kernel kernel, cl_uint index, const void *value)
{
    OPENCL_CALL;
    struct opencl_arg arg = {.is_set = true, .bytes = sizeof value, .svm = (uint64_t)(uintptr_t)value};
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->info->explicit_count)
        return CL_INVALID_ARG_INDEX;
    if (kernel->info->args[index].kind != GCN3_ARG_GLOBAL_BUFFER ||
        (value && !opencl_svm_holds(kernel->program->context, value, 1)))
        return CL_INVALID_ARG_VALUE;
    set_arg(kernel, index, &arg);
    return CL_SUCCESS;
}

bool opencl_kernel_prints(cl_kernel kernel)
{
    for (uint32_t i = 0; i < kernel->info->arg_count; i++) {
        if (kernel->info->args[i].kind == GCN3_ARG_HIDDEN_PRINTF_BUFFER)
            return true;
    }
    return false;
}

/* ---- what is known of one ---- */

static cl_int give_attributes(const struct gcn3_kernel_info *info, size_t bytes, void *value, size_t *needed)
{
    struct text text = {0};
    text_add(&text, "%s", "");
    if (info->required[0])
        text_add(&text, "__attribute__((reqd_work_group_size(%u, %u, %u)))", info->required[0],
                 info->required[1], info->required[2]);
    if (info->hint[0])
        text_add(&text, "%s__attribute__((work_group_size_hint(%u, %u, %u)))", text.length ? " " : "",
                 info->hint[0], info->hint[1], info->hint[2]);
    if (info->vec_type_hint)
        text_add(&text, "%s__attribute__((vec_type_hint(%s)))", text.length ? " " : "", info->vec_type_hint);
    cl_int error = opencl_info(text.at, text.length + 1, bytes, value, needed);
    text_fini(&text);
    return error;
}

cl_int API(clGetKernelInfo)(cl_kernel kernel, cl_kernel_info name, size_t bytes, void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    switch (name) {
        INFO_TEXT(CL_KERNEL_FUNCTION_NAME, kernel->info->name)
        INFO(CL_KERNEL_NUM_ARGS, cl_uint, kernel->info->explicit_count)
        INFO(CL_KERNEL_REFERENCE_COUNT, cl_uint, kernel->base.references)
        INFO(CL_KERNEL_CONTEXT, cl_context, kernel->program->context)
        INFO(CL_KERNEL_PROGRAM, cl_program, kernel->program)
    case CL_KERNEL_ATTRIBUTES:
        return give_attributes(kernel->info, bytes, value, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_kernel_arg_address_qualifier address_of(const struct gcn3_arg *arg)
{
    switch (arg->space) {
    case GCN3_SPACE_global:
        return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    case GCN3_SPACE_constant:
        return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case GCN3_SPACE_local:
        return CL_KERNEL_ARG_ADDRESS_LOCAL;
    default:
        return arg->kind == GCN3_ARG_IMAGE ? CL_KERNEL_ARG_ADDRESS_GLOBAL : CL_KERNEL_ARG_ADDRESS_PRIVATE;
    }
}

static cl_kernel_arg_access_qualifier access_of(const struct gcn3_arg *arg)
{
    if (arg->kind != GCN3_ARG_IMAGE)
        return CL_KERNEL_ARG_ACCESS_NONE;
    return arg->access == GCN3_ACCESS_write_only   ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY
           : arg->access == GCN3_ACCESS_read_write ? CL_KERNEL_ARG_ACCESS_READ_WRITE
                                                   : CL_KERNEL_ARG_ACCESS_READ_ONLY;
}

static cl_kernel_arg_type_qualifier qualifiers_of(const struct gcn3_arg *arg)
{
    bool is_const = arg->is_const || arg->space == GCN3_SPACE_constant;
    return (is_const ? CL_KERNEL_ARG_TYPE_CONST : 0) | (arg->is_restrict ? CL_KERNEL_ARG_TYPE_RESTRICT : 0) |
           (arg->is_volatile ? CL_KERNEL_ARG_TYPE_VOLATILE : 0);
}

cl_int API(clGetKernelArgInfo)(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t bytes,
                               void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->info->explicit_count)
        return CL_INVALID_ARG_INDEX;
    const struct gcn3_arg *arg = &kernel->info->args[index];
    if (!arg->type_name || !arg->name)
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    switch (name) {
        INFO(CL_KERNEL_ARG_ADDRESS_QUALIFIER, cl_kernel_arg_address_qualifier, address_of(arg))
        INFO(CL_KERNEL_ARG_ACCESS_QUALIFIER, cl_kernel_arg_access_qualifier, access_of(arg))
        INFO(CL_KERNEL_ARG_TYPE_QUALIFIER, cl_kernel_arg_type_qualifier, qualifiers_of(arg))
        INFO_TEXT(CL_KERNEL_ARG_TYPE_NAME, arg->type_name)
        INFO_TEXT(CL_KERNEL_ARG_NAME, arg->name)
    default:
        return CL_INVALID_VALUE;
    }
}

uint64_t opencl_kernel_local_bytes(cl_kernel kernel)
{
    const struct gcn3_kernel_info *info = kernel->info;
    uint64_t bytes = info->group_bytes;
    for (uint32_t i = 0; i < info->explicit_count; i++) {
        if (info->args[i].kind == GCN3_ARG_DYNAMIC_SHARED_POINTER)
            bytes += kernel->args[i].bytes;
    }
    return bytes;
}

cl_int API(clGetKernelWorkGroupInfo)(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                                     size_t bytes, void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    cl_context context = kernel->program->context;
    if (device ? !opencl_is(device, OPENCL_DEVICE) || !opencl_context_has(context, device)
               : context->device_count > 1)
        return CL_INVALID_DEVICE;
    const struct gcn3_kernel_info *info = kernel->info;
    const struct gpu_spec *g = device_spec((device ? device : context->devices[0])->device);
    size_t required[3] = {info->required[0], info->required[1], info->required[2]};
    uint64_t most = info->max_group_items ? info->max_group_items : OPENCL_GROUP_MOST,
             local = opencl_kernel_local_bytes(kernel);
    switch (name) {
        INFO(CL_KERNEL_WORK_GROUP_SIZE, size_t, min_u64(most, g->threads_per_block))
        INFO_BYTES(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, required, sizeof required)
        INFO(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong, local)
        INFO(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t, g->warp_lanes)
        INFO(CL_KERNEL_PRIVATE_MEM_SIZE, cl_ulong, info->private_bytes)
    default:
        return CL_INVALID_VALUE;
    }
}
