/* What one lane computes: the functions that rows of arithmetic name. Small and, where it can be, free of
 * branches, so that the loops of alu_level.h become vectors. f16 is represented by its 16 bits. For the
 * executors only. */
#ifndef GCN3_RUN_LANE_H
#define GCN3_RUN_LANE_H

#include "exec/number.h"

/* What MODE says to functions of this page; the rest is the host's (host.h). */
struct gcn3_rules {
    bool flush_in, flush_out; /* denormals of f16 */
    uint8_t rounding;         /* of f16 results, as MODE numbers it */
    bool ieee;                /* a signaling NaN makes a quiet one of min and max */
};

/* ---- integers --------------------------------------------------------------------------------------------
 */

/* Bits of a value of `size` bits, from `offset` on; a field ends at the value's top. */
LANE uint64_t field(uint64_t value, uint32_t size, uint32_t offset, uint32_t width)
{
    uint32_t left = size - offset, bits = width < left ? width : left;
    return bits ? value >> offset & (UINT64_MAX >> (64 - bits)) : 0;
}

LANE int64_t signed_field(uint64_t value, uint32_t size, uint32_t offset, uint32_t width)
{
    uint32_t left = size - offset, bits = width < left ? width : left;
    return bits ? (int64_t)(value >> offset << (64 - bits)) >> (64 - bits) : 0;
}

LANE uint32_t gcn3_difference(uint32_t a, uint32_t b, bool greater)
{
    uint32_t difference = a - b;
    uint32_t r = greater ? difference : -difference;
    return (int32_t)r < 0 ? -r : r;
}

LANE uint32_t reverse(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

/* Where from the top the first bit is that differs from the sign; all ones if none does. */
LANE uint32_t gcn3_first_unlike(uint32_t a)
{
    uint32_t r = (int32_t)a < 0 ? ~a : a;
    return r ? (uint32_t)__builtin_clz(r) : UINT32_MAX;
}

/* A bit for each four bits of which one is set. */
LANE uint64_t quads(uint64_t a)
{
    uint64_t r = 0;
    for (int i = 0; i < 16; i++)
        r |= (uint64_t)((a >> (4 * i) & 15) != 0) << i;
    return r;
}

LANE uint64_t whole_quads(uint64_t a)
{
    uint64_t any = (a | a >> 1 | a >> 2 | a >> 3) & UINT64_C(0x1111111111111111);
    return any * 15;
}

LANE uint64_t replicate(uint32_t a)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (uint64_t)(a >> i & 1) * 3 << (2 * i);
    return r;
}

LANE int32_t low24(int32_t a)
{
    return (int32_t)((uint32_t)a << 8) >> 8;
}

LANE uint32_t gcn3_mask_below(int i)
{
    return i <= 0 ? 0 : i >= 32 ? UINT32_MAX : (1u << i) - 1;
}

#define min3(a, b, c) ((a) < (b) ? (a) < (c) ? (a) : (c) : (b) < (c) ? (b) : (c))
#define max3(a, b, c) ((a) > (b) ? (a) > (c) ? (a) : (c) : (b) > (c) ? (b) : (c))
#define med3(a, b, c)                                                                                        \
    ((a) > (b) ? (c) > (a) ? (a) : (c) > (b) ? (c) : (b) : (c) > (b) ? (b) : (c) > (a) ? (c) : (a))

LANE uint32_t gcn3_byte_difference(uint32_t a, uint32_t b, int byte)
{
    uint32_t x = a >> (8 * byte) & 0xff, y = b >> (8 * byte) & 0xff;
    return x > y ? x - y : y - x;
}

/* Sums of absolute differences; of the masked one, bytes of b that are 0 do not count. */
LANE uint32_t sad_u8(uint32_t a, uint32_t b)
{
    return gcn3_byte_difference(a, b, 0) + gcn3_byte_difference(a, b, 1) + gcn3_byte_difference(a, b, 2) +
           gcn3_byte_difference(a, b, 3);
}

LANE uint32_t masked_sad_u8(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += b >> (8 * i) & 0xff ? gcn3_byte_difference(a, b, i) : 0;
    return sum;
}

LANE uint32_t sad_u16(uint32_t a, uint32_t b)
{
    uint32_t low = (a & 0xffff) - (b & 0xffff), high = (a >> 16) - (b >> 16);
    return ((int32_t)low < 0 ? -low : low) + ((int32_t)high < 0 ? -high : high);
}

/* Four such sums, of bytes that begin one further each, added to 16-bit halves of c. */
LANE uint64_t quad_sad(uint64_t a, uint32_t b, uint64_t c, bool masked)
{
    uint64_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t bytes = (uint32_t)(a >> (8 * i)), sum = masked ? masked_sad_u8(bytes, b) : sad_u8(bytes, b);
        r |= (uint64_t)(uint16_t)(sum + (uint16_t)(c >> (16 * i))) << (16 * i);
    }
    return r;
}

/* The mean of bytes; bit 0 of each byte of c rounds it up. */
LANE uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= ((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1 << i;
    return r;
}

LANE uint32_t permute(uint32_t a, uint32_t b, uint32_t select)
{
    uint64_t bytes = (uint64_t)a << 32 | b;
    uint32_t r = 0;
    for (int i = 0; i < 32; i += 8) {
        uint32_t s = select >> i & 0xff;
        uint32_t byte = (uint32_t)(bytes >> (8 * (s & 7))) & 0xff;
        uint32_t sign = bytes >> (16 * (s & 3) + 15) & 1 ? 0xff : 0;
        r |= (s >= 13 ? 0xff : s == 12 ? 0 : s >= 8 ? sign : byte) << i;
    }
    return r;
}

LANE uint32_t gcn3_byte(int16_t a)
{
    return a < 0 ? 0 : a > 255 ? 255 : (uint32_t)a;
}

LANE int32_t within_i16(int32_t a)
{
    return a < INT16_MIN ? INT16_MIN : a > INT16_MAX ? INT16_MAX : a;
}

/* ---- whole numbers ---------------------------------------------------------------------------------------
 */

/* Independent of the host's rounding mode. */
#if defined __GNUC__ && !defined __clang__
#define NEAREST_F32 __builtin_roundevenf
#define NEAREST_F64 __builtin_roundeven
#else
#define NEAREST(name, type, trunc_t, abs_t, copysign_t, whole_from)                                          \
    LANE type name(type a)                                                                                   \
    {                                                                                                        \
        type whole = trunc_t(a), rest = abs_t(a - whole), half = whole / 2;                                  \
        bool away = rest > (type)0.5 || (rest == (type)0.5 && half != trunc_t(half));                        \
        type r = copysign_t(whole + (away ? copysign_t(1, a) : 0), a);                                       \
        return abs_t(a) >= (whole_from) || a != a ? a : r;                                                   \
    }
NEAREST(NEAREST_F32, float, truncf, fabsf, copysignf, 0x1p23f)
NEAREST(NEAREST_F64, double, trunc, fabs, copysign, 0x1p52)
#undef NEAREST
#endif

/* Libraries may look at bits: what the host takes for 0 is 0 to them, too. A 0 has the sign of a, however the
 * host found it. */
#define WHOLE(name, type, fn, zero)                                                                          \
    LANE type name(type a)                                                                                   \
    {                                                                                                        \
        type r = fn(a);                                                                                      \
        return ((a == 0) | (r == 0)) ? zero : r;                                                             \
    }
#define WHOLES(t, type, suffix, zero)                                                                        \
    WHOLE(trunc_##t, type, trunc##suffix, zero)                                                              \
    WHOLE(ceil_##t, type, ceil##suffix, zero)                                                                \
    WHOLE(floor_##t, type, floor##suffix, zero)
WHOLES(f32, float, f, f32_bits(bits_f32(a) & 0x80000000))
WHOLES(f64, double, , f64_bits(bits_f64(a) & ~(uint64_t)INT64_MAX))
WHOLE(roundeven_f32, float, NEAREST_F32, f32_bits(bits_f32(a) & 0x80000000))
WHOLE(roundeven_f64, double, NEAREST_F64, f64_bits(bits_f64(a) & ~(uint64_t)INT64_MAX))
#undef WHOLES
#undef WHOLE

/* ---- floats to integers: the nearest in range; a NaN is 0 ------------------------------------------------
 */

LANE int32_t i32_f64(double a)
{
    return a >= 0x1p31 ? INT32_MAX : a <= -0x1p31 ? INT32_MIN : a != a ? 0 : (int32_t)a;
}

LANE uint32_t gcn3_u32_of_f64(double a)
{
    return a >= 0x1p32 ? UINT32_MAX : a > 0.0 ? (uint32_t)a : 0;
}

LANE uint16_t u16_f32(float a)
{
    return a >= 65535.0f ? UINT16_MAX : a > 0.0f ? (uint16_t)a : 0;
}

LANE int16_t i16_f32(float a)
{
    return a >= 32767.0f ? INT16_MAX : a <= -32768.0f ? INT16_MIN : a != a ? 0 : (int16_t)a;
}

LANE uint32_t u8_f32(float a)
{
    return a >= 255.0f ? 255 : a > 0.0f ? (uint32_t)a : 0;
}

/* -1..1 to -32767..32767, 0..1 to 0..65535, to the nearest. */
LANE uint32_t norm_i16(float a)
{
    float x = a > 1.0f ? 1.0f : a > -1.0f ? a : a != a ? 0.0f : -1.0f;
    return (uint16_t)(int32_t)roundeven_f64((double)x * 32767.0);
}

LANE uint32_t norm_u16(float a)
{
    float x = a > 1.0f ? 1.0f : a > 0.0f ? a : 0.0f;
    return (uint16_t)(int32_t)roundeven_f64((double)x * 65535.0);
}

/* ---- f32 and f64 -----------------------------------------------------------------------------------------
 */

/* DX9's product: 0 times anything is 0. */
LANE float gcn3_mul_legacy(float a, float b)
{
    return a == 0.0f || b == 0.0f ? 0.0f : a * b;
}

/* Less than 1, even where the difference rounds to it; never -0. */
LANE float fract_f32(float a)
{
    float r = a - floor_f32(a), less = r >= 1.0f ? 0x1.fffffep-1f : r;
    return r == 0.0f ? 0.0f : less;
}

LANE double fract_f64(double a)
{
    double r = a - floor_f64(a), less = r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
    return r == 0.0 ? 0.0 : less;
}

/* a * 2^b, rounded once: f64 has room for all of it. */
LANE float ldexp_f32(float a, int32_t b)
{
    int64_t power = b < -400 ? -400 : b > 400 ? 400 : b;
    return (float)((double)a * f64_bits((uint64_t)(1023 + power) << 52));
}

/* a = fraction * 2^exponent, the fraction from 0.5 to 1. An f32 is an f64, too. A denormal is 0 if the host
 * flushes it. */
LANE int32_t frexp_exponent_f64(double a)
{
    uint64_t bits = bits_f64(a) & INT64_MAX;
    uint64_t scaled = bits_f64(f64_bits(bits) * 0x1p64);
    bool tiny = bits < UINT64_C(1) << 52;
    int32_t exponent = (int32_t)((tiny ? scaled : bits) >> 52) - (tiny ? 1022 + 64 : 1022);
    return a == 0.0 || bits >= UINT64_C(0x7ff) << 52 ? 0 : exponent;
}

LANE double frexp_fraction_f64(double a)
{
    uint64_t bits = bits_f64(a), sign = bits & ~(uint64_t)INT64_MAX;
    bits ^= sign;
    uint64_t scaled = bits < UINT64_C(1) << 52 ? bits_f64(f64_bits(bits) * 0x1p64) : bits;
    double r = f64_bits((scaled & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1022) << 52 | sign);
    return a == 0.0 ? f64_bits(sign) : bits >= UINT64_C(0x7ff) << 52 ? a : r;
}

/* All NaN that arithmetic gives are this one: which operand's a host would give depends on its compiler. */
LANE float gcn3_quiet_f32(float a)
{
    return a != a ? f32_bits(0x7fc00000) : a;
}

LANE double gcn3_quiet_f64(double a)
{
    return a != a ? f64_bits(UINT64_C(0x7ff8) << 48) : a;
}

LANE uint32_t is_signaling_f32(float a)
{
    return (bits_f32(a) & 0x7fffffff) - 0x7f800001 < 0x3fffff;
}

LANE uint32_t is_signaling_f64(double a)
{
    return (bits_f64(a) & INT64_MAX) - UINT64_C(0x7ff0000000000001) < QUIET_F64 - 1;
}

/* Floats as integers of the same order, and back; a NaN is `nan`, which is one, too. */
LANE int32_t gcn3_order_f32(float a, int32_t nan)
{
    int32_t bits = (int32_t)bits_f32(a), order = bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1);
    return a != a ? nan : order;
}

LANE float gcn3_f32_of_order(int32_t order)
{
    return f32_bits((uint32_t)(order ^ (int32_t)((uint32_t)(order >> 31) >> 1)));
}

LANE int64_t gcn3_order_f64(double a, int64_t nan)
{
    int64_t bits = (int64_t)bits_f64(a), order = bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
    return a != a ? nan : order;
}

LANE double gcn3_f64_of_order(int64_t order)
{
    return f64_bits((uint64_t)(order ^ (int64_t)((uint64_t)(order >> 63) >> 1)));
}

/* A number wins over a NaN, unless IEEE mode sees a signaling one. Denormals are compared and kept. */
#define EXTREME(name, type, t, integer, nan, sooner)                                                         \
    LANE type name(type a, type b, struct gcn3_rules m)                                                      \
    {                                                                                                        \
        integer x = gcn3_order_##t(a, nan), y = gcn3_order_##t(b, nan), r = x sooner y ? x : y;              \
        return (m.ieee & (is_signaling_##t(a) | is_signaling_##t(b))) ? (type)NAN : gcn3_##t##_of_order(r);  \
    }
EXTREME(least_f32, float, f32, int32_t, INT32_MAX, <)
EXTREME(greatest_f32, float, f32, int32_t, INT32_MIN, >)
EXTREME(least_f64, double, f64, int64_t, INT64_MAX, <)
EXTREME(greatest_f64, double, f64, int64_t, INT64_MIN, >)
#undef EXTREME

/* The one in the middle; with a NaN among them, the least. */
LANE float middle_f32(float a, float b, float c)
{
    int32_t x = gcn3_order_f32(a, INT32_MAX), y = gcn3_order_f32(b, INT32_MAX),
            z = gcn3_order_f32(c, INT32_MAX);
    int32_t low = x < y ? x : y, high = x < y ? y : x, inner = high < z ? high : z;
    int32_t least = low < z ? low : z, middle = low < inner ? inner : low;
    bool nan = (x == INT32_MAX) | (y == INT32_MAX) | (z == INT32_MAX);
    return gcn3_f32_of_order(nan ? least : middle);
}

/* The bit of v_cmp_class that a number's kind has. */
LANE uint32_t class_of(bool negative, bool nan, bool quiet, bool infinite, bool zero, bool denormal)
{
    uint32_t positive = infinite ? 9 : zero ? 6 : denormal ? 7 : 8;
    return nan ? quiet : negative ? 11 - positive : positive;
}

LANE uint32_t class_f32(float a)
{
    uint32_t bits = bits_f32(a), rest = bits & 0x7fffffff;
    return class_of(bits >> 31, rest > 0x7f800000, bits >> 22 & 1, rest == 0x7f800000, !rest,
                    rest < 0x800000);
}

LANE uint32_t class_f64(double a)
{
    uint64_t bits = bits_f64(a), rest = bits & INT64_MAX, infinity = UINT64_C(0x7ff) << 52;
    return class_of(bits >> 63, rest > infinity, bits >> 51 & 1, rest == infinity, !rest,
                    rest < UINT64_C(1) << 52);
}

LANE uint32_t class_f16(uint16_t a)
{
    uint32_t rest = a & 0x7fff;
    return class_of(a >> 15, rest > 0x7c00, a >> 9 & 1, rest == 0x7c00, !rest, rest < 0x400);
}

/* ---- functions that hardware approximates: here within 1 ulp, by polynomials in f64
 * ------------------------ */

LANE float exp2_f32(float a)
{
    float x = a < 200.0f ? a > -200.0f ? a : -200.0f : 200.0f, whole = floorf(x + 0.5f);
    double f = ((double)x - (double)whole) * 0.69314718055994531;
    double p =
        1.0 +
        f * (1.0 + f * (1.0 / 2 +
                        f * (1.0 / 6 +
                             f * (1.0 / 24 +
                                  f * (1.0 / 120 + f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320 +
                                                                                           f / 362880))))))));
    double r = p * f64_bits((uint64_t)(uint32_t)(1023 + (int32_t)whole) << 52);
    return a != a ? a : (float)r;
}

/* By the fraction t of the number's distance from 1. */
LANE float log2_f32(float a)
{
    uint32_t bits = bits_f32(a), fraction = bits & 0x7fffff,
             up = fraction > 0x3504f3; /* above the root of 2 */
    double mantissa = (double)f32_bits(fraction | (127 - up) << 23);
    double exponent = (double)((int32_t)(bits >> 23) - 127 + (int32_t)up);
    double t = (mantissa - 1.0) / (mantissa + 1.0), s = t * t;
    double p =
        t * (1.0 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11 + s / 13))))));
    float r = (float)(exponent + p * 2.8853900817779268), above = a == INFINITY ? INFINITY : r;
    float number = a < 0.0f ? (float)NAN : above, any = a == 0.0f ? -INFINITY : number;
    return a != a ? a : any;
}

/* One step of Newton's on what f32 gives. */
LANE float rsq_f32(float a)
{
    float first = 1.0f / sqrtf(a);
    double y = first, e = 1.0 - (double)a * y * y;
    bool number = (first > 0.0f) & (first < INFINITY);
    return number ? (float)(y + y * e * 0.5) : first;
}

/* The sine of 2*pi*(a + turn); beyond 256, a is as good as 0. */
LANE float gcn3_sin_turns(float a, double turn)
{
    double x = (fabsf(a) > 256.0f ? 0.0 : (double)a) + turn, f = x - floor(x + 0.5);
    f = f > 0.25 ? 0.5 - f : f < -0.25 ? -0.5 - f : f;
    double y = f * 6.2831853071795865, s = y * y;
    double p =
        y * (1.0 + s * (-1.0 / 6 +
                        s * (1.0 / 120 +
                             s * (-1.0 / 5040 +
                                  s * (1.0 / 362880 + s * (-1.0 / 39916800 + s * (1.0 / 6227020800.0 -
                                                                                  s / 1307674368000.0)))))));
    return a - a != 0.0f ? (float)NAN : (float)p;
}

/* ---- division --------------------------------------------------------------------------------------------
 */

#define DIV_FIXUP(name, type, magnitude, flip)                                                               \
    LANE type name(type quotient, type denominator, type numerator)                                          \
    {                                                                                                        \
        type d = magnitude(denominator), n = magnitude(numerator), q = magnitude(quotient);                  \
        bool infinite = (d == 0) | (n == (type)INFINITY), zero = (d == (type)INFINITY) | (n == 0);           \
        bool nan = (d != d) | (n != n) | (infinite & zero);                                                  \
        type number = q != q ? (type)INFINITY : q, r = infinite ? (type)INFINITY : number;                   \
        type positive = zero ? 0 : r, any = nan ? (type)NAN : positive;                                      \
        return flip(any, denominator, numerator);                                                            \
    }
/* With the sign that two factors give it. */
LANE float signed_f32(float r, float a, float b)
{
    return f32_bits(bits_f32(r) | ((bits_f32(a) ^ bits_f32(b)) & 0x80000000));
}

LANE double signed_f64(double r, double a, double b)
{
    return f64_bits(bits_f64(r) | ((bits_f64(a) ^ bits_f64(b)) & ~(uint64_t)INT64_MAX));
}

DIV_FIXUP(div_fixup_f32, float, fabsf, signed_f32)
DIV_FIXUP(div_fixup_f64, double, fabs, signed_f64)
#undef DIV_FIXUP

/* a * b + c, scaled back where v_div_scale scaled, and rounded once; a large quotient was scaled down, a
 * small one up. What the sum lost is found as Boldo and Muller do it, and stays in its last bit. */
LANE float div_fmas_f32(float a, float b, float c, bool scaled)
{
    double p = (double)a * b, s = p + c, z = s - p;
    double whole = odd_f64(s, (p - (s - z)) + (c - z));
    return scaled ? (float)(whole * (fabsf(c) >= 2.0f ? 0x1p64 : 0x1p-64)) : fmaf(a, b, c);
}

LANE double div_fmas_f64(double a, double b, double c, bool scaled)
{
    double r = fma(a, b, c), high = a * b, low = fma(a, b, -high);
    double x = c + low, xz = x - c, x_lost = (c - (x - xz)) + (low - xz);
    double y = high + x, yz = y - high, y_lost = (high - (y - yz)) + (x - yz);
    double lost = ((y - r) + y_lost) + x_lost, factor = fabs(c) >= 2.0 ? 0x1p128 : 0x1p-128;
    bool fits = fabs(r) < 0x1.fffffffffffffp1023; /* what does not is no infinity in all modes of rounding */
    double back = fits ? r * factor : fma(a * factor, b, c * factor);
    double rest = r - back * 0x1p128; /* of a denormal result; half of its last place is a tie */
    bool beyond =
        fabs(back) < 0x1p-1022 && fabs(rest) == 0x1p-947 && lost != 0.0 && (lost > 0.0) == (rest > 0.0);
    double other = back + copysign(0x1p-1074, rest);
    return !scaled ? r : beyond ? other : back;
}

/* ---- the faces of a cube ---------------------------------------------------------------------------------
 */

LANE float cube_id(float x, float y, float z)
{
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    return az >= ax && az >= ay ? z < 0.0f ? 5.0f : 4.0f
           : ay >= ax           ? y < 0.0f ? 3.0f : 2.0f
           : x < 0.0f           ? 1.0f
                                : 0.0f;
}

LANE float cube_sc(float x, float y, float z)
{
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    return az >= ax && az >= ay ? z < 0.0f ? -x : x : ay >= ax ? x : x < 0.0f ? z : -z;
}

LANE float cube_tc(float x, float y, float z)
{
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    return az >= ax && az >= ay ? -y : ay >= ax ? y < 0.0f ? -z : z : -y;
}

LANE float cube_ma(float x, float y, float z)
{
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    return 2.0f * (az >= ax && az >= ay ? z : ay >= ax ? y : x);
}

/* ---- f16: computed in f32 with the same direction of rounding, then rounded ------------------------------
 */

/* Rounding other than to the nearest, as MODE numbers it. */
uint16_t gcn3_f16_rounded(float a, uint8_t rounding);

LANE uint16_t gcn3_to_f16(float a, struct gcn3_rules m)
{
    uint16_t r = m.rounding ? gcn3_f16_rounded(a, m.rounding) : f16_f32(a);
    return m.flush_out ? ftz_f16(r) : r;
}

/* As f32_f16, without a detour over denormals of f32, which hosts are slow with. */
LANE float widen_f16(uint16_t h)
{
    uint32_t rest = (uint32_t)(h & 0x7fff) << 13, exponent = rest & 0x0f800000;
    uint32_t normal = rest + 0x38000000 + (exponent == 0x0f800000 ? 0x38000000 : 0);
    uint32_t denormal =
        bits_f32(f32_bits(rest + 0x38800000) - 0x1p-14f) & 0x7fffffff; /* 0 rounds to -0 down */
    return f32_bits((exponent ? normal : denormal) | (uint32_t)(h & 0x8000) << 16);
}

LANE float of_f16(uint16_t a, struct gcn3_rules m)
{
    return widen_f16(m.flush_in ? ftz_f16(a) : a);
}

LANE uint16_t gcn3_f16_toward_zero(float a, struct gcn3_rules m)
{
    m.rounding = 3;
    return gcn3_to_f16(a, m);
}

/* Rounded twice; denormals are always flushed. */
LANE uint16_t mad_f16(uint16_t a, uint16_t b, uint16_t c, struct gcn3_rules m)
{
    m.flush_in = m.flush_out = true;
    return gcn3_to_f16(widen_f16(gcn3_to_f16(of_f16(a, m) * of_f16(b, m), m)) + of_f16(c, m), m);
}

/* Rounded once. Toward the nearest, the sum must not lose what decides between two neighbours. */
LANE uint16_t fused_f16(uint16_t a, uint16_t b, uint16_t c, struct gcn3_rules m)
{
    if (m.rounding)
        return gcn3_to_f16(of_f16(a, m) * of_f16(b, m) + of_f16(c, m), m);
    uint16_t x = m.flush_in ? ftz_f16(a) : a, y = m.flush_in ? ftz_f16(b) : b,
             z = m.flush_in ? ftz_f16(c) : c;
    return gcn3_to_f16(fma_odd_f16(x, y, z), m);
}

LANE uint16_t least_f16(uint16_t a, uint16_t b, struct gcn3_rules m)
{
    return f16_f32(least_f32(widen_f16(a), widen_f16(b), m));
}

LANE uint16_t greatest_f16(uint16_t a, uint16_t b, struct gcn3_rules m)
{
    return f16_f32(greatest_f32(widen_f16(a), widen_f16(b), m));
}

/* Of three numbers, which only gfx9 has, denormals are flushed as MODE says. */
LANE uint16_t least3_f16(uint16_t a, uint16_t b, uint16_t c, struct gcn3_rules m)
{
    return gcn3_to_f16(least_f32(least_f32(of_f16(a, m), of_f16(b, m), m), of_f16(c, m), m), m);
}

LANE uint16_t greatest3_f16(uint16_t a, uint16_t b, uint16_t c, struct gcn3_rules m)
{
    return gcn3_to_f16(greatest_f32(greatest_f32(of_f16(a, m), of_f16(b, m), m), of_f16(c, m), m), m);
}

LANE uint16_t middle_f16(uint16_t a, uint16_t b, uint16_t c, struct gcn3_rules m)
{
    return gcn3_to_f16(middle_f32(of_f16(a, m), of_f16(b, m), of_f16(c, m)), m);
}

LANE uint16_t fract_f16(uint16_t a, struct gcn3_rules m)
{
    float r = fract_f32(of_f16(a, m));
    return gcn3_to_f16(r >= 0x1.ffcp-1f ? 0x1.ffcp-1f : r, m);
}

/* ---- a segment of 2/pi -----------------------------------------------------------------------------------
 */

double gcn3_trig_preop(double a, uint32_t segment);

LANE double trig_preop(double a, uint32_t segment)
{
    return gcn3_trig_preop(a, segment);
}

#endif
