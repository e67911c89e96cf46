/* Local memory: it lives in L1, and is written back to L2 when its line leaves. */
#include "timing.h"

/* As in test_l1.c. */
enum { MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL, LINE = 2, FRAME_INST = 3 };

/* Threads' words of one number lie side by side: where all lanes have the same address, a warp's 32 words are
 * one line of four sectors. %arg is added to addresses, so that nobody knows them before. */
#define FRAME                                                                                                \
    ".local .align 16 .b8 frame[8192];\nmov.u64 %rd1, frame;\ncvt.u64.u32 %rd2, %arg;\n"                     \
    "add.u64 %rd3, %rd1, %rd2;\n"
#define LOAD "ld.local.u32 %r4, [%rd3];\nshr.u32 %r5, %r4, 1;"
#define USE  "st.global.u32 [%out+20], %r5;\nst.global.u64 [%out+24], %rd3;\n"

static struct times run(const char *settings, const char *before, const char *body, unsigned inst, bool once)
{
    struct bench bench = bench_open("%s sm.memory_code_latency=1 sm.memory_code_interval=1", settings);
    struct piece piece = {
        .before = before, .body = body, .after = USE, .inst = FRAME_INST + inst + 2, .once = once};
    struct times times = bench_run(&bench, &piece);
    bench_close(&bench);
    return times;
}

static void a_store_is_found_in_l1(void **state)
{
    (void)state;
    static const char before[] = FRAME "st.local.u32 [%rd3], %self;";
    assert_int_equal(run("", before, LOAD, 3, false).cycles, 1 + L1 + 1);
    assert_int_equal(run("sm.l1_latency=33", before, LOAD, 3, false).cycles, 1 + L1 + 1 + 1);
}

/* A kernel finds nothing of the one before in L1; L2 has the four sectors of the line, and gives one a cycle.
 */
static void a_miss_goes_to_l2(void **state)
{
    (void)state;
    assert_int_equal(run("", FRAME, LOAD, 2, false).cycles, 1 + MISS + 3 + 1);
    assert_int_equal(run("sm.l1_fill_cycles=21", FRAME, LOAD, 2, false).cycles, 1 + MISS + 3 + 1 + 1);
}

static void a_miss_of_l2_waits_for_memory(void **state)
{
    (void)state;
    assert_int_equal(run("", FRAME, LOAD, 2, true).cycles, 1 + MISS + 3 + DRAM + 1);
    assert_int_equal(run("dram.latency=301ns", FRAME, LOAD, 2, true).cycles, 1 + MISS + 3 + DRAM + 1 + 1);
}

/* Each word of a thread is of another line. */
static void words_of_a_thread_are_lines(void **state)
{
    (void)state;
    assert_int_equal(run("", FRAME "st.local.v4.u32 [%rd3], {%self, %self, %self, %self};",
                         "ld.local.v2.u32 {%r4, %r6}, [%rd3];\nadd.u32 %r5, %r4, %r6;", 3, false)
                         .cycles,
                     1 + L1 + LINE + 1);
    assert_int_equal(run("", FRAME "st.local.v4.u32 [%rd3], {%self, %self, %self, %self};",
                         "ld.local.v4.u32 {%r4, %r6, %r7, %r8}, [%rd3];\nadd.u32 %r5, %r4, %r6;", 3, false)
                         .cycles,
                     1 + L1 + 3 * LINE + 1);
}

/* L1 has one set of eight lines. A line that was written leaves when eight others have come: its four sectors
 * go to L2, and who reads it misses. With seven others it is still there. */
static void lines_that_leave_are_written_back(void **state)
{
    (void)state;
    for (unsigned others = 7; others <= 8; others++) {
        struct bench bench = bench_open(
            "gpu.shared_per_sm=0 gpu.shared_per_block=0 "
            "gpu.shared_per_block_optin=0 gpu.shared_reserved=0 gpu.shared_carveouts=0 gpu.shared_ahead=0 "
            "sm.l1=1KiB sm.l1_ways=8 sm.l1_policy=lru");
        char before[2000];
        char *words = repeated("bar.warp.sync -1;\nld.local.u32 %r2#, [%rd3+4*#+64];", others);
        char *uses = repeated("st.global.u32 [%out+16], %r2#;", others), after[2000];
        snprintf(before, sizeof before, "%sst.local.u32 [%%rd3], %%self;\n%s", FRAME, words);
        snprintf(after, sizeof after, "%s%s", USE, uses);
        struct piece piece = {.before = before,
                              .body = LOAD,
                              .after = after,
                              .inst = FRAME_INST + 1 + 2 * others + 2 + 2 + others};
        struct times times = bench_run(&bench, &piece);
        bool left = others == 8;
        assert_int_equal(times.cycles, 1 + (left ? MISS + 3 : L1) + 1);
        assert_int_equal((int)bench_metric(&bench, &times, "heddle__l1_local_sectors_written_back.sum"),
                         left ? 4 : 0);
        free(words);
        free(uses);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_is_found_in_l1), cmocka_unit_test(a_miss_goes_to_l2),
        cmocka_unit_test(a_miss_of_l2_waits_for_memory), cmocka_unit_test(words_of_a_thread_are_lines),
        cmocka_unit_test(lines_that_leave_are_written_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
