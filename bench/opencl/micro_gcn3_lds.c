/* What the LDS of one compute unit takes in, by the width of an access, the bytes between the addresses of
 * lanes (which decide the bank conflicts) and the number of wavefronts. */
#include "micro.h"

enum { MICRO_GCN3_LDS_LANES = 64, MICRO_GCN3_LDS_STEPS = 16, MICRO_GCN3_LDS_KINDS = 8 };

enum { MICRO_GCN3_LDS_KIND, MICRO_GCN3_LDS_STRIDE, MICRO_GCN3_LDS_WAVEFRONTS, MICRO_GCN3_LDS_ROUNDS };
static const struct workload_option micro_gcn3_lds_options[] = {
    {"kind", 0, 0, MICRO_GCN3_LDS_KINDS - 1,
     "loads of 0: 4, 1: 8, 2: 16 bytes; stores of 3: 4, 4: 8, 5: 16 bytes; additions 6: without, 7: with a "
     "result"},
    {"stride", 4, 0, 256, "bytes between the addresses of lanes; a multiple of the width is taken"},
    {"wavefronts", 1, 1, 16, "wavefronts"},
    {"rounds", 16, 1, 1u << 16, "rounds of 16 accesses"},
    {0, 0, 0, 0, 0},
};

static const struct {
    const char *kernel;
    uint32_t width;
} micro_gcn3_lds_rows[MICRO_GCN3_LDS_KINDS] = {
    {"micro_gcn3_lds_load4", 4},  {"micro_gcn3_lds_load8", 8},      {"micro_gcn3_lds_load16", 16},
    {"micro_gcn3_lds_store4", 4}, {"micro_gcn3_lds_store8", 8},     {"micro_gcn3_lds_store16", 16},
    {"micro_gcn3_lds_add", 4},    {"micro_gcn3_lds_add_return", 4},
};

/* What lane 0's word holds: loads leave 0, stores 1, additions the sum of all lanes that meet there. */
static uint32_t micro_gcn3_lds_expected(uint32_t kind, uint32_t stride, uint32_t wavefronts, uint32_t rounds)
{
    uint32_t lanes = stride ? 1 : MICRO_GCN3_LDS_LANES;
    return kind < 3 ? 0 : kind < 6 ? 1 : 2 * MICRO_GCN3_LDS_STEPS * rounds * wavefronts * lanes;
}

static void micro_gcn3_lds_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t kind = (uint32_t)options[MICRO_GCN3_LDS_KIND];
    uint32_t stride = (uint32_t)options[MICRO_GCN3_LDS_STRIDE];
    uint32_t wavefronts = (uint32_t)options[MICRO_GCN3_LDS_WAVEFRONTS];
    uint32_t rounds = (uint32_t)options[MICRO_GCN3_LDS_ROUNDS];
    size_t times_bytes = wavefronts * sizeof(struct micro_time);
    stride -= stride % micro_gcn3_lds_rows[kind].width; /* aligned */
    void *out = dev_alloc(gpu, MICRO_GCN3_LDS_LANES * sizeof(uint32_t)), *times = dev_alloc(gpu, times_bytes);
    DEV_LAUNCH(gpu, micro_gcn3_lds_rows[kind].kernel, dev_dim(1, 1, 1),
               dev_dim(wavefronts * MICRO_GCN3_LDS_LANES, 1, 1), 0, &rounds, &stride, &out, &times);
    double cycles = micro_span((struct micro_time *)micro_fetch(gpu, times, times_bytes), wavefronts);
    dev_figure(gpu, "cycles_per_access", cycles / ((double)rounds * MICRO_GCN3_LDS_STEPS * wavefronts));
    const uint32_t *got = (const uint32_t *)micro_fetch(gpu, out, MICRO_GCN3_LDS_LANES * sizeof *got);
    uint32_t expected = micro_gcn3_lds_expected(kind, stride, wavefronts, rounds);
    for (uint32_t lane = 0; lane < MICRO_GCN3_LDS_LANES; lane++)
        dev_expect(gpu, got[lane] == expected, "a word of the LDS");
}

const struct workload micro_gcn3_lds_workload = {"micro_gcn3_lds", "throughput and bank conflicts of the LDS",
                                                 micro_gcn3_lds_options, micro_gcn3_lds_run};
