/* Latency and throughput of instructions of GCN3: chains of dependent steps, one a wavefront, with more and
 * more wavefronts on one compute unit. */
#include "micro.h"

enum { MICRO_GCN3_ALU_STEPS = 64, MICRO_GCN3_ALU_LANES = 64, MICRO_GCN3_ALU_WAVEFRONTS = 16 };

enum micro_gcn3_alu_kind {
#define EXACT(name, ...) MICRO_GCN3_ALU_##name,
#define LOOSE(name, ...) MICRO_GCN3_ALU_##name,
#include "micro_gcn3_alu.def"
#undef EXACT
#undef LOOSE
    MICRO_GCN3_ALU_KINDS
};

enum { MICRO_GCN3_ALU_KIND, MICRO_GCN3_ALU_ROUNDS };
static const struct workload_option micro_gcn3_alu_options[] = {
    {"kind", MICRO_GCN3_ALU_v_add_f32, 0, MICRO_GCN3_ALU_KINDS - 1, "row of micro_gcn3_alu.def, from 0"},
    {"rounds", 8, 1, 1u << 16, "rounds of 64 steps"},
    {0, 0, 0, 0, 0},
};

/* The value of a work-item in the end. */
#define FIRST_v(type, lane) (type)(b + (type)(lane))
#define FIRST_s(type, lane) (type)(b + (type)(0 * (lane)))
#define EXACT(name, letter, type, start, text, value)                                                        \
    static type micro_gcn3_alu_##name(uint32_t lane, uint32_t steps)                                         \
    {                                                                                                        \
        type b = (type)(start), a = FIRST_##letter(type, lane);                                              \
        for (uint32_t i = 0; i < steps; i++)                                                                 \
            a = value;                                                                                       \
        return a;                                                                                            \
    }
#define LOOSE(...)
#include "micro_gcn3_alu.def"
#undef EXACT
#undef LOOSE

static void micro_gcn3_alu_check(struct dev *gpu, enum micro_gcn3_alu_kind kind, const void *got,
                                 uint32_t steps)
{
    for (uint32_t lane = 0; lane < MICRO_GCN3_ALU_LANES; lane++)
        switch (kind) {
#define EXACT(name, letter, type, ...)                                                                       \
    case MICRO_GCN3_ALU_##name: {                                                                            \
        type expected = micro_gcn3_alu_##name(lane, steps);                                                  \
        dev_expect_bytes(gpu, #name, (const type *)got + lane, &expected, sizeof expected);                  \
        break;                                                                                               \
    }
#define LOOSE(...)
#include "micro_gcn3_alu.def"
#undef EXACT
#undef LOOSE
        default:
            break;
        }
}

static void micro_gcn3_alu_launch(struct dev *gpu, enum micro_gcn3_alu_kind kind, uint32_t rounds,
                                  uint32_t wavefronts, void *out, void *times)
{
    struct dev_dim grid = dev_dim(1, 1, 1), block = dev_dim(wavefronts * MICRO_GCN3_ALU_LANES, 1, 1);
    switch (kind) {
#define ROW(name, type, start)                                                                               \
    case MICRO_GCN3_ALU_##name: {                                                                            \
        type b = (type)(start);                                                                              \
        DEV_LAUNCH(gpu, "micro_gcn3_" #name, grid, block, 0, &rounds, &b, &out, &times);                     \
        break;                                                                                               \
    }
#define EXACT(name, letter, type, start, text, value) ROW(name, type, start)
#define LOOSE(name, letter, type, start, text)        ROW(name, type, start)
#include "micro_gcn3_alu.def"
#undef EXACT
#undef LOOSE
#undef ROW
    default:
        break;
    }
}

static void micro_gcn3_alu_run(struct dev *gpu, const uint64_t *options)
{
    static const struct {
        uint32_t wavefronts;
        const char *figure;
    } rows[] = {{1, "latency_cycles"},
                {4, "steps_per_cycle_4"},
                {8, "steps_per_cycle_8"},
                {MICRO_GCN3_ALU_WAVEFRONTS, "steps_per_cycle_16"}};
    enum micro_gcn3_alu_kind kind = (enum micro_gcn3_alu_kind)options[MICRO_GCN3_ALU_KIND];
    uint32_t rounds = (uint32_t)options[MICRO_GCN3_ALU_ROUNDS];
    size_t times_bytes = MICRO_GCN3_ALU_WAVEFRONTS * sizeof(struct micro_time);
    void *out = dev_alloc(gpu, MICRO_GCN3_ALU_WAVEFRONTS * MICRO_GCN3_ALU_LANES * sizeof(uint64_t));
    void *times = dev_alloc(gpu, times_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        micro_gcn3_alu_launch(gpu, kind, rounds, rows[i].wavefronts, out, times);
        double steps = (double)rounds * MICRO_GCN3_ALU_STEPS;
        double cycles =
            micro_span((struct micro_time *)micro_fetch(gpu, times, times_bytes), rows[i].wavefronts);
        dev_figure(gpu, rows[i].figure, i ? steps * rows[i].wavefronts / cycles : cycles / steps);
        micro_gcn3_alu_check(gpu, kind, micro_fetch(gpu, out, MICRO_GCN3_ALU_LANES * sizeof(uint64_t)),
                             2 * rounds * MICRO_GCN3_ALU_STEPS);
    }
}

const struct workload micro_gcn3_alu_workload = {"micro_gcn3_alu", "latency and throughput of instructions",
                                                 micro_gcn3_alu_options, micro_gcn3_alu_run};
