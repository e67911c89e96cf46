/* Coarse-grained shared virtual memory: structures with pointers that the host and kernels use by turns,
 * maps, copies and fills, buffers in it, several devices. */
#define START_OPENCL_VERSION 300
#include "start.h"

enum { COUNT = 4096, BYTES = COUNT * (int)sizeof(int), LISTS = 100, LENGTH = 9, DEVICES_MOST = 8 };

static const char source[] =
    "struct node { global struct node *next; int value, seen; };\n"
    "kernel void walk(global struct node *global *lists, global int *sums, int number)\n"
    "{\n    int sum = 0;\n"
    "    for (global struct node *at = lists[get_global_id(0)]; at; at = at->next) {\n"
    "        sum += at->value;\n        at->seen = number;\n    }\n"
    "    sums[get_global_id(0)] = sum;\n}\n"
    "kernel void add(global int *a, int more) { a[get_global_id(0)] += more; }\n"
    "kernel void add_halves(global int *a)\n"
    "{\n    int i = get_global_id(0);\n    a[(i / 512 + 1) % 8 * 1024 + 512 + i % 512]++;\n}\n"
    "kernel void is_null(global int *out, global int *a) { *out = a ? 1 : 2; }\n"
    "kernel void where(global ulong *out, global int *a) { *out = (ulong)a; }\n";

struct node {
    struct node *next;
    cl_int value, seen;
};

static cl_device_id devices[DEVICES_MOST];
static cl_uint device_count;
static cl_command_queue queues[DEVICES_MOST];
static cl_program program;
static cl_kernel walk, add;
static bool is_heddle;

static void *shared(size_t bytes)
{
    void *memory = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    CHECK(memory);
    if (!memory)
        exit(1);
    return memory;
}

static cl_kernel kernel_of(const char *name)
{
    cl_kernel kernel = clCreateKernel(program, name, &error);
    GOOD(error);
    return kernel;
}

static void run(cl_command_queue on, cl_kernel kernel, size_t items)
{
    GOOD(clEnqueueNDRangeKernel(on, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
}

static void map(cl_map_flags flags, void *memory, size_t bytes)
{
    GOOD(clEnqueueSVMMap(queue, CL_TRUE, flags, memory, bytes, 0, NULL, NULL));
}

static void unmap(void *memory)
{
    GOOD(clEnqueueSVMUnmap(queue, memory, 0, NULL, NULL));
}

/* The host writes `first`, `first` + 1, ... */
static void set_numbers(int *memory, int count, int first)
{
    map(CL_MAP_WRITE_INVALIDATE_REGION, memory, (size_t)count * sizeof *memory);
    for (int i = 0; i < count; i++)
        memory[i] = first + i;
    unmap(memory);
}

static bool has_numbers(int *memory, int count, int first)
{
    bool good = true;
    map(CL_MAP_READ, memory, (size_t)count * sizeof *memory);
    for (int i = 0; i < count; i++)
        good = good && memory[i] == first + i;
    unmap(memory);
    return good;
}

static void add_to(cl_command_queue on, int *memory, int count, int more)
{
    GOOD(clSetKernelArgSVMPointer(add, 0, memory));
    GOOD(clSetKernelArg(add, 1, sizeof more, &more));
    run(on, add, (size_t)count);
}

static void what_cannot_be_had(void)
{
    cl_device_svm_capabilities can = 0;
    GOOD(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL));
    CHECK(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    CHECK(!clSVMAlloc(NULL, 0, 4, 0));
    CHECK(!clSVMAlloc(context, 0, 0, 0));
    CHECK(!clSVMAlloc(context, 0, 4, 3));
    CHECK(!clSVMAlloc(context, 0, 4, 4096));
    CHECK(!clSVMAlloc(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, 0));
    CHECK(!clSVMAlloc(context, CL_MEM_SVM_ATOMICS, 4, 0));
    if (!(can & CL_DEVICE_SVM_FINE_GRAIN_BUFFER))
        CHECK(!clSVMAlloc(context, CL_MEM_SVM_FINE_GRAIN_BUFFER, 4, 0));
    CHECK(!clSVMAlloc(context, 0, SIZE_MAX / 2, 0));
    void *memory = clSVMAlloc(context, CL_MEM_READ_ONLY, 4, 128);
    CHECK(memory && (size_t)memory % 128 == 0);
    clSVMFree(context, memory);
    clSVMFree(context, NULL);
}

/* Lists that the host builds in two allocations: nodes are in one, and in part in the other. */
static void lists(void)
{
    struct node *nodes = shared(LISTS * LENGTH * sizeof *nodes), *more = shared(LISTS * sizeof *more);
    struct node **heads = shared(LISTS * sizeof *heads);
    int *sums = shared(LISTS * sizeof *sums), wanted[LISTS];
    map(CL_MAP_READ | CL_MAP_WRITE, nodes, LISTS * LENGTH * sizeof *nodes);
    map(CL_MAP_WRITE_INVALIDATE_REGION, more, LISTS * sizeof *more);
    map(CL_MAP_WRITE, heads, LISTS * sizeof *heads);
    for (int i = 0; i < LISTS; i++) {
        heads[i] = more + i;
        wanted[i] = i;
        more[i] = (struct node){nodes + i, i, 0};
        for (int j = 0; j < LENGTH; j++) {
            struct node *at = nodes + i + j * LISTS;
            *at = (struct node){j + 1 < LENGTH ? at + LISTS : NULL, i * j, 0};
            wanted[i] += i * j;
        }
    }
    unmap(heads);
    unmap(more);
    unmap(nodes);
    void *reached[] = {nodes, more};
    GOOD(clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached));
    for (cl_uint d = 0; d < device_count; d++) {
        cl_int number = (cl_int)d + 7;
        GOOD(clFinish(queue));
        GOOD(clSetKernelArgSVMPointer(walk, 0, heads));
        GOOD(clSetKernelArgSVMPointer(walk, 1, sums));
        GOOD(clSetKernelArg(walk, 2, sizeof number, &number));
        run(queues[d], walk, LISTS);
        GOOD(clFinish(queues[d]));
        map(CL_MAP_READ | CL_MAP_WRITE, sums, LISTS * sizeof *sums);
        map(CL_MAP_READ, nodes, LISTS * LENGTH * sizeof *nodes);
        CHECK(!memcmp(sums, wanted, sizeof wanted));
        bool all_seen = true;
        for (int i = 0; i < LISTS * LENGTH; i++)
            all_seen = all_seen && nodes[i].seen == number;
        CHECK(all_seen);
        memset(sums, 0, LISTS * sizeof *sums);
        unmap(sums);
        unmap(nodes);
    }
    void *gone[] = {nodes, more, heads, NULL};
    GOOD(clEnqueueSVMFree(queue, 4, gone, NULL, NULL, 0, NULL, NULL));
    GOOD(clFinish(queue));
    clSVMFree(context, sums);
}

/* Kernels and the host change the same bytes by turns; devices change them one after another. */
/* The host has the first words of each page, and writes them, while a kernel changes the second half. */
static void parts_of_pages(void)
{
    enum { PAGES = 8, PAGE = 1024, HOSTS = 16 };
    int *memory = shared(PAGES * PAGE * sizeof *memory), wrong = 0;
    cl_kernel add_halves = kernel_of("add_halves");
    map(CL_MAP_WRITE_INVALIDATE_REGION, memory, PAGES * PAGE * sizeof *memory);
    memset(memory, 0, PAGES * PAGE * sizeof *memory);
    unmap(memory);
    for (int i = 0; i < PAGES; i++)
        map(CL_MAP_READ | CL_MAP_WRITE, memory + i * PAGE, HOSTS * sizeof *memory);
    GOOD(clSetKernelArgSVMPointer(add_halves, 0, memory));
    run(queue, add_halves, PAGES * PAGE / 2);
    GOOD(clFinish(queue));
    for (int i = 0; i < PAGES * HOSTS; i++)
        memory[i / HOSTS * PAGE + i % HOSTS] = 7;
    for (int i = 0; i < PAGES; i++) {
        map(CL_MAP_READ, memory + i * PAGE + PAGE / 2, sizeof *memory);
        unmap(memory + i * PAGE + PAGE / 2);
        unmap(memory + i * PAGE);
    }
    map(CL_MAP_READ, memory, PAGES * PAGE * sizeof *memory);
    for (int i = 0; i < PAGES * PAGE; i++)
        wrong += memory[i] != (i % PAGE < HOSTS ? 7 : i % PAGE >= PAGE / 2);
    CHECK(!wrong);
    unmap(memory);
    GOOD(clFinish(queue));
    GOOD(clReleaseKernel(add_halves));
    clSVMFree(context, memory);
}

static void turns(void)
{
    int *memory = shared(BYTES);
    set_numbers(memory, COUNT, 0);
    for (int i = 1; i <= 3; i++) {
        add_to(queue, memory, COUNT, 10);
        CHECK(has_numbers(memory, COUNT, i * 11 - 1));
        map(CL_MAP_WRITE, memory, BYTES);
        for (int j = 0; j < COUNT; j++)
            memory[j]++;
        unmap(memory);
    }
    GOOD(clFinish(queue));
    for (cl_uint d = 0; d < device_count; d++) {
        add_to(queues[d], memory, COUNT, 1000);
        GOOD(clFinish(queues[d]));
    }
    CHECK(has_numbers(memory, COUNT, 33 + 1000 * (int)device_count));
    const void *moved = memory;
    GOOD(clEnqueueSVMMigrateMem(queues[device_count - 1], 1, &moved, NULL, 0, 0, NULL, NULL));
    GOOD(clFinish(queues[device_count - 1]));
    /* Only a part is mapped, and the rest stays the device's. */
    map(CL_MAP_READ | CL_MAP_WRITE, memory + 1024, 64 * sizeof *memory);
    CHECK(memory[1024] == 1024 + 33 + 1000 * (int)device_count);
    memory[1025] = -1;
    unmap(memory + 1024);
    add_to(queue, memory, COUNT, 0);
    map(CL_MAP_READ, memory, BYTES);
    CHECK(memory[1024] > 0 && memory[1025] == -1 && memory[1026] == memory[1024] + 2);
    unmap(memory);
    clSVMFree(context, memory);
}

static void copies_and_fills(void)
{
    int *a = shared(BYTES), *b = shared(BYTES), back[COUNT];
    for (int i = 0; i < COUNT; i++)
        back[i] = i;
    GOOD(clEnqueueSVMMemcpy(queue, CL_FALSE, a, back, BYTES, 0, NULL, NULL));
    add_to(queue, a, COUNT, 5);
    GOOD(clEnqueueSVMMemcpy(queue, CL_FALSE, b, a, BYTES / 2, 0, NULL, NULL));
    GOOD(clEnqueueSVMMemcpy(queue, CL_TRUE, back, b, BYTES / 2, 0, NULL, NULL));
    CHECK(back[0] == 5 && back[COUNT / 2 - 1] == COUNT / 2 + 4 && back[COUNT / 2] == COUNT / 2);
    GOOD(clEnqueueSVMMemcpy(queue, CL_TRUE, b, a, 0, 0, NULL, NULL));
    unsigned char pattern[128];
    for (int i = 0; i < 128; i++)
        pattern[i] = (unsigned char)(i * 7 + 1);
    for (size_t bytes = 1; bytes <= 128; bytes *= 2) {
        GOOD(clEnqueueSVMMemFill(queue, (char *)a + 128, pattern, bytes, 1024, 0, NULL, NULL));
        GOOD(clEnqueueSVMMemcpy(queue, CL_TRUE, back, a, BYTES, 0, NULL, NULL));
        bool good = back[31] == 36 && back[32 + 256] == 32 + 256 + 5;
        for (size_t i = 0; i < 1024; i++)
            good = good && ((unsigned char *)back)[128 + i] == pattern[i % bytes];
        CHECK(good);
    }
    GIVES(CL_MEM_COPY_OVERLAP, clEnqueueSVMMemcpy(queue, CL_TRUE, a, a + 1, 8, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMemcpy(queue, CL_TRUE, NULL, a, 8, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMemcpy(queue, CL_TRUE, a, NULL, 8, 0, NULL, NULL));
    GIVES(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMemcpy(NULL, CL_TRUE, a, b, 8, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, NULL, pattern, 4, 8, 0, NULL, NULL));
    if (is_heddle) /* PoCL crashes */
        GIVES(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, a, NULL, 4, 8, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, a, pattern, 3, 9, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, a, pattern, 4, 6, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, (char *)a + 2, pattern, 4, 8, 0, NULL, NULL));
    clSVMFree(context, a);
    clSVMFree(context, b);
}

/* A buffer whose bytes are shared virtual memory, used as both. */
static void buffers(void)
{
    int *memory = shared(BYTES), got = 0;
    cl_bool is_svm = CL_FALSE;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, memory, &error);
    GOOD(error);
    cl_mem plain = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
    GOOD(error);
    GOOD(clGetMemObjectInfo(buffer, CL_MEM_USES_SVM_POINTER, sizeof is_svm, &is_svm, NULL));
    CHECK(is_svm);
    GOOD(clGetMemObjectInfo(plain, CL_MEM_USES_SVM_POINTER, sizeof is_svm, &is_svm, NULL));
    CHECK(!is_svm);
    set_numbers(memory, COUNT, 3);
    int more = 4;
    GOOD(clSetKernelArg(add, 0, sizeof buffer, &buffer));
    GOOD(clSetKernelArg(add, 1, sizeof more, &more));
    run(queue, add, COUNT);
    CHECK(has_numbers(memory, COUNT, 7));
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 40, sizeof got, &got, 0, NULL, NULL));
    CHECK(got == 17);
    int *mapped =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 8, 64, 0, NULL, NULL, &error);
    GOOD(error);
    CHECK(mapped == memory + 2 && mapped[1] == 10);
    mapped[1] = 100;
    GOOD(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL));
    add_to(queue, memory, COUNT, 1);
    GOOD(clEnqueueCopyBuffer(queue, buffer, plain, 0, 0, BYTES, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, plain, CL_TRUE, 12, sizeof got, &got, 0, NULL, NULL));
    CHECK(got == 101);
    /* A copy of a buffer to memory that the host has now, and may still change. */
    map(CL_MAP_WRITE, memory, BYTES);
    memory[0] = 55;
    GOOD(clEnqueueReadBuffer(queue, plain, CL_TRUE, 12, sizeof got, memory + 1, 0, NULL, NULL));
    CHECK(memory[0] == 55 && memory[1] == 101);
    GOOD(clEnqueueWriteBuffer(queue, plain, CL_TRUE, 0, sizeof got, memory, 0, NULL, NULL));
    unmap(memory);
    GOOD(clEnqueueReadBuffer(queue, plain, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    CHECK(got == 55);
    GOOD(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4, sizeof got, &got, 0, NULL, NULL));
    CHECK(got == 101);
    cl_buffer_region region = {4096, 4096};
    cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    GOOD(error);
    GOOD(clGetMemObjectInfo(part, CL_MEM_USES_SVM_POINTER, sizeof is_svm, &is_svm, NULL));
    CHECK(is_svm);
    mapped = clEnqueueMapBuffer(queue, part, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &error);
    CHECK(mapped == memory + 1024 && *mapped == 1024 + 8);
    GOOD(clEnqueueUnmapMemObject(queue, part, mapped, 0, NULL, NULL));
    GOOD(clFinish(queue));
    GOOD(clReleaseMemObject(part));
    GOOD(clReleaseMemObject(buffer));
    GOOD(clReleaseMemObject(plain));
    CHECK(has_numbers(memory + 4, COUNT - 4, 12)); /* it outlives the buffer */
    clSVMFree(context, memory);
}

static void arguments(void)
{
    cl_kernel is_null = kernel_of("is_null"), where = kernel_of("where");
    int *memory = shared(BYTES), *none = NULL, local;
    cl_ulong *address = shared(sizeof *address);
    GOOD(clSetKernelArgSVMPointer(is_null, 0, memory + 3));
    GOOD(clSetKernelArgSVMPointer(is_null, 1, none));
    run(queue, is_null, 1);
    GOOD(clSetKernelArgSVMPointer(where, 0, address));
    GOOD(clSetKernelArgSVMPointer(where, 1, memory + 5));
    run(queue, where, 1);
    map(CL_MAP_READ, memory, 64);
    map(CL_MAP_READ, address, sizeof *address);
    CHECK(memory[3] == 2 && *address == (cl_ulong)(size_t)(memory + 5));
    unmap(address);
    unmap(memory);
    GIVES(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(NULL, 0, memory));
    GIVES(CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(add, 2, memory));
    cl_bool on = CL_TRUE;
    void *pointers[] = {memory};
    GIVES(CL_INVALID_OPERATION,
          clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof on, &on));
    on = CL_FALSE;
    GOOD(clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof on, &on));
    GIVES(CL_INVALID_VALUE, clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, NULL));
    GIVES(CL_INVALID_VALUE, clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_SVM_PTRS, 3, pointers));
    GIVES(CL_INVALID_VALUE, clSetKernelExecInfo(add, 12345, sizeof pointers, pointers));
    GIVES(CL_INVALID_KERNEL,
          clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    if (is_heddle) { /* others let it pass */
        GIVES(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(add, 0, &local));
        GIVES(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(add, 1, memory));
    }
    clSVMFree(context, memory);
    clSVMFree(context, address);
    GOOD(clReleaseKernel(is_null));
    GOOD(clReleaseKernel(where));
}

static void wrong_maps(void)
{
    int *memory = shared(BYTES);
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, NULL, 4, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory, 0, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, 1 << 20, memory, 4, 0, NULL, NULL));
    GIVES(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMap(NULL, CL_TRUE, CL_MAP_READ, memory, 4, 0, NULL, NULL));
    GIVES(CL_INVALID_EVENT_WAIT_LIST, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory, 4, 1, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMUnmap(queue, NULL, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 0, NULL, NULL, 0, 0, NULL, NULL));
    GIVES(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 1, NULL, NULL, NULL, 0, NULL, NULL));
    GIVES(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMFree(NULL, 0, NULL, NULL, NULL, 0, NULL, NULL));
    clSVMFree(context, memory);
}

static cl_uint freed;

static void CL_CALLBACK free_them(cl_command_queue of, cl_uint count, void *pointers[], void *user)
{
    CHECK(of == queue && user == &freed);
    for (cl_uint i = 0; i < count; i++)
        clSVMFree(context, pointers[i]);
    freed += count;
}

/* Commands have events, of their types, and wait for others; memory is freed behind them. */
static void events_and_frees(void)
{
    void *pointers[2] = {shared(BYTES), shared(BYTES)};
    int *memory = pointers[0];
    cl_event user = clCreateUserEvent(context, &error), mapped, unmapped, gone;
    cl_command_type type = 0;
    GOOD(clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_WRITE, memory, BYTES, 0, NULL, &mapped));
    GOOD(clWaitForEvents(1, &mapped));
    GOOD(clGetEventInfo(mapped, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    CHECK(type == CL_COMMAND_SVM_MAP);
    memory[0] = 1;
    GOOD(clEnqueueSVMUnmap(queue, memory, 1, &user, &unmapped));
    memory[0] = 2; /* it is still the host's */
    GOOD(clSetUserEventStatus(user, CL_COMPLETE));
    add_to(queue, memory, COUNT, 1);
    int got = 0;
    GOOD(clEnqueueSVMMemcpy(queue, CL_TRUE, &got, memory, sizeof got, 1, &unmapped, NULL));
    CHECK(got == 3);
    GOOD(clEnqueueSVMFree(queue, 2, pointers, free_them, &freed, 0, NULL, &gone));
    GOOD(clWaitForEvents(1, &gone));
    CHECK(freed == 2);
    GOOD(clGetEventInfo(gone, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    CHECK(type == CL_COMMAND_SVM_FREE);
    GOOD(clReleaseEvent(user));
    GOOD(clReleaseEvent(mapped));
    GOOD(clReleaseEvent(unmapped));
    GOOD(clReleaseEvent(gone));
}

/* A context of all devices, unlike start's. */
static void start_all(void)
{
    const char *text = source;
    GOOD(clGetPlatformIDs(1, &platform, NULL));
    GOOD(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MOST, devices, &device_count));
    device = devices[0];
    char name[32] = "";
    GOOD(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL));
    is_heddle = !strcmp(name, "Heddle");
    context = clCreateContext(NULL, device_count, devices, NULL, NULL, &error);
    GOOD(error);
    for (cl_uint i = 0; i < device_count; i++) {
        queues[i] = clCreateCommandQueue(context, devices[i], CL_QUEUE_PROFILING_ENABLE, &error);
        GOOD(error);
    }
    queue = queues[0];
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    GOOD(error);
    GOOD(clBuildProgram(program, 0, NULL, "-cl-std=CL2.0", NULL, NULL));
    if (check_failures)
        exit(1);
    walk = kernel_of("walk");
    add = kernel_of("add");
}

int main(void)
{
    start_all();
    what_cannot_be_had();
    lists();
    parts_of_pages();
    turns();
    copies_and_fills();
    buffers();
    arguments();
    wrong_maps();
    events_and_frees();
    GOOD(clReleaseKernel(walk));
    GOOD(clReleaseKernel(add));
    GOOD(clReleaseProgram(program));
    for (cl_uint i = 1; i < device_count; i++)
        GOOD(clReleaseCommandQueue(queues[i]));
    return end("svm");
}
