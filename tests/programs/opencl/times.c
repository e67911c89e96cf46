/* What events say of a kernel: its own time, whether or not kernels of the program print. */
#include "start.h"

static const char *text =
    "kernel void plain(global int *a) { a[get_global_id(0)] = 1; }\n"
    "kernel void prints(global int *a) { if (a[get_global_id(0)] == 2) printf(\"two\\n\"); }\n"
    "kernel void faults(global int *a) { printf(\"before\\n\"); a[1 << 28] = 1; }\n";

static cl_ulong moment(cl_event event, cl_profiling_info name)
{
    cl_ulong time = 0;
    GOOD(clGetEventProfilingInfo(event, name, sizeof time, &time, NULL));
    return time;
}

static void run(cl_program program, const char *name, cl_mem buffer)
{
    size_t items = 64;
    cl_event event;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    GOOD(error);
    GOOD(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    GOOD(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event));
    if (!clFinish(queue))
        printf("%s %llu\n", name,
               (unsigned long long)(moment(event, CL_PROFILING_COMMAND_END) -
                                    moment(event, CL_PROFILING_COMMAND_START)));
    GOOD(clReleaseEvent(event));
    GOOD(clReleaseKernel(kernel));
}

int main(void)
{
    start();
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    GOOD(error);
    GOOD(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(int), NULL, &error);
    GOOD(error);
    run(program, "plain", buffer);
    run(program, "prints", buffer);
    run(program, "faults", buffer);
    GOOD(clReleaseMemObject(buffer));
    GOOD(clReleaseProgram(program));
    return end("times");
}
