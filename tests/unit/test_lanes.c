/* What is found out about the 32 lanes of a warp at once, beside the same one lane at a time. */
#include "check.h"
#include "base/rng.h"
#include "ptx_run/lanes.h"

enum { ROUNDS = 20000 };

static struct rng dice;

static uint64_t draw(uint64_t below)
{
    return rng_below(&dice, below);
}

static lanes draw_lanes(void)
{
    switch (draw(4)) {
    case 0:
        return UINT32_MAX;
    case 1:
        return UINT32_C(1) << draw(WARP_LANES);
    default:
        return (lanes)rng_next(&dice) | UINT32_C(1) << draw(WARP_LANES);
    }
}

static struct survey slow_survey(const uint64_t at[WARP_LANES], uint64_t low, uint64_t bytes, uint64_t size)
{
    struct survey survey = {.within = true, .dense = true, .same = true};
    for (uint64_t i = 0; i < WARP_LANES; i++) {
        survey.any |= at[i];
        survey.within &= at[i] >= low && at[i] - low <= bytes && bytes - (at[i] - low) >= size;
        survey.dense &= at[i] == at[0] + i * size;
        survey.same &= at[i] == at[0];
    }
    return survey;
}

static void assert_survey(struct survey got, struct survey want, uint64_t size)
{
    assert_int_equal(got.any & (size - 1), want.any & (size - 1));
    assert_int_equal(got.within, want.within);
    assert_int_equal(got.dense, want.dense);
    assert_int_equal(got.same, want.same);
}

/* Near the range's ends: at one place, in a row (of this size, of another, or one lane off), anywhere. */
static void draw_addresses(uint64_t at[WARP_LANES], uint64_t low, uint64_t bytes, uint64_t size)
{
    uint64_t kind = draw(5), odd = draw(4) ? 0 : 1, first = low - 64 + draw(bytes + 128) / size * size + odd;
    uint64_t step = kind == 0 ? 0 : kind == 1 ? size << draw(2) : size;
    for (uint64_t i = 0; i < WARP_LANES; i++)
        at[i] = kind == 3 ? low - 8 + draw(bytes + 16) : first + i * step;
    if (kind == 4)
        at[draw(WARP_LANES)] += draw(2) ? size : 1;
}

static void a_survey_says_what_the_addresses_have_in_common(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t at[WARP_LANES], size = UINT64_C(1) << draw(6), low = 4096, bytes = draw(3) ? draw(4096) : 0;
        draw_addresses(at, low, bytes, size);
        assert_survey(lanes_survey(at, low, bytes, size), slow_survey(at, low, bytes, size), size);
    }
}

static void lanes_that_do_not_count_get_the_address_of_one_that_does(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t base[WARP_LANES], want[WARP_LANES], at[WARP_LANES], offset = draw(64) - 32;
        uint64_t size = UINT64_C(1) << draw(6), low = 4096, bytes = draw(4096);
        uint32_t words[WARP_LANES];
        bool wide = draw(2);
        lanes who = draw_lanes();
        draw_addresses(base, low - offset, bytes, size);
        for (int i = 0; i < WARP_LANES; i++) {
            words[i] = (uint32_t)base[i];
            want[i] = who >> i & 1 ? base[i] + offset : base[__builtin_ctz(who)] + offset;
        }
        struct lanes_way way = {wide ? (const void *)base : words, wide ? 8 : 4, offset};
        struct survey survey = lanes_reach(at, &way, who, low, bytes, size);
        assert_memory_equal(at, want, sizeof at);
        assert_survey(survey, slow_survey(want, low, bytes, size), size);
        lanes_addresses(base, &way, who);
        assert_memory_equal(base, want, sizeof base);
    }
}

static void addresses_of_32_bits_wrap(void **state)
{
    (void)state;
    uint32_t words[WARP_LANES];
    uint64_t at[WARP_LANES];
    for (uint32_t i = 0; i < WARP_LANES; i++)
        words[i] = UINT32_MAX - 3 + i;
    const struct lanes_way way = {words, 4, 8};
    for (int part = 0; part < 2; part++) {
        lanes_addresses(at, &way, part ? UINT32_C(0x80000001) : UINT32_MAX);
        assert_int_equal(at[0], 4);
        assert_int_equal(at[31], 35);
    }
}

static void bits_that_some_and_that_all_lanes_have(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t from[WARP_LANES], some = 0, all = UINT32_MAX, count = 0;
        lanes who = draw_lanes();
        for (int i = 0; i < WARP_LANES; i++) {
            from[i] = (uint32_t)(draw(2) ? rng_next(&dice) : who);
            some |= who >> i & 1 ? from[i] : 0;
            all &= who >> i & 1 ? from[i] : UINT32_MAX;
            count += who >> i & 1;
        }
        struct lanes_bits bits = lanes_bits(from, who);
        assert_int_equal(bits.some, some);
        assert_int_equal(bits.all, all);
        assert_int_equal(lanes_count(who), count);
    }
    assert_int_equal(lanes_count(0), 0);
}

int main(void)
{
    rng_init(&dice, 5, "lanes");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_survey_says_what_the_addresses_have_in_common),
        cmocka_unit_test(lanes_that_do_not_count_get_the_address_of_one_that_does),
        cmocka_unit_test(addresses_of_32_bits_wrap),
        cmocka_unit_test(bits_that_some_and_that_all_lanes_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
