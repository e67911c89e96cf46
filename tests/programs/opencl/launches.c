/* What kernels see of their launch and of their device, and functions of the library that were wrong. */
#include "start.h"

static const char source[] =
    "#ifdef __IMAGE_SUPPORT__\n#define IMAGES 1\n#else\n#define IMAGES 0\n#endif\n"
    "kernel void see(global int *out)\n"
    "{\n    if (get_global_id(0) || get_global_id(1) || get_global_id(2)) return;\n"
    "    out[0] = get_work_dim();\n    out[1] = IMAGES;\n}\n"
    "kernel void differ(global uint *out, int a, int b, global ulong *wide, long c, long d)\n"
    "{\n    *out = abs_diff(a, b);\n    *wide = abs_diff(c, d);\n}\n";

static cl_kernel kernel, differ;
static cl_mem buffer, wide_buffer;

static void make(void)
{
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    GOOD(error);
    GOOD(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    kernel = clCreateKernel(program, "see", &error);
    GOOD(error);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * sizeof(int), NULL, &error);
    GOOD(error);
    GOOD(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    differ = clCreateKernel(program, "differ", &error);
    GOOD(error);
    wide_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_ulong), NULL, &error);
    GOOD(error);
    GOOD(clReleaseProgram(program));
}

/* Differences that no int and no long can hold. */
static void differences(void)
{
    cl_int a = -2000000000, b = 2000000000;
    cl_long c = -9000000000000000000, d = 9000000000000000000;
    cl_uint got = 0;
    cl_ulong wide = 0;
    GOOD(clSetKernelArg(differ, 0, sizeof buffer, &buffer));
    GOOD(clSetKernelArg(differ, 1, sizeof a, &a));
    GOOD(clSetKernelArg(differ, 2, sizeof b, &b));
    GOOD(clSetKernelArg(differ, 3, sizeof wide_buffer, &wide_buffer));
    GOOD(clSetKernelArg(differ, 4, sizeof c, &c));
    GOOD(clSetKernelArg(differ, 5, sizeof d, &d));
    GOOD(clEnqueueTask(queue, differ, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, wide_buffer, CL_TRUE, 0, sizeof wide, &wide, 0, NULL, NULL));
    CHECK(got == 4000000000u);
    CHECK(wide == 18000000000000000000u);
}

static void sees(int dimensions, const char *how)
{
    int got[2] = {-1, -1};
    cl_bool images = CL_FALSE;
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    GOOD(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (got[0] != dimensions || got[1] != (int)images)
        fprintf(stderr, "%s: %d dimensions, images %d\n", how, got[0], got[1]);
    CHECK(got[0] == dimensions);
    CHECK(got[1] == (int)images);
}

/* Launches that the device cannot do. */
static void impossible(void)
{
    const char *text =
        "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fixed(local int *a) { *a = 1; }";
    const size_t items = 64;
    cl_ulong most = 0;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    GOOD(error);
    GOOD(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel fixed = clCreateKernel(program, "fixed", &error);
    GOOD(error);
    GOOD(clSetKernelArg(fixed, 0, 256, NULL));
    CHECK(clEnqueueTask(queue, fixed, 0, NULL, NULL) == CL_INVALID_WORK_GROUP_SIZE);
    CHECK(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &items, NULL, 0, NULL, NULL) ==
          CL_INVALID_WORK_GROUP_SIZE);
    GOOD(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &items, &items, 0, NULL, NULL));
    GOOD(clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL));
    GOOD(clSetKernelArg(fixed, 0, most + 1, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, fixed, 1, NULL, &items, &items, 0, NULL, NULL) ==
          CL_OUT_OF_RESOURCES);
    GOOD(clReleaseKernel(fixed));
    GOOD(clReleaseProgram(program));
}

int main(void)
{
    const size_t global[3] = {8, 1, 1};
    start();
    make();
    for (cl_uint dimensions = 1; dimensions <= 3; dimensions++) {
        GOOD(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, NULL, 0, NULL, NULL));
        sees((int)dimensions, "a range");
    }
    GOOD(clEnqueueTask(queue, kernel, 0, NULL, NULL));
    sees(1, "a task");
    differences();
    impossible();
    GOOD(clReleaseKernel(kernel));
    GOOD(clReleaseKernel(differ));
    GOOD(clReleaseMemObject(buffer));
    GOOD(clReleaseMemObject(wide_buffer));
    return end("launches");
}
