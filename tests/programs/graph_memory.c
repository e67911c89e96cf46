/* Memory that graphs allocate: made node by node, and captured; needs no nvcc. Usage: graph_memory FILE.ptx,
 * with the kernel of ipc.ptx. The codes and numbers are those of an H200. */
#include "check.h"

#include <stdint.h>
#include <string.h>

/* What is needed of cuda.h. */
typedef unsigned long long address;
struct place {
    int type, id;
};
struct alloc { /* CUDA_MEM_ALLOC_NODE_PARAMS */
    int type, handle_types;
    struct place place;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
    const void *accesses;
    size_t access_count, bytes;
    address at;
};
int cuInit(unsigned flags), cuDeviceGet(int *device, int index),
    cuDevicePrimaryCtxRetain(void **c, int device), cuCtxSetCurrent(void *context);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemFree_v2(address d),
    cuMemGetInfo_v2(size_t *f, size_t *total), cuMemcpyDtoH_v2(void *h, address d, size_t bytes),
    cuMemsetD32_v2(address d, unsigned v, size_t count),
    cuMemsetD32Async(address d, unsigned value, size_t count, void *stream),
    cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream),
    cuMemAllocAsync(address *d, size_t bytes, void *stream), cuMemFreeAsync(address d, void *stream);
int cuStreamCreate(void **stream, unsigned flags), cuStreamSynchronize(void *stream),
    cuStreamBeginCapture_v2(void *stream, int mode), cuStreamEndCapture(void *stream, void **graph);
int cuGraphCreate(void **graph, unsigned flags), cuGraphDestroy(void *graph), cuGraphExecDestroy(void *exec),
    cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags),
    cuGraphLaunch(void *exec, void *stream),
    cuGraphAddMemAllocNode(void **node, void *graph, void *const *before, size_t count, struct alloc *what),
    cuGraphAddMemFreeNode(void **node, void *graph, void *const *before, size_t count, address at),
    cuGraphMemAllocNodeGetParams(void *node, struct alloc *what),
    cuGraphMemFreeNodeGetParams(void *node, address *at);
int cuDeviceGetGraphMemAttribute(int device, int attribute, uint64_t *value),
    cuDeviceSetGraphMemAttribute(int device, int attribute, uint64_t *value),
    cuDeviceGraphMemTrim(int device);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum { NUMBERS = 4096, BLOCK = 128, AUTO_FREE = 1, RELAXED = 2 };
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, NOT_SUPPORTED = 801 };
enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH };
static const uint64_t piece = 32 << 20;

static void *change, *stream;

static uint64_t attribute(int which)
{
    uint64_t value = 1;
    GOOD(cuDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

static struct alloc wanted(size_t bytes)
{
    return (struct alloc){.type = 1, .place = {1, 0}, .bytes = bytes};
}

static void *add_alloc(void *graph, void *const *before, size_t bytes, address *at)
{
    struct alloc what = wanted(bytes);
    void *node = NULL;
    GOOD(cuGraphAddMemAllocNode(&node, graph, before, before != NULL, &what));
    *at = what.at;
    return node;
}

static void *add_free(void *graph, void *const *before, address at)
{
    void *node = NULL;
    GOOD(cuGraphAddMemFreeNode(&node, graph, before, before != NULL, at));
    return node;
}

/* ---- nodes ---- */

static void refuse_nodes(void)
{
    struct alloc what = wanted(0);
    void *graph, *node;
    GOOD(cuGraphCreate(&graph, 0));
    GIVES(INVALID_VALUE, cuGraphAddMemAllocNode(&node, graph, NULL, 0, &what));
    GIVES(INVALID_VALUE, cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL));
    what = wanted(100);
    what.place.id = 77;
    GIVES(INVALID_VALUE, cuGraphAddMemAllocNode(&node, graph, NULL, 0, &what));
    what = wanted(100);
    what.handle_types = 1;
    GIVES(NOT_SUPPORTED, cuGraphAddMemAllocNode(&node, graph, NULL, 0, &what));
    what = wanted((size_t)1 << 45);
    GIVES(OUT_OF_MEMORY, cuGraphAddMemAllocNode(&node, graph, NULL, 0, &what));
    GOOD(cuGraphDestroy(graph));
}

/* Allocated and freed by the graph, twice at one address; nothing of it is there for the host. */
static void free_in_graph(void)
{
    void *graph, *exec, *second, *node[4];
    address at, again, beside, plain, freed = 0;
    struct alloc got;
    GOOD(cuMemAlloc_v2(&plain, 100));
    GOOD(cuGraphCreate(&graph, 0));
    node[0] = add_alloc(graph, NULL, 1000, &at);
    GIVES(INVALID_VALUE, cuGraphAddMemFreeNode(&node[1], graph, node, 1, plain));
    GIVES(INVALID_VALUE, cuGraphAddMemFreeNode(&node[1], graph, node, 1, at + 16));
    node[1] = add_free(graph, &node[0], at);
    GIVES(INVALID_VALUE, cuGraphAddMemFreeNode(&node[2], graph, &node[1], 1, at));
    node[2] = add_alloc(graph, &node[1], 1000, &again);
    CHECK(again == at);
    add_free(graph, &node[2], again);
    node[3] = add_alloc(graph, NULL, 1000, &beside);
    CHECK(beside != at);
    add_free(graph, &node[3], beside);
    GOOD(cuGraphMemAllocNodeGetParams(node[0], &got));
    CHECK(got.bytes == 1000 && got.at == at && got.place.type == 1 && got.place.id == 0);
    GOOD(cuGraphMemFreeNodeGetParams(node[1], &freed));
    CHECK(freed == at);
    GIVES(INVALID_VALUE, cuGraphMemAllocNodeGetParams(node[1], &got));
    GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
    GIVES(NOT_SUPPORTED, cuGraphInstantiateWithFlags(&second, graph, 0));
    CHECK(attribute(USED) == 0);
    GIVES(INVALID_VALUE, cuMemsetD32_v2(at, 0, 10));
    GIVES(INVALID_VALUE, cuMemFree_v2(at));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuStreamSynchronize(stream));
    CHECK(attribute(USED) == piece && attribute(RESERVED) == piece);
    GIVES(INVALID_VALUE, cuMemsetD32_v2(at, 0, 10));
    GOOD(cuGraphExecDestroy(exec));
    GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
    GOOD(cuGraphExecDestroy(exec));
    GOOD(cuGraphDestroy(graph));
}

static void count_memory(void)
{
    uint64_t value = 1;
    CHECK(attribute(USED_HIGH) == piece);
    GOOD(cuDeviceGraphMemTrim(0));
    CHECK(attribute(USED) == 0 && attribute(USED_HIGH) == piece);
    GIVES(INVALID_VALUE, cuDeviceSetGraphMemAttribute(0, USED_HIGH, &value));
    value = 0;
    GIVES(INVALID_VALUE, cuDeviceSetGraphMemAttribute(0, USED, &value));
    GOOD(cuDeviceSetGraphMemAttribute(0, USED_HIGH, &value));
    CHECK(attribute(USED_HIGH) == 0 && attribute(RESERVED_HIGH) == piece);
    GIVES(INVALID_VALUE, cuDeviceGetGraphMemAttribute(0, 9, &value));
    GIVES(INVALID_DEVICE, cuDeviceGraphMemTrim(77));
}

/* It stays there until the host, or another graph, frees it. */
static void free_elsewhere(void)
{
    void *graph, *other, *exec, *freeing;
    address at;
    size_t before, during, total;
    unsigned number = 0;
    GOOD(cuMemGetInfo_v2(&before, &total));
    GOOD(cuGraphCreate(&graph, 0));
    add_alloc(graph, NULL, 5 << 20, &at);
    GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuMemGetInfo_v2(&during, &total));
    CHECK(before - during == piece);
    GIVES(INVALID_VALUE, cuGraphLaunch(exec, stream)); /* it is there */
    GOOD(cuMemsetD32Async(at, 5, 10, stream));
    GOOD(cuStreamSynchronize(stream));
    GOOD(cuMemcpyDtoH_v2(&number, at + 36, 4));
    CHECK(number == 5);
    GOOD(cuMemFreeAsync(at, stream));
    GIVES(INVALID_VALUE, cuMemFreeAsync(at, stream));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuStreamSynchronize(stream));
    GOOD(cuMemFree_v2(at));
    GIVES(INVALID_VALUE, cuMemFree_v2(at));
    GOOD(cuGraphCreate(&other, 0));
    add_free(other, NULL, at);
    GOOD(cuGraphInstantiateWithFlags(&freeing, other, 0));
    GIVES(INVALID_VALUE, cuGraphLaunch(freeing, stream)); /* it is not there */
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuGraphLaunch(freeing, stream));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuGraphExecDestroy(exec));
    GOOD(cuMemsetD32_v2(at, 5, 10));
    GOOD(cuMemFree_v2(at));
    GOOD(cuGraphExecDestroy(freeing));
    GOOD(cuGraphDestroy(other));
    GOOD(cuGraphDestroy(graph));
    CHECK(attribute(USED) == piece);
    GOOD(cuDeviceGraphMemTrim(0));
    GOOD(cuMemGetInfo_v2(&during, &total));
    CHECK(before == during);
}

static void free_by_launch(void)
{
    void *graph, *exec;
    address at;
    GOOD(cuGraphCreate(&graph, 0));
    add_alloc(graph, NULL, 1000, &at);
    GOOD(cuGraphInstantiateWithFlags(&exec, graph, AUTO_FREE));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuGraphLaunch(exec, stream));
    GOOD(cuStreamSynchronize(stream));
    CHECK(attribute(USED) == piece);
    GOOD(cuGraphExecDestroy(exec));
    GOOD(cuMemFree_v2(at));
    GOOD(cuGraphDestroy(graph));
}

/* ---- capture ---- */

static void launch(address at, unsigned factor, unsigned more)
{
    void *arguments[] = {&at, &factor, &more};
    GOOD(cuLaunchKernel(change, NUMBERS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, arguments, NULL));
}

/* (1 * 3 + 1) * 5 + 2, by way of two pieces of memory that only the graph has. */
static void capture(address result)
{
    static unsigned numbers[NUMBERS];
    void *graph, *exec;
    address one, two, plain;
    size_t bytes = sizeof numbers;
    GOOD(cuMemAlloc_v2(&plain, 100));
    GOOD(cuStreamBeginCapture_v2(stream, RELAXED));
    GOOD(cuMemAllocAsync(&one, bytes, stream));
    GOOD(cuMemsetD32Async(one, 1, NUMBERS, stream));
    launch(one, 3, 1);
    GOOD(cuMemcpyDtoDAsync_v2(result, one, bytes, stream));
    GOOD(cuMemFreeAsync(one, stream));
    GIVES(INVALID_VALUE, cuMemFreeAsync(one, stream));
    GIVES(INVALID_VALUE, cuMemFreeAsync(plain, stream));
    GOOD(cuMemAllocAsync(&two, bytes, stream));
    CHECK(two == one);
    GOOD(cuMemcpyDtoDAsync_v2(two, result, bytes, stream));
    launch(two, 5, 2);
    GOOD(cuMemcpyDtoDAsync_v2(result, two, bytes, stream));
    GOOD(cuMemFreeAsync(two, stream));
    GOOD(cuStreamEndCapture(stream, &graph));
    GIVES(INVALID_VALUE, cuMemsetD32_v2(one, 0, 10));
    GOOD(cuGraphInstantiateWithFlags(&exec, graph, 0));
    GOOD(cuGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        GOOD(cuMemsetD32Async(result, 0, NUMBERS, stream));
        GOOD(cuGraphLaunch(exec, stream));
        GOOD(cuStreamSynchronize(stream));
        GOOD(cuMemcpyDtoH_v2(numbers, result, bytes));
        CHECK(numbers[0] == 22 && numbers[NUMBERS - 1] == 22);
    }
    GOOD(cuGraphExecDestroy(exec));
}

int main(int count, char **words)
{
    void *context, *module;
    address result;
    int device;
    CHECK(count == 2);
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, words[1]));
    GOOD(cuModuleGetFunction(&change, module, "change"));
    GOOD(cuStreamCreate(&stream, 1));
    GOOD(cuMemAlloc_v2(&result, NUMBERS * 4));
    refuse_nodes();
    free_in_graph();
    count_memory();
    free_elsewhere();
    free_by_launch();
    capture(result);
    return check_end("graph_memory");
}
