/* Functions that a GPU only approximates, bit for bit as an H200 computes them.
 *
 * One unit computes all of them. The upper bits of its argument select a segment of the curve, the other 17
 * are x, and the result is c0 + c1 x + c2 x^2, truncated to 24 bits. The square is not exact: its lower
 * partial products are left out. Around the unit there are operations on f32, those that NVIDIA's assembler
 * puts there for sm_90. Subnormal numbers are not flushed here; rows with .ftz flush them outside, except for
 * those of quotients. */
#ifndef PTX_RUN_APPROX_H
#define PTX_RUN_APPROX_H

#include "exec/number.h"

/* Where a function's parts are in the tables. */
enum {
    APPROX_RCP = 0,     /* 1..2 in 128 parts */
    APPROX_RSQRT = 128, /* 1..2 in 64, and 2..4 */
    APPROX_SQRT = 256,  /* likewise */
    APPROX_EX2 = 384,   /* 0..1 in 64 */
    APPROX_LG2 = 448,   /* 1..2 in 64 */
    APPROX_SIN = 512,   /* a quarter turn in 64 */
    APPROX_TANH = 576,  /* 2^-8..8; a part is 2^17 steps, of different sizes in different octaves */
    APPROX_PARTS = 627
};

/* c0 is in units of 2^-26, c1 and c2 are in those of 2^-40 */
extern const int32_t approx_c0[APPROX_PARTS], approx_c1[APPROX_PARTS], approx_c2[APPROX_PARTS];

/* How many bits of tanh's argument are dropped, and its first part, by octave from 2^-8 on. */
extern const int32_t approx_tanh_drop[11], approx_tanh_part[11];

/* x^2 / 2^19: a bit i of x meets itself and the bits from 18 - i to i - 1, each with twice the weight. */
LANE int32_t approx_square(uint32_t x)
{
#define ROW_OF(i) ((((x & ((1u << (i)) - 1)) * 2 + (1u << (i))) >> (19 - (i))) & (0 - (x >> (i)&1)))
    return (int32_t)(ROW_OF(10) + ROW_OF(11) + ROW_OF(12) + ROW_OF(13) + ROW_OF(14) + ROW_OF(15) +
                     ROW_OF(16));
#undef ROW_OF
}

/* In units of 2^-40. All of it is whole and below 2^42, so f64 computes it exactly, in vectors, and
 * normalizes it. `round` is the function's own: it centres the error that cutting off makes. */
LANE double approx_sum(uint32_t part, uint32_t x, int32_t round)
{
    double c0 = (double)approx_c0[part] * 0x1p14 + (double)round;
    double c1 = (double)approx_c1[part] * (double)(int32_t)x;
    return c0 + c1 + (double)approx_c2[part] * (double)approx_square(x);
}

/* A sum, which is not 0, as the bits of an f32. They go down through 0 for exponents f32 does not have. */
LANE uint32_t approx_bits(double sum)
{
    return (uint32_t)(bits_f64(sum) >> 29) - ((1023u + 40 - 127) << 23);
}

/* --- the unit: it takes subnormal numbers for 0 and makes none ----------------------------------------- */

LANE float sfu_rcp(float a)
{
    uint32_t bits = bits_f32(a), magnitude = bits & 0x7fffffff, fraction = bits & 0x7fffff;
    uint32_t r = approx_bits(approx_sum(APPROX_RCP + (fraction >> 16), (fraction & 0xffff) << 1, 4046));
    r -= (magnitude & 0x7f800000) - 0x3f800000;
    r = (int32_t)r < 0x00800000 ? 0 : r;
    r = magnitude < 0x00800000 ? 0x7f800000 : r;
    return f32_bits(magnitude > 0x7f800000 ? NAN_F32 : r | (bits & 0x80000000));
}

/* A root's part, of 1..2 or of 2..4, and half of the exponent that is left. */
LANE uint32_t root_part(uint32_t bits)
{
    return (bits >> 17 & 0x7f) ^ 0x40;
}

LANE uint32_t root_exponent(uint32_t bits)
{
    return ((bits >> 24) + (bits >> 23 & 1) - 64) << 23;
}

LANE float sfu_rsqrt(float a)
{
    uint32_t bits = bits_f32(a);
    uint32_t r = approx_bits(approx_sum(APPROX_RSQRT + root_part(bits), bits & 0x1ffff, -1));
    r = (bits & 0xffffff) == 0x800000 ? 0x3f800000 : r; /* the first part cannot reach 1 */
    r -= root_exponent(bits);
    r = bits == 0x7f800000 ? 0 : bits > 0x7f800000 ? NAN_F32 : r;
    return f32_bits((bits & 0x7f800000) ? r : 0x7f800000 | (bits & 0x80000000));
}

LANE float sfu_sqrt(float a)
{
    uint32_t bits = bits_f32(a);
    uint32_t r =
        approx_bits(approx_sum(APPROX_SQRT + root_part(bits), bits & 0x1ffff, -1)) + root_exponent(bits);
    r = bits == 0x7f800000 ? bits : bits > 0x7f800000 ? NAN_F32 : r;
    return f32_bits((bits & 0x7f800000) ? r : bits & 0x80000000);
}

LANE float sfu_ex2(float a)
{
    uint32_t bits = bits_f32(a), magnitude = bits & 0x7fffffff;
    /* in units of 2^-23; one that is not whole is made negative by turning its bits */
    float inside = f32_bits(magnitude < 0x43000000 ? magnitude : 0); /* below 128 */
    uint32_t x = (uint32_t)(int32_t)(inside * 0x1p23f);
    uint32_t negative = (x & 0x7fffff) ? ~x : 0 - x;
    x = bits >> 31 ? negative : x;
    int32_t exponent = (int32_t)x >> 23;
    uint32_t r = approx_bits(approx_sum(APPROX_EX2 + (x >> 17 & 0x3f), x & 0x1ffff, 8072)) +
                 ((uint32_t)exponent << 23);
    r = exponent < -126 ? 0 : r;
    r = magnitude < 0x43000000 ? r : bits >> 31 ? 0 : 0x7f800000;
    return f32_bits(magnitude > 0x7f800000 ? NAN_F32 : r);
}

LANE float sfu_lg2(float a)
{
    uint32_t bits = bits_f32(a);
    double sum = approx_sum(APPROX_LG2 + (bits >> 17 & 0x3f), bits & 0x1ffff, 3348);
    /* cut to a multiple of 16: up at 2^56 there are no others, and 7.5 less than a whole number is nearest to
     * the one below it */
    sum = sum - 7.5 + 0x1p56 - 0x1p56;
    sum += (double)((int32_t)(bits >> 23 & 0xff) - 127) * 0x1p40;
    double magnitude = sum < 0.0 ? -16.0 - sum : sum; /* made negative by turning its bits */
    uint32_t r = approx_bits(magnitude) | (sum < 0.0 ? 0x80000000 : 0);
    r = bits == 0x3f800000 ? 0 : r;
    r = bits == 0x7f800000 ? bits : bits > 0x7f800000 ? NAN_F32 : r;
    return f32_bits((bits & 0x7f800000) ? r : 0xff800000);
}

/* A significand of 24 bits times 2^shift, without the bits that are not whole and those from 2^32 on. */
LANE uint32_t approx_shift(uint32_t significand, int32_t shift)
{
    int32_t left = shift > 31 ? 31 : shift < 0 ? 0 : shift, right = shift < -31 ? 31 : shift > 0 ? 0 : -shift;
    return significand << left >> right;
}

/* The argument's magnitude in turns, below one turn, in units of 2^-25. It is a product of f32 rounded
 * towards 0: the one of f64 is exact, and the bits that f32 does not have are left out. */
LANE uint32_t approx_turn(float a)
{
    uint64_t product = bits_f64((double)abs_f32(a) * (double)0x1.45f306p-3f);
    uint32_t significand = ((uint32_t)(product >> 29) & 0x7fffff) | 0x800000;
    return approx_shift(significand, (int32_t)(product >> 52) - 1023 + 2) & 0x1ffffff;
}

/* The sine of a magnitude, `quarters` later. Every second quarter goes back by turning the bits. */
LANE uint32_t approx_sine(float a, uint32_t quarters)
{
    uint32_t turn = approx_turn(a), quarter = (turn >> 23) + quarters, x = turn & 0x7fffff;
    uint32_t back = (quarter & 1) ? ~x & 0x7fffff : x;
    uint32_t r = approx_bits(approx_sum(APPROX_SIN + (back >> 17), back & 0x1ffff, 0));
    r = back ? r : 0;
    r = (x | (quarter & 1) << 23) == 0x800000 ? 0x3f800000 : r;
    return r | (quarter & 2) << 30;
}

/* --- f32 ----------------------------------------------------------------------------------------------- */

LANE float rcp_approx(float a)
{
    float scale = abs_f32(a) > 0x1p126f ? 0.25f : abs_f32(a) < 0x1p-126f ? 0x1p24f : 1.0f;
    return nan_f32(sfu_rcp(a * scale) * scale);
}

LANE float sqrt_approx(float a)
{
    bool subnormal = abs_f32(a) < 0x1p-126f;
    return nan_f32(sfu_sqrt(a * (subnormal ? 0x1p24f : 1.0f)) * (subnormal ? 0x1p-12f : 1.0f));
}

/* -0 gives -infinity */
LANE float rsqrt_approx(float a)
{
    bool subnormal = abs_f32(a) < 0x1p-126f;
    return nan_f32(sfu_rsqrt(a * (subnormal ? 0x1p24f : 1.0f)) * (subnormal ? 0x1p12f : 1.0f));
}

LANE float ex2_approx(float a)
{
    bool small = a < -126.0f;
    float r = sfu_ex2(a * (small ? 0.5f : 1.0f));
    return nan_f32(r * (small ? r : 1.0f));
}

LANE float lg2_approx(float a)
{
    bool subnormal = abs_f32(a) < 0x1p-126f;
    return nan_f32(sfu_lg2(a * (subnormal ? 0x1p24f : 1.0f)) - (subnormal ? 24.0f : 0.0f));
}

LANE float sin_approx(float a)
{
    uint32_t r = approx_sine(a, 0) ^ (bits_f32(a) & 0x80000000);
    return f32_bits(abs_f32(a) < INFINITY ? r : NAN_F32);
}

LANE float cos_approx(float a)
{
    uint32_t r = approx_sine(a, 1);
    return f32_bits(abs_f32(a) < INFINITY ? r : NAN_F32);
}

/* The unit's alone, which here lets subnormal numbers through. */
LANE float tanh_approx(float a)
{
    uint32_t bits = bits_f32(a), magnitude = bits & 0x7fffffff, fraction = bits & 0x7fffff;
    uint32_t octave = magnitude < 0x3b800000 || magnitude >= 0x41000000 ? 0 : (magnitude >> 23) - (127 - 8);
    uint32_t x = fraction >> approx_tanh_drop[octave], first = (uint32_t)approx_tanh_part[octave];
    uint32_t r = approx_bits(approx_sum(first + (x >> 17), x & 0x1ffff, 0));
    r = magnitude < 0x3b800000 ? magnitude : magnitude >= 0x41000000 ? 0x3f800000 : r;
    return f32_bits(magnitude > 0x7f800000 ? NAN_F32 : r | (bits & 0x80000000));
}

LANE float div_approx(float a, float b)
{
    float scale = abs_f32(b) < 0x1p-126f ? 0x1p24f : 1.0f;
    return mul_f32(a * scale, sfu_rcp(b * scale));
}

/* As div_approx, but 1 / b does not become 0 where it would be subnormal. */
LANE float div_full(float a, float b)
{
    float scale = abs_f32(b) > 0x1p126f ? 0.25f : abs_f32(b) < 0x1p-126f ? 0x1p24f : 1.0f;
    return mul_f32(a * scale, sfu_rcp(b * scale));
}

/* A product with .ftz. What counts is whether it is subnormal when it is rounded to 24 bits, as it is higher
 * up; a subnormal number has fewer, and can be rounded up to the least that is none. */
LANE float product_ftz(float a, float b)
{
    float r = mul_f32(a, b);
    return f32_bits(abs_f32(a * 0x1p24f * b) < 0x1p-102f ? bits_f32(r) & 0x80000000 : bits_f32(r));
}

LANE float div_approx_ftz(float a, float b)
{
    return product_ftz(ftz(a), sfu_rcp(b));
}

LANE float div_full_ftz(float a, float b)
{
    float scale = abs_f32(b) > 0x1p126f ? 0.25f : 1.0f;
    return product_ftz(ftz(ftz(a) * scale), sfu_rcp(b * scale));
}

/* --- f16 and bf16: the unit's result, with more bits cut off ------------------------------------------- */

LANE uint16_t cut_f16(float x)
{
    uint32_t bits = bits_f32(x), magnitude = bits & 0x7fffffff;
    uint32_t subnormal = approx_shift((bits & 0x7fffff) | 0x800000, (int32_t)(magnitude >> 23) - 127 + 1);
    uint32_t finite = magnitude < 0x38800000 ? subnormal : (magnitude - 0x38000000) >> 13;
    uint32_t r = (bits >> 16 & 0x8000) | (magnitude >= 0x47800000 ? 0x7c00 : finite); /* from 65536 up */
    return (uint16_t)(magnitude > 0x7f800000 ? NAN_F16 : r);
}

LANE uint16_t ex2_approx_f16(uint16_t a)
{
    return cut_f16(sfu_ex2(f32_f16(a)));
}

LANE uint16_t tanh_approx_f16(uint16_t a)
{
    return cut_f16(tanh_approx(f32_f16(a)));
}

/* A NaN's bits are all set, so it stays one. */
LANE uint16_t ex2_approx_ftz_bf16(uint16_t a)
{
    return (uint16_t)(bits_f32(sfu_ex2(f32_bf16(a))) >> 16);
}

LANE uint16_t tanh_approx_bf16(uint16_t a)
{
    return (uint16_t)(bits_f32(tanh_approx(f32_bf16(a))) >> 16);
}

/* --- f64: the unit sees the upper word alone and computes no more than it ------------------------------ */

#define APPROX_NAN_F64 UINT64_C(0x7fffffff00000000)

LANE uint64_t approx_bits_f64(double sum)
{
    return (bits_f64(sum) & UINT64_C(0xffffffff00000000)) - (UINT64_C(40) << 52);
}

LANE double rcp_approx_ftz_f64(double a)
{
    uint32_t bits = (uint32_t)(bits_f64(a) >> 32), magnitude = bits & 0x7fffffff;
    uint32_t fraction = (bits & 0xfffff) << 3;
    uint64_t r = approx_bits_f64(approx_sum(APPROX_RCP + (fraction >> 16), (fraction & 0xffff) << 1, 4046));
    r -= ((uint64_t)(magnitude & 0x7ff00000) << 32) - (UINT64_C(1023) << 52);
    r = (int64_t)r < INT64_C(1) << 52 ? 0 : r;
    r = magnitude < 0x00100000 ? UINT64_C(0x7ff) << 52 : r;
    return f64_bits(magnitude > 0x7ff00000 ? APPROX_NAN_F64 : r | (uint64_t)(bits & 0x80000000) << 32);
}

LANE double rsqrt_approx_ftz_f64(double a)
{
    uint32_t bits = (uint32_t)(bits_f64(a) >> 32), part = (bits >> 14 & 0x7f) ^ 0x40;
    uint64_t r = approx_bits_f64(approx_sum(APPROX_RSQRT + part, (bits & 0x3fff) << 3, -1));
    r = (bits & 0x1fffff) == 0x100000 ? UINT64_C(1023) << 52 : r;
    r -= (uint64_t)((bits >> 21) + (bits >> 20 & 1) - 512) << 52;
    r = bits == 0x7ff00000 ? 0 : bits > 0x7ff00000 ? APPROX_NAN_F64 : r;
    return f64_bits((bits & 0x7ff00000) ? r : (UINT64_C(0x7ff) << 52) | (uint64_t)(bits & 0x80000000) << 32);
}

/* One step from there, as the assembler's own code takes it. */
LANE double rsqrt_approx_f64(double a)
{
    bool subnormal = fabs(a) < 0x1p-1022;
    double x = subnormal ? a * 0x1p54 : a, y = rsqrt_approx_ftz_f64(x);
    double error = fma(-(y * y), x, 1.0);
    double r = fma(fma(error, 0.375, 0.5), y * error, y) * (subnormal ? 0x1p27 : 1.0);
    r = a == 0.0 ? copysign(INFINITY, a) : a < 0.0 ? f64_bits(INDEFINITE_F64) : a == INFINITY ? 0.0 : r;
    return a != a ? quiet_f64(a) : r;
}

#endif
