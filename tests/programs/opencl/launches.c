/* What kernels see of their launch and of their device. */
#include "start.h"

static const char source[] = "#ifdef __IMAGE_SUPPORT__\n#define IMAGES 1\n#else\n#define IMAGES 0\n#endif\n"
                             "kernel void see(global int *out)\n"
                             "{\n    if (get_global_id(0) || get_global_id(1) || get_global_id(2)) return;\n"
                             "    out[0] = get_work_dim();\n    out[1] = IMAGES;\n}\n";

static cl_kernel kernel;
static cl_mem buffer;

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
    GOOD(clReleaseProgram(program));
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
    GOOD(clReleaseKernel(kernel));
    GOOD(clReleaseMemObject(buffer));
    return end("launches");
}
