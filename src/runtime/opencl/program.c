/* Program objects, and what is known of them. */
#include "runtime/opencl/program.h"
#include "base/mem.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"

cl_program opencl_program_new(cl_context context)
{
    cl_program program = opencl_object_new(OPENCL_PROGRAM, sizeof *program);
    pthread_mutex_init(&program->lock, NULL);
    opencl_retain(context);
    program->context = context;
    program->status = CL_BUILD_NONE;
    program->type = CL_PROGRAM_BINARY_TYPE_NONE;
    return program;
}

void opencl_program_end(cl_program program)
{
    if (program->module)
        module_unload(program->module);
    gcn3_object_free(program->object);
    mem_free(program->source);
    mem_free(program->options);
    text_fini(&program->log);
    text_fini(&program->binary);
    pthread_mutex_destroy(&program->lock);
    opencl_release(program->context);
}

const char *opencl_program_target(cl_program program)
{
    return opencl_device_target(program->context->devices[0]);
}

cl_int opencl_program_load(cl_program program)
{
    struct err err;
    struct driver *driver = device_driver(program->context->devices[0]->device);
    struct gcn3_object *object =
        gcn3_object_load("the program's code object", program->binary.at, program->binary.length, &err);
    if (!object)
        return opencl_fail(program->context, CL_INVALID_BINARY, "%s", err.text);
    if (program->module)
        module_unload(program->module);
    gcn3_object_free(program->object);
    program->object = object;
    program->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return opencl_result(program->context,
                         module_load(driver, "the program's code object", program->binary.at,
                                     program->binary.length, &program->module));
}

/* ---- from source ---- */

static cl_int make_from_source(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                               cl_program *made)
{
    struct text source = {0};
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!count || !strings)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!strings[i]) {
            text_fini(&source);
            return CL_INVALID_VALUE;
        }
        size_t length = lengths && lengths[i] ? strnlen(strings[i], lengths[i]) : strlen(strings[i]);
        text_add_bytes(&source, strings[i], length);
    }
    text_add(&source, "%s", "");
    *made = opencl_program_new(context);
    (*made)->source = source.at;
    return CL_SUCCESS;
}

cl_program API(clCreateProgramWithSource)(cl_context context, cl_uint count, const char **strings,
                                          const size_t *lengths, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_program program = NULL;
    return opencl_made(errcode_ret, make_from_source(context, count, strings, lengths, &program), program);
}

/* ---- from binaries ---- */

static cl_int check_devices(cl_context context, cl_uint count, const cl_device_id *devices)
{
    if (!count || !devices)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(devices[i], OPENCL_DEVICE) || !opencl_context_has(context, devices[i]))
            return CL_INVALID_DEVICE;
    }
    return CL_SUCCESS;
}

static bool is_bitcode(const unsigned char *binary, size_t bytes)
{
    return bytes >= 4 && binary[0] == 'B' && binary[1] == 'C';
}

static cl_int take_binary(cl_program program, const unsigned char *binary, size_t bytes)
{
    text_add_bytes(&program->binary, (const char *)binary, bytes);
    if (is_bitcode(binary, bytes)) { /* of a compile or of a library: it has to be linked */
        program->type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
        return CL_SUCCESS;
    }
    cl_int error = opencl_program_load(program);
    program->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return error;
}

static cl_int make_from_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                               const size_t *lengths, const unsigned char **binaries, cl_int *statuses,
                               cl_program *made)
{
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    cl_int error = check_devices(context, count, devices);
    if (error || !lengths || !binaries)
        return error ? error : CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        bool bad = !lengths[i] || !binaries[i];
        if (statuses)
            statuses[i] = bad ? CL_INVALID_VALUE : CL_SUCCESS;
        error = bad ? CL_INVALID_VALUE : error;
    }
    if (error)
        return error;
    cl_program program = opencl_program_new(context);
    error = take_binary(program, binaries[0], lengths[0]);
    for (cl_uint i = 0; statuses && i < count; i++)
        statuses[i] = error;
    if (error)
        opencl_release(program);
    else
        *made = program;
    return error;
}

cl_program API(clCreateProgramWithBinary)(cl_context context, cl_uint count, const cl_device_id *devices,
                                          const size_t *lengths, const unsigned char **binaries,
                                          cl_int *statuses, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_program program = NULL;
    cl_int error = make_from_binary(context, count, devices, lengths, binaries, statuses, &program);
    return opencl_made(errcode_ret, error, program);
}

cl_program API(clCreateProgramWithBuiltInKernels)(cl_context context, cl_uint count,
                                                  const cl_device_id *devices, const char *names,
                                                  cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_int error =
        opencl_is(context, OPENCL_CONTEXT) ? check_devices(context, count, devices) : CL_INVALID_CONTEXT;
    (void)names; /* there are none */
    return opencl_made(errcode_ret, error ? error : CL_INVALID_VALUE, NULL);
}

/* ---- what is known of one ---- */

static cl_int give_binaries(cl_program program, size_t bytes, unsigned char **value, size_t *needed)
{
    cl_uint count = program->context->device_count;
    if (needed)
        *needed = count * sizeof *value;
    if (value && bytes < count * sizeof *value)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; value && i < count; i++) {
        if (value[i] && program->binary.length)
            memcpy(value[i], program->binary.at, program->binary.length);
    }
    return CL_SUCCESS;
}

static cl_int give_sizes(cl_program program, size_t bytes, void *value, size_t *needed)
{
    cl_uint count = program->context->device_count;
    size_t *sizes = mem_alloc(count, sizeof *sizes);
    for (cl_uint i = 0; i < count; i++)
        sizes[i] = program->binary.length;
    cl_int error = opencl_info(sizes, count * sizeof *sizes, bytes, value, needed);
    mem_free(sizes);
    return error;
}

static cl_int give_names(cl_program program, size_t bytes, void *value, size_t *needed)
{
    struct text names = {0};
    text_add(&names, "%s", "");
    for (size_t i = 0; i < program->object->kernel_count; i++)
        text_add(&names, "%s%s", i ? ";" : "", program->object->kernels[i].name);
    cl_int error = opencl_info(names.at, names.length + 1, bytes, value, needed);
    text_fini(&names);
    return error;
}

cl_int API(clGetProgramInfo)(cl_program program, cl_program_info name, size_t bytes, void *value,
                             size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(program, OPENCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    const cl_context context = program->context;
    if ((name == CL_PROGRAM_NUM_KERNELS || name == CL_PROGRAM_KERNEL_NAMES) && !program->object)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    switch (name) {
        INFO(CL_PROGRAM_REFERENCE_COUNT, cl_uint, program->base.references)
        INFO(CL_PROGRAM_CONTEXT, cl_context, context)
        INFO(CL_PROGRAM_NUM_DEVICES, cl_uint, context->device_count)
        INFO_BYTES(CL_PROGRAM_DEVICES, context->devices, context->device_count * sizeof(cl_device_id))
        INFO_TEXT(CL_PROGRAM_SOURCE, program->source)
        INFO(CL_PROGRAM_NUM_KERNELS, size_t, program->object->kernel_count)
    case CL_PROGRAM_KERNEL_NAMES:
        return give_names(program, bytes, value, needed);
    case CL_PROGRAM_BINARY_SIZES:
        return give_sizes(program, bytes, value, needed);
    case CL_PROGRAM_BINARIES:
        return give_binaries(program, bytes, value, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int API(clGetProgramBuildInfo)(cl_program program, cl_device_id device, cl_program_build_info name,
                                  size_t bytes, void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(program, OPENCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!opencl_is(device, OPENCL_DEVICE) || !opencl_context_has(program->context, device))
        return CL_INVALID_DEVICE;
    switch (name) {
        INFO(CL_PROGRAM_BUILD_STATUS, cl_build_status, program->status)
        INFO_TEXT(CL_PROGRAM_BUILD_OPTIONS, program->options)
        INFO_TEXT(CL_PROGRAM_BUILD_LOG, program->log.at)
        INFO(CL_PROGRAM_BINARY_TYPE, cl_program_binary_type, program->type)
        INFO(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, size_t, 0)
    default:
        return CL_INVALID_VALUE;
    }
}

/* Each build starts the compiler anew. */
cl_int API(clUnloadCompiler)(void)
{
    OPENCL_CALL;
    return CL_SUCCESS;
}

cl_int API(clUnloadPlatformCompiler)(cl_platform_id platform)
{
    OPENCL_CALL;
    return opencl_is(platform, OPENCL_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}
