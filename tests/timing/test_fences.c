/* Fences: a least time, the block's writes, one after the other in an SM; and L1 forgets. */
#include "timing.h"

enum { SYNC = 4 };

static struct times measured(const char *settings, const struct piece *piece)
{
    struct bench bench =
        bench_open("sm.sync_latency=%u sm.sync_interval=1 sm.sync_shared=0 %s", SYNC, settings);
    struct times times = bench_run(&bench, piece);
    bench_close(&bench);
    return times;
}

/* From the cycle in which it is next, 1, the fence takes so long. It is three instructions, of which two wait
 * for the one before; with no least time they are what it takes. */
static void a_fence_takes_a_least_time(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *fence;
        uint32_t cycles;
        unsigned inst;
    } rows[] = {{"sm.fence_cycles=262", "membar.gl;", 262, 3},
                {"sm.fence_cycles=263", "membar.gl;", 263, 3},
                {"sm.fence_cycles=0", "membar.gl;", 2 * SYNC + 1, 3},
                {"sm.fence_system_cycles=980", "membar.sys;", 980, 3},
                {"sm.fence_system_cycles=981", "membar.sys;", 981, 3},
                {"sm.fence_block_cycles=8", "membar.cta;", 8, 1},
                {"sm.fence_block_cycles=9", "membar.cta;", 9, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].setting);
        assert_int_equal(
            measured(rows[i].setting, &(struct piece){.body = rows[i].fence, .inst = rows[i].inst}).cycles,
            1 + rows[i].cycles);
    }
}

/* The store issues in cycle 1, the fence is next in cycle 2. The write goes to L2 and is acknowledged; then
 * the fence's instructions issue, and fence_after_cycles follow. */
static void a_fence_waits_for_writes(void **state)
{
    (void)state;
    static const struct piece piece = {.body = "st.global.u32 [%out+20], %self;\nmembar.gl;", .inst = 4};
    uint32_t done = 1 + TO_NOC + NOC + 1 + L2_HIT + NOC;
    for (uint32_t after = 75; after <= 76; after++) {
        char settings[100];
        snprintf(settings, sizeof settings, "sm.fence_cycles=0 sm.fence_after_cycles=%u", after);
        assert_int_equal(measured(settings, &piece).cycles, done + 2 * SYNC + after);
    }
    assert_int_equal(measured("sm.fence_cycles=262 sm.fence_after_cycles=1", &piece).cycles, 2 + 262);
}

/* The block's threads see it before L2 does. */
static void a_fence_of_the_block_waits_for_no_write(void **state)
{
    (void)state;
    static const struct piece piece = {.body = "st.global.u32 [%out+20], %self;\nmembar.cta;", .inst = 2};
    assert_int_equal(measured("sm.fence_block_cycles=8", &piece).cycles, 2 + 8);
    assert_int_equal(measured("sm.fence_block_cycles=9", &piece).cycles, 2 + 9);
}

static int by_size(const void *a, const void *b)
{
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

/* Four warps, which start in one cycle: fence k of them, whoever's it is, ends in this cycle. */
static void check_apart(struct times *times, uint32_t first, uint32_t apart)
{
    qsort(times->end, 4, sizeof *times->end, by_size);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(times->start[i], times->start[0]);
        assert_int_equal(times->end[i] - times->start[0], first + i * apart);
    }
}

/* Those of an SM begin one by one. */
static void fences_of_warps_follow_each_other(void **state)
{
    (void)state;
    for (uint32_t apart = 11; apart <= 12; apart++) {
        char settings[100];
        snprintf(settings, sizeof settings, "sm.fence_cycles=262 sm.fence_shared_cycles=%u", apart);
        struct times times = measured(settings, &(struct piece){.body = "membar.gl;", .inst = 3, .warps = 4});
        check_apart(&times, 1 + 262, apart);
        snprintf(settings, sizeof settings, "sm.fence_system_cycles=980 sm.fence_system_shared_cycles=%u",
                 apart);
        times = measured(settings, &(struct piece){.body = "membar.sys;", .inst = 3, .warps = 4});
        check_apart(&times, 1 + 980, apart);
    }
}

static void l1_forgets_at_a_fence_of_the_gpu(void **state)
{
    (void)state;
    static const struct {
        const char *fence;
        uint32_t load;
        unsigned inst;
    } rows[] = {{"bar.warp.sync -1;", L1, 1},
                {"membar.cta;", L1, 1},
                {"membar.gl;", TO_NOC + NOC + 1 + L2_HIT + NOC + FILL, 3},
                {"membar.sys;", TO_NOC + NOC + 1 + L2_HIT + NOC + FILL, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char before[200];
        snprintf(before, sizeof before, "ld.global.u32 %%r1, [%%data];\nst.global.u32 [%%out+24], %%r1;\n%s",
                 rows[i].fence);
        struct piece piece = {.before = before,
                              .body = "ld.global.u32 %r4, [%data];\nshr.u32 %r5, %r4, 1;",
                              .after = "st.global.u32 [%out+20], %r5;",
                              .inst = 2 + rows[i].inst + 3};
        assert_int_equal(measured("", &piece).cycles, 1 + rows[i].load + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_fence_takes_a_least_time),
                                       cmocka_unit_test(a_fence_waits_for_writes),
                                       cmocka_unit_test(a_fence_of_the_block_waits_for_no_write),
                                       cmocka_unit_test(fences_of_warps_follow_each_other),
                                       cmocka_unit_test(l1_forgets_at_a_fence_of_the_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
