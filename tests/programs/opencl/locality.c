/* The Locality API in an OpenCL program: buffers and work-groups placed on members of a unified GPU.
 * Usage: locality FILE.hsaco [held] (that of the workload vecadd). held: the launch waits for a user event.
 */
#include "start.h"

#include <heddle_locality.h>
#include <stdint.h>

enum { ITEMS = 64, GROUPS = 256, COUNT = ITEMS * GROUPS, MOST = 64 };

static cl_kernel load(const char *path)
{
    static unsigned char bytes[1 << 20];
    const unsigned char *code = bytes;
    FILE *file = fopen(path, "rb");
    CHECK(file);
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &code, NULL, &error);
    GOOD(error);
    GOOD(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "vecadd", &error);
    GOOD(error);
    return kernel;
}

int main(int argc, char **argv)
{
    static float values[COUNT];
    struct heddle_blocks shares[MOST];
    cl_mem buffers[3];
    cl_uint count = COUNT;
    size_t global = COUNT, local = ITEMS;
    if (argc < 2)
        return 2;
    start();
    cl_kernel kernel = load(argv[1]);
    unsigned members = heddle_locality_members(0);
    CHECK(members >= 1 && members <= MOST);
    for (unsigned i = 0; i < COUNT; i++)
        values[i] = (float)i;
    for (unsigned i = 0; i < 3; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof values, NULL, &error);
        GOOD(error);
        GOOD(clEnqueueWriteBuffer(queue, buffers[i], CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
        GOOD(clSetKernelArg(kernel, 1 + i, sizeof buffers[i], &buffers[i]));
    }
    GOOD(clSetKernelArg(kernel, 0, sizeof count, &count));
    for (unsigned i = 0; i < members; i++) {
        shares[i] = (struct heddle_blocks){
            .first = GROUPS * i / members, .end = GROUPS * (i + 1) / members, .member = i};
        size_t from = shares[i].first * ITEMS * 4, to = shares[i].end * ITEMS * 4;
        for (unsigned k = 0; k < 3; k++)
            GOOD(heddle_locality_place_memory(buffers[k], from, to - from, i));
    }
    GIVES(1, heddle_locality_place_memory(buffers[0], 0, sizeof values + 1, 0));
    GIVES(1, heddle_locality_place_memory(buffers[0], 0, sizeof values, members));
    cl_event gate = argc > 2 ? clCreateUserEvent(context, &error) : NULL;
    GOOD(heddle_locality_place_blocks(shares, members));
    GOOD(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, gate ? 1 : 0, gate ? &gate : NULL,
                                NULL));
    if (gate)
        GOOD(clSetUserEventStatus(gate, CL_COMPLETE));
    GOOD(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    unsigned wrong = 0;
    for (unsigned i = 0; i < COUNT; i++)
        wrong += values[i] != 2 * (float)i;
    CHECK(!wrong);
    printf("%u members\n", members);
    return end("locality");
}
