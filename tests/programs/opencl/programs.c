/* Programs from source and binaries, what the compiler says, kernels and their arguments. */
#include "start.h"

static const char source[] =
    "#ifndef FACTOR\n#define FACTOR 1\n#endif\n"
    "kernel void scale(global const float *restrict in, global float *out, float by, int n)\n"
    "{\n    int i = get_global_id(0);\n    if (i < n) out[i] = FACTOR * by * in[i];\n}\n"
    "kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void sum(global int *out, local int *room, constant int *in)\n"
    "{\n    local int more[16];\n    int l = get_local_id(0);\n    room[l] = in[l];\n"
    "    more[l & 15] = 1;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (!l) for (int i = 0; i < 64; i++) *out += room[i] + more[i & 15];\n}\n";

static cl_program program_of(const char *text)
{
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    GOOD(error);
    return program;
}

static const char *log_of(cl_program program)
{
    static char log[1 << 16];
    GOOD(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    return log;
}

static cl_build_status status_of(cl_program program)
{
    cl_build_status status = 1234;
    GOOD(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    return status;
}

static void builds(void)
{
    cl_program program = program_of(source);
    cl_kernel all[2];
    cl_uint count = 0;
    size_t number = 0;
    CHECK(status_of(program) == CL_BUILD_NONE);
    clCreateKernel(program, "scale", &error);
    GIVES(CL_INVALID_PROGRAM_EXECUTABLE, error);
    GOOD(clBuildProgram(program, 1, &device, "-D FACTOR=2 -cl-fast-relaxed-math", NULL, NULL));
    CHECK(status_of(program) == CL_BUILD_SUCCESS);
    GOOD(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof number, &number, NULL));
    CHECK(number == 2);
    GOOD(clCreateKernelsInProgram(program, 2, all, &count));
    CHECK(count == 2);
    GIVES(CL_INVALID_OPERATION, clBuildProgram(program, 1, &device, "", NULL, NULL)); /* it has kernels */
    GOOD(clReleaseKernel(all[0]));
    GOOD(clReleaseKernel(all[1]));
    GOOD(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    GOOD(clReleaseProgram(program));
}

/* The compiler finds headers by -I, and a changed header is not taken from a cache. */
static void includes(void)
{
    for (int value = 1; value <= 2; value++) {
        FILE *file = fopen("included.h", "w");
        CHECK(file);
        fprintf(file, "kernel void with_%d(global int *a) { *a = %d; }\n", value, value);
        fclose(file);
        cl_program program = program_of("#include <included.h>\n");
        GOOD(clBuildProgram(program, 1, &device, "-I .", NULL, NULL));
        cl_kernel kernel = clCreateKernel(program, value == 1 ? "with_1" : "with_2", &error);
        GOOD(error);
        GOOD(clReleaseKernel(kernel));
        GOOD(clReleaseProgram(program));
    }
    remove("included.h");
}

static void broken_sources(void)
{
    cl_program program = program_of("kernel void wrong(global int *a)\n{\n    *a = unknown_thing;\n}\n");
    GIVES(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    CHECK(status_of(program) == CL_BUILD_ERROR);
    CHECK(strstr(log_of(program), "unknown_thing"));
    GIVES(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 1, &device, "-no-such-option", NULL, NULL));
    GOOD(clReleaseProgram(program));
}

static void CL_CALLBACK note_end(cl_mem mem, void *user)
{
    (void)mem;
    ++*(int *)user;
}

static void arguments(void)
{
    cl_program program = program_of(source);
    GOOD(clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "scale", &error);
    GOOD(error);
    cl_mem buffer = clCreateBuffer(context, 0, 256, NULL, &error);
    cl_uint count;
    char name[64];
    cl_kernel_arg_address_qualifier where;
    cl_kernel_arg_type_qualifier how;
    double wide = 1;
    int ended = 0;
    GOOD(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
    CHECK(count == 4);
    GOOD(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof name, name, NULL));
    CHECK(!strcmp(name, "in"));
    GOOD(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL));
    CHECK(!strcmp(name, "float*"));
    GOOD(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof where, &where, NULL));
    CHECK(where == CL_KERNEL_ARG_ADDRESS_GLOBAL);
    GOOD(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof how, &how, NULL));
    CHECK(how == (CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT));
    GOOD(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    GOOD(clSetKernelArg(kernel, 1, sizeof buffer, NULL));
    GIVES(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 2, sizeof wide, &wide));
    GIVES(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 2, sizeof(float), NULL));
    GIVES(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 4, sizeof(float), &wide));
    size_t global = 64, local = 7;
    GIVES(CL_INVALID_KERNEL_ARGS,
          clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    GOOD(clSetKernelArg(kernel, 2, sizeof(float), &wide));
    GOOD(clSetKernelArg(kernel, 3, sizeof(int), &count));
    GIVES(CL_INVALID_WORK_GROUP_SIZE,
          clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    GIVES(CL_INVALID_WORK_DIMENSION,
          clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &global, NULL, 0, NULL, NULL));
    GOOD(clSetMemObjectDestructorCallback(buffer, note_end, &ended));
    GOOD(clReleaseMemObject(buffer));
    CHECK(ended == 1); /* being an argument of a kernel does not keep it */
    GOOD(clReleaseKernel(kernel));
    clCreateKernel(program, "nothing", &error);
    GIVES(CL_INVALID_KERNEL_NAME, error);
    GOOD(clReleaseProgram(program));
}

static void work_groups(void)
{
    cl_program program = program_of(source);
    GOOD(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "sum", &error);
    GOOD(error);
    size_t sizes[3], multiple = 0;
    cl_ulong local;
    GOOD(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes,
                                  NULL));
    CHECK(sizes[0] == 64 && sizes[1] == 1 && sizes[2] == 1);
    GOOD(clSetKernelArg(kernel, 1, 64 * sizeof(int), NULL));
    GIVES(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 1, 0, NULL));
    GIVES(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 1, 4, &local));
    GOOD(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL));
    CHECK(local >= 64 * sizeof(int));
    GOOD(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                  sizeof multiple, &multiple, NULL));
    CHECK(multiple > 0);
    GOOD(clReleaseKernel(kernel));
    GOOD(clReleaseProgram(program));
}

static void binaries(void)
{
    static unsigned char bytes[1 << 20];
    unsigned char *place = bytes;
    cl_program program = program_of(source);
    size_t size = 0;
    cl_int status = 1;
    GOOD(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    GOOD(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    CHECK(size > 0 && size <= sizeof bytes);
    GOOD(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof place, &place, NULL));
    GOOD(clReleaseProgram(program));
    const unsigned char *given = bytes;
    program = clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &error);
    GOOD(error);
    GOOD(status);
    GOOD(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "scale", &error);
    GOOD(error);
    GOOD(clReleaseKernel(kernel));
    GOOD(clReleaseProgram(program));
    memset(bytes, 'x', 100);
    clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &error);
    GIVES(CL_INVALID_BINARY, error);
    GIVES(CL_INVALID_BINARY, status);
}

static void compile_and_link(void)
{
    cl_program header = program_of("int twice(int a);\n");
    cl_program one =
        program_of("#include \"sub/twice.h\"\nkernel void run(global int *a) { *a = twice(*a); }\n");
    cl_program two = program_of("int twice(int a) { return 2 * a; }\n");
    const char *name = "sub/twice.h";
    GOOD(clCompileProgram(one, 1, &device, NULL, 1, &header, &name, NULL, NULL));
    GOOD(clCompileProgram(two, 1, &device, NULL, 0, NULL, NULL, NULL, NULL));
    cl_program library = clLinkProgram(context, 1, &device, "-create-library", 1, &two, NULL, NULL, &error);
    GOOD(error);
    cl_program both[2] = {one, library};
    cl_program linked = clLinkProgram(context, 1, &device, NULL, 2, both, NULL, NULL, &error);
    GOOD(error);
    cl_kernel kernel = clCreateKernel(linked, "run", &error);
    GOOD(error);
    GOOD(clReleaseKernel(kernel));
    cl_program list[] = {header, one, two, library, linked};
    for (int i = 0; i < 5; i++)
        GOOD(clReleaseProgram(list[i]));
}

int main(void)
{
    start();
    builds();
    includes();
    broken_sources();
    arguments();
    work_groups();
    binaries();
    compile_and_link();
    return end("programs");
}
