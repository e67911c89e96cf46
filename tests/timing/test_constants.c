/* Loads from constant memory: the nearest cache, the one behind it, and memory. */
#include "timing.h"

#define TABLE ".const .align 256 .b32 table[1024];"
#define USE   "st.global.u32 [%out+20], %r4;\n"
#define LOAD  "ld.const.u32 %r3, [table];\nshr.u32 %r4, %r3, 1;"

enum { CONST = 28 };

/* What nobody has comes as a load's miss does, then as a hit. A slice takes a cycle for each sector: a line
 * of the cache behind has eight, in two requests; without it the nearest line's two are asked for. */
enum { WAY = TO_NOC + NOC + L2_HIT + NOC + FILL, MISS = WAY + 2, LINE_MISS = WAY + 8 };

/* The nearest cache has four lines of 64 bytes. Behind the end, five other lines are loaded, so that the
 * first one is not there when the kernel comes again. */
static void a_miss_goes_to_the_cache_behind(void **state)
{
    (void)state;
    for (uint32_t miss = 70; miss <= 71; miss++) {
        struct bench bench =
            bench_open("sm.const_latency=%u sm.constant_cache=256B sm.constant_miss_cycles=%u", CONST, miss);
        struct piece piece = {.module = TABLE, .body = LOAD, .after = USE, .inst = 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + 1);
        char *others = repeated("ld.const.u32 %r1#, [table+64*#+64];\nst.global.u32 [%out+24], %r1#;", 5);
        char after[1000];
        snprintf(after, sizeof after, "%s%s", USE, others);
        piece.after = after;
        piece.inst += 10;
        assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + miss + 1);
        free(others);
        bench_close(&bench);
    }
}

/* In the first launch nobody has it. (Code comes from memory, too, and in no time here.) */
static void a_miss_of_that_goes_to_memory(void **state)
{
    (void)state;
    for (uint32_t memory = 300; memory <= 301; memory++) {
        struct bench bench = bench_open("sm.const_latency=%u dram.latency=%uns "
                                        "sm.memory_code_latency=1 sm.memory_code_interval=1",
                                        CONST, memory);
        struct piece piece = {.module = TABLE, .body = LOAD, .after = USE, .inst = 3, .once = true};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + LINE_MISS + memory + 1);
        bench_close(&bench);
    }
}

/* Without caches every load does, and finds it in L2; without the one behind, every miss. */
static void a_cache_of_no_bytes_is_not_there(void **state)
{
    (void)state;
    struct piece piece = {.module = TABLE, .body = LOAD, .after = USE, .inst = 3};
    for (uint32_t fill = FILL; fill <= FILL + 1; fill++) {
        struct bench bench = bench_open(
            "sm.const_latency=%u sm.constant_cache=0 sm.l2_constants=0 sm.l1_fill_cycles=%u", CONST, fill);
        assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + MISS - FILL + fill + 1);
        bench_close(&bench);
    }
    for (uint32_t behind = 300; behind <= 301; behind++) {
        struct bench bench =
            bench_open("sm.const_latency=%u sm.constant_cache=0 sm.constant_miss_cycles=%u", CONST, behind);
        assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + behind + 1);
        bench_close(&bench);
    }
}

/* Lanes i from 0 to %arg have an address each, of one line; those behind them that of %arg. */
static void addresses_come_one_after_the_other(void **state)
{
    (void)state;
    for (uint32_t shared = 2; shared <= 3; shared++) {
        struct bench bench =
            bench_open("sm.const_latency=%u sm.const_shared=%u sm.const_interval=1", CONST, shared);
        for (uint32_t addresses = 1; addresses <= 16; addresses++) {
            struct piece piece = {.module = TABLE,
                                  .before = "mov.u64 %rd1, table;\nmin.u32 %r1, %self, %arg;\n"
                                            "mad.wide.u32 %rd2, %r1, 4, %rd1;",
                                  .body = "ld.const.u32 %r3, [%rd2];\nshr.u32 %r4, %r3, 1;",
                                  .after = USE,
                                  .inst = 3 + 3,
                                  .arg = addresses - 1};
            assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + (addresses - 1) * shared + 1);
        }
        bench_close(&bench);
    }
}

/* Lines that a load misses are waited for together, as long as the slowest: one that the cache behind has
 * (line 0, which lines 1 to 5 have driven out of the nearest, with room for four), and one that nobody has.
 */
static void a_warp_waits_for_the_slowest_of_its_misses(void **state)
{
    (void)state;
    enum { BEHIND = 70, MEMORY = LINE_MISS + DRAM, SHARED = 2 };
    for (uint32_t far = 0; far <= 1; far++) {
        struct bench bench = bench_open("sm.const_latency=%u sm.const_shared=%u sm.const_interval=1 "
                                        "sm.constant_cache=256B sm.constant_miss_cycles=%u "
                                        "sm.memory_code_latency=1 sm.memory_code_interval=1",
                                        CONST, SHARED, BEHIND);
        char *others = repeated("ld.const.u32 %r1#, [table+64*#];\nbar.warp.sync -1;", 6);
        char *uses = repeated("st.global.u32 [%out+24], %r1#;", 6);
        char before[1000], after[1000];
        snprintf(before, sizeof before,
                 "%smov.u64 %%rd1, table;\nand.b32 %%r1, %%self, 1;\nmul.lo.u32 %%r2, %%r1, %%arg;\n"
                 "mad.wide.u32 %%rd2, %%r2, 4, %%rd1;",
                 others);
        snprintf(after, sizeof after, "%s%s", USE, uses);
        struct piece piece = {.module = TABLE,
                              .before = before,
                              .body = "ld.const.u32 %r3, [%rd2];\nshr.u32 %r4, %r3, 1;",
                              .after = after,
                              .inst = 12 + 4 + 2 + 7,
                              .arg = far ? 512 : 16, /* words: line 32, or line 1 */
                              .once = true};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + SHARED + (far ? MEMORY : BEHIND) + 1);
        free(others);
        free(uses);
        bench_close(&bench);
    }
}

/* A second load of a line that is under way waits for it, no longer than the first, though its address is
 * found in the nearest cache. */
static void a_line_under_way_is_waited_for(void **state)
{
    (void)state;
    struct bench bench = bench_open("sm.const_latency=%u sm.const_interval=1 sm.const_shared=1 "
                                    "sm.memory_code_latency=1 sm.memory_code_interval=1",
                                    CONST);
    struct piece piece = {.module = TABLE,
                          .body = "ld.const.u32 %r3, [table];\nld.const.u32 %r5, [table+4];\n"
                                  "shr.u32 %r6, %r5, 1;",
                          .after = "st.global.u32 [%out+20], %r6;\nst.global.u32 [%out+24], %r3;\n",
                          .inst = 5,
                          .once = true};
    assert_int_equal(bench_cycles(&bench, &piece), 1 + CONST + LINE_MISS + DRAM + 1);
    bench_close(&bench);
}

/* A parameter whose place is computed is looked for in the same caches. It is another one in each launch, so
 * it always comes from memory, in a time of its own. */
static void a_parameter_takes_a_fixed_time(void **state)
{
    (void)state;
    uint64_t least = 0;
    for (uint32_t memory = 1; memory <= 301; memory += 100) {
        struct bench bench = bench_open("sm.const_latency=%u sm.constant_memory_cycles=%u", CONST, memory);
        struct piece piece = {.before = "mov.u64 %rd1, arg;",
                              .body = "ld.param.u32 %r3, [%rd1];\nshr.u32 %r4, %r3, 1;",
                              .after = USE,
                              .inst = 5};
        uint64_t cycles = bench_cycles(&bench, &piece);
        least = least ? least : cycles;
        assert_int_equal(cycles, least + memory - 1);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_miss_goes_to_the_cache_behind),
                                       cmocka_unit_test(a_miss_of_that_goes_to_memory),
                                       cmocka_unit_test(a_cache_of_no_bytes_is_not_there),
                                       cmocka_unit_test(addresses_come_one_after_the_other),
                                       cmocka_unit_test(a_warp_waits_for_the_slowest_of_its_misses),
                                       cmocka_unit_test(a_line_under_way_is_waited_for),
                                       cmocka_unit_test(a_parameter_takes_a_fixed_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
