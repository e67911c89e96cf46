/* Loads of a line that is under way wait for it together; the table of lines under way has l1_misses places.
 */
#include "timing.h"

#define USE "st.global.u32 [%out+20], %r5;\nst.global.u32 [%out+20], %r3;\n"

/* As in test_l1.c; the answer is at the SM so long after the load, and a fill before it is in registers. */
enum { ANSWER = TO_NOC + NOC + 1 + L2_HIT + NOC, MISS = ANSWER + FILL };

/* A load, and `delay` cycles later (a shuffle, whose result is 0, is part of its address) another of the same
 * line, or of another sector of it. */
static struct times two_loads(struct bench *bench, uint32_t offset)
{
    char body[400];
    snprintf(body, sizeof body,
             "ld.global.u32 %%r3, [%%data];\nbar.warp.sync -1;\nshfl.sync.idx.b32 %%r1, %%r2, 0, 31, -1;\n"
             "mad.wide.u32 %%rd1, %%r1, 4, %%rd2;\nbar.warp.sync -1;\nld.global.u32 %%r4, [%%rd1+%u];\n"
             "shr.u32 %%r5, %%r4, 1;",
             offset);
    return bench_run(bench,
                     &(struct piece){.before = "shr.u32 %r2, %self, 5;\nmad.wide.u32 %rd2, %r2, 4, %data;",
                                     .body = body,
                                     .after = USE,
                                     .inst = 2 + 7 + 2});
}

/* In cycle 1 the load, in 2 and 3 a barrier of the warp (which keeps the order) and the shuffle, then its
 * latency, that of the product, and a cycle to the memory unit (cross_cycles): there the second load issues.
 */
enum { WIDE = 4, SECOND = 3 + 1 };

/* The second load comes while the line is under way, up to the cycle before the answer is at the SM. From
 * then on it hits: with a fill that takes longer than a hit, it is even sooner in registers than the first.
 */
static void a_line_under_way_is_waited_for_together(void **state)
{
    (void)state;
    enum { SLOW_FILL = 60 };
    static const uint32_t cycles[] = {20, ANSWER - 1, ANSWER, ANSWER + 1, ANSWER + 2};
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
        uint32_t at = cycles[i];
        struct bench bench =
            bench_open("sm.cross_cycles=1 sm.wide_latency=%u sm.shuffle_latency=%u sm.l1_fill_cycles=%u",
                       WIDE, at - SECOND - WIDE, SLOW_FILL);
        struct times times = two_loads(&bench, 0);
        bool merged = at < 1 + ANSWER;
        print_message("in cycle %u\n", at);
        assert_int_equal(times.cycles, (merged ? 1 + ANSWER + SLOW_FILL : at + L1) + 1);
        assert_int_equal((int)bench_metric(&bench, &times, "lts__t_sectors_op_read.sum"), 1);
        bench_close(&bench);
    }
}

/* A load is never sooner than a hit would be, though its line comes sooner. */
static void a_merged_load_takes_as_long_as_a_hit_at_least(void **state)
{
    (void)state;
    for (uint32_t at = 1 + MISS - L1 - 1; at <= 1 + MISS - L1 + 2; at++) {
        struct bench bench = bench_open("sm.cross_cycles=1 sm.wide_latency=%u sm.shuffle_latency=%u", WIDE,
                                        at - SECOND - WIDE);
        assert_int_equal(two_loads(&bench, 0).cycles, (at + L1 > 1 + MISS ? at + L1 : 1 + MISS) + 1);
        bench_close(&bench);
    }
}

static void another_sector_is_asked_for(void **state)
{
    (void)state;
    for (uint32_t at = 20; at <= 21; at++) {
        struct bench bench = bench_open("sm.cross_cycles=1 sm.wide_latency=%u sm.shuffle_latency=%u", WIDE,
                                        at - SECOND - WIDE);
        struct times times = two_loads(&bench, 32);
        assert_int_equal(times.cycles, at + MISS + 1);
        assert_int_equal((int)bench_metric(&bench, &times, "lts__t_sectors_op_read.sum"), 2);
        bench_close(&bench);
    }
}

/* Loads of four lines, one after the other. Those that find a place in the table bring their line to L1; for
 * the others it is asked all the same, but not kept. */
static void a_full_table_keeps_no_more_lines(void **state)
{
    (void)state;
    for (uint32_t places = 1; places <= 4; places++) {
        struct bench bench = bench_open("sm.l1_misses=%u", places);
        for (uint32_t line = 0; line < 4; line++) {
            char body[200];
            snprintf(body, sizeof body, "ld.global.u32 %%r4, [%%data+%u];\nshr.u32 %%r5, %%r4, 1;",
                     128 * line);
            struct piece piece = {
                .before = "ld.global.u32 %r6, [%data];\nbar.warp.sync -1;\nld.global.u32 %r7, [%data+128];\n"
                          "bar.warp.sync -1;\nld.global.u32 %r8, [%data+256];\nbar.warp.sync -1;\n"
                          "ld.global.u32 %r3, [%data+384];",
                .body = body,
                .after = USE "st.global.u32 [%out+20], %r6;\nst.global.u32 [%out+20], %r7;\n"
                             "st.global.u32 [%out+20], %r8;",
                .inst = 7 + 2 + 5};
            assert_int_equal(bench_cycles(&bench, &piece), 1 + (line < places ? L1 : MISS) + 1);
        }
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_line_under_way_is_waited_for_together),
                                       cmocka_unit_test(a_merged_load_takes_as_long_as_a_hit_at_least),
                                       cmocka_unit_test(another_sector_is_asked_for),
                                       cmocka_unit_test(a_full_table_keeps_no_more_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
