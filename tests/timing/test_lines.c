/* Sizes of lines and sectors are the description's; and so is a third level of caches. */
#include "timing.h"

#define USE "st.global.u32 [%out+20], %r5;\n"

enum { MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL }; /* as in test_l1.c: of one sector */

/* 32 lanes of 4 bytes each are a line of 128 bytes, or two of 64, which L1 looks up l1_line_cycles apart. */
static void a_short_line_is_one_more_to_look_up(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint32_t lines;
    } rows[] = {{"", 1}, {"sm.l1_line=64B", 2}, {"sm.l1_line=64B l2.line=64B", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench bench = bench_open("sm.l1_line_cycles=5 %s", rows[i].set);
        struct piece piece = {.before = "mul.wide.u32 %rd1, %self, 4;\nadd.u64 %rd2, %data, %rd1;\n"
                                        "ld.global.u32 %r2, [%rd2];\nst.global.u32 [%out+24], %r2;",
                              .body = "ld.global.u32 %r4, [%rd2];\nshr.u32 %r5, %r4, 1;",
                              .after = USE,
                              .inst = 1 + 2 + 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + L1 + 5 * (rows[i].lines - 1) + 1);
        bench_close(&bench);
    }
}

/* A word at `first` was loaded; the word at `second` hits if it came along. */
static uint32_t second_load(const char *settings, unsigned first, unsigned second)
{
    struct bench bench = bench_open("%s", settings);
    char before[200], body[200];
    snprintf(before, sizeof before, "ld.global.u32 %%r1, [%%data+%u];\nst.global.u32 [%%out+24], %%r1;",
             first);
    snprintf(body, sizeof body, "ld.global.u32 %%r4, [%%data+%u];\nshr.u32 %%r5, %%r4, 1;", second);
    struct piece piece = {.before = before, .body = body, .after = USE, .inst = 2 + 3};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

static void sectors_come_together_as_the_description_says(void **state)
{
    (void)state;
    enum { HIT_AFTER = 1 + L1 + 1, MISS_AFTER = 1 + MISS + 1 }; /* two sectors: a cycle of the slice more */
    assert_int_equal(second_load("", 0, 32), MISS_AFTER);
    for (unsigned first = 0; first < 128; first += 32)
        for (unsigned second = 0; second < 128; second += 32) {
            unsigned of_two = first / 64 == second / 64;
            assert_int_equal(second_load("sm.l1_fill_sectors=2", first, second),
                             of_two ? HIT_AFTER : MISS_AFTER + 1);
            assert_int_equal(second_load("sm.l1_fill_sectors=2 sm.l1_line=64B", first, second),
                             of_two ? HIT_AFTER : MISS_AFTER + 1);
        }
    assert_int_equal(second_load("sm.l1_fill_sectors=4", 96, 0), HIT_AFTER);
}

/* L2 lost the line to a copy, L3 has it: its latency comes in place of memory's, and the sector passes its
 * port at 32 bytes a nanosecond. Without L3 it is memory's. */
static void l3_answers_in_place_of_memory(void **state)
{
    (void)state;
    struct piece piece = {
        .body = "ld.global.u32 %r4, [%data];\nshr.u32 %r5, %r4, 1;", .after = USE, .inst = 3, .cold = true};
    for (unsigned latency = 99; latency <= 100; latency++) {
        struct bench bench = bench_open("l3.bytes=1MiB l3.bandwidth=32GB/s l3.latency=%uns", latency);
        struct times times = bench_run(&bench, &piece);
        assert_int_equal(times.cycles, 1 + MISS + latency + 1 + 1);
        assert_int_equal((int)bench_metric(&bench, &times, "heddle__l3_sector_hit_rate.pct"), 100);
        assert_int_equal((int)bench_metric(&bench, &times, "dram__bytes_read.sum"), 0);
        bench_close(&bench);
    }
    struct bench bench = bench_open("l3.bytes=0");
    assert_int_equal(bench_cycles(&bench, &piece), 1 + MISS + DRAM + 1);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_short_line_is_one_more_to_look_up),
                                       cmocka_unit_test(sectors_come_together_as_the_description_says),
                                       cmocka_unit_test(l3_answers_in_place_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
