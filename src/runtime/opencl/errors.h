/* Errors: OpenCL's codes, and what a human is told of them. */
#ifndef RUNTIME_OPENCL_ERRORS_H
#define RUNTIME_OPENCL_ERRORS_H

#include "runtime/opencl/objects.h"

/* "CL_INVALID_VALUE" */
const char *opencl_error_name(cl_int error);

/* Tells the context's callback, and the log (HEDDLE_LOG=debug), why a call fails. Returns the code. */
cl_int opencl_fail(cl_context context, cl_int error, const char *format, ...)
    __attribute__((format(__printf__, 3, 4)));

/* OpenCL's code for what the driver says, which is told likewise. */
cl_int opencl_result(cl_context context, enum result result);

/* The end of a function that makes an object: gives it, or NULL and the error. `error` may be the call that
 * sets `made`: it comes first. */
#define opencl_made(errcode_ret, error, made)                                                                \
    ({                                                                                                       \
        cl_int opencl_error = (error);                                                                       \
        opencl_give(errcode_ret, opencl_error, made);                                                        \
    })
void *opencl_give(cl_int *errcode_ret, cl_int error, void *made);

#endif
