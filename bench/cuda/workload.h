/* A workload: kernels in NAME.cu, and its host side in NAME.c, written once against this page. `heddle bench
 * NAME` runs it in Heddle by the PTX beside it; `nvcc NAME.cu` makes a program of the same two files for a
 * real GPU (native.cuh). So NAME.c is C that a C++ compiler takes, too. */
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
                size_t shared_bytes, void **arguments);

/* The arguments of a kernel: addresses of variables that have the parameters' types. */
#define DEV_LAUNCH(gpu, kernel, grid, block, shared_bytes, ...)                                              \
    do {                                                                                                     \
        void *gpu_arguments[] = {__VA_ARGS__};                                                               \
        dev_launch(gpu, kernel, grid, block, shared_bytes, gpu_arguments);                                   \
    } while (0)

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
 * number. */
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
