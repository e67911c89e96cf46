#include "check.h"
#include "exact.h"
#include "base/bits.h"
#include "base/rng.h"

#include <fenv.h>

static const struct format *const formats[] = {&format_f16, &format_bf16, &format_tf32, &format_f32,
                                               &format_f64, &format_e4m3, &format_e5m2};
static const enum rounding modes[] = {ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY};

static void what_is_taken_apart_can_be_put_together(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "number");
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        const struct format *f = formats[i];
        for (int n = 0; n < 100000; n++) {
            uint64_t bits = (f->bits <= 16 ? (uint64_t)n : rng_next(&rng)) & (UINT64_MAX >> (64 - f->bits));
            struct number number = number_decode(f, bits);
            for (size_t m = 0; m < COUNT_OF(modes); m++)
                if (!number.nan)
                    assert_int_equal(number_encode(f, number, modes[m]), bits);
        }
    }
}

static void f64_becomes_f32_as_the_host_rounds(void **state)
{
    (void)state;
    static const int host[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    struct rng rng;
    rng_init(&rng, 2, "number");
    for (int n = 0; n < 200000; n++) {
        /* exponents around all of f32's; sometimes halves and near halves */
        uint64_t bits = rng_next(&rng);
        bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (0x360 + rng_below(&rng, 0x130)) << 52;
        if (n & 1)
            bits = (bits & ~UINT64_C(0x1fffffff)) | (UINT64_C(0x10000000) + rng_below(&rng, 3) - 1);
        for (int m = 0; m < 4; m++) {
            volatile double x = f64_bits(bits);
            fesetround(host[m]);
            volatile float expected = (float)x;
            fesetround(FE_TONEAREST);
            assert_int_equal(number_encode(&format_f32, number_decode(&format_f64, bits), modes[m]),
                             bits_f32(expected));
        }
    }
}

static void halves_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(
        number_encode(&format_e5m2, (struct number){.significand = 9, .exponent = 0}, ROUND_AWAY), 0x49);
    assert_int_equal(
        number_encode(&format_e5m2, (struct number){.significand = 9, .exponent = 0}, ROUND_NEAREST), 0x48);
    assert_int_equal(number_whole((struct number){.significand = 5, .exponent = -1}, ROUND_AWAY).significand,
                     3);
    assert_int_equal(
        number_whole((struct number){.significand = 5, .exponent = -1}, ROUND_NEAREST).significand, 2);
}

static void the_smallest_formats_end_where_they_should(void **state)
{
    (void)state;
    struct number large = {.significand = 1, .exponent = 40}, infinite = {.infinite = true, .negative = true};
    assert_int_equal(number_encode(&format_e4m3, large, ROUND_NEAREST), 0x7e); /* 448, no infinity */
    assert_int_equal(number_encode(&format_e4m3, infinite, ROUND_NEAREST), 0xfe);
    assert_int_equal(number_encode(&format_e5m2, large, ROUND_NEAREST), 0x7c);
    assert_int_equal(number_encode(&format_e5m2, large, ROUND_ZERO), 0x7b);
    assert_int_equal(number_encode(&format_e4m3, (struct number){.significand = 464}, ROUND_NEAREST), 0x7e);
    assert_int_equal(
        number_encode(&format_e4m3, (struct number){.significand = 1, .exponent = -10}, ROUND_NEAREST), 0);
    assert_int_equal(
        number_encode(&format_e4m3, (struct number){.significand = 1, .exponent = -10}, ROUND_UP), 1);
    assert_true(number_decode(&format_e4m3, 0x7f).nan);
    assert_true(number_decode(&format_e5m2, 0xfc).infinite);
}

static void f16_and_f32_are_the_same_numbers(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        struct number number = number_decode(&format_f16, h), brain = number_decode(&format_bf16, h);
        if (!number.nan)
            assert_int_equal(bits_f32(f32_f16((uint16_t)h)),
                             number_encode(&format_f32, number, ROUND_NEAREST));
        if (!brain.nan)
            assert_int_equal(bits_f32(f32_bf16((uint16_t)h)),
                             number_encode(&format_f32, brain, ROUND_NEAREST));
        assert_int_equal(f16_f32(f32_f16((uint16_t)h)), number.nan ? NAN_F16 : h);
        assert_int_equal(bf16_f32(f32_bf16((uint16_t)h)), brain.nan ? NAN_F16 : h);
    }
}

/* All of f32 but the sign and the last bits, with the last ones at, below and above the middle. */
static void f32_rounds_to_f16_and_bf16(void **state)
{
    (void)state;
    static const uint32_t tails[] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000};
    for (uint32_t head = 0; head < 0x7ff0; head++) {
        for (size_t i = 0; i < COUNT_OF(tails); i++) {
            uint32_t bits = head << 16 | tails[i] * 8 | (i & 1);
            struct number number = number_decode(&format_f32, bits);
            assert_int_equal(bf16_f32(f32_bits(bits)), number_encode(&format_bf16, number, ROUND_NEAREST));
            bits = head << 16 | tails[i];
            number = number_decode(&format_f32, bits);
            assert_int_equal(f16_f32(f32_bits(bits)), number_encode(&format_f16, number, ROUND_NEAREST));
            assert_int_equal(f16_f32(-f32_bits(bits)),
                             number.nan ? NAN_F16 : f16_f32(f32_bits(bits)) | 0x8000);
        }
    }
}

static void what_odd_rounding_leaves_can_be_rounded_again(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, "number");
    for (int n = 0; n < 200000; n++) {
        uint64_t bits = rng_next(&rng);
        bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (0x360 + rng_below(&rng, 0x130)) << 52;
        if (n & 1) /* just beside the middle of two bf16 */
            bits = (bits & ~UINT64_C(0x1fffffffffff)) | (UINT64_C(0x100000000000) + rng_below(&rng, 3) - 1);
        assert_int_equal(bf16_f32(f32_odd(f64_bits(bits))),
                         number_encode(&format_bf16, number_decode(&format_f64, bits), ROUND_NEAREST));
    }
}

/* The reference that test_alu compares with, against numbers known by heart. */
static void slow_arithmetic_is_right(void **state)
{
    (void)state;
    const struct format *f = &format_f32;
    uint64_t one = 0x3f800000, three = 0x40400000, half_ulp = 0x33800000 /* 2^-24 */;
    assert_int_equal(exact_add(f, one, three, ROUND_NEAREST), 0x40800000);
    assert_int_equal(exact_add(f, one, half_ulp, ROUND_NEAREST), one);
    assert_int_equal(exact_add(f, one, half_ulp, ROUND_UP), one + 1);
    assert_int_equal(exact_add(f, one, one | 0x80000000, ROUND_DOWN), 0x80000000);
    assert_int_equal(exact_div(f, one, three, ROUND_NEAREST), 0x3eaaaaab);
    assert_int_equal(exact_div(f, one, three, ROUND_ZERO), 0x3eaaaaaa);
    assert_int_equal(exact_div(f, one, 0, ROUND_ZERO), 0x7f800000);
    assert_int_equal(exact_sqrt(f, 0x40000000, ROUND_NEAREST), 0x3fb504f3);
    assert_int_equal(exact_sqrt(f, 0x40000000, ROUND_UP), 0x3fb504f4);
    assert_int_equal(exact_sqrt(f, 0x80000000, ROUND_UP), 0x80000000);
    assert_int_equal(exact_mul(f, one, 0x80000000, ROUND_NEAREST), 0x80000000);
    assert_int_equal(exact_fma(f, 0x3f800001, 0x3f800001, 0xbf800002, ROUND_NEAREST), 0x28800000); /* 2^-46 */
    assert_int_equal(exact_fma(f, 0x7f7fffff, 0x7f7fffff, 0, ROUND_ZERO), 0x7f7fffff);
    assert_int_equal(exact_fma(f, 0x7f800000, 0, one, ROUND_ZERO), NAN_F32);
}

static void zeros_have_an_order(void **state)
{
    (void)state;
    assert_int_equal(bits_f32(min_f32(0.0f, -0.0f)), 0x80000000);
    assert_int_equal(bits_f32(max_f32(-0.0f, 0.0f)), 0);
    assert_int_equal(min_f16(0, 0x8000), 0x8000);
    assert_int_equal(bits_f64(max_f64(-0.0, 0.0)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_apart_can_be_put_together),
        cmocka_unit_test(f64_becomes_f32_as_the_host_rounds),
        cmocka_unit_test(halves_away_from_zero),
        cmocka_unit_test(the_smallest_formats_end_where_they_should),
        cmocka_unit_test(f16_and_f32_are_the_same_numbers),
        cmocka_unit_test(f32_rounds_to_f16_and_bf16),
        cmocka_unit_test(what_odd_rounding_leaves_can_be_rounded_again),
        cmocka_unit_test(slow_arithmetic_is_right),
        cmocka_unit_test(zeros_have_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
