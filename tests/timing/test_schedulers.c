/* A sub-core issues one instruction a cycle; `scheduler` says whose. */
#include "timing.h"

enum { N = 6 };

/* Warps of a block go to the four sub-cores in turn; all can issue in the same cycle, behind a barrier. */
static struct times measured(const char *scheduler, unsigned warps)
{
    struct bench bench = bench_open("sm.scheduler=%s sm.sync_interval=1 sm.sync_shared=0", scheduler);
    char *body = repeated("bar.warp.sync -1;", N);
    struct times times = bench_run(&bench, &(struct piece){.body = body, .inst = N, .warps = warps});
    free(body);
    bench_close(&bench);
    return times;
}

static void sub_cores_issue_at_the_same_time(void **state)
{
    (void)state;
    static const char *const all[] = {"gty", "gto", "lrr", "two_level"};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(measured(all[i], 4).cycles, N + 1);
}

/* Two warps issue in turn: each of its N + 1 instructions behind the first takes two cycles. */
static void in_turn(void **state)
{
    (void)state;
    struct times times = measured("lrr", 8);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(times.end[i] - times.start[i], 2 * (N + 1));
        assert_int_equal(times.end[i + 4] - times.start[i + 4], 2 * (N + 1));
        assert_int_equal(abs((int)times.start[i] - (int)times.start[i + 4]), 1);
    }
}

/* One of three warps goes on as long as it can: N + 2 instructions with its clocks, and one more, which lets
 * it wait for the others. The warp that issued last is first (which, is not asked here); then comes the older
 * or the younger of the other two: the one with the lower number, or the higher. */
static void check_greedy(const char *scheduler, bool oldest)
{
    struct times times = measured(scheduler, 12);
    uint32_t first = times.start[0];
    for (unsigned i = 0; i < 12; i++)
        first = times.start[i] < first ? times.start[i] : first;
    for (unsigned s = 0; s < 4; s++) {
        unsigned by_turn[3] = {12, 12, 12};
        for (unsigned w = s; w < 12; w += 4) {
            unsigned turn = (times.start[w] - first) / (N + 3);
            assert_int_equal((times.start[w] - first) % (N + 3), 0);
            assert_in_range(turn, 0, 2);
            assert_int_equal(by_turn[turn], 12);
            by_turn[turn] = w;
            assert_int_equal(times.end[w] - times.start[w], N + 1);
        }
        assert_int_equal(by_turn[1] < by_turn[2], oldest);
    }
}

static void greedy_then_youngest(void **state)
{
    (void)state;
    check_greedy("gty", false);
}

static void greedy_then_oldest(void **state)
{
    (void)state;
    check_greedy("gto", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sub_cores_issue_at_the_same_time),
                                       cmocka_unit_test(in_turn), cmocka_unit_test(greedy_then_youngest),
                                       cmocka_unit_test(greedy_then_oldest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
