/* Latency and throughput of instructions: chains of dependent steps, one a warp, with more and more warps on
 * one SM. With one warp the figure is the step's latency, with many what its unit takes in. */
#include "micro.h"

enum { MICRO_ALU_STEPS = 64 }; /* of a round */

enum micro_alu_kind {
#define MICRO_EXACT(name, ...) MICRO_ALU_##name,
#define MICRO_LOOSE(name, ...) MICRO_ALU_##name,
#include "micro_alu.def"
#undef MICRO_EXACT
#undef MICRO_LOOSE
    MICRO_ALU_KINDS
};

enum { MICRO_ALU_KIND, MICRO_ALU_ROUNDS };
static const struct workload_option micro_alu_options[] = {
    {"kind", MICRO_ALU_fma_f32, 0, MICRO_ALU_KINDS - 1, "row of micro_alu.def, from 0"},
    {"rounds", 8, 1, 1u << 16, "rounds of 64 steps"},
    {0, 0, 0, 0, 0},
};

/* The value of a thread in the end; two rounds of everything, the first to fill the instruction cache. */
#define MICRO_EXACT(name, type, letter, start, text, value)                                                  \
    static inline type micro_alu_##name(uint32_t lane, uint32_t steps)                                       \
    {                                                                                                        \
        type b = (type)(start), a = (type)(b + (type)lane);                                                  \
        for (uint32_t i = 0; i < steps; i++)                                                                 \
            a = value;                                                                                       \
        return a;                                                                                            \
    }
#define MICRO_LOOSE(...)
#include "micro_alu.def"
#undef MICRO_EXACT
#undef MICRO_LOOSE

static void micro_alu_check(struct dev *gpu, enum micro_alu_kind kind, const void *got, uint32_t steps)
{
    for (uint32_t lane = 0; lane < 32; lane++)
        switch (kind) {
#define MICRO_EXACT(name, type, ...)                                                                         \
    case MICRO_ALU_##name: {                                                                                 \
        type expected = micro_alu_##name(lane, steps);                                                       \
        dev_expect_bytes(gpu, #name, (const type *)got + lane, &expected, sizeof expected);                  \
        break;                                                                                               \
    }
#define MICRO_LOOSE(...)
#include "micro_alu.def"
#undef MICRO_EXACT
#undef MICRO_LOOSE
        default:
            break;
        }
}

static void micro_alu_launch(struct dev *gpu, enum micro_alu_kind kind, uint32_t rounds, uint32_t warps,
                             void *out, void *times)
{
    struct dev_dim grid = dev_dim(1, 1, 1), block = dev_dim(warps * 32, 1, 1);
    switch (kind) {
#define MICRO_ROW(name, type, start)                                                                         \
    case MICRO_ALU_##name: {                                                                                 \
        type b = (type)(start);                                                                              \
        DEV_LAUNCH(gpu, "micro_" #name, grid, block, 0, &rounds, &b, &out, &times);                          \
        break;                                                                                               \
    }
#define MICRO_EXACT(name, type, letter, start, text, value) MICRO_ROW(name, type, start)
#define MICRO_LOOSE(name, type, letter, start, text)        MICRO_ROW(name, type, start)
#include "micro_alu.def"
#undef MICRO_EXACT
#undef MICRO_LOOSE
#undef MICRO_ROW
    default:
        break;
    }
}

static void micro_alu_run(struct dev *gpu, const uint64_t *options)
{
    static const struct {
        uint32_t warps;
        const char *figure;
    } rows[] = {{1, "latency_cycles"},
                {4, "steps_per_cycle_4"},
                {8, "steps_per_cycle_8"},
                {16, "steps_per_cycle_16"},
                {32, "steps_per_cycle_32"}};
    enum micro_alu_kind kind = (enum micro_alu_kind)options[MICRO_ALU_KIND];
    uint32_t rounds = (uint32_t)options[MICRO_ALU_ROUNDS];
    void *out = dev_alloc(gpu, 1024 * sizeof(uint64_t));
    void *times = dev_alloc(gpu, 32 * sizeof(struct micro_time));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        micro_alu_launch(gpu, kind, rounds, rows[i].warps, out, times);
        double steps = (double)rounds * MICRO_ALU_STEPS;
        double cycles = micro_span(
            (struct micro_time *)micro_fetch(gpu, times, 32 * sizeof(struct micro_time)), rows[i].warps);
        dev_figure(gpu, rows[i].figure, i ? steps * rows[i].warps / cycles : cycles / steps);
        micro_alu_check(gpu, kind, micro_fetch(gpu, out, 32 * sizeof(uint64_t)),
                        2 * rounds * MICRO_ALU_STEPS);
    }
}

const struct workload micro_alu_workload = {"micro_alu", "latency and throughput of instructions",
                                            micro_alu_options, micro_alu_run};
