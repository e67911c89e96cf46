/* Exact times of AMD's machine code, through heddle.h alone. The kernels are in gcn3.s; the machine is one CU
 * with clocks of 1 GHz and of one SIMD, plain as that of timing.h. Code is in the nearest cache and in one
 * line, data in L2. A body of n instructions that never wait takes n + 1 cycles from clock to clock. */
#ifndef TESTS_TIMING_GCN3_H
#define TESTS_TIMING_GCN3_H

#include "timing.h"

enum { GCN3_WAVES_MOST = 8, GCN3_LANES = 64 };

static const char plain_cu[] =
    "gpu.subcores_per_sm=1 gpu.warps_per_sm=32 sm.scheduler=lrr sm.turn_cycles=1 sm.turn_issues=5 sm.queue=4 "
    "sm.vector_latency=1 sm.vector_interval=1 sm.vector_shared=0 sm.scalar_latency=1 sm.scalar_interval=1 "
    "sm.scalar_shared=1 sm.const_latency=1 sm.const_interval=1 sm.const_shared=1 sm.lds_latency=1 "
    "sm.lds_interval=1 sm.lds_shared=1 sm.internal_latency=1 sm.internal_interval=1 sm.shared_apart=yes "
    "sm.shared_banks=32 sm.l1_line=64B l2.line=64B sm.l1_fill_sectors=1 l2.ways=16 l2.scattered=no "
    "sm.cross_cycles=0 tlb.l1_entries=0 tlb.l2_entries=0";

/* What a wave leaves. */
struct gcn3_record {
    uint32_t start, end, first, second;
};

struct gcn3_times {
    struct gcn3_record waves[GCN3_WAVES_MOST];
    uint32_t cycles; /* from the first start to the last end */
};

struct gcn3_bench {
    struct heddle *heddle;
    struct heddle_module *module;
    uint64_t out, data;
};

/* Settings as of open_system. */
static inline struct gcn3_bench gcn3_open(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    struct gcn3_bench bench = {.heddle = open_system("r9nano", plain_cu, format, list)};
    va_end(list);
    if (!(bench.module = heddle_load(bench.heddle, TIMING_FOLDER "/gcn3.hsaco")))
        fail_msg("%s", heddle_error());
    bench.out = heddle_alloc(bench.heddle, 0, sizeof(struct gcn3_times));
    bench.data = heddle_alloc(bench.heddle, 0, DATA_BYTES);
    return bench;
}

static inline void gcn3_close(struct gcn3_bench *bench)
{
    heddle_close(bench->heddle);
}

/* One launch. */
static inline struct gcn3_times gcn3_launch(struct gcn3_bench *bench, const char *kernel, unsigned groups,
                                            unsigned waves_each, uint32_t number)
{
    struct gcn3_times times = {0};
    uint32_t grid[] = {groups, 1, 1}, block[] = {GCN3_LANES * waves_each, 1, 1}, first = UINT32_MAX, last = 0;
    unsigned waves = groups * waves_each;
    if (heddle_launch(bench->heddle, 0, bench->module, kernel, grid, block, 0,
                      (void *[]){&bench->out, &bench->data, &number}) ||
        heddle_wait(bench->heddle))
        fail_msg("%s: %s", kernel, heddle_error());
    assert_int_equal(
        heddle_download(bench->heddle, times.waves, bench->out, waves * sizeof(struct gcn3_record)), 0);
    for (unsigned i = 0; i < waves; i++) {
        first = times.waves[i].start < first ? times.waves[i].start : first;
        last = times.waves[i].end > last ? times.waves[i].end : last;
    }
    times.cycles = last - first;
    return times;
}

/* The second launch counts: code and data are near then. */
static inline struct gcn3_times gcn3_times_of(struct gcn3_bench *bench, const char *kernel, unsigned waves,
                                              uint32_t number)
{
    gcn3_launch(bench, kernel, 1, waves, number);
    return gcn3_launch(bench, kernel, 1, waves, number);
}

/* Of one wave. */
static inline uint32_t gcn3_cycles(struct gcn3_bench *bench, const char *kernel, uint32_t number)
{
    return gcn3_times_of(bench, kernel, 1, number).cycles;
}

#endif
