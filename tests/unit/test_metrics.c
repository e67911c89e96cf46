/* Metrics of launches: from counters to values, text and words. */
#include "check.h"
#include "driver/facts.h"
#include "report/explain/bottleneck.h"

/* A kernel of 10,000 cycles that filled an H200, and did nothing. */
struct sample {
    struct system system;
    struct launch_facts facts;
    struct gpu_kernel_stats stats;
};

static void sample_init(struct sample *s)
{
    struct err err;
    *s = (struct sample){0};
    if (!system_load(&s->system, NULL, NULL, &err))
        fail_msg("%s", err.text);
    s->facts = (struct launch_facts){
        .grid = {1056, 1, 1}, .block = {256, 1, 1}, .registers = 32, .blocks_per_sm = 8};
    s->stats = (struct gpu_kernel_stats){.start_ps = 1000000,
                                         .end_ps = 1000000 + 5050505,
                                         .cycles = 10000,
                                         .clock_hz = s->system.gpu.clock,
                                         .sm_count = 132,
                                         .warps_per_sm = 64,
                                         .schedulers_per_sm = 4,
                                         .sms_used = 132,
                                         .busiest_sm_cycles = 9000,
                                         .idlest_sm_cycles = 8900};
    s->stats.sm.cycles_active = 132 * 8950;
    s->stats.sm.warp_cycles = s->stats.sm.cycles_active * 32;
    s->stats.sm.instructions = s->stats.sm.issue_cycles = 100000;
    s->stats.sm.thread_instructions = 32 * s->stats.sm.instructions;
    s->stats.sm.stalls[STALL_wait] = 1000;
}

static struct metric_source source_of(struct sample *s)
{
    return facts_source(&s->facts, &s->system, &s->stats);
}

static void values_follow_from_counters(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s);
    s.stats.sm.l1_load_sectors = 300;
    s.stats.sm.l1_load_hits = 60;
    s.stats.mem.dram_bytes_read = 1000000;
    struct metric_source source = source_of(&s);
#define VALUE(name) metric_value(&source, metric_find(&source, name))
    assert_true(VALUE("gpc__cycles_elapsed.max") == 10000);
    assert_true(VALUE("gpu__time_duration.sum") == 5050.505);
    assert_true(VALUE("l1tex__t_sector_hit_rate.pct") == 20);
    assert_true(VALUE("sm__warps_active.avg.pct_of_peak_sustained_active") == 50);
    assert_true(VALUE("dram__bytes_read.sum") == 1000000);
    assert_true(VALUE("launch__grid_size") == 1056);
    assert_true(VALUE("launch__waves_per_multiprocessor") == 1);
    assert_true(VALUE("sm__maximum_warps_per_active_cycle_pct") == 100);
    assert_true(VALUE("lts__t_sector_hit_rate.pct") == 0); /* of nothing */
    assert_null(metric_find(&source, "no_such.metric"));
    source.timing = NULL;
    assert_null(metric_find(&source, "gpc__cycles_elapsed.max"));
    assert_non_null(metric_find(&source, "smsp__inst_executed.sum"));
#undef VALUE
    system_fini(&s.system);
}

/* What the profiler's units executed together is all that was executed. */
static void every_unit_is_in_one_of_the_profilers(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s);
    struct metric_source source = source_of(&s);
    for (int unit = 0; unit < UNIT_COUNT; unit++) {
        double sum = 0;
        s.stats.sm.by_unit[unit] = 7;
        for (const struct metric_row *row = metric_rows; row->name; row++) {
            const char *rest = strstr(row->name, "sm__inst_executed_pipe_");
            if (rest && strstr(rest, ".sum"))
                sum += metric_value(&source, row);
        }
        if (sum != 7)
            fail_msg("7 instructions of unit %d are %g", unit, sum);
        s.stats.sm.by_unit[unit] = 0;
    }
    system_fini(&s.system);
}

/* A name may stand for one thing of timed launches and for one of others, but not twice for either. */
static void names_are_unique(void **state)
{
    (void)state;
    for (const struct metric_row *a = metric_rows; a->name; a++) {
        assert_true(*a->help);
        for (const struct metric_row *b = metric_rows; b < a; b++) {
            bool both =
                a->section == b->section || a->section == METRIC_LAUNCH || b->section == METRIC_LAUNCH;
            if (both && strcmp(a->name, b->name) == 0)
                fail_msg("%s stands there twice", a->name);
        }
    }
}

static void launches_are_summed(void **state)
{
    (void)state;
    struct sample s;
    struct gpu_kernel_stats sum = {0};
    sample_init(&s);
    s.stats.sm.by_unit[UNIT_FMA] = 5;
    metrics_sum(&sum, &s.stats);
    metrics_sum(&sum, &s.stats);
    assert_int_equal(sum.cycles, 20000);
    assert_int_equal(sum.end_ps - sum.start_ps, 2 * 5050505);
    assert_int_equal(sum.sm.instructions, 200000);
    assert_int_equal(sum.sm.by_unit[UNIT_FMA], 10);
    assert_int_equal(sum.sms_used, 132);
    system_fini(&s.system);
}

/* ---- words ---- */

static void check_words(struct sample *s, const struct metric_place *places, size_t count,
                        const char *expected)
{
    struct text text = {0};
    struct metric_source source = source_of(s);
    bottleneck_tell(&source, places, count, &text);
    if (!strstr(text.at, expected))
        fail_msg("it says\n  %s\nand not\n  %s", text.at, expected);
    text_fini(&text);
}

static void check_silent(struct sample *s, const char *unexpected)
{
    struct text text = {0};
    struct metric_source source = source_of(s);
    bottleneck_tell(&source, NULL, 0, &text);
    if (strstr(text.at, unexpected))
        fail_msg("it says\n  %s", text.at);
    text_fini(&text);
}

static void what_is_used_up_is_named(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s);
    s.stats.mem.dram_bytes_read = (uint64_t)(0.78 * 5.050505e-6 * (double)s.system.dram.bandwidth);
    check_words(&s, NULL, 0, "memory bandwidth: DRAM 78% of peak");
    s.stats.mem.dram_bytes_read = 0;
    s.stats.sm.by_unit[UNIT_FMA] = 4 * s.stats.sm.cycles_active * 92 / 100 / s.system.sm.fma_interval;
    check_words(&s, NULL, 0, "FMA units 92% busy");
    s.stats.sm.by_unit[UNIT_FMA] = 0;
    s.stats.sm.shared_wavefronts = s.stats.sm.cycles_active * 8 / 10;
    s.stats.sm.shared_conflicts = s.stats.sm.cycles_active / 2;
    check_words(&s, NULL, 0, "bank conflicts: shared memory 80% busy");
    s.stats.sm.shared_conflicts = 0;
    check_words(&s, NULL, 0, "shared memory 80% busy");
    s.stats.sm.shared_wavefronts = 0;
    s.stats.sm.issue_cycles = 4 * s.stats.sm.cycles_active * 7 / 10;
    check_words(&s, NULL, 0, "instruction issue: 70% of slots used");
    s.facts.grid[0] = (uint64_t)(9500 / s.system.dispatch.block_cycles);
    check_words(&s, NULL, 0, "block dispatch: the dispatcher 95% busy");
    s.facts.grid[0] = 1;
    s.stats.mem.l2_busy_ps = (uint64_t)(0.8 * 5050505 * (double)s.system.l2.slices);
    check_words(&s, NULL, 0, "L2 bandwidth: 80% of peak");
    s.system.device.l2 = 0;
    check_words(&s, NULL, 0, "memory bandwidth: controllers 80% of peak");
    system_fini(&s.system);
}

static void what_leaves_the_gpu_idle_is_named(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s);
    s.stats.sms_used = 16;
    check_words(&s, NULL, 0, "too few blocks: only 16 of 132 SMs have work");
    s.stats.sms_used = 132;
    s.stats.busiest_sm_cycles = 3000;
    check_words(&s, NULL, 0, "launch overhead: SMs have work in only 30% of the kernel's cycles");
    s.stats.busiest_sm_cycles = 9000;
    s.stats.sm.cycles_active = 132 * 3000;
    check_words(&s, NULL, 0, "load imbalance: the busiest SM works 3.0 times as long as the mean");
    s.stats.sm.cycles_active = 0;
    check_words(&s, NULL, 0, "not enough data");
    check_silent(&s, "; then");
    system_fini(&s.system);
}

static void what_warps_wait_for_is_named_with_its_place(void **state)
{
    (void)state;
    struct sample s;
    struct code_place load = {.file = "/home/me/saxpy.cu",
                              .line = 5,
                              .ptx_line = 29,
                              .module = "./saxpy",
                              .instruction = "ld.global.f32"};
    struct code_place barrier = {.ptx_line = 40, .module = "./saxpy", .instruction = "bar.sync"};
    struct code_place atomic = {
        .ptx_line = 7, .module = "./x", .instruction = "atom.global.add.u32", .is_atomic = true};
    struct metric_place places[] = {{.at = &load}, {.at = &barrier}};
    sample_init(&s);
    s.stats.sm.stalls[STALL_long_scoreboard] = 3000;
    places[0].counts.stalls[STALL_long_scoreboard] = 2000;
    places[1].counts.stalls[STALL_barrier] = 2500;
    check_words(&s, places, 2,
                "latency of global memory: warps wait for it 75% of the time, most at saxpy.cu:5 "
                "(ld.global.f32); occupancy 50%");
    s.stats.sm.stalls[STALL_barrier] = 9000;
    check_words(&s, places, 2, "barriers: warps wait for it 69% of the time, most at PTX line 40 (bar.sync)");
    s.stats.sm.stalls[STALL_long_scoreboard] = 90000;
    s.stats.sm.stalls[STALL_selected] = s.stats.sm.stalls[STALL_not_selected] = 90000; /* no reason */
    check_words(&s, places, 2, "latency of global memory");
    places[1] = (struct metric_place){.at = &atomic, .counts = {.awaited = 80000}};
    places[0].counts.stalls[STALL_long_scoreboard] = 100000;
    places[0].counts.stalls[STALL_selected] = 180000;
    check_words(&s, places, 2,
                "latency of atomics: warps wait for it 29% of the time, most at PTX line 7 "
                "(atom.global.add.u32)");
    system_fini(&s.system);
}

static void lanes_that_do_nothing_are_named(void **state)
{
    (void)state;
    struct sample s;
    struct code_place often = {.file = "a.cu", .line = 5, .ptx_line = 29, .instruction = "add.s32"};
    struct code_place rare = {.file = "a.cu", .line = 6, .ptx_line = 30, .instruction = "mul.f32"};
    struct metric_place places[] = {{.at = &often, .counts = {.issued = 100, .threads = 3200}},
                                    {.at = &rare, .counts = {.issued = 80, .threads = 80 * 4}}};
    sample_init(&s);
    s.stats.sm.issue_cycles = 4 * s.stats.sm.cycles_active * 9 / 10; /* which alone says too little */
    check_words(&s, places, 2, "divergence: 19.6 of 32 lanes active, most at a.cu:6 (mul.f32)");
    places[1].counts.threads = 80 * 32;
    check_words(&s, places, 2, "instruction issue: 90% of slots used, most at a.cu:5 (add.s32)");
    s.facts.block[0] = 48;
    places[0].counts.threads = 100 * 24, places[1].counts.threads = 80 * 24;
    check_words(&s, places, 2,
                "then blocks that do not fill their warps: 24 of a warp's 32 lanes have a thread");
    s.stats.sm.thread_instructions = 8 * s.stats.sm.instructions; /* without a profile */
    check_words(&s, NULL, 0, "divergence: 8.0 of 24 lanes active");
    system_fini(&s.system);
}

static void contended_atomics_are_named(void **state)
{
    (void)state;
    struct sample s;
    struct code_place add = {.ptx_line = 7, .instruction = "red.global.add.u32", .is_atomic = true};
    struct metric_place places[] = {{.at = &add, .counts = {.threads = 32}}};
    sample_init(&s);
    s.stats.mem.l2_atomics = 1000;
    s.stats.mem.l2_atomic_wait_ps = 1000 * 1500000;
    s.stats.busiest_sm_cycles = 3000; /* warps ended long before */
    check_words(&s, places, 1,
                "contended atomics: each waits 1.5 us for others in its L2 slice, most at PTX line 7 "
                "(red.global.add.u32)");
    s.stats.mem.l2_atomic_wait_ps = 1000 * 30000; /* as good as none */
    check_words(&s, places, 1, "launch overhead");
    system_fini(&s.system);
}

static void accesses_of_l1_and_shared_memory_have_their_places(void **state)
{
    (void)state;
    struct sample s;
    struct code_place load = {.ptx_line = 5, .instruction = "ld.global.f32"};
    struct code_place shared = {.ptx_line = 6, .instruction = "ld.shared.f32", .is_shared = true};
    struct code_place atomic = {
        .ptx_line = 7, .instruction = "atom.shared.add.u32", .is_atomic = true, .is_shared = true};
    struct metric_place places[] = {{.at = &load, .counts = {.sectors = 900, .extra_sectors = 800}},
                                    {.at = &shared, .counts = {.passes = 9, .conflicts = 5}},
                                    {.at = &atomic, .counts = {.passes = 9, .conflicts = 4}}};
    sample_init(&s);
    s.stats.sm.l1_load_sectors = 8000;
    s.stats.sm.l1_extra_sectors = 7000;
    s.stats.sm.l1_wavefronts = s.stats.sm.cycles_active * 95 / 100;
    s.stats.sms_used = 16;
    s.stats.sm.stalls[STALL_lg_throttle] = 9000;
    check_words(
        &s, places, 3,
        "accesses that do not coalesce: 88% of the sectors they touch are not needed, most at PTX line 5 "
        "(ld.global.f32); then too few blocks: only 16 of 132 SMs have work");
    s.stats.sms_used = 132;
    s.stats.sm.l1_extra_sectors = 100;
    check_words(&s, places, 3, "L1 bandwidth: 95% busy, most at PTX line 6 (ld.shared.f32)");
    s.stats.sm.l1_wavefronts = 0;
    s.stats.sm.shared_wavefronts = s.stats.sm.cycles_active * 8 / 10;
    s.stats.sm.shared_conflicts = s.stats.sm.cycles_active / 2;
    check_words(&s, places, 3, "bank conflicts: shared memory 80% busy, most at PTX line 6 (ld.shared.f32)");
    places[2].counts.conflicts = 10;
    check_words(&s, places, 3,
                "contended atomics of shared memory: shared memory 80% busy, most at PTX line 7 "
                "(atom.shared.add.u32)");
    system_fini(&s.system);
}

static void copies_of_a_line_are_added_up(void **state)
{
    (void)state;
    struct sample s;
    struct code_place at[5];
    struct metric_place places[5];
    sample_init(&s);
    s.stats.sm.stalls[STALL_long_scoreboard] = 9000;
    for (uint32_t i = 0; i < 5; i++) { /* four of line 8, which an unrolled loop has, and one of line 9 */
        at[i] = (struct code_place){.file = "a.cu",
                                    .line = i < 4 ? 8 : 9,
                                    .ptx_line = 40 - i,
                                    .module = "./a",
                                    .instruction = "fma.rn.f32"};
        places[i] = (struct metric_place){.at = &at[i]};
        places[i].counts.stalls[STALL_long_scoreboard] = i < 4 ? 1000 : 3000;
    }
    check_words(&s, places, 5, "most at a.cu:8 (fma.rn.f32)");
    at[2].instruction = at[3].instruction = "add.f32"; /* another operation of the line */
    check_words(&s, places, 5, "most at a.cu:9 (fma.rn.f32)");
    at[2].instruction = at[3].instruction = "fma.rn.f32";
    assert_int_equal(bottleneck_merge_places(places, 5), 2);
    assert_int_equal(places[0].at->ptx_line, 37);
    assert_int_equal(places[0].copies, 3);
    assert_int_equal(places[0].counts.stalls[STALL_long_scoreboard], 4000);
    for (uint32_t i = 0; i < 5; i++) { /* without lines of the source each is a place of its own */
        at[i].file = NULL;
        places[i].at = &at[i];
    }
    assert_int_equal(bottleneck_merge_places(places, 5), 5);
    system_fini(&s.system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_from_counters),
        cmocka_unit_test(every_unit_is_in_one_of_the_profilers),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(launches_are_summed),
        cmocka_unit_test(what_is_used_up_is_named),
        cmocka_unit_test(what_leaves_the_gpu_idle_is_named),
        cmocka_unit_test(what_warps_wait_for_is_named_with_its_place),
        cmocka_unit_test(lanes_that_do_nothing_are_named),
        cmocka_unit_test(contended_atomics_are_named),
        cmocka_unit_test(accesses_of_l1_and_shared_memory_have_their_places),
        cmocka_unit_test(copies_of_a_line_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
