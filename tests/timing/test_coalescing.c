/* Lanes' addresses become lines. L1 looks lines up one after the other, l1_line_cycles apart, and the memory
 * pipeline is busy with an instruction for l1_tag_cycles a line. */
#include "timing.h"

/* Lane i goes to line i, but lanes from %arg on all go to line %arg: %arg + 1 lines, which L1 has. */
#define LINES                                                                                                \
    "min.u32 %r1, %self, %arg;\nmul.wide.u32 %rd1, %r1, 128;\nadd.u64 %rd2, %data, %rd1;\n"                  \
    "ld.global.u32 %r2, [%rd2];\n"
enum { LINES_INST = 3 }; /* the smaller of two, product and sum in one, the load */

#define USE "st.global.u32 [%out+20], %r2;\nst.global.u32 [%out+20], %r5;\n"

/* Issue in cycle 1, the first line is looked up then, and the last one so much later. */
static void each_further_line_is_later(void **state)
{
    (void)state;
    for (uint32_t each = 0; each <= 3; each++) {
        struct bench bench = bench_open("sm.l1_line_cycles=%u", each);
        for (uint32_t lines = 1; lines <= 32; lines++) {
            struct piece piece = {.before = LINES,
                                  .body = "ld.global.u32 %r4, [%rd2+4];\nshr.u32 %r5, %r4, 1;",
                                  .after = USE,
                                  .inst = LINES_INST + 2 + 2,
                                  .arg = lines - 1};
            assert_int_equal(bench_cycles(&bench, &piece), 1 + L1 + (lines - 1) * each + 1);
        }
        bench_close(&bench);
    }
}

/* The second load issues in cycle 2, but begins when the pipeline is through with the first: l1_tag_cycles
 * for each line, and lsu_request_cycles at least. */
static void the_pipeline_takes_time_for_each_line(void **state)
{
    (void)state;
    for (uint32_t tag = 0; tag <= 3; tag++)
        for (uint32_t request = 1; request <= 5; request += 4) {
            struct bench bench =
                bench_open("sm.l1_tag_cycles=%u sm.lsu_request_cycles=%u sm.l1_line_cycles=2", tag, request);
            for (uint32_t lines = 1; lines <= 32; lines += lines < 4 ? 1 : 14) {
                struct piece piece = {.before = LINES,
                                      .body = "ld.global.u32 %r3, [%rd2+4];\nld.global.u32 %r4, [%rd2+12];\n"
                                              "and.b32 %r5, %r3, %r4;",
                                      .after = USE,
                                      .inst = LINES_INST + 3 + 2,
                                      .arg = lines - 1};
                uint32_t busy = lines * tag > request ? lines * tag : request;
                assert_int_equal(bench_cycles(&bench, &piece), 1 + busy + L1 + (lines - 1) * 2 + 1);
            }
            bench_close(&bench);
        }
}

/* Lanes in any order, or of one word, make no more lines than there are. */
static void lanes_of_a_line_cost_nothing_more(void **state)
{
    (void)state;
    static const char *const offsets[] = {
        "shl.b32 %r1, %self, 2;",                        /* one word each */
        "xor.b32 %r9, %self, 31;\nshl.b32 %r1, %r9, 2;", /* backwards */
        "and.b32 %r9, %self, 3;\nshl.b32 %r1, %r9, 5;",  /* a word of each sector */
    };
    static const unsigned insts[] = {1, 2, 2};
    struct bench bench = bench_open("sm.l1_line_cycles=3");
    for (unsigned i = 0; i < 3; i++) {
        char before[400];
        snprintf(before, sizeof before,
                 "%s\ncvt.u64.u32 %%rd1, %%r1;\nadd.u64 %%rd2, %%data, %%rd1;\nld.global.u32 %%r2, [%%rd2];",
                 offsets[i]);
        struct piece piece = {.before = before,
                              .body = "ld.global.u32 %r4, [%rd2];\nshr.u32 %r5, %r4, 1;",
                              .after = USE,
                              .inst = insts[i] + 2 + 1 + 2 + 2};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + L1 + 1);
    }
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_further_line_is_later),
                                       cmocka_unit_test(the_pipeline_takes_time_for_each_line),
                                       cmocka_unit_test(lanes_of_a_line_cost_nothing_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
