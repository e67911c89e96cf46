/* Registers that are read and written again, and the banks that operands are read from. */
#include "timing.h"

enum { LATENCY = 15 };

#define USE "st.global.u32 [%out+20], %r1;\nst.global.u32 [%out+24], %r2;\nst.global.u32 [%out+28], %r3;"

/* A write waits until what was written before has come, though nobody reads that. */
static void a_second_write_waits_for_the_first(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        struct bench bench = bench_open("sm.shuffle_latency=%u", LATENCY + more);
        struct piece piece = {.body = "shfl.sync.idx.b32 %r1, %self, 0, 31, -1;\nshr.u32 %r1, %self, 1;",
                              .after = "st.global.u32 [%out+20], %r1;",
                              .inst = 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + LATENCY + more + 1);
        bench_close(&bench);
    }
}

/* Operands are read at issue: what is written next does not wait for the reader's result. */
static void a_write_does_not_wait_for_earlier_readers(void **state)
{
    (void)state;
    struct bench bench = bench_open("sm.shuffle_latency=%u", LATENCY);
    struct piece piece = {.before = "shr.u32 %r1, %self, 3;",
                          .body = "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nshr.u32 %r1, %self, 1;",
                          .after = "st.global.u32 [%out+20], %r1;\nst.global.u32 [%out+24], %r2;",
                          .inst = 5};
    assert_int_equal(bench_cycles(&bench, &piece), 1 + 1 + 1);
    bench_close(&bench);
}

/* An instruction may read its own result's register: it waits for the one before, as in a chain. */
static void a_register_that_is_read_and_written_is_both(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        struct bench bench = bench_open("sm.shuffle_latency=%u", LATENCY + more);
        struct piece piece = {.before = "shr.u32 %r1, %self, 3;",
                              .body = "shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;\nshr.u32 %r1, %r1, 1;",
                              .after = "st.global.u32 [%out+20], %r1;",
                              .inst = 4};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + LATENCY + more + 1);
        bench_close(&bench);
    }
}

#define OPERANDS "shr.u32 %r1, %self, 1;\nshr.u32 %r2, %self, 2;\nshr.u32 %r3, %self, 3;\n"
#define SUM(to)  "mad.lo.u32 " to ", %r1, %r2, %r3;\n"

/* From a bank that gives `ports` operands at a time, three take (3 - 1) / ports cycles more; meanwhile the
 * sub-core issues nothing. With one bank all three come from it. */
static void operands_of_one_bank_come_one_after_the_other(void **state)
{
    (void)state;
    for (uint32_t ports = 1; ports <= 3; ports++) {
        struct bench bench =
            bench_open("sm.register_banks=1 sm.operand_reuse=no sm.register_ports=%u", ports);
        struct piece piece = {.before = OPERANDS,
                              .body = SUM("%r4") "shr.u32 %r5, %self, 4;",
                              .after = USE "st.global.u32 [%out+20], %r4;\nst.global.u32 [%out+20], %r5;",
                              .inst = 3 + 2 + 5};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + 1 + (3 - 1) / ports + 1);
        bench_close(&bench);
    }
}

/* What the instruction before has read is at hand, if that was the same warp's. */
static void operands_are_used_again_unread(void **state)
{
    (void)state;
    for (int reuse = 0; reuse < 2; reuse++) {
        struct bench bench = bench_open("sm.register_banks=1 sm.register_ports=1 sm.imad_interval=1 "
                                        "sm.operand_reuse=%s",
                                        reuse ? "yes" : "no");
        struct piece piece = {.before = OPERANDS,
                              .body = SUM("%r4") SUM("%r5"),
                              .after = USE "st.global.u32 [%out+20], %r4;\nst.global.u32 [%out+20], %r5;",
                              .inst = 3 + 2 + 5};
        /* the first holds up the second for 2 cycles; the second the clock, if it must read all again */
        assert_int_equal(bench_cycles(&bench, &piece), 1 + (1 + 2) + (1 + (reuse ? 0 : 2)));
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_second_write_waits_for_the_first),
                                       cmocka_unit_test(a_write_does_not_wait_for_earlier_readers),
                                       cmocka_unit_test(a_register_that_is_read_and_written_is_both),
                                       cmocka_unit_test(operands_of_one_bank_come_one_after_the_other),
                                       cmocka_unit_test(operands_are_used_again_unread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
