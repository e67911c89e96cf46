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

/* two_level: three warps of a sub-core, of which so many are active. */
static struct times measured_active(unsigned active)
{
    char scheduler[60];
    snprintf(scheduler, sizeof scheduler, "two_level sm.two_level_active=%u", active);
    return measured(scheduler, 12);
}

/* All are active: each of a warp's N + 1 instructions behind its first takes three cycles. */
static void two_levels_with_room_for_all(void **state)
{
    (void)state;
    struct times times = measured_active(3);
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(times.end[i] - times.start[i], 3 * (N + 1));
}

/* One is active and stays so until it waits for the others, N + 3 instructions later. */
static void two_levels_with_room_for_one(void **state)
{
    (void)state;
    struct times times = measured_active(1);
    for (unsigned s = 0; s < 4; s++) {
        uint32_t first = UINT32_MAX, all = 0;
        for (unsigned w = s; w < 12; w += 4)
            first = times.start[w] < first ? times.start[w] : first;
        for (unsigned w = s; w < 12; w += 4) {
            assert_int_equal(times.end[w] - times.start[w], N + 1);
            assert_int_equal((times.start[w] - first) % (N + 3), 0);
            all |= 1u << (times.start[w] - first) / (N + 3);
        }
        assert_int_equal(all, 7);
    }
}

/* Two are active and issue in turn. The first of them waits at the barrier, in cycle 2 * (N + 2) from its
 * start, and the third takes its place. In turn means by their place: if the third is next behind the first,
 * it issues before the second's barrier, which then comes between its first two instructions; else behind
 * that. */
static void two_levels_with_room_for_two(void **state)
{
    (void)state;
    struct times times = measured_active(2);
    for (unsigned s = 0; s < 4; s++) {
        unsigned order[3] = {s, s + 4, s + 8};
        for (unsigned i = 0; i < 3; i++)
            for (unsigned k = i + 1; k < 3; k++)
                if (times.start[order[k]] < times.start[order[i]]) {
                    unsigned swap = order[i];
                    order[i] = order[k];
                    order[k] = swap;
                }
        unsigned first = order[0], second = order[1], third = order[2];
        bool is_next = (first + 4) % 12 == third;
        assert_int_equal(times.start[second] - times.start[first], 1);
        assert_int_equal(times.end[first] - times.start[first], 2 * (N + 1));
        assert_int_equal(times.end[second] - times.start[second], 2 * (N + 1));
        assert_int_equal(times.start[third] - times.start[first], 2 * (N + 2) + (is_next ? 1 : 2));
        assert_int_equal(times.end[third] - times.start[third], N + 1 + is_next);
    }
}

/* A warp that waits for memory is not active meanwhile: the other takes the only place, two cycles later
 * (behind the clock and the load). All loads are of one line, which comes for both at once. Then the first to
 * go on issues three instructions (the last is its barrier) before the other does. */
static void two_levels_while_one_waits_for_memory(void **state)
{
    (void)state;
    enum { MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL }; /* as in test_l1.c */
    struct bench bench =
        bench_open("sm.scheduler=two_level sm.two_level_active=1 sm.sync_interval=1 sm.sync_shared=0");
    struct piece piece = {.body = "ld.global.u32 %r4, [%data];\nshr.u32 %r5, %r4, 1;",
                          .after = "st.global.u32 [%out+20], %r5;",
                          .inst = 3,
                          .warps = 5}; /* the first and the last are of one sub-core */
    struct times times = bench_run(&bench, &piece);
    assert_int_equal(abs((int)times.start[0] - (int)times.start[4]), 2);
    assert_int_equal(times.end[1] - times.start[1], 1 + MISS + 1);
    assert_int_equal(abs((int)times.end[0] - (int)times.end[4]), 3);
    assert_int_equal(times.cycles, 1 + MISS + 1 + 3);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sub_cores_issue_at_the_same_time),
                                       cmocka_unit_test(in_turn),
                                       cmocka_unit_test(greedy_then_youngest),
                                       cmocka_unit_test(greedy_then_oldest),
                                       cmocka_unit_test(two_levels_with_room_for_all),
                                       cmocka_unit_test(two_levels_with_room_for_one),
                                       cmocka_unit_test(two_levels_with_room_for_two),
                                       cmocka_unit_test(two_levels_while_one_waits_for_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
