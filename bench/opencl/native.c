/* workload.h over OpenCL 1.2, for a program that runs one workload on any OpenCL device: ./build makes it of
 * this page and the workload's host side. Its kernels are in the program, as source or, with
 * WORKLOAD_BINARY, as the code object for gfx803. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "native.h"

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)
#ifdef WORKLOAD_BINARY
#define CODE_FILE TEXT(WORKLOAD) ".hsaco"
#else
#define CODE_FILE TEXT(WORKLOAD) ".cl"
#endif
extern const char code[], code_end[];
__asm__(".pushsection .rodata\ncode:\n.incbin \"" CODE_FILE "\"\ncode_end:\n.byte 0\n.popsection\n");

#define WORKLOAD_OF(name)  name##_workload
#define WORKLOAD_ROW(name) WORKLOAD_OF(name)
extern const struct workload WORKLOAD_ROW(WORKLOAD);

/* Of the whole program. A device pointer of the host side is a cl_mem. */
static struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_event launched; /* the last launch; NULL: none */
} opencl;

static bool native_check(struct dev *gpu, cl_int error, const char *doing)
{
    if (error == CL_SUCCESS)
        return true;
    fprintf(stderr, "%s: %s: OpenCL error %d\n", gpu->workload->name, doing, (int)error);
    gpu->status = NATIVE_FAILED;
    return false;
}

static void native_free(void *device)
{
    clReleaseMemObject((cl_mem)device);
}

void *dev_alloc(struct dev *gpu, size_t bytes)
{
    cl_int error;
    if (gpu->status == NATIVE_FAILED)
        return NULL;
    cl_mem device = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &error);
    if (!native_check(gpu, error, "alloc"))
        return NULL;
    native_keep(gpu, device, native_free);
    return device;
}

void dev_upload(struct dev *gpu, void *device, const void *host, size_t bytes)
{
    if (gpu->status != NATIVE_FAILED && bytes)
        native_check(
            gpu, clEnqueueWriteBuffer(opencl.queue, (cl_mem)device, CL_TRUE, 0, bytes, host, 0, NULL, NULL),
            "upload");
}

void dev_download(struct dev *gpu, void *host, const void *device, size_t bytes)
{
    if (gpu->status != NATIVE_FAILED && bytes)
        native_check(
            gpu, clEnqueueReadBuffer(opencl.queue, (cl_mem)device, CL_TRUE, 0, bytes, host, 0, NULL, NULL),
            "download");
}

void dev_fill(struct dev *gpu, void *device, int byte, size_t bytes)
{
    cl_uchar pattern = (cl_uchar)byte;
    if (gpu->status != NATIVE_FAILED && bytes)
        native_check(gpu,
                     clEnqueueFillBuffer(opencl.queue, (cl_mem)device, &pattern, 1, 0, bytes, 0, NULL, NULL),
                     "fill");
}

/* The arguments that the host side has, and local memory as a last one where there is any. */
static bool native_arguments(struct dev *gpu, cl_kernel kernel, const char *name, size_t local_bytes,
                             void **arguments, const size_t *argument_bytes)
{
    cl_uint count = 0;
    if (!native_check(gpu, clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL), name))
        return false;
    for (cl_uint i = 0; i < count; i++) {
        bool local = local_bytes && i == count - 1;
        if (!native_check(gpu,
                          clSetKernelArg(kernel, i, local ? local_bytes : argument_bytes[i],
                                         local ? NULL : arguments[i]),
                          name))
            return false;
    }
    return true;
}

void dev_launch(struct dev *gpu, const char *name, struct dev_dim grid, struct dev_dim block,
                size_t shared_bytes, void **arguments, const size_t *argument_bytes)
{
    size_t local[] = {block.x, block.y, block.z};
    size_t global[] = {(size_t)grid.x * block.x, (size_t)grid.y * block.y, (size_t)grid.z * block.z};
    cl_int error;
    if (gpu->status == NATIVE_FAILED)
        return;
    cl_kernel kernel = clCreateKernel(opencl.program, name, &error);
    if (!native_check(gpu, error, name))
        return;
    gpu->launches++;
    if (opencl.launched)
        clReleaseEvent(opencl.launched);
    opencl.launched = NULL;
    if (native_arguments(gpu, kernel, name, shared_bytes, arguments, argument_bytes))
        native_check(
            gpu,
            clEnqueueNDRangeKernel(opencl.queue, kernel, 3, NULL, global, local, 0, NULL, &opencl.launched),
            name);
    clReleaseKernel(kernel);
}

double dev_seconds(struct dev *gpu)
{
    cl_ulong start = 0, end = 0;
    if (gpu->status == NATIVE_FAILED || !opencl.launched)
        return 0;
    native_check(gpu, clWaitForEvents(1, &opencl.launched), "wait");
    native_check(
        gpu, clGetEventProfilingInfo(opencl.launched, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
        "profiling");
    native_check(gpu,
                 clGetEventProfilingInfo(opencl.launched, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
                 "profiling");
    return (double)(end - start) * 1e-9;
}

unsigned dev_lanes(struct dev *gpu)
{
    (void)gpu;
    return 64; /* the kernels are written for as many */
}

static bool native_build(struct dev *gpu)
{
    const char *text = code;
    size_t bytes = (size_t)(code_end - code);
    cl_int error;
#ifdef WORKLOAD_BINARY
    opencl.program = clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &bytes,
                                               (const unsigned char **)&text, NULL, &error);
#else
    opencl.program = clCreateProgramWithSource(opencl.context, 1, &text, &bytes, &error);
#endif
    if (!native_check(gpu, error, CODE_FILE))
        return false;
    error = clBuildProgram(opencl.program, 1, &opencl.device, "-cl-std=CL1.2", NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(opencl.program, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    return native_check(gpu, error, CODE_FILE);
}

/* The first device of the first platform: the loader's OCL_ICD_VENDORS chooses another one. */
static bool native_open(struct dev *gpu)
{
    cl_platform_id platform;
    cl_int error;
    if (!native_check(gpu, clGetPlatformIDs(1, &platform, NULL), "platform") ||
        !native_check(gpu, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &opencl.device, NULL), "device"))
        return false;
    opencl.context = clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &error);
    if (!native_check(gpu, error, "context"))
        return false;
    opencl.queue = clCreateCommandQueue(opencl.context, opencl.device, CL_QUEUE_PROFILING_ENABLE, &error);
    return native_check(gpu, error, "queue") && native_build(gpu);
}

static void native_close(void)
{
    if (opencl.launched)
        clReleaseEvent(opencl.launched);
    if (opencl.program)
        clReleaseProgram(opencl.program);
    if (opencl.queue)
        clReleaseCommandQueue(opencl.queue);
    if (opencl.context)
        clReleaseContext(opencl.context);
}

int main(int argc, char **argv)
{
    const struct workload *workload = &WORKLOAD_ROW(WORKLOAD);
    struct dev gpu = {.workload = workload};
    int status = native_open(&gpu) ? native_main(workload, NULL, argc, argv) : NATIVE_FAILED;
    native_close();
    return status;
}
