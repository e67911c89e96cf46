/* What the programs share: memory that CPU and GPU use, launches, and the time of each part.
 *
 *   struct buffer data = hetero_buffer(run, bytes);    the CPU's side is data.host
 *   CUfunction kernel = hetero_kernel(run, "hetero_add");
 *   hetero_begin(run);                                 the timed region, or one more: the CPU's time,
 *   hetero_upload(run, &data);                         but this a copy's,
 *   LAUNCH(run, kernel, blocks, 1, threads, 1, &n, &data.gpu);
 *   hetero_wait(run);                                  and these a kernel's
 *   hetero_download(run, &data);
 *   hetero_end(run);
 *   hetero_expect(run, data.host, expected, bytes);
 *
 * With --zero-copy a buffer is one piece of mapped host memory, and the copies do nothing. A call of CUDA
 * that fails ends the process with a line that says which. */
#ifndef BENCH_HETERO_HETERO_H
#define BENCH_HETERO_HETERO_H

#include "cuda.h"

#include <stdbool.h>
#include <stdint.h>

enum hetero_part { PART_CPU, PART_COPY, PART_KERNEL, PART_COUNT };

struct hetero {
    uint64_t size, patience_ns;
    bool zero_copy, wrong;
    enum hetero_part part; /* whose time it is now, since: */
    uint64_t since_ns, begin_ns, first_ns, region_ns, ns[PART_COUNT];
    char figures[1024]; /* " name=value" of what the program has to say beside times */
};

struct buffer {
    void *host;
    CUdeviceptr gpu;
    size_t bytes;
};

/* A program; `size` is its default, in units of `counts`. */
struct hetero_program {
    const char *name, *help, *counts;
    uint64_t size, least, most;
    void (*run)(struct hetero *run);
};

extern const struct hetero_program hetero_rodinia[], hetero_memory[],
    hetero_together[]; /* end without a name */

void hetero_start(void);                                       /* CUDA, before all else */
struct buffer hetero_buffer(struct hetero *run, size_t bytes); /* both sides are there; the host's is zero */
struct buffer hetero_inside(size_t bytes);                     /* of the GPU's memory alone */
struct buffer hetero_mapped(size_t bytes);                     /* the same, of mapped host memory always */
void *hetero_array(size_t count, size_t bytes);                /* the CPU's own, zero */
CUfunction hetero_kernel(const char *name);                    /* its PTX is that of the word before '_' */

uint64_t hetero_now_ns(void);
void hetero_begin(struct hetero *run);
void hetero_end(struct hetero *run);
void hetero_upload(struct hetero *run, const struct buffer *buffer);
void hetero_upload_part(struct hetero *run, const struct buffer *buffer, size_t bytes);
void hetero_download(struct hetero *run, const struct buffer *buffer);
void hetero_download_part(struct hetero *run, const struct buffer *buffer, size_t bytes);
void hetero_launch(struct hetero *run, CUfunction kernel, const unsigned shape[4], void **arguments);
void hetero_wait(struct hetero *run);

#define LAUNCH(run, kernel, grid_x, grid_y, block_x, block_y, ...)                                           \
    do {                                                                                                     \
        void *launch_arguments[] = {__VA_ARGS__};                                                            \
        const unsigned launch_shape[] = {grid_x, grid_y, block_x, block_y};                                  \
        hetero_launch(run, kernel, launch_shape, launch_arguments);                                          \
    } while (0)

void hetero_expect(struct hetero *run, const void *got, const void *expected, size_t bytes);
void hetero_figure(struct hetero *run, double value, const char *format, ...)
    __attribute__((format(__printf__, 3, 4))); /* value, then its name */

uint32_t hetero_random(uint64_t *seed);
float hetero_unit(uint64_t *seed); /* 0 to less than 1 */

static inline unsigned pieces(uint64_t count, uint64_t of)
{
    return (unsigned)((count + of - 1) / of);
}

#endif
