/* A workload: kernels in NAME.cu, in ../opencl/NAME.cl or in both, and its host side in NAME.c, written once
 * against this page. `heddle bench NAME` runs it in Heddle by the PTX or the code object beside the kernels;
 * `nvcc NAME.cu` makes a program of the same host side for a real GPU (native.cuh), and ../opencl/build one
 * for any OpenCL device. So NAME.c is C that a C++ compiler takes, too. */
#ifndef BENCH_CUDA_WORKLOAD_H
#define BENCH_CUDA_WORKLOAD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dev; /* where the workload runs */

struct dev_dim {
    unsigned x, y, z;
};

static inline struct dev_dim dev_dim(unsigned x, unsigned y, unsigned z)
{
    struct dev_dim dim;
    dim.x = x, dim.y = y, dim.z = z;
    return dim;
}

/* A failure of one of these ends the workload: it is reported, and the calls that follow do nothing. */
void *dev_alloc(struct dev *gpu, size_t bytes); /* of the device; freed with the gpu */
void dev_upload(struct dev *gpu, void *device, const void *host, size_t bytes);
void dev_download(struct dev *gpu, void *host, const void *device, size_t bytes);
void dev_fill(struct dev *gpu, void *device, int byte, size_t bytes);
void dev_launch(struct dev *gpu, const char *kernel, struct dev_dim grid, struct dev_dim block,
                size_t shared_bytes, void **arguments, const size_t *argument_bytes);

/* The arguments of a kernel: addresses of variables that have the parameters' types, at most 12. Shared
 * memory of the launch has no argument: an OpenCL kernel takes it as a last parameter, a __local pointer. */
#define DEV_LAUNCH(gpu, kernel, grid, block, shared_bytes, ...)                                              \
    do {                                                                                                     \
        void *gpu_arguments[] = {__VA_ARGS__};                                                               \
        const size_t gpu_argument_bytes[] = {DEV_SIZES(__VA_ARGS__)};                                        \
        dev_launch(gpu, kernel, grid, block, shared_bytes, gpu_arguments, gpu_argument_bytes);               \
    } while (0)

/* sizeof *(a), sizeof *(b), ... of a, b, ... */
#define DEV_SIZES(...)                                                                                       \
    DEV_THIRTEENTH(__VA_ARGS__, DEV_12, DEV_11, DEV_10, DEV_9, DEV_8, DEV_7, DEV_6, DEV_5, DEV_4, DEV_3,     \
                   DEV_2, DEV_1, 0)                                                                          \
    (__VA_ARGS__)
#define DEV_THIRTEENTH(a, b, c, d, e, f, g, h, i, j, k, l, m, ...) m
#define DEV_1(a)                                                   sizeof *(a)
#define DEV_2(a, ...)                                              sizeof *(a), DEV_1(__VA_ARGS__)
#define DEV_3(a, ...)                                              sizeof *(a), DEV_2(__VA_ARGS__)
#define DEV_4(a, ...)                                              sizeof *(a), DEV_3(__VA_ARGS__)
#define DEV_5(a, ...)                                              sizeof *(a), DEV_4(__VA_ARGS__)
#define DEV_6(a, ...)                                              sizeof *(a), DEV_5(__VA_ARGS__)
#define DEV_7(a, ...)                                              sizeof *(a), DEV_6(__VA_ARGS__)
#define DEV_8(a, ...)                                              sizeof *(a), DEV_7(__VA_ARGS__)
#define DEV_9(a, ...)                                              sizeof *(a), DEV_8(__VA_ARGS__)
#define DEV_10(a, ...)                                             sizeof *(a), DEV_9(__VA_ARGS__)
#define DEV_11(a, ...)                                             sizeof *(a), DEV_10(__VA_ARGS__)
#define DEV_12(a, ...)                                             sizeof *(a), DEV_11(__VA_ARGS__)

/* A tensor map (CUtensorMap), for kernels that copy tiles of a matrix: its rows of `inner` numbers of 16 bits
 * follow each other, a copy has box_inner numbers of box_outer rows. 128 bytes of shared memory, which is
 * what a row of the box must have, are swizzled. A kernel takes it as a __grid_constant__. */
struct dev_tensor {
    uint64_t words[16];
} __attribute__((aligned(64)));
void dev_tensor(struct dev *gpu, struct dev_tensor *map, bool brain, void *device, uint64_t inner,
                uint64_t outer, uint32_t box_inner, uint32_t box_outer); /* brain: bfloat16, or halves */

/* Several GPUs: what follows dev_select is for that one (the first at first). Kernels may access the memory
 * of all. Launches are not waited for, so kernels of different GPUs run at once. */
unsigned dev_count(struct dev *gpu);
void dev_select(struct dev *gpu, unsigned index);
void dev_wait(struct dev *gpu); /* until all GPUs have done all */

/* A unified GPU has several members, and others one: where memory is among them (whole pages of it), and
 * where blocks of the next launch run. Those in no range run anywhere. */
struct dev_blocks {
    uint64_t first, end; /* x counts fastest, then y, then z */
    unsigned member;
};
enum { DEV_MEMBERS = 64 }; /* at most */
unsigned dev_members(struct dev *gpu);
void dev_place_memory(struct dev *gpu, void *device, size_t offset, size_t bytes, unsigned member);
void dev_place_blocks(struct dev *gpu, const struct dev_blocks *ranges, size_t count);

/* Threads of a warp or wavefront: what the kernels of this device are written for. */
unsigned dev_lanes(struct dev *gpu);

/* How long the last launch took, by the clock of the device; 0 in a run without timing. */
double dev_seconds(struct dev *gpu);

/* How long the last `launches` took on all GPUs together, from the first start to the last end. They must be
 * all since the last dev_wait. */
double dev_span(struct dev *gpu, unsigned launches);

/* Memory of the host for inputs and references; zeroed, freed with the gpu. */
void *dev_host(struct dev *gpu, size_t bytes);

/* Compares what came back with the CPU's reference; the first difference is reported, by its index.
 * Floats may differ by `tolerance`, relative to the larger of 1 and the reference. */
void dev_expect_bytes(struct dev *gpu, const char *what, const void *got, const void *expected, size_t bytes);
void dev_expect_floats(struct dev *gpu, const char *what, const float *got, const float *expected,
                       size_t count, float tolerance);
void dev_expect(struct dev *gpu, bool holds, const char *what);

/* What the kernels measured with the GPU's clock, by name. It means the same whoever runs the workload, so a
 * model's figure can be laid beside a real GPU's; only a run without timing has no use for it. */
void dev_figure(struct dev *gpu, const char *name, double value);

/* An option is a row of the workload's table: OPTION(name, default, least, most, help); its value is a whole
 * number. A help that begins with names, "ring|tree|direct: ...", gives names to the values from 0 on. One
 * that is named bytes takes units, such as 1MiB. */
struct workload_option {
    const char *name;
    uint64_t value, least, most; /* value: the default */
    const char *help;
};

struct workload {
    const char *name, *help;
    const struct workload_option *options;                 /* ends in a row without a name */
    void (*run)(struct dev *gpu, const uint64_t *options); /* the values, in the order of the rows */
};

/* Numbers for inputs: the same in every run and on every machine. */
static inline uint32_t workload_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static inline float workload_unit(uint64_t *state) /* in [0, 1) */
{
    return (float)(workload_random(state) >> 7) * 0x1p-24f;
}

#endif
