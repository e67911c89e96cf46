/* Latency and throughput of wgmma: products of m64nN by one to three groups of four warps. */
#include "micro.h"

enum { MICRO_WGMMA_STEPS = 16, MICRO_WGMMA_BYTES = 49152 }; /* products of a round; shared memory */

enum { MICRO_WGMMA_KIND, MICRO_WGMMA_ROUNDS };
static const struct workload_option micro_wgmma_options[] = {
    {"kind", 2, 0, 8,
     "0 to 3: halves, 16, 64, 128, 256 columns; 4: 64, A in registers; 5: e4m3, 6: tf32, 7: bytes, 8: sparse "
     "halves, 128"},
    {"rounds", 8, 1, 64, "rounds of 16 products"},
    {0, 0, 0, 0, 0},
};

static const struct {
    const char *kernel, *alone;
    uint8_t k, is_integer; /* products in a sum; what they are */
} micro_wgmma_kinds[] = {
    {"micro_wgmma_f16_n16", "micro_wgmma_f16_n16_one", 16, 0},
    {"micro_wgmma_f16_n64", "micro_wgmma_f16_n64_one", 16, 0},
    {"micro_wgmma_f16_n128", "micro_wgmma_f16_n128_one", 16, 0},
    {"micro_wgmma_f16_n256", "micro_wgmma_f16_n256_one", 16, 0},
    {"micro_wgmma_registers_n64", "micro_wgmma_registers_n64_one", 16, 0},
    {"micro_wgmma_e4m3_n128", "micro_wgmma_e4m3_n128_one", 32, 0},
    {"micro_wgmma_tf32_n128", "micro_wgmma_tf32_n128_one", 8, 0},
    {"micro_wgmma_s8_n128", "micro_wgmma_s8_n128_one", 32, 1},
    {"micro_wgmma_sparse_n128", "micro_wgmma_sparse_n128_one", 16, 0},
};

static void micro_wgmma_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const figures[] = {"round_trip_cycles", "cycles_1", "cycles_2", "cycles_3"};
    const uint64_t kind = options[MICRO_WGMMA_KIND];
    uint32_t rounds = (uint32_t)options[MICRO_WGMMA_ROUNDS];
    void *out = dev_alloc(gpu, 384 * sizeof(uint32_t));
    void *times = dev_alloc(gpu, 12 * sizeof(struct micro_time));
    for (uint32_t run = 0; run < 4; run++) { /* one product a round; then 16, by 1, 2, 3 groups */
        uint32_t groups = run ? run : 1, steps = rounds * (run ? MICRO_WGMMA_STEPS : 1);
        if (groups == 3 && kind == 3) /* too many registers */
            break;
        DEV_LAUNCH(gpu, run ? micro_wgmma_kinds[kind].kernel : micro_wgmma_kinds[kind].alone,
                   dev_dim(1, 1, 1), dev_dim(groups * 128, 1, 1), 0, &rounds, &out, &times);
        double cycles = micro_span(
            (struct micro_time *)micro_fetch(gpu, times, 12 * sizeof(struct micro_time)), groups * 4);
        dev_figure(gpu, figures[run], cycles / steps / groups);
        const uint32_t *got = (const uint32_t *)micro_fetch(gpu, out, 384 * sizeof(uint32_t));
        float sum = (float)(2 * steps * micro_wgmma_kinds[kind].k); /* of ones, in two passes */
        uint32_t bits, whole = (uint32_t)sum;
        memcpy(&bits, &sum, sizeof bits);
        for (uint32_t t = 0; t < groups * 128; t++)
            dev_expect(gpu, got[t] == (micro_wgmma_kinds[kind].is_integer ? whole : bits),
                       "the products' sum");
    }
}

const struct workload micro_wgmma_workload = {"micro_wgmma", "latency and throughput of wgmma",
                                              micro_wgmma_options, micro_wgmma_run};
