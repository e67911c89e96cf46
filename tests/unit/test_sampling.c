/* Which launches are simulated, and what is made of their times. */
#include "check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "sampling/sampling.h"

enum { COUNT = 300 };

static struct sampling_launch launches[COUNT];
static uint64_t blocks[COUNT];

/* Measures what is planned, by the true time of a launch; blocks end at an even rate. */
static uint64_t simulate(struct sampling *s, double (*time)(size_t launch))
{
    uint64_t simulated = 0;
    while (sampling_plan(s, blocks))
        for (size_t i = 0; i < COUNT; i++) {
            if (!blocks[i])
                continue;
            double part = (double)blocks[i] / (double)launches[i].blocks;
            struct sampling_measured measured = {.blocks = blocks[i], .ps = time(i) * part};
            for (int m = 0; m < SAMPLING_MARKS; m++)
                measured.marks[m] = measured.ps * (m + 1) / SAMPLING_MARKS;
            sampling_take(s, i, &measured);
            simulated++;
        }
    return simulated;
}

static double sum(double (*time)(size_t launch))
{
    double all = 0;
    for (size_t i = 0; i < COUNT; i++)
        all += time(i);
    return all;
}

static double same_time(size_t launch)
{
    return launch % 2 ? 1000 : 5000;
}

static void equal_launches_need_few_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        launches[i] = (struct sampling_launch){
            .kernel = i % 2, .threads = 128, .blocks = 10, .instructions = 100, .resident = 100};
    struct sampling *s = sampling_new(launches, COUNT, 0.05);
    struct sampling_estimate e;
    assert_true(simulate(s, same_time) <= 20);
    sampling_total(s, &e);
    assert_null(sampling_why(s));
    assert_int_equal(e.launches, COUNT);
    assert_int_equal(e.simulated, 6);
    assert_true(e.ps > 0.999 * sum(same_time) && e.ps < 1.001 * sum(same_time));
    assert_true(e.error <= 0.05);
    sampling_kernel(s, 1, &e);
    assert_int_equal(e.launches, COUNT / 2);
    assert_true(e.ps > 149999 && e.ps < 150001);
    sampling_free(s);
}

/* Launches that become smaller, with a time that nothing can fall below. */
static double falling_time(size_t launch)
{
    return 2000 + 10.0 * (double)launches[launch].instructions;
}

static void sizes_in_between_are_found_from_their_neighbours(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        launches[i] = (struct sampling_launch){
            .threads = 64, .blocks = COUNT - i, .instructions = 10 * (COUNT - i), .resident = 1000};
    struct sampling *s = sampling_new(launches, COUNT, 0.03);
    struct sampling_estimate e;
    simulate(s, falling_time);
    sampling_total(s, &e);
    assert_null(sampling_why(s));
    assert_true(e.simulated < COUNT / 4 && e.error <= 0.03);
    assert_true(e.ps > 0.94 * sum(falling_time) && e.ps < 1.06 * sum(falling_time));
    sampling_free(s);
}

/* What looks alike and is not cannot be told. */
static double wild_time(size_t launch)
{
    return launch * UINT64_C(2654435761) % 1000 < 200 ? 100000 : 1000;
}

static void wild_launches_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        launches[i] = (struct sampling_launch){.threads = 64, .blocks = 4, .instructions = 50, .resident = 8};
    struct sampling *s = sampling_new(launches, COUNT, 0.02);
    simulate(s, wild_time);
    assert_non_null(sampling_why(s));
    sampling_free(s);
}

static double long_time(size_t launch)
{
    return (double)launches[launch].blocks * 50;
}

static void long_launches_are_cut_where_they_are_steady(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        launches[i] = (struct sampling_launch){
            .threads = 64, .blocks = 100000, .instructions = 1000000, .resident = 500, .whole = i == 7};
    struct sampling *s = sampling_new(launches, COUNT, 0.05);
    struct sampling_estimate e;
    assert_true(sampling_plan(s, blocks));
    assert_int_equal(blocks[0], 1500);
    simulate(s, long_time);
    sampling_total(s, &e);
    assert_true(e.simulated_instructions < e.instructions / 50);
    assert_true(e.ps > 0.99 * sum(long_time) && e.ps < 1.01 * sum(long_time));
    sampling_free(s);

    s = sampling_new(launches + 7, 1, 0.05); /* its blocks wait for each other */
    assert_true(sampling_plan(s, blocks));
    assert_int_equal(blocks[0], 100000);
    sampling_free(s);
}

/* The first launch finds cold caches; every second one is a fifth of the size. */
static double two_times(size_t launch)
{
    return launch == 0 ? 9000 : launch % 2 ? 1000 : 3000;
}

static void each_of_a_few_sizes_has_its_own_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        launches[i] = (struct sampling_launch){
            .threads = 128, .blocks = 10, .instructions = i % 2 ? 100 : 500, .resident = 100};
    struct sampling *s = sampling_new(launches, COUNT, 0.05);
    struct sampling_estimate e;
    simulate(s, two_times);
    sampling_total(s, &e);
    assert_null(sampling_why(s));
    assert_int_equal(e.simulated, 6);
    assert_true(e.ps > 0.999 * sum(two_times) && e.ps < 1.001 * sum(two_times));
    sampling_free(s);
}

/* Launches of a kernel that were simulated right before this one, of three that take turns: what they read is
 * in caches. */
static size_t warmed_by(size_t launch)
{
    size_t count = 0;
    while (launch >= 3 && blocks[launch - 1] && blocks[launch - 2] && blocks[launch -= 3])
        count++;
    return count;
}

static bool estimate_warmed(double target, double (*cold)(size_t warmed), struct sampling_estimate *e)
{
    for (size_t i = 0; i < COUNT; i++)
        launches[i] = (struct sampling_launch){
            .kernel = i % 3, .threads = 128, .blocks = 10, .instructions = 100, .resident = 100};
    struct sampling *s = sampling_new(launches, COUNT, target);
    while (sampling_plan(s, blocks))
        for (size_t i = 0; i < COUNT; i++) {
            double read = blocks[i] ? cold(warmed_by(i)) : 0;
            struct sampling_measured measured = {.blocks = 10, .ps = 1000 * (1 + read), .memory_read = read};
            if (blocks[i])
                sampling_take(s, i, &measured);
        }
    bool good = !sampling_why(s);
    sampling_total(s, e);
    sampling_free(s);
    return good;
}

static double cold_without_one(size_t warmed)
{
    return warmed >= 1 ? 0 : 0.6;
}

static double cold_without_three(size_t warmed)
{
    return warmed >= 3 ? 0 : 0.6 - 0.2 * (double)warmed;
}

static double cold_for_long(size_t warmed)
{
    return 3 / (1 + (double)warmed);
}

static void launches_before_a_sample_are_simulated_until_it_is_warm(void **state)
{
    struct sampling_estimate e;
    (void)state;
    assert_true(estimate_warmed(0.05, cold_without_one, &e));
    assert_true(e.ps > 999 * COUNT && e.ps < 1020 * COUNT);
    assert_true(estimate_warmed(0.05, cold_without_three, &e));
    assert_true(e.ps > 999 * COUNT && e.ps < 1030 * COUNT);
    assert_false(estimate_warmed(0.05, cold_for_long, &e));
}

/* Ten launches, of which the second still finds caches that are not warm, and takes as long as the first. */
static void the_second_launch_may_be_cold_too(void **state)
{
    enum { FEW = 10 };
    static const double reads[] = {9000, 2000};
    struct sampling_estimate e;
    (void)state;
    for (size_t i = 0; i < FEW; i++)
        launches[i] =
            (struct sampling_launch){.threads = 128, .blocks = 10, .instructions = 100, .resident = 100};
    struct sampling *s = sampling_new(launches, FEW, 0.05);
    while (sampling_plan(s, blocks))
        for (size_t i = 0, warmed = 0; i < FEW; i++) {
            double read = warmed < COUNT_OF(reads) ? reads[warmed] : 0;
            struct sampling_measured measured = {
                .blocks = 10, .ps = read > 0 ? 1300 : 1000, .memory_read = read};
            warmed = blocks[i] ? warmed + 1 : 0;
            if (blocks[i])
                sampling_take(s, i, &measured);
        }
    assert_null(sampling_why(s));
    sampling_total(s, &e);
    assert_true(e.ps > 10400 && e.ps < 10800);
    sampling_free(s);
}

/* Blocks of one launch that end at an even rate, with an L2 of 1 MB that most of them do not fill. */
static uint64_t blocks_until_steady(double bytes_of_block, double memory_rate)
{
    struct sampling_launch one = {.threads = 64, .blocks = 100000, .instructions = 1000000, .resident = 500};
    struct sampling *s = sampling_new(&one, 1, 0.05);
    uint64_t simulated = 0;
    while (sampling_plan(s, blocks)) {
        double bytes = bytes_of_block * (double)blocks[0];
        struct sampling_measured measured = {.blocks = blocks[0],
                                             .ps = (double)blocks[0],
                                             .cache_bytes = 1e6,
                                             .cache_missed = bytes,
                                             .cache_traffic = bytes,
                                             .memory_rate = memory_rate};
        for (int m = 0; m < SAMPLING_MARKS; m++)
            measured.marks[m] = measured.ps * (m + 1) / SAMPLING_MARKS;
        simulated = blocks[0];
        sampling_take(s, 0, &measured);
    }
    assert_null(sampling_why(s));
    sampling_free(s);
    return simulated;
}

static void a_cache_must_be_full_where_memory_may_be_in_the_way(void **state)
{
    (void)state;
    assert_int_equal(blocks_until_steady(100, 1000), 1500); /* memory is ten times as fast */
    assert_int_equal(blocks_until_steady(100, 100), 24000); /* as fast: two megabytes and more */
    assert_int_equal(blocks_until_steady(1, 1), 1500);      /* all fits the cache */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_launches_need_few_samples),
        cmocka_unit_test(sizes_in_between_are_found_from_their_neighbours),
        cmocka_unit_test(wild_launches_are_refused),
        cmocka_unit_test(long_launches_are_cut_where_they_are_steady),
        cmocka_unit_test(each_of_a_few_sizes_has_its_own_time),
        cmocka_unit_test(launches_before_a_sample_are_simulated_until_it_is_warm),
        cmocka_unit_test(the_second_launch_may_be_cold_too),
        cmocka_unit_test(a_cache_must_be_full_where_memory_may_be_in_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
