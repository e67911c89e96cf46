/* Arithmetic where GPUs differ from x86 and C. The functions of one lane are small and branch-free, so that
 * the loops of alu_level.h can be vectorized. f16 and bf16 are represented by their 16 bits. */
#ifndef EXEC_NUMBER_H
#define EXEC_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LANE static inline __attribute__((always_inline))

LANE uint32_t bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LANE float f32_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

LANE uint64_t bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LANE double f64_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- NaN: all that arithmetic answers when the answer is not a number --------------------------------------
 * Up to f32 there is one NaN. In f64 an operand that is a NaN goes through, made quiet (of a + b and a * b it
 * is b before a, of a * b + c it is b, c, a); where none is, it is INDEFINITE_F64. */
#define NAN_F16        UINT16_C(0x7fff) /* and of bf16 */
#define NAN_F32        UINT32_C(0x7fffffff)
#define QUIET_F64      UINT64_C(0x0008000000000000)
#define INDEFINITE_F64 UINT64_C(0xfff8000000000000)

LANE float nan_f32(float r)
{
    return r != r ? f32_bits(NAN_F32) : r;
}

LANE double quiet_f64(double x)
{
    return f64_bits(bits_f64(x) | QUIET_F64);
}

LANE double nan_f64(double r, double a, double b, double c)
{
    double nan = a != a   ? quiet_f64(a)
                 : b != b ? quiet_f64(b)
                 : c != c ? quiet_f64(c)
                          : f64_bits(INDEFINITE_F64);
    return r != r ? nan : r;
}

/* --- f32 ---------------------------------------------------------------------------------------------- */

/* Subnormal numbers become zeros of their sign. */
LANE float ftz(float x)
{
    uint32_t bits = bits_f32(x);
    return f32_bits((bits & 0x7f800000) ? bits : bits & 0x80000000);
}

/* To 0..1; NaN and -0 become +0. */
LANE float sat(float x)
{
    return x > 0.0f ? x < 1.0f ? x : 1.0f : 0.0f;
}

LANE float add_f32(float a, float b)
{
    return nan_f32(a + b);
}

LANE float sub_f32(float a, float b)
{
    return nan_f32(a - b);
}

LANE float mul_f32(float a, float b)
{
    return nan_f32(a * b);
}

LANE float fma_f32(float a, float b, float c)
{
    return nan_f32(fmaf(a, b, c));
}

/* a * b - c and c - a * b, rounded once */
LANE float mul_sub_f32(float a, float b, float c)
{
    return fma_f32(a, b, -c);
}

LANE float sub_mul_f32(float a, float b, float c)
{
    return fma_f32(-a, b, c);
}

LANE float div_f32(float a, float b)
{
    return nan_f32(a / b);
}

LANE float rcp_f32(float a)
{
    return nan_f32(1.0f / a);
}

LANE float sqrt_f32(float a)
{
    return nan_f32(sqrtf(a));
}

/* With .ftz: too small is what would be if it were rounded to as many bits as a normal number has, which can
 * be less than the least normal number though the nearest subnormal place is that number. Times 2^64 it is
 * rounded so. A sum is exact where it is that small. */
LANE float zero_if(bool tiny, float r)
{
    return f32_bits(bits_f32(r) & (tiny ? 0x80000000 : 0xffffffff));
}

LANE float add_f32_ftz(float a, float b)
{
    return ftz(add_f32(ftz(a), ftz(b)));
}

LANE float sub_f32_ftz(float a, float b)
{
    return ftz(sub_f32(ftz(a), ftz(b)));
}

LANE float mul_f32_ftz(float a, float b)
{
    float x = ftz(a), y = ftz(b);
    return zero_if(fabsf(x * 0x1p64f * y) < 0x1p-62f, mul_f32(x, y));
}

LANE float fma_f32_ftz(float a, float b, float c)
{
    float x = ftz(a), y = ftz(b), z = ftz(c);
    return zero_if(fabsf(fmaf(x * 0x1p64f, y, z * 0x1p64f)) < 0x1p-62f, fma_f32(x, y, z));
}

LANE float mul_sub_f32_ftz(float a, float b, float c)
{
    return fma_f32_ftz(a, b, -c);
}

LANE float sub_mul_f32_ftz(float a, float b, float c)
{
    return fma_f32_ftz(-a, b, c);
}

/* In this order -0 is less than +0. */
LANE bool less_f32(float a, float b)
{
    int32_t x = (int32_t)bits_f32(a), y = (int32_t)bits_f32(b);
    return (x ^ (int32_t)((uint32_t)(x >> 31) >> 1)) < (y ^ (int32_t)((uint32_t)(y >> 31) >> 1));
}

/* A number wins over a NaN. */
LANE float min_f32(float a, float b)
{
    return a != a ? nan_f32(b) : b != b ? a : less_f32(a, b) ? a : b;
}

LANE float max_f32(float a, float b)
{
    return a != a ? nan_f32(b) : b != b ? a : less_f32(a, b) ? b : a;
}

/* A NaN wins. */
LANE float min_nan_f32(float a, float b)
{
    return a != a || b != b ? f32_bits(NAN_F32) : less_f32(a, b) ? a : b;
}

LANE float max_nan_f32(float a, float b)
{
    return a != a || b != b ? f32_bits(NAN_F32) : less_f32(a, b) ? b : a;
}

LANE float abs_f32(float a)
{
    return f32_bits(bits_f32(a) & 0x7fffffff);
}

/* r, with the sign turned where that of just one of a and b is set; a NaN stays as it is. */
LANE float xorsign_f32(float r, float a, float b)
{
    return r != r ? r : f32_bits(bits_f32(r) ^ ((bits_f32(a) ^ bits_f32(b)) & 0x80000000));
}

/* --- f64 ---------------------------------------------------------------------------------------------- */

LANE double add_f64(double a, double b)
{
    return nan_f64(a + b, b, a, a);
}

LANE double sub_f64(double a, double b)
{
    return nan_f64(a - b, b, a, a);
}

LANE double mul_f64(double a, double b)
{
    return nan_f64(a * b, b, a, a);
}

LANE double fma_f64(double a, double b, double c)
{
    return nan_f64(fma(a, b, c), b, c, a);
}

LANE double mul_sub_f64(double a, double b, double c)
{
    return nan_f64(fma(a, b, -c), b, c, a);
}

LANE double sub_mul_f64(double a, double b, double c)
{
    return nan_f64(fma(-a, b, c), b, c, a);
}

LANE double div_f64(double a, double b)
{
    return nan_f64(a / b, a, b, b);
}

LANE double rcp_f64(double a)
{
    return nan_f64(1.0 / a, a, a, a);
}

LANE double sqrt_f64(double a)
{
    return nan_f64(sqrt(a), a, a, a);
}

LANE bool less_f64(double a, double b)
{
    int64_t x = (int64_t)bits_f64(a), y = (int64_t)bits_f64(b);
    return (x ^ (int64_t)((uint64_t)(x >> 63) >> 1)) < (y ^ (int64_t)((uint64_t)(y >> 63) >> 1));
}

LANE double min_f64(double a, double b)
{
    double r = b != b || less_f64(a, b) ? a : b;
    return a != a ? b != b ? quiet_f64(b) : b : r;
}

LANE double max_f64(double a, double b)
{
    double r = b != b || less_f64(b, a) ? a : b;
    return a != a ? b != b ? quiet_f64(b) : b : r;
}

/* --- f16 and bf16: computed in f32 or f64 and rounded once
 * --------------------------------------------------- */

LANE float f32_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    /* with its fraction in place it is a float 2^112 too small, a subnormal one as well */
    uint32_t bits = bits_f32(f32_bits((uint32_t)(h & 0x7fff) << 13) * 0x1p112f);
    return f32_bits(sign | bits | ((h & 0x7c00) == 0x7c00 ? 0x7f800000 : 0));
}

LANE uint16_t f16_f32(float x)
{
    uint32_t sign = bits_f32(x) >> 16 & 0x8000, bits = bits_f32(x) & 0x7fffffff;
    /* below 2^-14 the sum with 0.5 has f16's last place, and rounds as it should */
    uint32_t subnormal = bits_f32(f32_bits(bits) + 0.5f) - 0x3f000000;
    uint32_t normal = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    uint32_t finite = bits < 0x38800000 ? subnormal : normal;
    uint32_t r = sign | (bits >= 0x477ff000 ? 0x7c00 : finite); /* from 65520 up */
    return (uint16_t)(bits > 0x7f800000 ? NAN_F16 : r);
}

LANE float f32_bf16(uint16_t h)
{
    return f32_bits((uint32_t)h << 16);
}

LANE uint16_t bf16_f32(float x)
{
    uint32_t bits = bits_f32(x);
    uint32_t r = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(x != x ? NAN_F16 : r);
}

/* Rounding to odd: the last bit also stands for all that was cut off, so that a later rounding to at least
 * two bits less comes out as if it were the first. s is a nearest result, and error what it lacks. */
LANE float odd_f32(float s, float error)
{
    uint32_t bits = bits_f32(s), back = (bits ^ bits_f32(error)) >> 31;
    uint32_t inexact = bits_f32(error) * 2 - 1 < 0xff000000 - 1; /* neither 0 nor infinite nor a NaN */
    uint32_t step = inexact & ~bits;
    return f32_bits(bits + step - 2 * (step & back));
}

LANE double odd_f64(double s, double error)
{
    uint64_t bits = bits_f64(s), back = (bits ^ bits_f64(error)) >> 63;
    uint64_t inexact = bits_f64(error) * 2 - 1 < (UINT64_C(0x7ff) << 53) - 1;
    uint64_t step = inexact & ~bits;
    return f64_bits(bits + step - 2 * (step & back));
}

LANE float f32_odd(double x)
{
    float nearest = (float)x;
    uint64_t error = bits_f64(x - (double)nearest); /* may be too small for f32 */
    uint32_t bits = bits_f32(nearest), back = (bits >> 31) ^ (uint32_t)(error >> 63);
    uint32_t inexact = error * 2 - 1 < (UINT64_C(0x7ff) << 53) - 1;
    uint32_t step = inexact & ~bits;
    return f32_bits(bits + step - 2 * (step & back));
}

/* f32 has more than twice f16's bits, and bf16's: a sum, difference or product rounded to it first is the
 * same. */
LANE uint16_t add_f16(uint16_t a, uint16_t b)
{
    return f16_f32(f32_f16(a) + f32_f16(b));
}

LANE uint16_t sub_f16(uint16_t a, uint16_t b)
{
    return f16_f32(f32_f16(a) - f32_f16(b));
}

LANE uint16_t mul_f16(uint16_t a, uint16_t b)
{
    return f16_f32(f32_f16(a) * f32_f16(b));
}

LANE uint16_t add_bf16(uint16_t a, uint16_t b)
{
    return bf16_f32(f32_bf16(a) + f32_bf16(b));
}

LANE uint16_t sub_bf16(uint16_t a, uint16_t b)
{
    return bf16_f32(f32_bf16(a) - f32_bf16(b));
}

LANE uint16_t mul_bf16(uint16_t a, uint16_t b)
{
    return bf16_f32(f32_bf16(a) * f32_bf16(b));
}

/* Not so a product and a sum. The product is exact, in f32 for f16 and in f64 for bf16; what the sum loses is
 * found as Knuth does it. */
LANE float fma_odd_f16(uint16_t a, uint16_t b, uint16_t c)
{
    float p = f32_f16(a) * f32_f16(b), z = f32_f16(c), s = p + z, zz = s - p;
    return odd_f32(s, (p - (s - zz)) + (z - zz));
}

LANE uint16_t fma_f16(uint16_t a, uint16_t b, uint16_t c)
{
    return f16_f32(fma_odd_f16(a, b, c));
}

LANE uint16_t fma_bf16(uint16_t a, uint16_t b, uint16_t c)
{
    double p = (double)f32_bf16(a) * (double)f32_bf16(b), z = (double)f32_bf16(c), s = p + z, zz = s - p;
    return bf16_f32(f32_odd(odd_f64(s, (p - (s - zz)) + (z - zz))));
}

LANE uint16_t ftz_f16(uint16_t h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}

/* With .ftz: too small is what would be if it were rounded to as many bits as a normal number has. */
LANE uint16_t f16_f32_ftz(float x)
{
    return fabsf(x) < 0x1.ffep-15f ? bits_f32(x) >> 16 & 0x8000 : f16_f32(x);
}

LANE uint16_t add_ftz_f16(uint16_t a, uint16_t b)
{
    return f16_f32_ftz(f32_f16(ftz_f16(a)) + f32_f16(ftz_f16(b)));
}

LANE uint16_t sub_ftz_f16(uint16_t a, uint16_t b)
{
    return f16_f32_ftz(f32_f16(ftz_f16(a)) - f32_f16(ftz_f16(b)));
}

LANE uint16_t mul_ftz_f16(uint16_t a, uint16_t b)
{
    return f16_f32_ftz(f32_f16(ftz_f16(a)) * f32_f16(ftz_f16(b)));
}

LANE uint16_t fma_ftz_f16(uint16_t a, uint16_t b, uint16_t c)
{
    return f16_f32_ftz(fma_odd_f16(ftz_f16(a), ftz_f16(b), ftz_f16(c)));
}

#define FUSED_DIFFERENCES(t)                                                                                 \
    LANE uint16_t mul_sub_##t(uint16_t a, uint16_t b, uint16_t c)                                            \
    {                                                                                                        \
        return fma_##t(a, b, c ^ 0x8000);                                                                    \
    }                                                                                                        \
    LANE uint16_t sub_mul_##t(uint16_t a, uint16_t b, uint16_t c)                                            \
    {                                                                                                        \
        return fma_##t(a ^ 0x8000, b, c);                                                                    \
    }
FUSED_DIFFERENCES(f16)
FUSED_DIFFERENCES(ftz_f16)
FUSED_DIFFERENCES(bf16)
#undef FUSED_DIFFERENCES

LANE uint16_t sat_f16(uint16_t h)
{
    return h > 0x7c00 ? 0 : h > 0x3c00 ? 0x3c00 : h;
}

/* Less than 0 becomes 0. */
LANE uint16_t relu_f16(uint16_t h)
{
    return h & 0x8000 ? 0 : h;
}

/* The less, the greater; `infinity` tells f16 from bf16. Where one is a NaN it is the other. */
LANE uint16_t extreme_half(uint16_t a, uint16_t b, uint16_t infinity, bool greater)
{
    int32_t x = (int16_t)a, y = (int16_t)b;
    bool less = (x ^ (x >> 31 & 0x7fff)) < (y ^ (y >> 31 & 0x7fff));
    bool nan_a = (a & 0x7fff) > infinity, nan_b = (b & 0x7fff) > infinity;
    uint16_t r = less != greater ? a : b;
    return nan_a && nan_b ? NAN_F16 : nan_a ? b : nan_b ? a : r;
}

LANE uint16_t extreme_nan_half(uint16_t a, uint16_t b, uint16_t infinity, bool greater)
{
    bool nan = (a & 0x7fff) > infinity || (b & 0x7fff) > infinity;
    return nan ? NAN_F16 : extreme_half(a, b, infinity, greater);
}

LANE uint16_t min_f16(uint16_t a, uint16_t b)
{
    return extreme_half(a, b, 0x7c00, false);
}

LANE uint16_t max_f16(uint16_t a, uint16_t b)
{
    return extreme_half(a, b, 0x7c00, true);
}

LANE uint16_t min_nan_f16(uint16_t a, uint16_t b)
{
    return extreme_nan_half(a, b, 0x7c00, false);
}

LANE uint16_t max_nan_f16(uint16_t a, uint16_t b)
{
    return extreme_nan_half(a, b, 0x7c00, true);
}

LANE uint16_t min_bf16(uint16_t a, uint16_t b)
{
    return extreme_half(a, b, 0x7f80, false);
}

LANE uint16_t max_bf16(uint16_t a, uint16_t b)
{
    return extreme_half(a, b, 0x7f80, true);
}

LANE uint16_t min_nan_bf16(uint16_t a, uint16_t b)
{
    return extreme_nan_half(a, b, 0x7f80, false);
}

LANE uint16_t max_nan_bf16(uint16_t a, uint16_t b)
{
    return extreme_nan_half(a, b, 0x7f80, true);
}

LANE uint16_t abs_half(uint16_t a)
{
    return a & 0x7fff;
}

LANE uint16_t neg_half(uint16_t a)
{
    return a ^ 0x8000;
}

/* As instructions they answer a NaN with the one NaN; `infinity` tells f16 from bf16. */
LANE uint16_t nan_half(uint16_t h, uint16_t infinity)
{
    return (h & 0x7fff) > infinity ? NAN_F16 : h;
}

LANE uint16_t abs_f16(uint16_t a)
{
    return nan_half(abs_half(a), 0x7c00);
}

LANE uint16_t neg_f16(uint16_t a)
{
    return nan_half(neg_half(a), 0x7c00);
}

LANE uint16_t abs_bf16(uint16_t a)
{
    return nan_half(abs_half(a), 0x7f80);
}

LANE uint16_t neg_bf16(uint16_t a)
{
    return nan_half(neg_half(a), 0x7f80);
}

LANE uint16_t xorsign_half(uint16_t r, uint16_t a, uint16_t b)
{
    return r == NAN_F16 ? r : r ^ ((a ^ b) & 0x8000);
}

/* tf32: an f32 whose last 13 bits are 0; the nearest, of two the one further from 0. A NaN is cut as well, if
 * only to an infinity. */
LANE uint32_t tf32_f32(float x)
{
    return (bits_f32(x) + (abs_f32(x) < INFINITY ? 0x1000 : 0)) & ~UINT32_C(0x1fff);
}

/* --- to integers: the nearest one in range; x is whole already --------------------------------------------
 */

LANE int32_t s32_f32(float x)
{
    return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : x != x ? 0 : (int32_t)x;
}

LANE uint32_t u32_f32(float x)
{
    return x >= 0x1p32f ? UINT32_MAX : x > 0.0f ? (uint32_t)x : 0;
}

/* From f64, and to 64 bits, a NaN becomes the lowest signed number's bits. */
LANE int32_t s32_f64(double x)
{
    return x >= 0x1p31 ? INT32_MAX : x > -0x1p31 ? (int32_t)x : INT32_MIN;
}

LANE uint32_t u32_f64(double x)
{
    return x != x ? UINT32_C(1) << 31 : x >= 0x1p32 ? UINT32_MAX : x > 0.0 ? (uint32_t)x : 0;
}

LANE int64_t s64_f64(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? (int64_t)x : INT64_MIN;
}

LANE uint64_t u64_f64(double x)
{
    return x != x ? UINT64_C(1) << 63 : x >= 0x1p64 ? UINT64_MAX : x > 0.0 ? (uint64_t)x : 0;
}

/* --- any format, exactly: for conversions, which are not in a hurry
 * ------------------------------------------ */

enum rounding {
    ROUND_NEAREST,
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY /* nearest, halves away from 0 */
};

struct format {
    uint8_t bits,
        fraction;      /* of all, and of these behind the point; the exponent has the rest but the sign */
    uint64_t greatest; /* finite number */
    uint64_t nan;
    bool infinite; /* has infinities */
};

extern const struct format format_f16, format_bf16, format_tf32, format_f32, format_f64, format_e4m3,
    format_e5m2;

struct number { /* significand * 2^exponent, unless one of the two is set */
    bool negative, nan, infinite;
    uint64_t significand;
    int exponent;
};

struct number number_decode(const struct format *format, uint64_t bits);

/* The nearest number that the format has, as the mode chooses it. Beyond the greatest, and for what the
 * format does not have, it is the greatest. */
uint64_t number_encode(const struct format *format, struct number number, enum rounding mode);

/* The whole number next to it; below 2^64, as that is where all f64 are whole anyway. */
struct number number_whole(struct number number, enum rounding mode);

#endif
