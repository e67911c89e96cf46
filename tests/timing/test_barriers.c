/* Barriers of a block: the last warp that comes lets all go, a latency of `sync` later. */
#include "timing.h"

enum { SLEEP = 3000 /* sm.sleep_cycles of the machine */ };

/* Warps on one sub-core each arrive `shared` cycles apart, as they share the unit. */
static void all_go_on_behind_the_last(void **state)
{
    (void)state;
    for (uint32_t latency = 10; latency <= 11; latency++)
        for (uint32_t shared = 0; shared <= 3; shared++)
            for (uint32_t warps = 1; warps <= 4; warps++) {
                struct bench bench =
                    bench_open("sm.sync_latency=%u sm.sync_interval=1 sm.sync_shared=%u", latency, shared);
                struct piece piece = {.body = "bar.sync 0;", .inst = 1, .warps = warps};
                struct times times = bench_run(&bench, &piece);
                for (uint32_t i = 0; i < warps; i++)
                    assert_int_equal(times.end[i] - times.start[i], 1 + (warps - 1) * shared + latency);
                bench_close(&bench);
            }
}

/* Warp w sleeps w * %arg ns, so many cycles, longer than warp 0. */
static void a_late_warp_is_waited_for(void **state)
{
    (void)state;
    for (uint32_t late = 500; late <= 501; late++) {
        struct bench bench = bench_open("sm.sync_latency=10 sm.sync_interval=1 sm.sync_shared=0");
        struct piece piece = {.before = "mul.lo.u32 %r1, %warp, %arg;",
                              .body = "nanosleep.u32 %r1;\nbar.sync 0;",
                              .inst = 3,
                              .warps = 4,
                              .arg = late};
        struct times times = bench_run(&bench, &piece);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(times.end[i] - times.start[i], 1 + SLEEP + 3 * late + 10);
        bench_close(&bench);
    }
}

/* Two barriers that half of the warps use each do not wait for each other. */
static void barriers_of_other_numbers_are_others(void **state)
{
    (void)state;
    struct bench bench = bench_open("sm.sync_latency=10 sm.sync_interval=1 sm.sync_shared=0");
    struct piece piece = {.before = "mul.lo.u32 %r1, %warp, %arg;\nshr.u32 %r2, %warp, 1;",
                          .body = "nanosleep.u32 %r1;\nbar.sync %r2, 64;",
                          .inst = 4,
                          .warps = 4,
                          .arg = 500};
    struct times times = bench_run(&bench, &piece);
    for (uint32_t i = 0; i < 4; i++) /* warps 0 and 1 wait for 1, warps 2 and 3 for 3 */
        assert_int_equal(times.end[i] - times.start[i], 1 + SLEEP + (i < 2 ? 1 : 3) * 500 + 10);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_go_on_behind_the_last),
                                       cmocka_unit_test(a_late_warp_is_waited_for),
                                       cmocka_unit_test(barriers_of_other_numbers_are_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
