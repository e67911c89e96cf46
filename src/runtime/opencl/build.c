/* clBuildProgram, clCompileProgram, clLinkProgram. They are done when they return; a callback is called then.
 */
#include "runtime/opencl/program.h"
#include "base/mem.h"
#include "runtime/opencl/compiler.h"
#include "runtime/opencl/errors.h"

typedef void CL_CALLBACK built_fn(cl_program program, void *user);

/* The failures of a kind of build. */
struct failures {
    cl_int failed, bad_options, no_tool;
};

static const struct failures build_failures = {CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS,
                                               CL_COMPILER_NOT_AVAILABLE};
static const struct failures compile_failures = {CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_COMPILER_OPTIONS,
                                                 CL_COMPILER_NOT_AVAILABLE};
static const struct failures link_failures = {CL_LINK_PROGRAM_FAILURE, CL_INVALID_LINKER_OPTIONS,
                                              CL_LINKER_NOT_AVAILABLE};

static cl_int check(cl_program program, cl_uint count, const cl_device_id *devices, built_fn *notify,
                    void *user)
{
    if (!opencl_is(program, OPENCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!count != !devices || (!notify && user))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(devices[i], OPENCL_DEVICE) || !opencl_context_has(program->context, devices[i]))
            return CL_INVALID_DEVICE;
    }
    return program->kernels ? CL_INVALID_OPERATION : CL_SUCCESS;
}

/* What was made before goes. With the lock held, as is the rest here. */
static void begin(cl_program program, const char *options)
{
    mem_free(program->options);
    program->options = mem_text(options ? options : "");
    text_fini(&program->log);
    text_add(&program->log, "%s", "");
    program->status = CL_BUILD_IN_PROGRESS;
}

static void take(cl_program program, struct text *made, cl_program_binary_type type)
{
    text_fini(&program->binary);
    program->binary = *made;
    program->type = type;
}

static cl_int error_of(const struct failures *failures, enum opencl_built built)
{
    return built == OPENCL_BUILT         ? CL_SUCCESS
           : built == OPENCL_NO_COMPILER ? failures->no_tool
                                         : failures->failed;
}

static cl_int end(cl_program program, const struct failures *failures, cl_int error)
{
    program->status = error ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
    return error == CL_INVALID_BINARY ? failures->failed : error;
}

/* ---- source to executable ---- */

static cl_int build_source(cl_program program, const struct opencl_options *options)
{
    struct text made = {0};
    const char *target = opencl_program_target(program);
    cl_int error =
        error_of(&build_failures, opencl_build(program->source, target, options, &made, &program->log));
    if (error) {
        text_fini(&made);
        return error;
    }
    take(program, &made, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    return opencl_program_load(program);
}

/* A code object has nothing left to build; an object is linked with itself alone. */
static cl_int build_binary(cl_program program, const struct opencl_options *options)
{
    struct opencl_bytes object = {program->binary.at, program->binary.length};
    struct text made = {0};
    const char *target = opencl_program_target(program);
    if (program->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        return CL_SUCCESS;
    cl_int error = error_of(&build_failures, opencl_link(&object, 1, target, options, &made, &program->log));
    if (error) {
        text_fini(&made);
        return error;
    }
    take(program, &made, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    return opencl_program_load(program);
}

cl_int API(clBuildProgram)(cl_program program, cl_uint count, const cl_device_id *devices, const char *text,
                           built_fn *notify, void *user)
{
    OPENCL_CALL;
    cl_int error = check(program, count, devices, notify, user);
    if (error)
        return error;
    struct opencl_options options = {0};
    pthread_mutex_lock(&program->lock);
    begin(program, text);
    if (!opencl_options_parse(&options, text, false, &program->log))
        error = CL_INVALID_BUILD_OPTIONS;
    else
        error = program->source ? build_source(program, &options) : build_binary(program, &options);
    error = end(program, &build_failures, error);
    pthread_mutex_unlock(&program->lock);
    opencl_options_fini(&options);
    if (notify)
        notify(program, user);
    return error;
}

/* ---- source to object ---- */

static cl_int gather_headers(cl_uint count, const cl_program *programs, const char **names,
                             struct opencl_header **headers)
{
    if (!count != !programs || !count != !names)
        return CL_INVALID_VALUE;
    *headers = mem_alloc(count + 1, sizeof **headers);
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(programs[i], OPENCL_PROGRAM) || !programs[i]->source || !names[i])
            return CL_INVALID_PROGRAM;
        (*headers)[i] = (struct opencl_header){names[i], programs[i]->source};
    }
    return CL_SUCCESS;
}

static cl_int compile(cl_program program, const char *text, const struct opencl_header *headers, size_t count)
{
    struct opencl_options options = {0};
    struct text made = {0};
    const char *target = opencl_program_target(program);
    cl_int error = CL_SUCCESS;
    if (!opencl_options_parse(&options, text, false, &program->log))
        error = CL_INVALID_COMPILER_OPTIONS;
    else
        error = error_of(&compile_failures, opencl_compile(program->source, headers, count, target, &options,
                                                           &made, &program->log));
    if (error)
        text_fini(&made);
    else
        take(program, &made, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    opencl_options_fini(&options);
    return error;
}

cl_int API(clCompileProgram)(cl_program program, cl_uint count, const cl_device_id *devices, const char *text,
                             cl_uint header_count, const cl_program *header_programs,
                             const char **header_names, built_fn *notify, void *user)
{
    OPENCL_CALL;
    struct opencl_header *headers = NULL;
    cl_int error = check(program, count, devices, notify, user);
    if (!error && !program->source)
        error = CL_INVALID_OPERATION;
    if (!error)
        error = gather_headers(header_count, header_programs, header_names, &headers);
    if (!error) {
        pthread_mutex_lock(&program->lock);
        begin(program, text);
        error = end(program, &compile_failures, compile(program, text, headers, header_count));
        pthread_mutex_unlock(&program->lock);
        if (notify)
            notify(program, user);
    }
    mem_free(headers);
    return error;
}

/* ---- objects to executable or library ---- */

static cl_int gather_objects(cl_context context, cl_uint count, const cl_program *programs,
                             struct opencl_bytes **objects)
{
    if (!count || !programs)
        return CL_INVALID_VALUE;
    *objects = mem_alloc(count, sizeof **objects);
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(programs[i], OPENCL_PROGRAM))
            return CL_INVALID_PROGRAM;
        if (programs[i]->context != context || (programs[i]->type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT &&
                                                programs[i]->type != CL_PROGRAM_BINARY_TYPE_LIBRARY))
            return CL_INVALID_OPERATION;
        (*objects)[i] = (struct opencl_bytes){programs[i]->binary.at, programs[i]->binary.length};
    }
    return CL_SUCCESS;
}

static cl_int link_all(cl_program program, const char *text, const struct opencl_bytes *objects, size_t count)
{
    struct opencl_options options = {0};
    struct text made = {0};
    const char *target = opencl_program_target(program);
    cl_int error = CL_SUCCESS;
    if (!opencl_options_parse(&options, text, true, &program->log))
        error = CL_INVALID_LINKER_OPTIONS;
    else
        error = error_of(&link_failures, opencl_link(objects, count, target, &options, &made, &program->log));
    bool library = options.creates_library;
    opencl_options_fini(&options);
    if (error) {
        text_fini(&made);
        return error;
    }
    take(program, &made, library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    return library ? CL_SUCCESS : opencl_program_load(program);
}

/* A program that could not be linked is given, too: for its log. */
cl_program API(clLinkProgram)(cl_context context, cl_uint count, const cl_device_id *devices,
                              const char *text, cl_uint program_count, const cl_program *programs,
                              built_fn *notify, void *user, cl_int *errcode_ret)
{
    OPENCL_CALL;
    struct opencl_bytes *objects = NULL;
    cl_program program = NULL;
    cl_int error = opencl_is(context, OPENCL_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (!error)
        error = gather_objects(context, program_count, programs, &objects);
    if (!error)
        program = opencl_program_new(context);
    if (!error)
        error = check(program, count, devices, notify, user);
    if (error) {
        opencl_release(program);
        program = NULL;
    } else {
        begin(program, text);
        error = end(program, &link_failures, link_all(program, text, objects, program_count));
        if (notify)
            notify(program, user);
    }
    mem_free(objects);
    if (errcode_ret)
        *errcode_ret = error;
    return program;
}
