/* Latency of memory: one thread follows pointers, in an order that no prefetcher guesses, around a footprint;
 * or loads lines one by one that another SM has loaded before, which shows how near and far parts of L2
 * differ. */
#include "micro.h"

enum { MICRO_CHASE_L1, MICRO_CHASE_L2, MICRO_CHASE_CONSTANT, MICRO_LINES };
enum { MICRO_CONSTANT_WORDS = 16384, MICRO_LATENCY_BATCH = 16, MICRO_LATENCY_SMS = 132 };

enum {
    MICRO_LATENCY_KIND,
    MICRO_LATENCY_KIB,
    MICRO_LATENCY_STRIDE,
    MICRO_LATENCY_STEPS,
    MICRO_LATENCY_WARM,
    MICRO_LATENCY_TOUCHER,
    MICRO_LATENCY_TIMER
};
static const struct workload_option micro_latency_options[] = {
    {"kind", 0, 0, 3, "0: through L1, 1: through L2, 2: constants, 3: lines that another SM touched"},
    {"kib", 16, 1, 1u << 20, "footprint in KiB; of constants at most 64"},
    {"stride", 128, 8, 1u << 21, "bytes between the places that are loaded"},
    {"steps", 1024, 16, 1u << 20, "timed loads, a multiple of 16; of kind 3: lines"},
    {"warm", 1, 0, 1,
     "1: the whole footprint is loaded once before; 0: for caches that are empty before a launch"},
    {"toucher", 0, 0, MICRO_LATENCY_SMS - 1, "kind 3: the SM that loads the lines first"},
    {"timer", 0, 0, MICRO_LATENCY_SMS - 1, "kind 3: the SM that loads them again"},
    {0, 0, 0, 0, 0},
};

/* A ring of offsets through all places of the footprint: entry i of it follows entry i - 1. */
static void micro_latency_ring(uint64_t *memory, uint64_t base, size_t places, size_t stride, uint32_t *order)
{
    uint64_t seed = 7;
    for (size_t i = 0; i < places; i++)
        order[i] = (uint32_t)i;
    for (size_t i = places - 1; i > 0; i--) {
        size_t j = workload_random(&seed) % (i + 1);
        uint32_t swapped = order[i];
        order[i] = order[j], order[j] = swapped;
    }
    for (size_t i = 0; i < places; i++)
        memory[order[i] * (stride / 8)] = base + order[(i + 1) % places] * (uint64_t)stride;
}

static void micro_latency_chase(struct dev *gpu, const uint64_t *options, void *time, void *end)
{
    size_t stride = options[MICRO_LATENCY_STRIDE] / 8 * 8;
    size_t places = options[MICRO_LATENCY_KIB] * 1024 / stride, bytes = (places ? places : 1) * stride;
    uint32_t steps = (uint32_t)options[MICRO_LATENCY_STEPS] / MICRO_LATENCY_BATCH * MICRO_LATENCY_BATCH;
    uint32_t before = options[MICRO_LATENCY_WARM] ? (uint32_t)places : 0;
    before = (before + MICRO_LATENCY_BATCH - 1) / MICRO_LATENCY_BATCH * MICRO_LATENCY_BATCH;
    uint64_t *memory = (uint64_t *)dev_host(gpu, bytes);
    uint32_t *order = (uint32_t *)dev_host(gpu, (places ? places : 1) * sizeof *order);
    void *device = dev_alloc(gpu, bytes);
    micro_latency_ring(memory, (uint64_t)(uintptr_t)device, places ? places : 1, stride, order);
    dev_upload(gpu, device, memory, bytes);
    DEV_LAUNCH(gpu, options[MICRO_LATENCY_KIND] == MICRO_CHASE_L1 ? "micro_chase_l1" : "micro_chase_l2",
               dev_dim(1, 1, 1), dev_dim(1, 1, 1), 0, &device, &before, &steps, &time, &end);
    const uint64_t *got = (const uint64_t *)micro_fetch(gpu, end, sizeof(uint64_t));
    uint64_t expected = (uint64_t)(uintptr_t)device;
    for (uint64_t i = 0; i < (uint64_t)before + steps; i++)
        expected = memory[(expected - (uint64_t)(uintptr_t)device) / 8];
    dev_expect_bytes(gpu, "the end of the chain", got, &expected, sizeof expected);
    dev_figure(gpu, "cycles_per_load",
               micro_span((struct micro_time *)micro_fetch(gpu, time, sizeof(struct micro_time)), 1) / steps);
}

static void micro_latency_constant(struct dev *gpu, const uint64_t *options, void *time, void *end)
{
    uint32_t stride = (uint32_t)options[MICRO_LATENCY_STRIDE] / 4;
    uint32_t words = (uint32_t)options[MICRO_LATENCY_KIB] * 256;
    uint32_t steps = (uint32_t)options[MICRO_LATENCY_STEPS] / MICRO_LATENCY_BATCH * MICRO_LATENCY_BATCH;
    words = words > MICRO_CONSTANT_WORDS ? MICRO_CONSTANT_WORDS : words;
    uint32_t before = options[MICRO_LATENCY_WARM] ? words / stride + MICRO_LATENCY_BATCH : 0;
    before -= before % MICRO_LATENCY_BATCH;
    DEV_LAUNCH(gpu, "micro_chase_constant", dev_dim(1, 1, 1), dev_dim(1, 1, 1), 0, &words, &stride, &before,
               &steps, &time, &end);
    dev_figure(gpu, "cycles_per_load",
               micro_span((struct micro_time *)micro_fetch(gpu, time, sizeof(struct micro_time)), 1) / steps);
}

static int micro_latency_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void micro_latency_lines(struct dev *gpu, const uint64_t *options)
{
    static const struct {
        uint32_t percent;
        const char *figure;
    } rows[] = {
        {0, "cycles_least"}, {25, "cycles_25"}, {50, "cycles_50"}, {75, "cycles_75"}, {99, "cycles_99"}};
    uint32_t lines = (uint32_t)options[MICRO_LATENCY_STEPS],
             toucher = (uint32_t)options[MICRO_LATENCY_TOUCHER];
    uint32_t timer = (uint32_t)options[MICRO_LATENCY_TIMER], stride = (uint32_t)options[MICRO_LATENCY_STRIDE];
    size_t bytes = (size_t)lines * stride;
    void *memory = dev_alloc(gpu, bytes), *cycles = dev_alloc(gpu, lines * sizeof(uint32_t));
    void *touched = dev_alloc(gpu, sizeof(uint32_t));
    dev_fill(gpu, memory, 0, bytes);
    dev_fill(gpu, touched, 0, sizeof(uint32_t));
    dev_fill(gpu, cycles, 0, lines * sizeof(uint32_t));
    DEV_LAUNCH(gpu, "micro_lines", dev_dim(MICRO_LATENCY_SMS, 1, 1), dev_dim(1024, 1, 1), 0, &toucher, &timer,
               &memory, &lines, &stride, &touched, &cycles);
    uint32_t *got = (uint32_t *)micro_fetch(gpu, cycles, lines * sizeof(uint32_t));
    qsort(got, lines, sizeof *got, micro_latency_compare);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        dev_figure(gpu, rows[i].figure, got[(uint64_t)(lines - 1) * rows[i].percent / 100]);
}

static void micro_latency_run(struct dev *gpu, const uint64_t *options)
{
    void *time = dev_alloc(gpu, sizeof(struct micro_time)), *end = dev_alloc(gpu, sizeof(uint64_t));
    if (options[MICRO_LATENCY_KIND] == MICRO_LINES)
        micro_latency_lines(gpu, options);
    else if (options[MICRO_LATENCY_KIND] == MICRO_CHASE_CONSTANT)
        micro_latency_constant(gpu, options, time, end);
    else
        micro_latency_chase(gpu, options, time, end);
}

const struct workload micro_latency_workload = {"micro_latency", "latency of caches and memory",
                                                micro_latency_options, micro_latency_run};
