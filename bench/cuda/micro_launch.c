/* Kernels that do nothing, or next to nothing: what a launch and its blocks cost. The kernel's own cycles say
 * it; the figures tell how the blocks came to the SMs. */
#include "micro.h"

enum { MICRO_LAUNCH_SMS = 1024 /* more than any GPU has */ };
struct micro_block {
    uint64_t start, end;
    uint32_t sm, unused;
};

enum {
    MICRO_LAUNCH_KIND,
    MICRO_LAUNCH_BLOCKS,
    MICRO_LAUNCH_BLOCK,
    MICRO_LAUNCH_SHARED,
    MICRO_LAUNCH_CYCLES,
    MICRO_LAUNCH_TIMES
};
static const struct workload_option micro_launch_options[] = {
    {"kind", 0, 0, 2,
     "0: nothing, 1: nothing with 128 registers, 2: blocks that wait, and note their SM and clock"},
    {"blocks", 132, 1, 1u << 20, "blocks"},
    {"block", 128, 1, 1024, "threads of a block"},
    {"shared", 0, 0, 49152, "bytes of shared memory of a block"},
    {"cycles", 2000, 0, 1u << 24, "kind 2: how long a block waits"},
    {"launches", 1, 1, 1000, "launches"},
    {0, 0, 0, 0, 0},
};

/* From the first start on an SM to the second: clocks of different SMs are not compared. */
static double micro_launch_gap(const struct micro_block *rows, uint32_t blocks, uint32_t sm)
{
    uint64_t first = UINT64_MAX, second = UINT64_MAX;
    for (uint32_t i = 0; i < blocks; i++)
        if (rows[i].sm == sm && rows[i].start < second) {
            second = rows[i].start < first ? first : rows[i].start;
            first = rows[i].start < first ? rows[i].start : first;
        }
    return second == UINT64_MAX ? 0 : (double)(second - first);
}

static void micro_launch_figures(struct dev *gpu, const struct micro_block *rows, uint32_t blocks)
{
    uint32_t *on = (uint32_t *)dev_host(gpu, MICRO_LAUNCH_SMS * sizeof *on), most = 0, used = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t sm = rows[i].sm % MICRO_LAUNCH_SMS;
        used += !on[sm]++;
        most = on[sm] > most ? on[sm] : most;
    }
    dev_figure(gpu, "sms_used", used);
    dev_figure(gpu, "blocks_of_an_sm_most", most);
    dev_figure(gpu, "cycles_between_blocks_of_an_sm", micro_launch_gap(rows, blocks, rows[0].sm));
}

static void micro_launch_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_empty", "micro_empty_128", "micro_where"};
    uint32_t blocks = (uint32_t)options[MICRO_LAUNCH_BLOCKS], zero = 0;
    uint32_t wait = options[MICRO_LAUNCH_KIND] == 2 ? (uint32_t)options[MICRO_LAUNCH_CYCLES] : zero;
    size_t bytes = blocks * sizeof(struct micro_block) + 4096;
    void *rows = dev_alloc(gpu, bytes);
    for (uint64_t i = 0; i < options[MICRO_LAUNCH_TIMES]; i++)
        DEV_LAUNCH(gpu, kernels[options[MICRO_LAUNCH_KIND]], dev_dim(blocks, 1, 1),
                   dev_dim((uint32_t)options[MICRO_LAUNCH_BLOCK], 1, 1), options[MICRO_LAUNCH_SHARED], &wait,
                   &rows);
    if (options[MICRO_LAUNCH_KIND] == 2)
        micro_launch_figures(gpu, (const struct micro_block *)micro_fetch(gpu, rows, bytes), blocks);
}

const struct workload micro_launch_workload = {"micro_launch", "launches and the start of blocks",
                                               micro_launch_options, micro_launch_run};
