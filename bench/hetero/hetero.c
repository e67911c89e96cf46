#include "hetero.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int error, const char *call)
{
    if (!error)
        return;
    fprintf(stderr, "heddle_hetero: %s fails with error %d of CUDA\n", call, error);
    exit(2);
}
#define CHECK(call) check(call, #call)

static void *checked(void *memory)
{
    if (memory)
        return memory;
    fprintf(stderr, "heddle_hetero: out of memory\n");
    exit(2);
}

/* ---- kernels ---- */

#define PTX(name, file)                                                                                      \
    extern const char name##_ptx[];                                                                          \
    __asm__(".pushsection .rodata\n.balign 16\n" #name "_ptx:\n.incbin \"" BENCH_FOLDER "/" file             \
            "\"\n.byte 0\n.popsection\n");
#define PTX_FILES(P)                                                                                         \
    P(hetero, "hetero/kernels.ptx")                                                                          \
    P(bfs, "cuda/bfs.ptx")                                                                                   \
    P(hotspot, "cuda/hotspot.ptx")                                                                           \
    P(lud, "cuda/lud.ptx")                                                                                   \
    P(nn, "cuda/nn.ptx")                                                                                     \
    P(nw, "cuda/nw.ptx")                                                                                     \
    P(pathfinder, "cuda/pathfinder.ptx")
PTX_FILES(PTX)

static struct image {
    const char *name, *ptx;
    CUmodule module;
} images[] = {
#define ROW(name, file) {#name, name##_ptx, NULL},
    PTX_FILES(ROW)
#undef ROW
};

void hetero_start(void)
{
    int device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

CUfunction hetero_kernel(const char *name)
{
    CUfunction function = NULL;
    size_t length = strcspn(name, "_");
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct image *image = &images[i];
        if (strlen(image->name) != length || strncmp(image->name, name, length) != 0)
            continue;
        if (!image->module)
            CHECK(cuModuleLoadData(&image->module, image->ptx));
        CHECK(cuModuleGetFunction(&function, image->module, name));
    }
    return function;
}

/* ---- memory ---- */

void *hetero_array(size_t count, size_t bytes)
{
    return checked(calloc(count, bytes));
}

struct buffer hetero_mapped(size_t bytes)
{
    struct buffer buffer = {.bytes = bytes};
    CHECK(cuMemHostAlloc(&buffer.host, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer_v2(&buffer.gpu, buffer.host, 0));
    memset(buffer.host, 0, bytes);
    return buffer;
}

struct buffer hetero_inside(size_t bytes)
{
    struct buffer buffer = {.bytes = bytes};
    CHECK(cuMemAlloc_v2(&buffer.gpu, bytes));
    return buffer;
}

struct buffer hetero_buffer(struct hetero *run, size_t bytes)
{
    static const size_t line = 128;
    if (run->zero_copy)
        return hetero_mapped(bytes);
    struct buffer buffer = {.host = checked(aligned_alloc(line, (bytes + line - 1) / line * line)),
                            .bytes = bytes};
    memset(buffer.host, 0, bytes);
    CHECK(cuMemAlloc_v2(&buffer.gpu, bytes));
    return buffer;
}

/* ---- time ---- */

uint64_t hetero_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void change_part(struct hetero *run, enum hetero_part part)
{
    uint64_t now = hetero_now_ns();
    run->ns[run->part] += now - run->since_ns;
    run->part = part;
    run->since_ns = now;
}

void hetero_begin(struct hetero *run)
{
    CHECK(cuCtxSynchronize());
    run->part = PART_CPU;
    run->begin_ns = run->since_ns = hetero_now_ns();
    if (!run->first_ns)
        run->first_ns = run->begin_ns;
}

void hetero_end(struct hetero *run)
{
    change_part(run, PART_CPU);
    run->region_ns += run->since_ns - run->begin_ns;
}

/* ---- copies and launches ---- */

void hetero_upload_part(struct hetero *run, const struct buffer *buffer, size_t bytes)
{
    if (run->zero_copy)
        return;
    change_part(run, PART_COPY);
    CHECK(cuMemcpyHtoD_v2(buffer->gpu, buffer->host, bytes));
    change_part(run, PART_CPU);
}

void hetero_upload(struct hetero *run, const struct buffer *buffer)
{
    hetero_upload_part(run, buffer, buffer->bytes);
}

void hetero_download_part(struct hetero *run, const struct buffer *buffer, size_t bytes)
{
    if (run->zero_copy)
        return;
    change_part(run, PART_COPY);
    CHECK(cuMemcpyDtoH_v2(buffer->host, buffer->gpu, bytes));
    change_part(run, PART_CPU);
}

void hetero_download(struct hetero *run, const struct buffer *buffer)
{
    hetero_download_part(run, buffer, buffer->bytes);
}

void hetero_launch(struct hetero *run, CUfunction kernel, const unsigned shape[4], void **arguments)
{
    change_part(run, PART_KERNEL);
    CHECK(cuLaunchKernel(kernel, shape[0], shape[1], 1, shape[2], shape[3], 1, 0, NULL, arguments, NULL));
    change_part(run, PART_CPU);
}

void hetero_wait(struct hetero *run)
{
    change_part(run, PART_KERNEL);
    CHECK(cuCtxSynchronize());
    change_part(run, PART_CPU);
}

/* ---- results ---- */

void hetero_expect(struct hetero *run, const void *got, const void *expected, size_t bytes)
{
    run->wrong |= memcmp(got, expected, bytes) != 0;
}

void hetero_figure(struct hetero *run, double value, const char *format, ...)
{
    size_t used = strlen(run->figures), room = sizeof run->figures - used;
    char name[64];
    va_list words;
    va_start(words, format);
    vsnprintf(name, sizeof name, format, words);
    va_end(words);
    snprintf(run->figures + used, room, " %s=%.*f", name, value == (double)(int64_t)value ? 0 : 3, value);
}

uint32_t hetero_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

float hetero_unit(uint64_t *seed)
{
    return (float)(hetero_random(seed) & 0xffffff) / 0x1000000;
}
