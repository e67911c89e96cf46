/* The executors that are made from rows of GCN3's arithmetic, family by family. test_gcn3_execute.c compares
 * them with a second implementation. */
#include "check.h"

#include "base/rng.h"
#include "exec/number.h"
#include "gcn3_run/alu.h"

#include <math.h>

enum {
    DENORMALS = 0xf0, /* MODE: kept, */
    FLUSH_F32 = 0xc0, /* those of f32 are flushed: what compilers set */
    IEEE = 0x200,
    UP = 5, /* rounding of all types */
    DOWN = 10,
    ZERO = 15
};

static uint32_t words[8][2][GCN3_LANES];

/* All lanes have these sources; gives lane 0's result, and that of its mask. */
struct result {
    uint64_t d;
    bool mask;
};

static struct result run(enum gcn3_op op, uint64_t a, uint64_t b, uint64_t c, uint32_t mode, bool mask,
                         bool clamp)
{
    const uint64_t values[] = {a, b, c};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < GCN3_LANES; i++)
            words[k][0][i] = (uint32_t)values[k], words[k][1][i] = (uint32_t)(values[k] >> 32);
    struct result r = {0};
    for (int level = 0; level < GCN3_LEVELS; level++) {
        gcn3_vector_fn *fn = gcn3_vector_executor_at(level, op);
        if (!fn)
            continue;
        memset(words[3], 0, sizeof words[3]);
        struct gcn3_lanes l = {.d = {words[3][0], words[3][1]},
                               .a = {words[0][0], words[0][1]},
                               .b = {words[1][0], words[1][1]},
                               .c = {words[2][0], words[2][1]},
                               .exec = UINT64_MAX,
                               .mask_in = mask ? UINT64_MAX : 0,
                               .mode = mode,
                               .clamp = clamp};
        fn(&l);
        r.d = words[3][0][0] | (uint64_t)words[3][1][0] << 32;
        r.mask = l.mask_out & 1;
        for (int i = 1; i < GCN3_LANES; i++)
            if (words[3][0][i] != words[3][0][0] || words[3][1][i] != words[3][1][0])
                fail_msg("%s of %llx, %llx, %llx at level %d: lane %d has %08x:%08x, lane 0 %08x:%08x",
                         gcn3_rows[op].text, (unsigned long long)a, (unsigned long long)b,
                         (unsigned long long)c, level, i, words[3][1][i], words[3][0][i], words[3][1][0],
                         words[3][0][0]);
        assert_true(l.mask_out == 0 || l.mask_out == UINT64_MAX);
    }
    return r;
}

static uint32_t of(enum gcn3_op op, uint64_t a, uint64_t b, uint64_t c)
{
    return (uint32_t)run(op, a, b, c, FLUSH_F32, false, false).d;
}

static uint32_t f(float x)
{
    return bits_f32(x);
}

static void floats_round_as_mode_says(void **state)
{
    (void)state;
    uint32_t one = f(1.0f), tiny = f(0x1p-40f);
    assert_int_equal(run(GCN3_V_ADD_F32, one, tiny, 0, DENORMALS, 0, 0).d, one);
    assert_int_equal(run(GCN3_V_ADD_F32, one, tiny, 0, DENORMALS | UP, 0, 0).d, one + 1);
    assert_int_equal(run(GCN3_V_SUB_F32, one, tiny, 0, DENORMALS | DOWN, 0, 0).d, one - 1);
    assert_int_equal(run(GCN3_V_SUB_F32, one, tiny, 0, DENORMALS | ZERO, 0, 0).d, one - 1);
    assert_int_equal(run(GCN3_V_ADD_F64, bits_f64(1.0), bits_f64(0x1p-80), 0, DENORMALS | UP, 0, 0).d,
                     bits_f64(1.0) + 1);
    assert_int_equal(run(GCN3_V_ADD_F16, 0x3c00, 1, 0, DENORMALS | UP, 0, 0).d, 0x3c01);
    assert_int_equal(run(GCN3_V_ADD_F16, 0x3c00, 1, 0, DENORMALS, 0, 0).d, 0x3c00);
    assert_true(1.0f + 0x1p-40f == 1.0f); /* and the host rounds as before */
}

static void denormals_are_flushed_as_mode_says(void **state)
{
    (void)state;
    uint32_t small = f(0x1p-126f), half = f(0.5f), denormal = 0x400000;
    assert_int_equal(run(GCN3_V_MUL_F32, small, half, 0, DENORMALS, 0, 0).d, denormal);
    assert_int_equal(run(GCN3_V_MUL_F32, small, half, 0, FLUSH_F32, 0, 0).d, 0);
    assert_int_equal(run(GCN3_V_MUL_F32, denormal, f(2.0f), 0, FLUSH_F32, 0, 0).d, 0);
    assert_int_equal(run(GCN3_V_MUL_F32, denormal, f(2.0f), 0, FLUSH_F32 | 0x10, 0, 0).d, small);
    assert_int_equal(run(GCN3_V_MAD_F32, denormal, f(2.0f), 0, DENORMALS, 0, 0).d, 0); /* always */
    assert_int_equal(run(GCN3_V_FMA_F32, denormal, f(2.0f), 0, DENORMALS, 0, 0).d, small);
    assert_int_equal(run(GCN3_V_MUL_F16, 0x0001, 0x4000, 0, 0x30, 0, 0).d, 0);
    assert_int_equal(run(GCN3_V_MUL_F16, 0x0001, 0x4000, 0, DENORMALS, 0, 0).d, 2);
    assert_true(run(GCN3_V_CMP_EQ_F32, denormal, 0, 0, FLUSH_F32, 0, 0).mask);
    assert_false(run(GCN3_V_CMP_EQ_F32, denormal, 0, 0, DENORMALS, 0, 0).mask);
}

static void mad_rounds_twice_and_fma_once(void **state)
{
    (void)state;
    float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
    assert_int_equal(of(GCN3_V_MAD_F32, f(a), f(a), f(c)), 0);
    assert_int_equal(of(GCN3_V_FMA_F32, f(a), f(a), f(c)), f(0x1p-24f));
    assert_int_equal(of(GCN3_V_MAC_F32, f(2.0f), f(3.0f), f(4.0f)), f(10.0f));
    assert_int_equal(of(GCN3_V_MADMK_F32, f(2.0f), f(3.0f), f(4.0f)), f(11.0f)); /* the constant is c */
    assert_int_equal(of(GCN3_V_MUL_LEGACY_F32, 0, f(INFINITY), 0), 0);
}

static void least_and_greatest_prefer_numbers(void **state)
{
    (void)state;
    uint32_t nan = 0x7fc00000, signaling = 0x7f800001;
    assert_int_equal(of(GCN3_V_MIN_F32, nan, f(2.0f), 0), f(2.0f));
    assert_int_equal(of(GCN3_V_MAX_F32, f(-2.0f), nan, 0), f(-2.0f));
    assert_int_equal(of(GCN3_V_MIN_F32, f(-1.0f), f(2.0f), 0), f(-1.0f));
    assert_int_equal(of(GCN3_V_MIN_F32, signaling, f(2.0f), 0), f(2.0f));
    assert_true(
        isnan(f32_bits((uint32_t)run(GCN3_V_MIN_F32, signaling, f(2.0f), 0, FLUSH_F32 | IEEE, 0, 0).d)));
    assert_int_equal(of(GCN3_V_MED3_F32, f(3.0f), f(1.0f), f(2.0f)), f(2.0f));
    assert_int_equal(of(GCN3_V_MED3_F32, nan, f(3.0f), f(2.0f)), f(2.0f));
    assert_int_equal(of(GCN3_V_MED3_I32, 5, (uint32_t)-7, 1), 1);
    assert_int_equal(of(GCN3_V_MAX3_U32, 5, (uint32_t)-7, 1), (uint32_t)-7);
}

static void conversions_saturate_and_nan_is_zero(void **state)
{
    (void)state;
    assert_int_equal(of(GCN3_V_CVT_I32_F32, f(-3.9f), 0, 0), (uint32_t)-3);
    assert_int_equal(of(GCN3_V_CVT_I32_F32, f(3e9f), 0, 0), INT32_MAX);
    assert_int_equal(of(GCN3_V_CVT_I32_F32, f(NAN), 0, 0), 0);
    assert_int_equal(of(GCN3_V_CVT_U32_F32, f(-1.0f), 0, 0), 0);
    assert_int_equal(of(GCN3_V_CVT_U32_F64, bits_f64(5e9), 0, 0), UINT32_MAX);
    assert_int_equal(of(GCN3_V_CVT_RPI_I32_F32, f(-2.5f), 0, 0), (uint32_t)-2);
    assert_int_equal(of(GCN3_V_CVT_FLR_I32_F32, f(-2.5f), 0, 0), (uint32_t)-3);
    assert_int_equal(of(GCN3_V_CVT_F32_UBYTE2, 0x00ab0000, 0, 0), f(171.0f));
    assert_int_equal(of(GCN3_V_CVT_OFF_F32_I4, 8, 0, 0), f(-0.5f));
    assert_int_equal(of(GCN3_V_CVT_F16_F32, f(65520.0f), 0, 0), 0x7c00);
    assert_int_equal(of(GCN3_V_CVT_F32_F16, 0x0001, 0, 0), f(0x1p-24f)); /* MODE keeps those of f16 */
    assert_int_equal(of(GCN3_V_CVT_PKRTZ_F16_F32, f(1.9999f), f(-2.0f), 0), 0xc0003fff);
    assert_int_equal(of(GCN3_V_CVT_PK_I16_I32, 70000, (uint32_t)-70000, 0), 0x80007fff);
}

static void fractions_and_exponents_come_apart(void **state)
{
    (void)state;
    assert_int_equal(of(GCN3_V_FREXP_MANT_F32, f(-12.0f), 0, 0), f(-0.75f));
    assert_int_equal(of(GCN3_V_FREXP_EXP_I32_F32, f(-12.0f), 0, 0), 4);
    assert_int_equal(of(GCN3_V_LDEXP_F32, f(0.75f), 4, 0), f(12.0f));
    assert_int_equal(run(GCN3_V_LDEXP_F32, f(1.5f), (uint32_t)-150, 0, DENORMALS, 0, 0).d,
                     1); /* rounded once */
    assert_int_equal(of(GCN3_V_FRACT_F32, f(-1e-20f), 0, 0), f(0x1.fffffep-1f));
    assert_int_equal(of(GCN3_V_RNDNE_F32, f(2.5f), 0, 0), f(2.0f));
    assert_int_equal(run(GCN3_V_RNDNE_F32, f(2.5f), 0, 0, DENORMALS | UP, 0, 0).d, f(2.0f));
    assert_int_equal(of(GCN3_V_CEIL_F32, f(2.1f), 0, 0), f(3.0f));
}

static void integers_clamp_to_their_type(void **state)
{
    (void)state;
    assert_int_equal(run(GCN3_V_ADD_U16, 0xffff, 2, 0, 0, 0, false).d, 1);
    assert_int_equal(run(GCN3_V_ADD_U16, 0xffff, 2, 0, 0, 0, true).d, 0xffff);
    assert_int_equal(run(GCN3_V_SUB_U16, 1, 2, 0, 0, 0, true).d, 0);
    assert_int_equal(run(GCN3_V_MAD_I32_I24, 0x7fffff, 0x7fffff, 0, 0, 0, true).d, INT32_MAX);
    assert_int_equal(run(GCN3_V_MAD_I32_I24, 0xffffff, 3, 1, 0, 0, false).d, (uint32_t)-2);
    assert_int_equal(run(GCN3_V_SAD_U32, UINT32_MAX, 0, 5, 0, 0, true).d, UINT32_MAX);
}

static void sums_carry(void **state)
{
    (void)state;
    struct result r = run(GCN3_V_ADD_CO_U32, UINT32_MAX, 1, 0, 0, false, false);
    assert_true(r.d == 0 && r.mask);
    r = run(GCN3_V_ADDC_CO_U32, UINT32_MAX, 0, 0, 0, true, false);
    assert_true(r.d == 0 && r.mask);
    r = run(GCN3_V_ADDC_CO_U32, UINT32_MAX, UINT32_MAX, 0, 0, true, false);
    assert_true(r.d == UINT32_MAX && r.mask);
    r = run(GCN3_V_SUBB_CO_U32, 5, 5, 0, 0, true, false);
    assert_true(r.d == UINT32_MAX && r.mask);
    r = run(GCN3_V_SUBBREV_CO_U32, 5, 7, 0, 0, true, false);
    assert_true(r.d == 1 && !r.mask);
    r = run(GCN3_V_SUB_CO_U32, 5, 7, 0, 0, false, true);
    assert_true(r.d == 0 && r.mask);
    r = run(GCN3_V_MAD_U64_U32, UINT32_MAX, UINT32_MAX, UINT64_MAX, 0, false, false);
    assert_true(r.d == UINT64_C(0xfffffffe00000000) && r.mask);
}

static void bits_are_moved(void **state)
{
    (void)state;
    assert_int_equal(of(GCN3_V_BFE_U32, 0x12345678, 8, 12), 0x456);
    assert_int_equal(of(GCN3_V_BFE_I32, 0x00000f00, 8, 4), UINT32_MAX);
    assert_int_equal(of(GCN3_V_BFI_B32, 0xff00ff00, 0x12345678, 0x9abcdef0), 0x12bc56f0);
    assert_int_equal(of(GCN3_V_ALIGNBIT_B32, 0x12345678, 0x9abcdef0, 8), 0x789abcde);
    assert_int_equal(of(GCN3_V_ALIGNBIT_B32, 0x12345678, 0x9abcdef0, 0), 0x9abcdef0);
    assert_int_equal(of(GCN3_V_PERM_B32, 0x33221100, 0x77665544, 0x0c0d0700), 0x00ff3344);
    assert_int_equal(of(GCN3_V_BFREV_B32, 1, 0, 0), 0x80000000);
    assert_int_equal(of(GCN3_V_FFBH_U32, 0, 0, 0), UINT32_MAX);
    assert_int_equal(of(GCN3_V_FFBH_I32, 0xfffffff0, 0, 0), 28);
    assert_int_equal(of(GCN3_V_LSHLREV_B32, 33, 1, 0), 2);
    assert_int_equal(of(GCN3_V_ASHRREV_I16, 1, 0x8000, 0), 0xc000);
    assert_int_equal(run(GCN3_V_ASHRREV_I64, 4, UINT64_C(1) << 63, 0, 0, 0, 0).d, UINT64_C(0xf8) << 56);
    assert_int_equal(of(GCN3_V_SAD_U8, 0x01020304, 0x04030201, 10), 18);
    assert_int_equal(of(GCN3_V_LERP_U8, 0x01ff0000, 0x02ff0000, 0x01000000), 0x02ff0000);
    assert_int_equal(run(GCN3_V_CNDMASK_B32, 1, 2, 0, 0, true, 0).d, 2);
}

static void lanes_count_those_below(void **state)
{
    (void)state;
    gcn3_vector_fn *low = gcn3_vector_executor(GCN3_V_MBCNT_LO_U32_B32);
    gcn3_vector_fn *high = gcn3_vector_executor(GCN3_V_MBCNT_HI_U32_B32);
    memset(words[0], 0xff, sizeof words[0]);
    memset(words[1], 0, sizeof words[1]);
    struct gcn3_lanes l = {.d = {words[3][0]}, .a = {words[0][0]}, .b = {words[1][0]}};
    low(&l);
    struct gcn3_lanes next = {.d = {words[4][0]}, .a = {words[0][0]}, .b = {words[3][0]}};
    high(&next);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        assert_int_equal(words[4][0][i], i);
}

static void classes_are_told_apart(void **state)
{
    (void)state;
    static const uint32_t kinds[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001,
                                     0x80000000, 0,          1,          0x3f800000, 0x7f800000};
    for (uint32_t i = 0; i < 10; i++)
        for (uint32_t bit = 0; bit < 10; bit++)
            assert_int_equal(run(GCN3_V_CMP_CLASS_F32, kinds[i], 1u << bit, 0, DENORMALS, 0, 0).mask,
                             i == bit);
    assert_true(run(GCN3_V_CMP_NLT_F32, f(NAN), f(1.0f), 0, DENORMALS, 0, 0).mask);
    assert_false(run(GCN3_V_CMP_GE_F32, f(NAN), f(1.0f), 0, DENORMALS, 0, 0).mask);
    assert_true(run(GCN3_V_CMP_LT_F16, 0xbc00, 0x3c00, 0, DENORMALS, 0, 0).mask);
    assert_true(run(GCN3_V_CMP_GT_U64, UINT64_C(1) << 40, 5, 0, 0, 0, 0).mask);
}

/* As compilers divide: scaled, a reciprocal made better, the quotient made better, scaled back. */
static float divide_f32(float n, float d)
{
    uint32_t mode = DENORMALS, a = f(n), b = f(d);
    uint64_t sd = run(GCN3_V_DIV_SCALE_F32, b, b, a, mode, 0, 0).d;
    struct result sn = run(GCN3_V_DIV_SCALE_F32, a, b, a, mode, 0, 0);
    uint64_t minus = sd ^ 0x80000000, r = run(GCN3_V_RCP_F32, sd, 0, 0, mode, 0, 0).d;
    uint64_t e = run(GCN3_V_FMA_F32, minus, r, f(1.0f), mode, 0, 0).d;
    r = run(GCN3_V_FMA_F32, e, r, r, mode, 0, 0).d;
    uint64_t q = run(GCN3_V_MUL_F32, sn.d, r, 0, mode, 0, 0).d;
    e = run(GCN3_V_FMA_F32, minus, q, sn.d, mode, 0, 0).d;
    q = run(GCN3_V_FMA_F32, e, r, q, mode, 0, 0).d;
    e = run(GCN3_V_FMA_F32, minus, q, sn.d, mode, 0, 0).d;
    q = run(GCN3_V_DIV_FMAS_F32, e, r, q, mode, sn.mask, 0).d;
    return f32_bits((uint32_t)run(GCN3_V_DIV_FIXUP_F32, q, b, a, mode, 0, 0).d);
}

static double divide_f64(double n, double d)
{
    uint32_t mode = DENORMALS;
    uint64_t a = bits_f64(n), b = bits_f64(d), one = bits_f64(1.0), sign = UINT64_C(1) << 63;
    uint64_t sd = run(GCN3_V_DIV_SCALE_F64, b, b, a, mode, 0, 0).d;
    struct result sn = run(GCN3_V_DIV_SCALE_F64, a, b, a, mode, 0, 0);
    uint64_t r = run(GCN3_V_RCP_F64, sd, 0, 0, mode, 0, 0).d;
    for (int i = 0; i < 2; i++) {
        uint64_t e = run(GCN3_V_FMA_F64, sd ^ sign, r, one, mode, 0, 0).d;
        r = run(GCN3_V_FMA_F64, r, e, r, mode, 0, 0).d;
    }
    uint64_t q = run(GCN3_V_MUL_F64, sn.d, r, 0, mode, 0, 0).d;
    uint64_t e = run(GCN3_V_FMA_F64, sd ^ sign, q, sn.d, mode, 0, 0).d;
    q = run(GCN3_V_DIV_FMAS_F64, e, r, q, mode, sn.mask, 0).d;
    return f64_bits(run(GCN3_V_DIV_FIXUP_F64, q, b, a, mode, 0, 0).d);
}

static void divisions_are_exact(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, "divide");
    for (int i = 0; i < 20000; i++) {
        float n = f32_bits((uint32_t)rng_next(&rng)), d = f32_bits((uint32_t)rng_next(&rng));
        if (isnormal(n) && isnormal(d) && fabsf(d) < 0x1p125f)
            assert_int_equal(f(divide_f32(n, d)), f(n / d));
        double x = f64_bits(rng_next(&rng)), y = f64_bits(rng_next(&rng));
        if (isnormal(x) && isnormal(y) && fabs(y) < 0x1p1021)
            assert_int_equal(bits_f64(divide_f64(x, y)), bits_f64(x / y));
    }
    assert_true(isnan(divide_f32(0.0f, 0.0f)) && divide_f32(-1.0f, 0.0f) == -INFINITY);
    assert_true(divide_f32(1.0f, INFINITY) == 0.0f && isnan(divide_f64(INFINITY, -INFINITY)));
}

/* Within one unit in the last place of the right value. */
static void check_near(enum gcn3_op op, float x, double right)
{
    float r = f32_bits(of(op, f(x), 0, 0)), nearest = (float)right;
    int64_t apart = (int64_t)less_f32(0, r) - less_f32(0, nearest);
    if (apart || llabs((int64_t)(f(r) & 0x7fffffff) - (int64_t)(f(nearest) & 0x7fffffff)) > 1)
        fail_msg("%s of %a: %a, not %a", gcn3_rows[op].text, (double)x, (double)r, (double)nearest);
}

static void functions_are_within_one_ulp(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 4, "functions");
    for (int i = 0; i < 20000; i++) {
        float x = f32_bits((uint32_t)rng_below(&rng, 0x7f000000 - 0x00800000) + 0x00800000);
        float small = (float)rng_below(&rng, 1 << 24) * 0x1p-17f - 64.0f;
        check_near(GCN3_V_RSQ_F32, x, 1.0 / sqrt((double)x));
        check_near(GCN3_V_SQRT_F32, x, sqrt((double)x));
        check_near(GCN3_V_LOG_F32, x, log2((double)x));
        check_near(GCN3_V_EXP_F32, small, exp2((double)small));
    }
    for (int i = 0; i < 1000; i++) {
        float x = (float)rng_below(&rng, 1 << 20) * 0x1p-12f - 128.0f;
        float sine = f32_bits(of(GCN3_V_SIN_F32, f(x), 0, 0)),
              cosine = f32_bits(of(GCN3_V_COS_F32, f(x), 0, 0));
        assert_true(fabs((double)sine - sin((double)(x - floorf(x)) * 2 * M_PI)) < 0x1p-24);
        assert_true(fabs((double)cosine - cos((double)(x - floorf(x)) * 2 * M_PI)) < 0x1p-24);
    }
    assert_int_equal(of(GCN3_V_RCP_F32, f(-0.0f), 0, 0), f(-INFINITY));
    assert_int_equal(of(GCN3_V_LOG_F32, 0, 0, 0), f(-INFINITY));
    assert_int_equal(of(GCN3_V_EXP_F32, f(-INFINITY), 0, 0), 0);
    assert_int_equal(of(GCN3_V_COS_F32, f(1e9f), 0, 0), f(1.0f));
}

static void segments_of_two_over_pi_add_up(void **state)
{
    (void)state;
    double sum = 0.0;
    for (int i = 2; i >= 0; i--)
        sum += f64_bits(run(GCN3_V_TRIG_PREOP_F64, bits_f64(1.0), (uint64_t)i, 0, DENORMALS, 0, 0).d);
    assert_true(sum == 0.63661977236758134);
}

static struct gcn3_scalar scalar(enum gcn3_op op, uint64_t a, uint64_t b, bool scc)
{
    struct gcn3_scalar s = {.a = a, .b = b, .d = 0x55, .exec = 0xff00, .scc = scc};
    gcn3_scalar_executor(op)(&s);
    return s;
}

static void scalars_set_scc(void **state)
{
    (void)state;
    struct gcn3_scalar s = scalar(GCN3_S_ADD_U32, UINT32_MAX, 1, false);
    assert_true(s.d == 0 && s.scc);
    s = scalar(GCN3_S_ADD_I32, INT32_MAX, 1, false);
    assert_true(s.d == 0x80000000 && s.scc);
    s = scalar(GCN3_S_SUBB_U32, 5, 5, true);
    assert_true(s.d == UINT32_MAX && s.scc);
    s = scalar(GCN3_S_AND_B64, 0xf0, 0x0f, true);
    assert_true(s.d == 0 && !s.scc);
    s = scalar(GCN3_S_CSELECT_B32, 1, 2, false);
    assert_true(s.d == 2);
    s = scalar(GCN3_S_AND_SAVEEXEC_B64, 0x0f00, 0, false);
    assert_true(s.d == 0xff00 && s.exec == 0x0f00 && s.scc);
    s = scalar(GCN3_S_BFE_I32, 0xf00, 8 | 4 << 16, false);
    assert_true(s.d == UINT32_MAX && s.scc);
    s = scalar(GCN3_S_BFE_U64, UINT64_MAX, 60 | 64 << 16, false);
    assert_true(s.d == 15);
    s = scalar(GCN3_S_FLBIT_I32_I64, UINT64_MAX, 0, false);
    assert_true((uint32_t)s.d == UINT32_MAX);
    s = scalar(GCN3_S_WQM_B64, UINT64_C(1) << 63 | 2, 0, false);
    assert_true(s.d == (UINT64_C(0xf) << 60 | 0xf) && s.scc);
    s = scalar(GCN3_S_CMP_LT_I32, (uint32_t)-1, 0, false);
    assert_true(s.scc);
    s = scalar(GCN3_S_BITSET1_B32, 1, 0, false);
    assert_true(s.d == 0x57);
    s = scalar(GCN3_S_ABSDIFF_I32, (uint32_t)-3, 4, false);
    assert_true(s.d == 7);
}

static void all_levels_give_the_same(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 5, "levels");
    for (int op = 1; op < GCN3_OP_COUNT; op++) {
        if (!gcn3_vector_executor_at(0, (enum gcn3_op)op))
            continue;
        uint64_t mask_in = rng_next(&rng), masks[GCN3_LEVELS] = {0};
        uint32_t mode = rng_next(&rng) & 0x3ff;
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < GCN3_LANES; i++) {
                uint64_t bits = rng_next(&rng) >> (rng_below(&rng, 4) ? 0 : 32);
                words[k][0][i] = (uint32_t)bits, words[k][1][i] = (uint32_t)(bits >> 32);
            }
        for (int level = 0; level < GCN3_LEVELS; level++) {
            gcn3_vector_fn *fn = gcn3_vector_executor_at(level, (enum gcn3_op)op);
            if (!fn)
                continue;
            struct gcn3_lanes l = {.d = {words[3 + level][0], words[3 + level][1]},
                                   .a = {words[0][0], words[0][1]},
                                   .b = {words[1][0], words[1][1]},
                                   .c = {words[2][0], words[2][1]},
                                   .mask_in = mask_in,
                                   .mode = mode};
            memset(words[3 + level], 0, sizeof words[0]);
            fn(&l);
            masks[level] = l.mask_out;
            for (int i = 0; i < GCN3_LANES; i++) {
                uint64_t x = words[3][0][i] | (uint64_t)words[3][1][i] << 32;
                uint64_t y = words[3 + level][0][i] | (uint64_t)words[3 + level][1][i] << 32;
                if (x != y)
                    fail_msg("%s at level %d: %llx, not %llx", gcn3_rows[op].text, level,
                             (unsigned long long)y, (unsigned long long)x);
            }
            assert_int_equal(masks[level], masks[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_round_as_mode_says),
        cmocka_unit_test(denormals_are_flushed_as_mode_says),
        cmocka_unit_test(mad_rounds_twice_and_fma_once),
        cmocka_unit_test(least_and_greatest_prefer_numbers),
        cmocka_unit_test(conversions_saturate_and_nan_is_zero),
        cmocka_unit_test(fractions_and_exponents_come_apart),
        cmocka_unit_test(integers_clamp_to_their_type),
        cmocka_unit_test(sums_carry),
        cmocka_unit_test(bits_are_moved),
        cmocka_unit_test(lanes_count_those_below),
        cmocka_unit_test(classes_are_told_apart),
        cmocka_unit_test(divisions_are_exact),
        cmocka_unit_test(functions_are_within_one_ulp),
        cmocka_unit_test(segments_of_two_over_pi_add_up),
        cmocka_unit_test(scalars_set_scc),
        cmocka_unit_test(all_levels_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
