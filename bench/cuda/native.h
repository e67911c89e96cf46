/* What a program that runs one workload on a real device needs beside the device's own calls: options,
 * memory of the host, comparisons, main. native.cuh adds the CUDA runtime, ../opencl/native.c OpenCL. All of
 * it is host code. */
#ifndef BENCH_CUDA_NATIVE_H
#define BENCH_CUDA_NATIVE_H

#include <stdio.h>
#include "workload.h"

enum { NATIVE_OK, NATIVE_DIFFERS, NATIVE_FAILED }; /* exit statuses */
enum { NATIVE_OPTIONS = 16 };                      /* rows of an option table, at most */

struct native_memory { /* one allocation, in a list of them */
    struct native_memory *next;
    void *memory;
    void (*release)(void *memory);
};

struct dev {
    const struct workload *workload;
    const void *backend; /* what the device's calls need */
    struct native_memory *memories;
    int status;
    unsigned launches;
};

static void native_keep(struct dev *gpu, void *memory, void (*release)(void *))
{
    struct native_memory *kept = (struct native_memory *)malloc(sizeof *kept);
    if (!memory || !kept) { /* of the host: the workload could not go on */
        fprintf(stderr, "%s: out of memory\n", gpu->workload->name);
        exit(NATIVE_FAILED);
    }
    kept->next = gpu->memories, kept->memory = memory, kept->release = release;
    gpu->memories = kept;
}

static void native_release(struct dev *gpu)
{
    while (gpu->memories) {
        struct native_memory *kept = gpu->memories;
        gpu->memories = kept->next;
        kept->release(kept->memory);
        free(kept);
    }
}

void *dev_host(struct dev *gpu, size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);
    native_keep(gpu, memory, free);
    return memory;
}

/* Says where a result differs, once a run: what follows from a first difference says little. */
static bool native_differs(struct dev *gpu)
{
    bool first = gpu->status == NATIVE_OK;
    if (first)
        gpu->status = NATIVE_DIFFERS;
    return first;
}

void dev_expect_bytes(struct dev *gpu, const char *what, const void *got, const void *expected, size_t bytes)
{
    const unsigned char *a = (const unsigned char *)got, *b = (const unsigned char *)expected;
    size_t i = 0;
    while (i < bytes && a[i] == b[i])
        i++;
    if (i < bytes && native_differs(gpu))
        printf("%s: %s: byte %zu is 0x%02x, expected 0x%02x\n", gpu->workload->name, what, i, a[i], b[i]);
}

void dev_expect_floats(struct dev *gpu, const char *what, const float *got, const float *expected,
                       size_t count, float tolerance)
{
    size_t i = 0;
    while (i < count && fabsf(got[i] - expected[i]) <= tolerance * fmaxf(1, fabsf(expected[i])))
        i++;
    if (i < count && native_differs(gpu))
        printf("%s: %s: element %zu is %.9g, expected %.9g\n", gpu->workload->name, what, i, got[i],
               expected[i]);
}

void dev_expect(struct dev *gpu, bool holds, const char *what)
{
    if (!holds && native_differs(gpu))
        printf("%s: %s: does not hold\n", gpu->workload->name, what);
}

void dev_figure(struct dev *gpu, const char *name, double value)
{
    if (gpu->status != NATIVE_FAILED)
        printf("%s: figure %s %.6g\n", gpu->workload->name, name, value);
}

#if __has_include(<heddle_locality.h>) /* for programs that run in Heddle; real devices have one member */
#include <heddle_locality.h>

unsigned dev_members(struct dev *gpu)
{
    return gpu->status == NATIVE_FAILED ? 1 : heddle_locality_members(0);
}

static void native_placed(struct dev *gpu, int error)
{
    if (!error || error == HEDDLE_LOCALITY_NONE)
        return;
    fprintf(stderr, "%s: placing: %s\n", gpu->workload->name, heddle_locality_error());
    gpu->status = NATIVE_FAILED;
}

void dev_place_memory(struct dev *gpu, void *device, size_t offset, size_t bytes, unsigned member)
{
    if (gpu->status != NATIVE_FAILED)
        native_placed(gpu, heddle_locality_place_memory(device, offset, bytes, member));
}

void dev_place_blocks(struct dev *gpu, const struct dev_blocks *ranges, size_t count)
{
    struct heddle_blocks places[2 * DEV_MEMBERS];
    for (size_t i = 0; i < count; i++)
        places[i].first = ranges[i].first, places[i].end = ranges[i].end, places[i].member = ranges[i].member;
    if (gpu->status != NATIVE_FAILED)
        native_placed(gpu, heddle_locality_place_blocks(places, count));
}
#else
unsigned dev_members(struct dev *gpu)
{
    (void)gpu;
    return 1;
}

void dev_place_memory(struct dev *gpu, void *device, size_t offset, size_t bytes, unsigned member)
{
    (void)gpu, (void)device, (void)offset, (void)bytes, (void)member;
}

void dev_place_blocks(struct dev *gpu, const struct dev_blocks *ranges, size_t count)
{
    (void)gpu, (void)ranges, (void)count;
}
#endif

static int native_usage(const struct workload *workload)
{
    fprintf(stderr, "%s: %s\n", workload->name, workload->help);
    for (const struct workload_option *o = workload->options; o->name; o++)
        fprintf(stderr, "  --%s VALUE  %s (%llu; %llu to %llu)\n", o->name, o->help,
                (unsigned long long)o->value, (unsigned long long)o->least, (unsigned long long)o->most);
    return NATIVE_FAILED;
}

/* --option VALUE or --option=VALUE; false where one is unknown or out of its bounds. */
static bool native_parse(const struct workload *workload, uint64_t *values, int argc, char **argv)
{
    for (int i = 0; workload->options[i].name; i++)
        values[i] = workload->options[i].value;
    for (int a = 1; a < argc; a++) {
        const char *name = argv[a], *equals = strchr(name, '=');
        const char *text = equals ? equals + 1 : a + 1 < argc ? argv[++a] : "";
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        const struct workload_option *o = workload->options;
        while (o->name && (strncmp(name, "--", 2) != 0 || strlen(o->name) + 2 != length ||
                           strncmp(name + 2, o->name, length - 2) != 0))
            o++;
        char *end;
        uint64_t value = strtoull(text, &end, 0);
        if (!o->name || *text < '0' || *text > '9' || *end || value < o->least || value > o->most)
            return false;
        values[o - workload->options] = value;
    }
    return true;
}

static int native_run(const struct workload *workload, const void *backend, int argc, char **argv,
                      bool several)
{
    struct dev gpu = {workload, backend, 0, NATIVE_OK, 0};
    uint64_t values[NATIVE_OPTIONS];
    if (!native_parse(workload, values, argc, argv))
        return native_usage(workload);
    workload->run(&gpu, values);
    native_release(&gpu);
    if (gpu.status == NATIVE_OK)
        printf("%s: ok\n", workload->name);
    if (several) /* a profiler's reader wants to know which launches are whose */
        printf("%s: launches %u\n", workload->name, gpu.launches);
    fflush(stdout);
    return gpu.status;
}

/* Runs it once, or several times with the options between words `--then`; the status is the first bad one. */
static int native_main(const struct workload *workload, const void *backend, int argc, char **argv)
{
    int status = NATIVE_OK, from = 0;
    for (int i = 1; i <= argc; i++)
        if (i == argc || strcmp(argv[i], "--then") == 0) {
            int one = native_run(workload, backend, i - from, argv + from, from || i < argc);
            status = status ? status : one;
            from = i;
        }
    return status;
}

#ifndef BENCH_CUDA_NATIVE_CUH /* CUDA's has several */
/* A native program uses one GPU. */
unsigned dev_count(struct dev *gpu)
{
    (void)gpu;
    return 1;
}

void dev_select(struct dev *gpu, unsigned index)
{
    (void)gpu, (void)index;
}
#endif

#endif
