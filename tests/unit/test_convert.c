#include "check.h"
#include "base/bits.h"
#include "base/rng.h"
#include "ptx_run/convert.h"

#include <fenv.h>
#include <math.h>

static uint64_t cvt2(const char *opcode, uint64_t a, uint64_t b)
{
    struct conversion how;
    if (!conversion_parse(opcode, &how))
        fail_msg("%s is not understood", opcode);
    return convert(&how, a, b);
}

static uint64_t cvt(const char *opcode, uint64_t a)
{
    return cvt2(opcode, a, 0);
}

static void opcodes_are_read(void **state)
{
    (void)state;
    struct conversion how;
    assert_true(conversion_parse("cvt.rn.relu.satfinite.f16x2.f32", &how));
    assert_true(how.relu && how.satfinite && how.two && !how.whole && !how.ftz && !how.sat);
    assert_int_equal(how.to_bits, 32);
    assert_int_equal(how.from_bits, 32);
    assert_true(conversion_parse("cvt.rmi.ftz.sat.s8.f32", &how));
    assert_true(how.whole && how.ftz && how.sat && how.to_signed && !how.two);
    assert_int_equal(how.rounding, ROUND_DOWN);
    assert_int_equal(how.to_bits, 8);
    assert_true(conversion_parse("cvt.rn.f16x2.e5m2x2", &how));
    assert_int_equal(how.from_bits, 16);
    assert_false(how.two);
}

static void what_is_no_conversion_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "cvt",
                                        "cvt.",
                                        "cvt.u32",
                                        "cvt.u32.",
                                        "cvt.up.u32.u32",
                                        "cvta.u32.u32",
                                        "cvt.u32.rn.u32",
                                        "cvt.u32.u33",
                                        "cvt.u32.u32.u32",
                                        "cvt.f32.f16x2",
                                        "cvt.pack.sat.u16.s32"};
    struct conversion how;
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        if (conversion_parse(wrong[i], &how))
            fail_msg("%s is accepted", wrong[i]);
}

static void integers_are_cut_or_extended(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.s64.s32", 0x80000000), UINT64_C(0xffffffff80000000));
    assert_int_equal(cvt("cvt.u64.u32", 0x80000000), 0x80000000);
    assert_int_equal(cvt("cvt.s64.u32", 0xffffffff80000000),
                     0x80000000); /* bits above the type do not count */
    assert_int_equal(cvt("cvt.u8.s32", 0xffffff80), 0x80);
    assert_int_equal(cvt("cvt.s32.s8", 0x180), 0xffffff80);
    assert_int_equal(cvt("cvt.u16.s8", 0x80), 0xff80);
}

static void integers_saturate_when_told_to(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.sat.u8.s32", 0xffffffff), 0);
    assert_int_equal(cvt("cvt.sat.u8.s32", 256), 255);
    assert_int_equal(cvt("cvt.sat.s8.s32", 0xffffff00), 0x80);
    assert_int_equal(cvt("cvt.sat.s64.u64", UINT64_MAX), INT64_MAX);
    assert_int_equal(cvt("cvt.sat.u64.s64", UINT64_MAX), 0);
    assert_int_equal(cvt("cvt.sat.s32.u32", 0x80000000), 0x7fffffff);
}

static void numbers_become_the_integers_beside_them(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.rni.s32.f32", 0x40200000), 2); /* 2.5 */
    assert_int_equal(cvt("cvt.rpi.s32.f32", 0x40200000), 3);
    assert_int_equal(cvt("cvt.rmi.s32.f32", 0xc0200000), (uint32_t)-3);
    assert_int_equal(cvt("cvt.rzi.s32.f32", 0xc0200000), (uint32_t)-2);
    assert_int_equal(cvt("cvt.rpi.u32.f32", 1), 1);
    assert_int_equal(cvt("cvt.rpi.ftz.u32.f32", 1), 0);
    assert_int_equal(cvt("cvt.rmi.u32.f32", 0x80000001), 0); /* -1 is out of range */
    assert_int_equal(cvt("cvt.rzi.u8.f32", 0x43800000), 255);
    assert_int_equal(cvt("cvt.rzi.s8.f32", 0xc3800000), 0x80);
    assert_int_equal(cvt("cvt.rzi.s64.f32", 0x5f000000), INT64_MAX);
    assert_int_equal(cvt("cvt.rzi.s64.f32", 0xdf000000), UINT64_C(1) << 63);
    assert_int_equal(cvt("cvt.rzi.u64.f64", UINT64_C(0x43efffffffffffff)), UINT64_C(0xfffffffffffff800));
    assert_int_equal(cvt("cvt.rzi.u64.f64", UINT64_C(0x7ff0000000000000)), UINT64_MAX);
    assert_int_equal(cvt("cvt.rzi.s32.f16", 0xfc00), 0x80000000);
    assert_int_equal(cvt("cvt.rni.s32.bf16", 0x4020), 2);
}

static void what_a_nan_becomes_depends_on_the_widths(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.rzi.s32.f32", 0x7fc00000), 0);
    assert_int_equal(cvt("cvt.rzi.u16.f16", 0x7e00), 0);
    assert_int_equal(cvt("cvt.rzi.s64.f32", 0x7fc00000), UINT64_C(1) << 63);
    assert_int_equal(cvt("cvt.rzi.u64.f16", 0x7e00), UINT64_C(1) << 63);
    assert_int_equal(cvt("cvt.rzi.s32.f64", UINT64_C(0x7ff8000000000000)), 0x80000000);
    assert_int_equal(cvt("cvt.rzi.u32.f64", UINT64_C(0x7ff8000000000000)), 0x80000000);
    assert_int_equal(cvt("cvt.rn.f32.f64", UINT64_C(0xfff5555555555555)), 0xffeaaaaa); /* made quiet */
    assert_int_equal(cvt("cvt.rn.bf16.f64", UINT64_C(0x7ff0000000000001)), 0x7fc0);
    assert_int_equal(cvt("cvt.ftz.f64.f32", 0xff800001), UINT64_C(0x7fffffffe0000000));
    assert_int_equal(cvt("cvt.f32.bf16", 0xff81), 0xff810000); /* only moved */
    assert_int_equal(cvt("cvt.f32.f32", 0xff800001), 0xff800001);
    assert_int_equal(cvt("cvt.rn.tf32.f32", 0xff800001), 0x7fffe000);
    assert_int_equal(cvt("cvt.rna.satfinite.tf32.f32", 0x7f800001), 0x7f7fe000);
    assert_int_equal(cvt("cvt.sat.f64.f32", 0x7fc00000), 0);
    assert_int_equal(cvt("cvt.f64.f32", 0xff800001), UINT64_C(0xfff8000020000000));
    assert_int_equal(cvt("cvt.f32.f16", 0xfe00), NAN_F32);
    assert_int_equal(cvt("cvt.rn.bf16.f32", 0xff800001), NAN_F16);
    assert_int_equal(cvt("cvt.rn.sat.f16.f32", 0x7fc00000), 0);
}

static void numbers_are_rounded_to_smaller_ones(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.rn.f16.f32", 0x477ff000), 0x7c00);
    assert_int_equal(cvt("cvt.rz.f16.f32", 0x477ff000), 0x7bff);
    assert_int_equal(cvt("cvt.rm.f16.f32", 0xc77ff000), 0xfc00);
    assert_int_equal(cvt("cvt.rp.f16.f32", 1), 1);
    assert_int_equal(cvt("cvt.rp.ftz.f16.f32", 1), 1); /* nothing is flushed on the way to f16 */
    assert_int_equal(cvt("cvt.rp.ftz.bf16.f32", 1), 0);
    assert_int_equal(cvt("cvt.rn.ftz.f32.f64", UINT64_C(0x380fffffc0000000)), 0); /* just below 2^-126 */
    assert_int_equal(cvt("cvt.rn.f32.f64", UINT64_C(0x380fffffc0000000)), 0x007fffff);
    assert_int_equal(cvt("cvt.rn.f16.s32", 65520), 0x7c00);
    assert_int_equal(cvt("cvt.rz.f32.u64", UINT64_MAX), 0x5f7fffff);
    assert_int_equal(cvt("cvt.rn.f32.u64", UINT64_MAX), 0x5f800000);
    assert_int_equal(cvt("cvt.rn.bf16.f16", 1), 0x3380);
    assert_int_equal(cvt("cvt.rn.f16.f64", UINT64_C(0x3ff0020000000001)), 0x3c01); /* once, not twice */
    assert_int_equal(cvt("cvt.rna.tf32.f32", 0x3f801000), 0x3f802000);
    assert_int_equal(cvt("cvt.rn.tf32.f32", 0x3f801000), 0x3f800000);
}

static void a_number_becomes_whole(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.rni.f32.f32", 0xbf000000), 0x80000000); /* -0.5 */
    assert_int_equal(cvt("cvt.rpi.f32.f32", 0x3f000000), 0x3f800000);
    assert_int_equal(cvt("cvt.rmi.f16.f16", 0xb800), 0xbc00);
    assert_int_equal(cvt("cvt.rzi.sat.f32.f32", 0x40200000), 0x3f800000);
    assert_int_equal(cvt("cvt.rzi.f64.f64", UINT64_C(0x7fefffffffffffff)), UINT64_C(0x7fefffffffffffff));
}

static void limits_of_results(void **state)
{
    (void)state;
    assert_int_equal(cvt("cvt.sat.f32.f32", 0xbf800000), 0);
    assert_int_equal(cvt("cvt.sat.f32.f32", 0x3f7fffff), 0x3f7fffff);
    assert_int_equal(cvt("cvt.sat.f32.f32", 0x7f800000), 0x3f800000);
    assert_int_equal(cvt("cvt.rn.relu.f16.f32", 0xbf800000), 0);
    assert_int_equal(cvt("cvt.rn.relu.f16.f32", 0xffc00000), NAN_F16);
    assert_int_equal(cvt("cvt.rn.satfinite.f16.f32", 0x7f800000), 0x7bff);
    assert_int_equal(cvt("cvt.rn.satfinite.f16.f32", 0xc77ff000), 0xfbff);
}

static void pairs_have_the_first_source_above(void **state)
{
    (void)state;
    assert_int_equal(cvt2("cvt.rn.f16x2.f32", 0x3f800000, 0x40000000), 0x3c004000);
    assert_int_equal(cvt2("cvt.rn.bf16x2.f32", 0x3f800000, 0x40000000), 0x3f804000);
    assert_int_equal(cvt2("cvt.rn.satfinite.e4m3x2.f32", 0x3f800000, 0x447a0000), 0x387e); /* 1, 1000 */
    assert_int_equal(cvt2("cvt.rn.satfinite.e5m2x2.f32", 0x7fc00000, 0x48000000), 0x7f7b);
    assert_int_equal(cvt("cvt.rn.satfinite.e4m3x2.f16x2", 0x3c00c000), 0x38c0);
    assert_int_equal(cvt("cvt.rn.f16x2.e4m3x2", 0x38fe), 0x3c00df00); /* 1, -448 */
    assert_int_equal(cvt("cvt.rn.relu.f16x2.e5m2x2", 0x3cbc), 0x3c000000);
    assert_int_equal(cvt("cvt.rn.f16x2.e4m3x2", 0x7f01), 0x7fff1800); /* NaN, 2^-9 */
}

/* Against the host's own conversions, in all four roundings. */
static void integers_become_numbers_as_on_the_host(void **state)
{
    (void)state;
    static const int host[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    static const char *const names[] = {"rn", "rz", "rm", "rp"};
    struct rng rng;
    rng_init(&rng, 1, "convert");
    for (int n = 0; n < 100000; n++) {
        int mode = n & 3;
        volatile int64_t x = (int64_t)rng_next(&rng) >> rng_below(&rng, 63);
        fesetround(host[mode]);
        volatile float f32 = (float)x, of_unsigned = (float)(uint64_t)x;
        volatile double f64 = (double)x;
        fesetround(FE_TONEAREST);
        char opcode[32];
        snprintf(opcode, sizeof opcode, "cvt.%s.f32.s64", names[mode]);
        assert_int_equal(cvt(opcode, (uint64_t)x), bits_f32(f32));
        snprintf(opcode, sizeof opcode, "cvt.%s.f32.u64", names[mode]);
        assert_int_equal(cvt(opcode, (uint64_t)x), bits_f32(of_unsigned));
        snprintf(opcode, sizeof opcode, "cvt.%s.f64.s64", names[mode]);
        assert_int_equal(cvt(opcode, (uint64_t)x), bits_f64(f64));
    }
}

static void numbers_become_integers_as_on_the_host(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 2, "convert");
    for (int n = 0; n < 100000; n++) {
        double x = ((double)(int64_t)rng_next(&rng)) * exp2(-(double)rng_below(&rng, 70));
        if (fabs(x) >= 0x1p62)
            continue;
        assert_int_equal(cvt("cvt.rni.s64.f64", bits_f64(x)), (int64_t)rint(x));
        assert_int_equal(cvt("cvt.rmi.s64.f64", bits_f64(x)), (int64_t)floor(x));
        assert_int_equal(cvt("cvt.rpi.s64.f64", bits_f64(x)), (int64_t)ceil(x));
        assert_int_equal(cvt("cvt.rzi.s64.f64", bits_f64(x)), (int64_t)x);
        assert_int_equal(cvt("cvt.rni.f64.f64", bits_f64(x)), bits_f64(rint(x)));
        assert_int_equal(cvt("cvt.rzi.s32.f64", bits_f64(x)), x >= 0x1p31    ? 0x7fffffff
                                                              : x <= -0x1p31 ? 0x80000000
                                                                             : (uint32_t)(int32_t)x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_are_read),
        cmocka_unit_test(what_is_no_conversion_is_refused),
        cmocka_unit_test(integers_are_cut_or_extended),
        cmocka_unit_test(integers_saturate_when_told_to),
        cmocka_unit_test(numbers_become_the_integers_beside_them),
        cmocka_unit_test(what_a_nan_becomes_depends_on_the_widths),
        cmocka_unit_test(numbers_are_rounded_to_smaller_ones),
        cmocka_unit_test(a_number_becomes_whole),
        cmocka_unit_test(limits_of_results),
        cmocka_unit_test(pairs_have_the_first_source_above),
        cmocka_unit_test(integers_become_numbers_as_on_the_host),
        cmocka_unit_test(numbers_become_integers_as_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
