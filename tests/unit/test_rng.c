#include "check.h"
#include "base/rng.h"

#include <math.h>

static struct rng stream_of(uint64_t seed, const char *name)
{
    struct rng rng;
    rng_init(&rng, seed, name);
    return rng;
}

/* Every result of every model hangs on these: when one of them changes, so do all known checksums. */
static void the_first_numbers_of_a_seed_stay_what_they_are(void **state)
{
    (void)state;
    static const uint64_t a_of_1[] = {UINT64_C(0x7365458a21c97339), UINT64_C(0x662707904923b1fb),
                                      UINT64_C(0x1bc9a2d247942e31), UINT64_C(0x2f9611c9639bb4a1)};
    static const uint64_t l1_of_42[] = {UINT64_C(0xde73328713fe498f), UINT64_C(0x4607b8fb48bedb99),
                                        UINT64_C(0x34ade2678d322f79), UINT64_C(0x358fff9045ee82df)};
    struct rng a = stream_of(1, "a"), l1 = stream_of(42, "sm[131].l1");
    for (size_t i = 0; i < COUNT_OF(a_of_1); i++) {
        assert_int_equal(rng_next(&a), a_of_1[i]);
        assert_int_equal(rng_next(&l1), l1_of_42[i]);
    }
}

static void the_first_exponential_numbers_stay_what_they_are(void **state)
{
    (void)state;
    static const uint64_t expected[] = {796811, 918711, 2220586, 1682635};
    struct rng rng = stream_of(1, "a");
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_int_equal(rng_exponential(&rng, 1000000), expected[i]);
}

static void seed_and_name_both_make_another_stream(void **state)
{
    (void)state;
    struct rng one = stream_of(1, "a"), other_seed = stream_of(2, "a"), other_name = stream_of(1, "b");
    uint64_t first = rng_next(&one);
    assert_int_not_equal(first, rng_next(&other_seed));
    assert_int_not_equal(first, rng_next(&other_name));
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of ten thousand neighbours with like names, no two start alike. */
static void streams_of_like_names_start_apart(void **state)
{
    (void)state;
    enum { STREAMS = 10000 };
    static uint64_t first[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "island[%d]", i);
        struct rng rng = stream_of(1, name);
        first[i] = rng_next(&rng);
    }
    qsort(first, STREAMS, sizeof *first, by_value);
    for (int i = 1; i < STREAMS; i++)
        assert_int_not_equal(first[i - 1], first[i]);
}

static void an_empty_name_is_a_stream_too(void **state)
{
    (void)state;
    struct rng rng = stream_of(0, "");
    assert_int_not_equal(rng_next(&rng), rng_next(&rng));
}

static void every_bit_is_set_half_the_time(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    struct rng rng = stream_of(1, "bits");
    int set[64] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint64_t draw = rng_next(&rng);
        for (int bit = 0; bit < 64; bit++)
            set[bit] += draw >> bit & 1;
    }
    for (int bit = 0; bit < 64; bit++)
        assert_true(fabs(set[bit] - DRAWS / 2.0) < 5 * sqrt(DRAWS / 4.0));
}

static void below_stays_below(void **state)
{
    (void)state;
    struct rng rng = stream_of(1, "below");
    for (uint64_t n = 1; n; n <<= 1) {
        for (int i = 0; i < 100; i++)
            assert_true(rng_below(&rng, n) < n);
    }
    assert_int_equal(rng_below(&rng, 0), 0);
}

static void below_meets_every_number_about_as_often(void **state)
{
    (void)state;
    enum { SIDES = 6, DRAWS = 60000 };
    struct rng rng = stream_of(1, "dice");
    int seen[SIDES] = {0};
    for (int i = 0; i < DRAWS; i++)
        seen[rng_below(&rng, SIDES)]++;
    for (int side = 0; side < SIDES; side++)
        assert_true(abs(seen[side] - DRAWS / SIDES) < 500); /* over 5 standard deviations */
}

static void a_share_becomes_a_part_of_two_to_the_64(void **state)
{
    (void)state;
    assert_int_equal(rng_share(0.25), UINT64_C(1) << 62);
    assert_int_equal(rng_share(0.5), UINT64_C(1) << 63);
}

static void shares_outside_0_to_1_are_never_and_always(void **state)
{
    (void)state;
    assert_int_equal(rng_share(0), 0);
    assert_int_equal(rng_share(-0.0), 0);
    assert_int_equal(rng_share(-1), 0);
    assert_int_equal(rng_share(1), UINT64_MAX);
    assert_int_equal(rng_share(2), UINT64_MAX);
}

static void the_shares_next_to_0_and_1_do_not_wrap(void **state)
{
    (void)state;
    assert_int_equal(rng_share(nextafter(1, 0)), UINT64_MAX - 2047);
    assert_int_equal(rng_share(nextafter(0, 1)), 0);
    assert_int_equal(rng_share(0x1p-64), 1);
}

static void chance_0_never_happens_and_chance_1_always(void **state)
{
    (void)state;
    struct rng rng = stream_of(1, "chance");
    for (int i = 0; i < 10000; i++) {
        assert_false(rng_chance(&rng, rng_share(0)));
        assert_true(rng_chance(&rng, rng_share(1)));
    }
}

static void a_chance_happens_as_often_as_its_share(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    struct rng rng = stream_of(1, "chance");
    int hits = 0;
    for (int i = 0; i < DRAWS; i++)
        hits += rng_chance(&rng, rng_share(0.1));
    assert_true(fabs(hits - 0.1 * DRAWS) < 5 * sqrt(0.09 * DRAWS));
}

/* The variance of an exponential distribution is the square of its mean. */
static void exponential_has_the_right_mean_and_variance(void **state)
{
    (void)state;
    enum { DRAWS = 1000000 };
    const double mean = 1e9;
    struct rng rng = stream_of(1, "exponential");
    double sum = 0, squares = 0;
    for (int i = 0; i < DRAWS; i++) {
        double draw = (double)rng_exponential(&rng, (uint64_t)mean) / mean;
        sum += draw;
        squares += draw * draw;
    }
    double average = sum / DRAWS, variance = squares / DRAWS - average * average;
    assert_true(fabs(average - 1) < 5 / sqrt(DRAWS));
    assert_true(fabs(variance - 1) < 5 * sqrt(8.0 / DRAWS)); /* the fourth central moment is 9 */
}

/* Far out, where few draws come. */
static void exponential_has_the_right_tail(void **state)
{
    (void)state;
    enum { DRAWS = 1000000 };
    struct rng rng = stream_of(1, "tail");
    int beyond[8] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint64_t draw = rng_exponential(&rng, 1000);
        for (int means = 0; means < 8; means++)
            beyond[means] += draw >= 1000u * (unsigned)means;
    }
    for (int means = 0; means < 8; means++) {
        double expected = DRAWS * exp(-means);
        assert_true(fabs(beyond[means] - expected) <= 5 * sqrt(expected));
    }
}

/* Against the libm: the same draws, as real numbers. */
static void exponential_is_minus_the_logarithm(void **state)
{
    (void)state;
    struct rng rng = stream_of(1, "log"), same = rng;
    for (int i = 0; i < 100000; i++) {
        double u = (double)(rng_next(&same) | 1) / 0x1p64;
        double draw = (double)rng_exponential(&rng, UINT64_C(1) << 40) / 0x1p40;
        assert_true(fabs(draw + log(u)) < 0x1p-18);
    }
}

static void exponential_of_mean_0_is_0(void **state)
{
    (void)state;
    struct rng rng = stream_of(1, "zero");
    for (int i = 0; i < 1000; i++)
        assert_int_equal(rng_exponential(&rng, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_numbers_of_a_seed_stay_what_they_are),
        cmocka_unit_test(the_first_exponential_numbers_stay_what_they_are),
        cmocka_unit_test(seed_and_name_both_make_another_stream),
        cmocka_unit_test(streams_of_like_names_start_apart),
        cmocka_unit_test(an_empty_name_is_a_stream_too),
        cmocka_unit_test(every_bit_is_set_half_the_time),
        cmocka_unit_test(below_stays_below),
        cmocka_unit_test(below_meets_every_number_about_as_often),
        cmocka_unit_test(a_share_becomes_a_part_of_two_to_the_64),
        cmocka_unit_test(shares_outside_0_to_1_are_never_and_always),
        cmocka_unit_test(the_shares_next_to_0_and_1_do_not_wrap),
        cmocka_unit_test(chance_0_never_happens_and_chance_1_always),
        cmocka_unit_test(a_chance_happens_as_often_as_its_share),
        cmocka_unit_test(exponential_has_the_right_mean_and_variance),
        cmocka_unit_test(exponential_has_the_right_tail),
        cmocka_unit_test(exponential_is_minus_the_logarithm),
        cmocka_unit_test(exponential_of_mean_0_is_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
