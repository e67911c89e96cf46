/* What the OpenCL programs share: the first device, a context and a queue. */
#ifndef TESTS_PROGRAMS_OPENCL_START_H
#define TESTS_PROGRAMS_OPENCL_START_H

#ifndef START_OPENCL_VERSION
#define START_OPENCL_VERSION 120
#endif
#define CL_TARGET_OPENCL_VERSION START_OPENCL_VERSION
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "../check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue; /* in order, with profiling */
static cl_int error;

static inline void start(void)
{
    GOOD(clGetPlatformIDs(1, &platform, NULL));
    GOOD(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    GOOD(error);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    GOOD(error);
    if (check_failures)
        exit(1);
}

static inline int end(const char *name)
{
    GOOD(clReleaseCommandQueue(queue));
    GOOD(clReleaseContext(context));
    return check_end(name);
}

#endif
