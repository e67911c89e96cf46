#include "check.h"
#include "base/clock.h"
#include "base/rng.h"

static struct clock_domain clock_of(uint64_t hertz)
{
    struct clock_domain clock;
    clock_init(&clock, hertz);
    return clock;
}

/* Powers of ten, real parts, primes, and the slowest and fastest possible. */
static const uint64_t frequencies[] = {
    1,
    3,
    7,
    32768,
    999999937,
    1000000000,
    1000000007,
    1410000000,
    1755000000,
    1980000000,
    2619000000,
    3141592653,
    UINT64_C(333333333333),
    UINT64_C(999999999989),
    UINT64_C(999999999999),
    PS_PER_SECOND,
};

static void cycle_zero_starts_at_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        assert_int_equal(clock_time(&clock, 0), 0);
    }
}

/* A period of 1980 MHz is 505.0505... ps: added up as 505 ps, the last of these would be 50 seconds early. */
static void there_is_no_drift_at_1980_mhz(void **state)
{
    (void)state;
    struct clock_domain clock = clock_of(1980000000);
    assert_int_equal(clock_time(&clock, 1), 505);
    assert_int_equal(clock_time(&clock, 99), 50000);
    assert_int_equal(clock_time(&clock, 1980000000), PS_PER_SECOND);
    assert_int_equal(clock_time(&clock, UINT64_C(1000000000000)), UINT64_C(505050505050505));
}

static void after_whole_seconds_every_clock_is_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        for (uint64_t seconds = 1;
             seconds <= 10000000 && frequencies[i] * seconds / seconds == frequencies[i]; seconds *= 10)
            assert_int_equal(clock_time(&clock, frequencies[i] * seconds), PS_PER_SECOND * seconds);
    }
}

static uint64_t exact_start(uint64_t hertz, uint64_t cycle)
{
    return (uint64_t)((unsigned __int128)cycle * PS_PER_SECOND / hertz);
}

static void every_cycle_starts_where_the_fraction_says(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "clock");
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        for (int n = 0; n < 10000; n++) {
            uint64_t cycle = rng_below(&rng, frequencies[i] * 1000000) >> (n % 60);
            assert_int_equal(clock_time(&clock, cycle), exact_start(frequencies[i], cycle));
        }
    }
}

/* Where the arithmetic changes from 64 to 128 bits, the results do not show it. */
static void the_change_to_wide_arithmetic_does_not_show(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        for (uint64_t off = 0; off < 4 && clock.easy < UINT64_MAX - 4; off++) {
            uint64_t cycle = clock.easy - 1 + off;
            if ((unsigned __int128)cycle * PS_PER_SECOND / frequencies[i] <= UINT64_MAX)
                assert_int_equal(clock_time(&clock, cycle), exact_start(frequencies[i], cycle));
        }
    }
}

static void check_cycle_holds(const struct clock_domain *clock, uint64_t time)
{
    uint64_t cycle = clock_cycle(clock, time);
    assert_true(clock_time(clock, cycle) <= time);
    if (cycle < UINT64_MAX && clock_time(clock, cycle + 1) != TIME_NEVER)
        assert_true(clock_time(clock, cycle + 1) > time);
}

static void check_edge_is_the_first_start(const struct clock_domain *clock, uint64_t time)
{
    uint64_t edge = clock_edge(clock, time);
    assert_true(edge >= time);
    if (edge == TIME_NEVER)
        return;
    uint64_t cycle = clock_cycle(clock, edge);
    assert_int_equal(clock_time(clock, cycle), edge);
    if (cycle)
        assert_true(clock_time(clock, cycle - 1) < time);
}

/* Shifting makes small numbers as likely as those that need all 64 bits. */
static uint64_t any_time(struct rng *rng, int n)
{
    return rng_next(rng) >> (n % 64);
}

static void a_moment_falls_into_the_cycle_around_it(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 2, "clock");
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        for (int n = 0; n < 20000; n++)
            check_cycle_holds(&clock, any_time(&rng, n));
        check_cycle_holds(&clock, clock.easy_time);
        check_cycle_holds(&clock, clock.easy_time - 1);
    }
}

static void an_edge_is_the_first_start_from_then_on(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, "clock");
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        for (int n = 0; n < 20000; n++)
            check_edge_is_the_first_start(&clock, any_time(&rng, n));
    }
}

static void a_start_is_its_own_edge_and_cycle(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 4, "clock");
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        for (int n = 0; n < 10000; n++) {
            uint64_t cycle = clock_cycle(&clock, any_time(&rng, n)), start = clock_time(&clock, cycle);
            assert_int_equal(clock_cycle(&clock, start), cycle);
            assert_int_equal(clock_edge(&clock, start), start);
        }
    }
}

static void an_edge_beyond_all_time_is_never(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(frequencies); i++) {
        struct clock_domain clock = clock_of(frequencies[i]);
        assert_int_equal(clock_edge(&clock, TIME_NEVER), TIME_NEVER);
    }
    struct clock_domain slow = clock_of(1);
    assert_int_equal(clock_time(&slow, UINT64_MAX), TIME_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycle_zero_starts_at_zero),
        cmocka_unit_test(there_is_no_drift_at_1980_mhz),
        cmocka_unit_test(after_whole_seconds_every_clock_is_exact),
        cmocka_unit_test(every_cycle_starts_where_the_fraction_says),
        cmocka_unit_test(the_change_to_wide_arithmetic_does_not_show),
        cmocka_unit_test(a_moment_falls_into_the_cycle_around_it),
        cmocka_unit_test(an_edge_is_the_first_start_from_then_on),
        cmocka_unit_test(a_start_is_its_own_edge_and_cycle),
        cmocka_unit_test(an_edge_beyond_all_time_is_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
