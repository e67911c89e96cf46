/* Measurements of memory as the GPU sees it, and of copies. */
#include "hetero.h"

#include <string.h>

enum { BLOCK = 256, GRID = 64 };

static unsigned *counted(const struct buffer *buffer)
{
    unsigned *words = buffer->host;
    for (size_t i = 0; i < buffer->bytes / sizeof *words; i++)
        words[i] = (unsigned)i;
    return words;
}

/* ---- coalescing ---- */

static void coalescing(struct hetero *run)
{
    unsigned n = pieces(run->size, 1024) * 1024;
    struct buffer from = hetero_buffer(run, n * sizeof(unsigned));
    struct buffer to = hetero_buffer(run, n * sizeof(unsigned));
    CUfunction kernel = hetero_kernel("hetero_strided");
    unsigned *got = to.host, *expected = hetero_array(n, sizeof *expected);
    counted(&from);
    for (unsigned stride = 1; stride <= 32; stride *= 2) {
        memset(got, 0, to.bytes);
        hetero_begin(run);
        if (stride == 1)
            hetero_upload(run, &from);
        uint64_t before = run->ns[PART_KERNEL];
        LAUNCH(run, kernel, n / BLOCK, 1, BLOCK, 1, &n, &stride, &from.gpu, &to.gpu);
        hetero_wait(run);
        hetero_figure(run, (double)(run->ns[PART_KERNEL] - before), "stride_%u_ns", stride);
        hetero_download(run, &to);
        hetero_end(run);
        for (unsigned i = 0, columns = n / stride; i < n; i++)
            expected[i] = i % columns * stride + i / columns + 1;
        hetero_expect(run, got, expected, to.bytes);
    }
}

/* ---- dependent loads ---- */

enum { LINE_WORDS = 32, JUMP = 37 }; /* a line has 128 bytes; lines from a load to the next: odd */

struct chase {
    CUfunction kernel;
    struct buffer next, result;
    unsigned lines; /* a power of two, so that all are visited */
};

static void make_chase(struct hetero *run, struct chase *chase, size_t bytes)
{
    *chase = (struct chase){.kernel = hetero_kernel("hetero_chase"), .lines = LINE_WORDS};
    while (chase->lines * LINE_WORDS * sizeof(unsigned) < bytes)
        chase->lines *= 2;
    chase->next = hetero_buffer(run, chase->lines * LINE_WORDS * sizeof(unsigned));
    chase->result = hetero_buffer(run, 2 * sizeof(uint64_t));
    for (unsigned i = 0; i < chase->lines; i++)
        ((unsigned *)chase->next.host)[i * LINE_WORDS] = (i + JUMP) % chase->lines * LINE_WORDS;
}

/* Cycles of the GPU for a load. */
static double run_chase(struct hetero *run, struct chase *chase, unsigned steps, unsigned warm)
{
    const uint64_t *result = chase->result.host;
    hetero_begin(run);
    hetero_upload(run, &chase->next);
    LAUNCH(run, chase->kernel, 1, 1, 1, 1, &steps, &warm, &chase->next.gpu, &chase->result.gpu);
    hetero_wait(run);
    hetero_download(run, &chase->result);
    hetero_end(run);
    run->wrong |= result[1] != (uint64_t)(warm + steps) * JUMP % chase->lines * LINE_WORDS;
    return (double)result[0] / steps;
}

static void cache(struct hetero *run)
{
    struct chase chase;
    for (unsigned kib = 8; kib <= 512; kib *= 4) {
        make_chase(run, &chase, (size_t)kib << 10);
        double cycles = run_chase(run, &chase, (unsigned)run->size, chase.lines);
        hetero_figure(run, cycles, "cycles_%uk", kib);
    }
}

static void latency(struct hetero *run)
{
    enum { STEPS = 256 };
    struct chase chase;
    make_chase(run, &chase, run->size << 10);
    hetero_figure(run, run_chase(run, &chase, STEPS, 0), "cycles");
}

/* ---- streams and copies ---- */

static void expect_sums(struct hetero *run, const struct buffer *buffer, unsigned value)
{
    const unsigned *words = buffer->host;
    for (size_t i = 0; i < buffer->bytes / sizeof *words; i++)
        run->wrong |= words[i] != i + value;
}

static void bandwidth(struct hetero *run)
{
    unsigned n = (unsigned)run->size, value = 7;
    struct buffer from = hetero_buffer(run, n * sizeof(unsigned));
    struct buffer to = hetero_buffer(run, n * sizeof(unsigned));
    CUfunction kernel = hetero_kernel("hetero_add");
    counted(&from);
    hetero_begin(run);
    hetero_upload(run, &from);
    LAUNCH(run, kernel, GRID, 1, BLOCK, 1, &n, &value, &from.gpu, &to.gpu);
    hetero_wait(run);
    hetero_download(run, &to);
    hetero_end(run);
    expect_sums(run, &to, value);
    hetero_figure(run, 2.0 * (double)from.bytes / (double)run->ns[PART_KERNEL], "gb_per_s");
}

/* With --zero-copy, kernels do what else the copy engine does. */
static void copy(struct hetero *run)
{
    unsigned most = (unsigned)run->size * 1024 / sizeof(unsigned), none = 0;
    struct buffer outside = hetero_buffer(run, run->size << 10), inside = hetero_inside(run->size << 10);
    CUfunction kernel = hetero_kernel("hetero_add");
    counted(&outside);
    for (unsigned n = 1024; n <= most; n *= 4) {
        size_t bytes = n * sizeof(unsigned);
        for (int to_cpu = 0; to_cpu < 2; to_cpu++) {
            hetero_begin(run);
            uint64_t begin = hetero_now_ns();
            if (run->zero_copy) {
                LAUNCH(run, kernel, GRID, 1, BLOCK, 1, &n, &none, to_cpu ? &inside.gpu : &outside.gpu,
                       to_cpu ? &outside.gpu : &inside.gpu);
                hetero_wait(run);
            } else if (to_cpu) {
                hetero_download_part(run, &outside, bytes);
            } else {
                hetero_upload_part(run, &outside, bytes);
            }
            hetero_figure(run, (double)(hetero_now_ns() - begin), "%s_%uk_ns", to_cpu ? "to_cpu" : "to_gpu",
                          n / 256);
            hetero_end(run);
            if (!to_cpu) /* what comes back is not what was there */
                memset(outside.host, 0xff, bytes);
        }
    }
    expect_sums(run, &outside, 0);
}

/* The same kernel on copied and on mapped memory. */
static void zerocopy(struct hetero *run)
{
    unsigned n = (unsigned)run->size, value = 9;
    size_t bytes = n * sizeof(unsigned);
    struct buffer from = hetero_buffer(run, bytes), to = hetero_buffer(run, bytes);
    struct buffer mapped_from = hetero_mapped(bytes), mapped_to = hetero_mapped(bytes);
    CUfunction kernel = hetero_kernel("hetero_add");
    counted(&from);
    counted(&mapped_from);
    hetero_begin(run);
    uint64_t begin = hetero_now_ns();
    hetero_upload(run, &from);
    LAUNCH(run, kernel, GRID, 1, BLOCK, 1, &n, &value, &from.gpu, &to.gpu);
    hetero_wait(run);
    hetero_download(run, &to);
    hetero_figure(run, (double)(hetero_now_ns() - begin), "copied_ns");
    begin = hetero_now_ns();
    LAUNCH(run, kernel, GRID, 1, BLOCK, 1, &n, &value, &mapped_from.gpu, &mapped_to.gpu);
    hetero_wait(run);
    hetero_figure(run, (double)(hetero_now_ns() - begin), "mapped_ns");
    hetero_end(run);
    expect_sums(run, &to, value);
    expect_sums(run, &mapped_to, value);
}

const struct hetero_program hetero_memory[] = {
    {"coalescing", "words of a warp that lie 1 to 32 words apart", "words", 16384, 1024, 1 << 24, coalescing},
    {"cache", "a chain of loads that caches of the GPU hold, or do not", "loads", 512, 32, 1 << 20, cache},
    {"latency", "a chain of loads from memory", "KiB", 2048, 64, 1 << 18, latency},
    {"bandwidth", "a stream through memory", "words", 1 << 18, 1024, 1 << 26, bandwidth},
    {"copy", "copies of 4 KiB and more", "KiB at most", 1024, 4, 1 << 18, copy},
    {"zerocopy", "a kernel on copied and on mapped memory", "words", 65536, 1024, 1 << 26, zerocopy},
    {.name = NULL},
};
