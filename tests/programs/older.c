/* A program as CUDA 11 or 12 built it (-DCUDA=11 or 12): its names, structs and launches, without NVIDIA's
 * headers. What the runtime must not read or write beyond an older struct lies next to a page that is not
 * there. Linked with the stand-in by the older name, or with older_runtime.c inside, in whose place Heddle
 * puts its functions. */
#define _GNU_SOURCE
#include "check.h"

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

struct dim3 {
    unsigned x, y, z;
};
typedef void *handle;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **fatbin), __cudaUnregisterFatBinary(void **fatbin);
void __cudaRegisterFunction(void **fatbin, const char *host, char *device, const char *name, int limit,
                            void *, void *, void *, void *, void *);
int cudaMalloc(void **d, size_t bytes), cudaFree(void *d),
    cudaMallocManaged(void **m, size_t bytes, unsigned flags);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind),
    cudaMemset(void *d, int value, size_t bytes);
int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                     handle stream);
int cudaConfigureCall(struct dim3 grid, struct dim3 block, size_t shared, handle stream);
int cudaSetupArgument(const void *argument, size_t bytes, size_t offset), cudaLaunch(const void *kernel);
int cudaThreadSynchronize(void), cudaDeviceSynchronize(void), cudaGetLastError(void);
int cudaRuntimeGetVersion(int *version), cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaGetDeviceProperties(void *properties, int device), cudaCtxResetPersistingL2Cache(void);
int cudaPointerGetAttributes(void *attributes, const void *pointer);
int cudaFuncGetAttributes(void *attributes, const void *kernel);
int cudaMemAdvise(const void *m, size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void *m, size_t bytes, int device, handle stream);
int cudaCreateTextureObject(unsigned long long *texture, const void *resource, const void *sampling,
                            const void *view);
int cudaDestroyTextureObject(unsigned long long texture);
int cudaGetTextureObjectResourceDesc(void *resource, unsigned long long texture);
int cudaStreamCreate(handle *stream), cudaStreamBeginCapture(handle stream, int mode);
int cudaStreamEndCapture(handle stream, handle *graph), cudaStreamSynchronize(handle stream);
int cudaStreamGetCaptureInfo(handle stream, int *status, unsigned long long *id);
int cudaGraphCreate(handle *graph, unsigned flags), cudaGraphLaunch(handle exec, handle stream);
int cudaGraphAddEmptyNode(handle *node, handle graph, const handle *before, size_t count);
int cudaGraphAddDependencies(handle graph, const handle *from, const handle *to, size_t count);
int cudaGraphNodeGetDependencies(handle node, handle *nodes, size_t *count);
int cudaMemsetAsync(void *d, int value, size_t bytes, handle stream);
#if CUDA == 11
int cudaGraphInstantiate(handle *exec, handle graph, handle *node, char *log, size_t bytes);
int cudaGraphExecUpdate(handle exec, handle graph, handle *node, int *result);
enum { SAMPLING = 68, FUNCTION = 56 };
#else
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaGraphInstantiate(handle *exec, handle graph, unsigned long long flags);
int cudaGraphExecUpdate(handle exec, handle graph, void *info);
enum { SAMPLING = 72, FUNCTION = 144 };
#endif
enum { PROPERTIES_11 = 728, PROPERTIES_12 = 1032, POINTER = 24, RESOURCE = 64 };

/* out[i] = factor * i, in PTX as CUDA 9 made it */
static const char ptx[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".visible .entry scale(.param .u64 out, .param .u32 factor, .param .f64 unused)\n{\n"
    ".reg .b64 %rd<4>;\n.reg .b32 %r<5>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [factor];\n"
    "cvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r2, %tid.x;\n"
    "mul.lo.s32 %r3, %r1, %r2;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "shfl.idx.b32 %r4, %r3, %r2, 31;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";
static char scale; /* its address stands for the kernel */

enum { THREADS = 32, PAGE = 4096 };

/* What nvcc puts around PTX: a header, and one entry's. */
static struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_header;
    uint64_t payload;
    uint32_t packed, unused[2], arch;
    uint64_t more, flags, again, unpacked;
    char text[(sizeof ptx + 7) / 8 * 8];
} fatbin = {.magic = 0xba55ed50,
            .version = 1,
            .header = 16,
            .bytes = sizeof fatbin - 16,
            .kind = 1,
            .entry_version = 0x101,
            .entry_header = 64,
            .payload = sizeof fatbin.text,
            .arch = 30};
static struct {
    int magic, version;
    const void *data;
    void *parts;
} wrapper = {0x466243b1, 1, &fatbin, NULL};

/* So many bytes before the end of a page that has none behind it. */
static void *at_end(size_t bytes)
{
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + PAGE, PAGE, PROT_NONE);
    return pages + PAGE - bytes;
}

static int word(const void *at, size_t offset)
{
    int value;
    memcpy(&value, (const char *)at + offset, sizeof value);
    return value;
}

static bool is_scaled(void *d, int factor)
{
    int out[THREADS];
    GOOD(cudaMemcpy(out, d, sizeof out, 2));
    for (int i = 0; i < THREADS; i++)
        if (out[i] != factor * i)
            return false;
    return true;
}

static void try_launches(void)
{
    const struct dim3 one = {1, 1, 1}, threads = {THREADS, 1, 1};
    void *d;
    int factor = 3;
    double unused = 1;
    GOOD(cudaMalloc(&d, THREADS * sizeof(int)));
    GOOD(cudaLaunchKernel(&scale, one, threads, (void *[]){&d, &factor, &unused}, 0, NULL));
    CHECK(is_scaled(d, 3));
    factor = 5;
    GOOD(cudaConfigureCall(one, threads, 0, NULL));
    GOOD(cudaSetupArgument(&factor, sizeof factor, 8));
    GOOD(cudaSetupArgument(&d, sizeof d, 0));
    GOOD(cudaSetupArgument(&unused, sizeof unused, 16));
    GOOD(cudaLaunch(&scale));
    GOOD(cudaThreadSynchronize());
    CHECK(is_scaled(d, 5));
    CHECK(cudaLaunch(&scale) == 52); /* cudaErrorMissingConfiguration */
    CHECK(cudaSetupArgument(&d, sizeof d, 0) == 52);
    CHECK(cudaGetLastError() == 52);
    GOOD(cudaConfigureCall(one, threads, 0, NULL));
    CHECK(cudaSetupArgument(&d, sizeof d, 1 << 20) == 1);
    CHECK(cudaLaunch(&unused) == 98); /* no kernel has this address */
    cudaGetLastError();
    GOOD(cudaFree(d));
}

static void try_properties(void)
{
    void *properties = at_end(PROPERTIES_11);
    int version, clock, sms;
    GOOD(cudaGetDeviceProperties(properties, 0));
    GOOD(cudaDeviceGetAttribute(&clock, 13, 0));
    GOOD(cudaDeviceGetAttribute(&sms, 16, 0));
    CHECK(!strcmp(properties, "NVIDIA H200"));
    CHECK(word(properties, 348) == clock && word(properties, 360) == 9);
    CHECK(word(properties, 388) == sms);
    CHECK(word(properties, 720) == 1024); /* shared memory that the system has of each block */
    GOOD(cudaRuntimeGetVersion(&version));
    CHECK(version / 1000 == CUDA);
#if CUDA == 12
    properties = at_end(PROPERTIES_12);
    GOOD(cudaGetDeviceProperties_v2(properties, 0));
    CHECK(word(properties, 348) == clock && word(properties, 388) == sms && word(properties, 772) == 1);
#endif
    CHECK(cudaGetDeviceProperties(NULL, 0) == 1 && cudaGetDeviceProperties(properties, 99) == 101);
    void *function = at_end(FUNCTION);
    GOOD(cudaFuncGetAttributes(function, &scale));
    CHECK(word(function, 24) == 1024 && word(function, 36) == 90);
    cudaGetLastError();
}

static void try_memory(void)
{
    void *m, *attributes = at_end(POINTER), *resource = at_end(RESOURCE), *sampling = at_end(SAMPLING);
    unsigned long long texture;
    GOOD(cudaMallocManaged(&m, 1 << 20, 1));
    GOOD(cudaPointerGetAttributes(attributes, m));
    CHECK(word(attributes, 0) == 3);
    GOOD(cudaMemAdvise(m, 1 << 20, 3, 0));
    GOOD(cudaMemPrefetchAsync(m, 1 << 20, 0, NULL));
    GOOD(cudaMemPrefetchAsync(m, 1 << 20, -1, NULL)); /* the host */
    CHECK(cudaMemPrefetchAsync(m, 1 << 20, 99, NULL) == 101);
    const struct {
        int kind, pad;
        void *memory;
        int bits[4], format, pad2;
        size_t bytes;
        char more[16];
    } linear = {.kind = 2, .memory = m, .bits = {32}, .format = 2, .bytes = 4096};
    _Static_assert(sizeof linear == RESOURCE, "as it was");
    memcpy(resource, &linear, sizeof linear);
    GOOD(cudaCreateTextureObject(&texture, resource, sampling, NULL));
    memset(resource, 0, RESOURCE);
    GOOD(cudaGetTextureObjectResourceDesc(resource, texture));
    CHECK(!memcmp(resource, &linear, offsetof(__typeof__(linear), pad2)) && word(resource, 40) == 4096);
    GOOD(cudaDestroyTextureObject(texture));
    GOOD(cudaFree(m));
    cudaGetLastError();
}

static void try_graphs(void)
{
    handle stream, graph, exec, other, first, second, before = NULL;
    unsigned long long id = 0;
    int status = 7, result = 7;
    size_t count = 1;
    void *d;
    GOOD(cudaMalloc(&d, 64));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamGetCaptureInfo(stream, &status, NULL));
    CHECK(status == 0);
    GOOD(cudaStreamBeginCapture(stream, 0));
    GOOD(cudaMemsetAsync(d, 1, 64, stream));
    GOOD(cudaStreamGetCaptureInfo(stream, &status, &id));
    CHECK(status == 1);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphCreate(&other, 0));
    GOOD(cudaGraphAddEmptyNode(&first, other, NULL, 0));
    GOOD(cudaGraphAddEmptyNode(&second, other, NULL, 0));
    GOOD(cudaGraphAddDependencies(other, &first, &second, 1));
    GOOD(cudaGraphNodeGetDependencies(second, &before, &count));
    CHECK(count == 1 && before == first);
#if CUDA == 11
    char log[8] = "before";
    GOOD(cudaGraphInstantiate(&exec, graph, &first, log, sizeof log));
    CHECK(!first && !*log);
    GOOD(cudaGraphExecUpdate(exec, graph, &first, &result));
#else
    struct {
        int result;
        void *nodes[2];
    } info = {7, {NULL, NULL}};
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphExecUpdate(exec, graph, &info));
    result = info.result;
#endif
    CHECK(result == 0);
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(&status, d, sizeof status, 2));
    CHECK(status == 0x01010101);
}

int main(void)
{
    memcpy(fatbin.text, ptx, sizeof ptx);
    void **registered = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(registered, &scale, &scale, "scale", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(registered);
    GOOD(cudaCtxResetPersistingL2Cache());
    try_launches();
    try_properties();
    try_memory();
    try_graphs();
    GOOD(cudaDeviceSynchronize());
    return check_end("older");
}
