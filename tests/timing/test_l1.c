/* Hits and misses of L1: the way to L2, to memory, and back. */
#include "timing.h"

#define LOAD "ld.global.u32 %r4, [%data];\nshr.u32 %r5, %r4, 1;"
#define USE  "st.global.u32 [%out+20], %r5;\n"

/* A sector from L2: to the crossbar, over it, a cycle of the slice, its latency, back, to the registers. */
enum { MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL };

static uint32_t measured(const char *settings, const char *before, const char *body, bool cold, unsigned inst)
{
    struct bench bench = bench_open("%s", settings);
    struct piece piece = {.before = before, .body = body, .after = USE, .inst = inst, .cold = cold};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

static void a_hit_takes_the_latency_of_l1(void **state)
{
    (void)state;
    static const char first[] = "ld.global.u32 %r1, [%data];\nst.global.u32 [%out+24], %r1;";
    assert_int_equal(measured("", first, LOAD, false, 2 + 3), 1 + L1 + 1);
    assert_int_equal(measured("sm.l1_latency=33", first, LOAD, false, 2 + 3), 1 + L1 + 1 + 1);
    assert_int_equal(measured("sm.l1_latency=50", first, LOAD, false, 2 + 3), 1 + 50 + 1);
}

/* An L1 that keeps a thread's own memory alone has nothing of global memory: the second load goes to L2, too.
 */
static void an_l1_for_local_memory_has_no_hits(void **state)
{
    (void)state;
    static const char first[] = "ld.global.u32 %r1, [%data];\nst.global.u32 [%out+24], %r1;";
    assert_int_equal(measured("sm.l1_keeps=local", first, LOAD, false, 2 + 3), 1 + MISS + 1);
    assert_int_equal(measured("sm.l1_keeps=global", first, LOAD, false, 2 + 3), 1 + L1 + 1);
}

/* Eight lines of one set: the first is still there when seven others have come, and has left when eight have.
 * The block uses 48 of 64 KiB of shared memory. An L1 that lies apart has its eight lines all the same; one
 * that is cut from 65 KiB has them, too, as shared memory gets the 64. */
static void an_l1_apart_keeps_its_size(void **state)
{
    (void)state;
    static const char *const rows[] = {"sm.l1_apart=yes sm.l1=1KiB", "sm.l1_apart=no sm.l1=65KiB"};
    for (unsigned row = 0; row < 2; row++)
        for (unsigned others = 7; others <= 8; others++) {
            struct bench bench = bench_open("gpu.shared_per_sm=64KiB gpu.shared_carveouts=64 sm.l1_ways=8 "
                                            "gpu.shared_per_block_optin=48KiB sm.l1_policy=lru %s",
                                            rows[row]);
            char *loads = repeated("bar.warp.sync -1;\nld.global.u32 %r2#, [%data+128*#+4096];", others);
            char *uses = repeated("st.global.u32 [%out+24], %r2#;", others);
            char before[2000], after[2000];
            snprintf(
                before, sizeof before,
                "ld.global.u32 %%r1, [%%data];\nst.shared.u32 [table], %%r1;\n%s", /* which waits for it */
                loads);
            snprintf(after, sizeof after, "%s%s", USE, uses);
            struct piece piece = {.module = ".shared .align 4 .b8 table[49152];",
                                  .before = before,
                                  .body = LOAD,
                                  .after = after,
                                  .inst = 2 + 2 * others + 2 + 1 + others};
            print_message("%s, %u others\n", rows[row], others);
            assert_int_equal(bench_cycles(&bench, &piece), 1 + (others == 8 ? MISS : L1) + 1);
            free(loads);
            free(uses);
            bench_close(&bench);
        }
}

/* Each part of the way is as long as its parameter says; the crossbar is passed twice. */
static void a_miss_goes_to_l2(void **state)
{
    (void)state;
    static const struct {
        const char *setting;
        uint32_t more;
    } rows[] = {{"", 0},
                {"sm.l1_latency=500", 500 - MISS}, /* L1's latency is the least for any line */
                {"sm.l1_to_noc_cycles=21", 1},
                {"sm.l1_fill_cycles=21", 1},
                {"sm.l1_fill_cycles=40", 20},
                {"noc.latency_cycles=51", 2},
                {"noc.latency_cycles=80", 60},
                {"l2.hit_cycles=21", 1},
                {"l2.request_cycles=2", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].setting);
        assert_int_equal(measured(rows[i].setting, "", LOAD, false, 3), 1 + MISS + rows[i].more + 1);
    }
}

/* A slice gives bytes_per_cycle: 32 bytes, of which a line has four. */
static void sectors_take_time_in_the_slice(void **state)
{
    (void)state;
    for (uint32_t sectors = 1; sectors <= 4; sectors++) {
        struct bench bench = bench_open("");
        struct piece piece = {.before = "min.u32 %r1, %self, %arg;\nmul.wide.u32 %rd1, %r1, 32;\n"
                                        "add.u64 %rd2, %data, %rd1;\n",
                              .body = "ld.global.u32 %r4, [%rd2];\nshr.u32 %r5, %r4, 1;",
                              .after = USE,
                              .inst = 2 + 3,
                              .arg = sectors - 1};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + MISS + (sectors - 1) + 1);
        bench_close(&bench);
    }
}

static void a_miss_of_l2_waits_for_memory(void **state)
{
    (void)state;
    assert_int_equal(measured("", "", LOAD, true, 3), 1 + MISS + DRAM + 1);
    assert_int_equal(measured("dram.latency=301ns", "", LOAD, true, 3), 1 + MISS + DRAM + 1 + 1);
}

/* What goes around L1 takes as long as a miss, however often. */
static void loads_that_are_not_kept_miss_again(void **state)
{
    (void)state;
    assert_int_equal(measured("", "ld.global.u32 %r1, [%data];\nst.global.u32 [%out+24], %r1;",
                              "ld.global.cg.u32 %r4, [%data];\nshr.u32 %r5, %r4, 1;", false, 5),
                     1 + MISS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_hit_takes_the_latency_of_l1),
                                       cmocka_unit_test(an_l1_for_local_memory_has_no_hits),
                                       cmocka_unit_test(an_l1_apart_keeps_its_size),
                                       cmocka_unit_test(a_miss_goes_to_l2),
                                       cmocka_unit_test(sectors_take_time_in_the_slice),
                                       cmocka_unit_test(a_miss_of_l2_waits_for_memory),
                                       cmocka_unit_test(loads_that_are_not_kept_miss_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
