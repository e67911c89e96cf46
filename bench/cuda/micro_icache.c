/* Caches of instructions: a loop through more and more straight code, which is made of functions of 1024
 * instructions of 16 bytes, or through a part of one. */
#include "micro.h"

enum { MICRO_ICACHE_FUNCTIONS = 8, MICRO_ICACHE_INSTRUCTIONS = 1024 };

enum { MICRO_ICACHE_SMALL, MICRO_ICACHE_FUNCTION_COUNT, MICRO_ICACHE_WARPS, MICRO_ICACHE_ROUNDS };
static const struct workload_option micro_icache_options[] = {
    {"small", 0, 0, 4, "instructions of the loop: 0: as functions says, 1: 64, 2: 128, 3: 256, 4: 512"},
    {"functions", 1, 1, MICRO_ICACHE_FUNCTIONS, "functions of 1024 instructions (16 KiB) in the loop"},
    {"warps", 1, 1, 32, "warps"},
    {"rounds", 4, 1, 1u << 16, "times around"},
    {0, 0, 0, 0, 0},
};

static void micro_icache_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_code", "micro_code64", "micro_code128", "micro_code256",
                                          "micro_code512"};
    uint32_t small = (uint32_t)options[MICRO_ICACHE_SMALL], warps = (uint32_t)options[MICRO_ICACHE_WARPS];
    uint32_t functions = (uint32_t)options[MICRO_ICACHE_FUNCTION_COUNT];
    uint32_t rounds = (uint32_t)options[MICRO_ICACHE_ROUNDS];
    double instructions = small ? 32 << small : (double)functions * MICRO_ICACHE_INSTRUCTIONS;
    void *times = dev_alloc(gpu, 2 * warps * sizeof(struct micro_time)), *out = dev_alloc(gpu, 4096);
    DEV_LAUNCH(gpu, kernels[small], dev_dim(1, 1, 1), dev_dim(warps * 32, 1, 1), 0, &functions, &rounds, &out,
               &times);
    const struct micro_time *got =
        (const struct micro_time *)micro_fetch(gpu, times, 2 * warps * sizeof(struct micro_time));
    dev_figure(gpu, "cycles_per_instruction_cold", micro_span(got, warps) / (instructions * rounds * warps));
    dev_figure(gpu, "cycles_per_instruction",
               micro_span(got + warps, warps) / (instructions * rounds * warps));
}

const struct workload micro_icache_workload = {"micro_icache", "caches of instructions", micro_icache_options,
                                               micro_icache_run};
