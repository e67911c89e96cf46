/* Straight code of some number of steps, by one wavefront: additions (instruction fetch and issue), reads
 * that hit in L1, reads from DRAM, reads that hit in L2. The time of the launch over the number of steps is a
 * line; its slope is the step's cost. */
#include "micro.h"

#include <stdio.h>

enum {
    MICRO_STRAIGHT_ALU,
    MICRO_STRAIGHT_L1,
    MICRO_STRAIGHT_DRAM,
    MICRO_STRAIGHT_L2,
    MICRO_STRAIGHT_BARE,
    MICRO_STRAIGHT_KINDS
};
enum { MICRO_STRAIGHT_SCAN = 4096, MICRO_STRAIGHT_AGAIN = 1024, MICRO_STRAIGHT_LANES = 64 };
enum { MICRO_STRAIGHT_BARE_MOST = 128, MICRO_STRAIGHT_BARE_STEP = 4 };

enum { MICRO_STRAIGHT_KIND, MICRO_STRAIGHT_COUNT, MICRO_STRAIGHT_STRIDE, MICRO_STRAIGHT_ITEMS };
static const struct workload_option micro_gcn3_straight_options[] = {
    {"kind", 0, 0, MICRO_STRAIGHT_KINDS - 1,
     "0: v_add_f32, 4: nothing else; reads 1: of the same place, 2: of new lines, 3: of lines of a first "
     "scan of "
     "4096"},
    {"count", 128, 0, 16384,
     "steps; of kinds 1 and 2 at most 4096, of 3 at most 1024, of 4 at most 128, by 4"},
    {"stride", 64, 0, 4096, "bytes from one read to the next; of kind 1 from one lane to the next"},
    {"items", 1, 1, MICRO_STRAIGHT_LANES, "work-items"},
    {0, 0, 0, 0, 0},
};

static const struct {
    const char *kernel;
    uint32_t most, step_bytes;
} micro_straight_rows[] = {{"micro_gcn3_straight_alu", 16384, 4},
                           {"micro_gcn3_straight_same", 4096, 12},
                           {"micro_gcn3_straight_move", MICRO_STRAIGHT_SCAN, 28},
                           {"micro_gcn3_straight_move", MICRO_STRAIGHT_AGAIN, 28},
                           {"micro_gcn3_straight_bare", MICRO_STRAIGHT_BARE_MOST, 4}};

/* Words of memory that hold their own indices. */
static void *micro_straight_memory(struct dev *gpu, uint32_t words)
{
    uint32_t *host = (uint32_t *)dev_host(gpu, words * sizeof *host);
    void *device = dev_alloc(gpu, words * sizeof *host);
    for (uint32_t i = 0; i < words; i++)
        host[i] = i;
    dev_upload(gpu, device, host, words * sizeof *host);
    return device;
}

static void micro_straight_reads(struct dev *gpu, uint32_t kind, uint32_t count, uint32_t stride,
                                 uint32_t items, void *out)
{
    uint32_t step = micro_straight_rows[kind].step_bytes, places = MICRO_STRAIGHT_SCAN + 1;
    uint32_t skip = (micro_straight_rows[kind].most - count) * step, scan = 0;
    uint32_t none = MICRO_STRAIGHT_AGAIN * step, last = count ? (count - 1) * (stride / 4) : 0;
    void *from = micro_straight_memory(gpu, places * (stride / 4 + 1));
    struct dev_dim grid = dev_dim(1, 1, 1), block = dev_dim(items, 1, 1);
    const char *kernel = micro_straight_rows[kind].kernel;
    if (kind == MICRO_STRAIGHT_L1)
        DEV_LAUNCH(gpu, kernel, grid, block, 0, &skip, &stride, &from, &out);
    else if (kind == MICRO_STRAIGHT_DRAM)
        DEV_LAUNCH(gpu, kernel, grid, block, 0, &skip, &none, &stride, &from, &out);
    else
        DEV_LAUNCH(gpu, kernel, grid, block, 0, &scan, &skip, &stride, &from, &out);
    if (kind == MICRO_STRAIGHT_L2 && !count) /* the last of the scan */
        last = (MICRO_STRAIGHT_SCAN - 1) * (stride / 4);
    uint32_t *got = (uint32_t *)micro_fetch(gpu, out, items * sizeof *got);
    for (uint32_t i = 0; i < items; i++)
        dev_expect(gpu, got[i] == (kind == MICRO_STRAIGHT_L1 ? (count ? i * (stride / 4) : 0) : last),
                   "what was read last");
}

static void micro_straight_alu(struct dev *gpu, uint32_t count, uint32_t items, void *out)
{
    uint32_t skip = (micro_straight_rows[0].most - count) * micro_straight_rows[0].step_bytes;
    float b = 1;
    DEV_LAUNCH(gpu, micro_straight_rows[0].kernel, dev_dim(1, 1, 1), dev_dim(items, 1, 1), 0, &skip, &b,
               &out);
    float *got = (float *)micro_fetch(gpu, out, items * sizeof *got);
    for (uint32_t i = 0; i < items; i++)
        dev_expect(gpu, got[i] == (float)(i + count), "a sum");
}

/* There is a kernel for each count, and no result. */
static void micro_straight_bare(struct dev *gpu, uint32_t count, uint32_t items)
{
    char kernel[48];
    uint32_t unused = 0;
    snprintf(kernel, sizeof kernel, "%s_%u", micro_straight_rows[MICRO_STRAIGHT_BARE].kernel,
             count / MICRO_STRAIGHT_BARE_STEP * MICRO_STRAIGHT_BARE_STEP);
    DEV_LAUNCH(gpu, kernel, dev_dim(1, 1, 1), dev_dim(items, 1, 1), 0, &unused);
}

static void micro_gcn3_straight_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t kind = (uint32_t)options[MICRO_STRAIGHT_KIND], count = (uint32_t)options[MICRO_STRAIGHT_COUNT];
    uint32_t items = (uint32_t)options[MICRO_STRAIGHT_ITEMS], most = micro_straight_rows[kind].most;
    uint32_t stride = (uint32_t)options[MICRO_STRAIGHT_STRIDE] / 4 * 4;
    void *out = dev_alloc(gpu, MICRO_STRAIGHT_LANES * sizeof(uint32_t));
    count = count < most ? count : most;
    if (kind == MICRO_STRAIGHT_ALU)
        micro_straight_alu(gpu, count, items, out);
    else if (kind == MICRO_STRAIGHT_BARE)
        micro_straight_bare(gpu, count, items);
    else
        micro_straight_reads(gpu, kind, count, stride, items, out);
    dev_figure(gpu, "microseconds", dev_seconds(gpu) * 1e6);
}

const struct workload micro_gcn3_straight_workload = {"micro_gcn3_straight",
                                                      "straight code: additions, reads from L1, L2 and DRAM",
                                                      micro_gcn3_straight_options, micro_gcn3_straight_run};
