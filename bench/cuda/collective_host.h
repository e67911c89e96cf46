/* The host side that the collective workloads share: buffers on every GPU, one kernel on each, and the CPU's
 * reference. Inputs are small whole numbers, so sums are exact in any order and in any type. */
#ifndef BENCH_CUDA_COLLECTIVE_HOST_H
#define BENCH_CUDA_COLLECTIVE_HOST_H

#include "collective.h"
#include "workload.h"

enum {
    COLLECTIVE_BYTES,
    COLLECTIVE_ALGORITHM,
    COLLECTIVE_TYPE,
    COLLECTIVE_CHANNEL_COUNT,
    COLLECTIVE_BLOCK,
    COLLECTIVE_SLOT,
    COLLECTIVE_ROUNDS
};

#define COLLECTIVE_OPTIONS                                                                                   \
    {                                                                                                        \
        {"bytes", 65536, 1, UINT64_C(1) << 36, "of the data, as nccl-tests count them"},                     \
            {"algorithm", 0, 0, 2, "ring|tree|direct: how the GPUs hand data to each other"},                \
            {"type", 1, 0, 2, "i32|f32|f16: of an element"},                                                 \
            {"channels", 32, 1, COLLECTIVE_CHANNELS,                                                         \
             "blocks of a kernel, at most: one for 32 KiB of data (in a tree: two)"},                        \
            {"block", 512, 128, 512, "threads of a block"},                                                  \
            {"slot", 131072, 1024, 1 << 20,                                                                  \
             "bytes that a block hands on at a time; made a multiple of 128"},                               \
            {"rounds", 2, 1, 1000, "operations that are measured, behind one that is not"}, {0, 0, 0, 0, 0}, \
    }

/* What differs between the operations. Both counts are of all elements that a rank has, in units of one
 * rank's part. */
struct collective_case {
    const char *kernel;
    bool send_all, recv_all;            /* has the parts of all ranks, not of one */
    bool reduces, splits;               /* splits: the data is made of one part for each rank */
    double (*bus_factor)(double ranks); /* of the bus bandwidth over the algorithm's */
};

static uint32_t collective_value(uint32_t rank, uint64_t at) /* an input */
{
    return (uint32_t)((at * 7 + rank * 5 + at / 97) % 13);
}

static uint16_t collective_half(uint32_t value) /* of a whole number below 2048 */
{
    uint32_t exponent = 0;
    if (!value)
        return 0;
    while (value >> (exponent + 1))
        exponent++;
    return (uint16_t)((exponent + 15) << 10 | ((value << (10 - exponent)) & 0x3ff));
}

/* What --type means. */
static const uint32_t collective_types[] = {COLLECTIVE_I32, COLLECTIVE_F32, COLLECTIVE_F16};
static const uint32_t collective_element_bytes[] = {4, 4, 2};

static void collective_put(void *data, uint64_t type, uint64_t at, uint32_t value)
{
    if (type == 0)
        ((uint32_t *)data)[at] = value;
    else if (type == 1)
        ((float *)data)[at] = (float)value;
    else
        ((uint16_t *)data)[at] = collective_half(value);
}

/* What a rank has at this place when all is done. */
static uint32_t collective_expected(const struct collective_case *what, uint32_t rank, uint32_t ranks,
                                    uint64_t count, uint64_t at)
{
    uint32_t value = 0;
    if (!what->reduces)
        return what->splits ? collective_value((uint32_t)(at / count), at % count) : collective_value(0, at);
    for (uint32_t i = 0; i < ranks; i++)
        value += collective_value(i, what->splits ? rank * count + at : at);
    return value;
}

/* Of one rank. */
struct collective_side {
    void *send, *recv;
    struct collective_plan plan;
};

static void collective_launch(struct dev *gpu, const char *kernel, struct collective_side *sides,
                              uint32_t ranks, uint32_t block)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        dev_select(gpu, rank);
        DEV_LAUNCH(gpu, kernel, dev_dim(collective_blocks(&sides[rank].plan), 1, 1), dev_dim(block, 1, 1), 0,
                   &sides[rank].plan);
    }
}

static void collective_check(struct dev *gpu, const struct collective_case *what,
                             const struct collective_side *sides, uint64_t type, uint64_t elements)
{
    const struct collective_plan *plan = &sides[0].plan;
    uint64_t count = plan->bytes / collective_element_bytes[type];
    size_t bytes = elements * collective_element_bytes[type];
    void *got = dev_host(gpu, bytes), *expected = dev_host(gpu, bytes);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        for (uint64_t at = 0; at < elements; at++)
            collective_put(expected, type, at, collective_expected(what, rank, plan->ranks, count, at));
        dev_select(gpu, rank);
        dev_download(gpu, got, sides[rank].recv, bytes);
        dev_expect_bytes(gpu, what->kernel, got, expected, bytes);
    }
}

/* As nccl-tests define them: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md */
static void collective_figures(struct dev *gpu, const struct collective_case *what, uint32_t ranks,
                               double bytes, uint64_t rounds)
{
    double seconds = dev_span(gpu, (unsigned)(ranks * rounds)) / (double)rounds;
    double algorithm = seconds > 0 ? bytes / seconds * 1e-9 : 0;
    dev_figure(gpu, "gpus", ranks);
    dev_figure(gpu, "bytes", bytes);
    dev_figure(gpu, "time, us", seconds * 1e6);
    dev_figure(gpu, "algorithm bandwidth, GB/s", algorithm);
    dev_figure(gpu, "bus bandwidth, GB/s", algorithm * what->bus_factor(ranks));
}

static void collective_run(struct dev *gpu, const uint64_t *options, const struct collective_case *what)
{
    uint64_t type = options[COLLECTIVE_TYPE], element = collective_element_bytes[type];
    uint32_t ranks = dev_count(gpu) < COLLECTIVE_RANKS ? dev_count(gpu) : COLLECTIVE_RANKS;
    uint64_t parts = what->splits ? ranks : 1;
    uint64_t count = (options[COLLECTIVE_BYTES] / element + parts - 1) / parts; /* of a part */
    uint64_t send_count = what->send_all ? count * parts : count;
    uint64_t recv_count = what->recv_all ? count * parts : count;
    struct collective_side *sides = (struct collective_side *)dev_host(gpu, ranks * sizeof *sides);
    void *input = dev_host(gpu, send_count * element);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct collective_plan *plan = &sides[rank].plan;
        plan->bytes = count * element;
        plan->type = collective_types[type];
        plan->slot_bytes = (uint32_t)(options[COLLECTIVE_SLOT] + 127) / 128 * 128;
        plan->rank = rank, plan->ranks = ranks;
        plan->channels =
            collective_channels(count * parts * element, (uint32_t)options[COLLECTIVE_CHANNEL_COUNT]);
        plan->algorithm = ranks > 1 ? (uint32_t)options[COLLECTIVE_ALGORITHM] : COLLECTIVE_RING;
        plan->op = COLLECTIVE_SUM;
        dev_select(gpu, rank);
        sides[rank].send = dev_alloc(gpu, send_count * element);
        sides[rank].recv = dev_alloc(gpu, recv_count * element);
        plan->send = (const char *)sides[rank].send, plan->recv = (char *)sides[rank].recv;
        plan->region[rank] = (char *)dev_alloc(gpu, collective_region_bytes(ranks, plan->slot_bytes));
        for (uint64_t at = 0; at < send_count; at++)
            collective_put(input, type, at, collective_value(rank, at));
        dev_upload(gpu, sides[rank].send, input, send_count * element);
        dev_fill(gpu, plan->region[rank], 0, collective_slots_at(ranks));
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint32_t peer = 0; peer < ranks; peer++)
            sides[rank].plan.region[peer] = sides[peer].plan.region[peer];
    dev_wait(gpu); /* all regions are empty before the first kernel */
    collective_launch(gpu, what->kernel, sides, ranks, (uint32_t)options[COLLECTIVE_BLOCK]);
    dev_wait(gpu);
    for (uint64_t i = 0; i < options[COLLECTIVE_ROUNDS]; i++)
        collective_launch(gpu, what->kernel, sides, ranks, (uint32_t)options[COLLECTIVE_BLOCK]);
    collective_figures(gpu, what, ranks, (double)(count * parts * element), options[COLLECTIVE_ROUNDS]);
    collective_check(gpu, what, sides, type, recv_count);
}

#endif
