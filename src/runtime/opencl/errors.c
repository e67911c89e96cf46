#include "runtime/opencl/errors.h"
#include "base/log.h"

#include <stdarg.h>

const char *opencl_error_name(cl_int error)
{
    switch (error) {
#define ERROR(code)                                                                                          \
    case code:                                                                                               \
        return #code;
#include "runtime/opencl/errors.def"
#undef ERROR
    default:
        return "an unknown error";
    }
}

cl_int opencl_fail(cl_context context, cl_int error, const char *format, ...)
{
    char text[2048];
    int used = snprintf(text, sizeof text, "%s: ", opencl_error_name(error));
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, values);
    va_end(values);
    log_debug("%s", text);
    if (context && context->notify)
        context->notify(text, NULL, 0, context->user);
    return error;
}

static cl_int code_of(enum result result)
{
    switch (result) {
#define ERROR(code)
#define RESULT(id, code)                                                                                     \
    case RESULT_##id:                                                                                        \
        return code;
#include "runtime/opencl/errors.def"
#undef ERROR
#undef RESULT
    default:
        return CL_OUT_OF_RESOURCES;
    }
}

cl_int opencl_result(cl_context context, enum result result)
{
    const char *detail = driver_detail();
    return result ? opencl_fail(context, code_of(result), "%s", *detail ? detail : result_text(result))
                  : CL_SUCCESS;
}

void *opencl_give(cl_int *errcode_ret, cl_int error, void *made)
{
    if (errcode_ret)
        *errcode_ret = error;
    return error ? NULL : made;
}
