/* Arithmetic done slowly with whole numbers, rounded once: what fast arithmetic is compared with. */
#ifndef TESTS_UNIT_EXACT_H
#define TESTS_UNIT_EXACT_H

#include "exec/number.h"

typedef unsigned __int128 u128;

/* m * 2^exponent with 64 bits; the last one also stands for what was cut off. */
static struct number exact_number(bool negative, u128 m, int exponent)
{
    bool rest = false;
    for (; m >> 64; m >>= 1, exponent++)
        rest |= (bool)(m & 1);
    return (struct number){.negative = negative, .significand = (uint64_t)m | rest, .exponent = exponent};
}

/* To the top of 126 bits. */
static u128 exact_normal(u128 m, int *exponent)
{
    for (; !(m >> 125); m <<= 1)
        --*exponent;
    return m;
}

static struct number exact_sum(struct number a, u128 am, struct number b, u128 bm)
{
    am = exact_normal(am, &a.exponent);
    bm = exact_normal(bm, &b.exponent);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && am < bm))
        return exact_sum(b, bm, a, am);
    int gap = a.exponent - b.exponent;
    u128 kept = gap < 126 ? bm >> gap : 0;
    if (gap >= 126 || kept << gap != bm)
        kept |= 1;
    return exact_number(a.negative, a.negative == b.negative ? am + kept : am - kept, a.exponent);
}

/* a * b + c; a NaN's bits are the format's. */
static uint64_t exact_fma(const struct format *f, uint64_t x, uint64_t y, uint64_t z, enum rounding mode)
{
    struct number a = number_decode(f, x), b = number_decode(f, y), c = number_decode(f, z);
    struct number zero = {0}, p = {.negative = a.negative != b.negative, .exponent = a.exponent + b.exponent};
    p.infinite = a.infinite || b.infinite;
    bool zero_a = !a.infinite && !a.significand, zero_b = !b.infinite && !b.significand;
    if (a.nan || b.nan || c.nan || (p.infinite && (zero_a || zero_b)) ||
        (p.infinite && c.infinite && p.negative != c.negative))
        return f->nan;
    if (p.infinite || c.infinite)
        return number_encode(f, p.infinite ? p : c, mode);
    u128 product = (u128)a.significand * b.significand;
    if (!product && !c.significand) {
        zero.negative = p.negative == c.negative ? p.negative : mode == ROUND_DOWN;
        return number_encode(f, zero, mode);
    }
    if (!product)
        return z;
    if (!c.significand)
        return number_encode(f, exact_number(p.negative, product, p.exponent), mode);
    struct number sum = exact_sum(p, product, c, c.significand);
    if (!sum.significand)
        sum.negative = mode == ROUND_DOWN;
    return number_encode(f, sum, mode);
}

static uint64_t exact_one(const struct format *f)
{
    return number_encode(f, (struct number){.significand = 1}, ROUND_NEAREST);
}

static uint64_t exact_minus(const struct format *f)
{
    return UINT64_C(1) << (f->bits - 1);
}

static uint64_t exact_add(const struct format *f, uint64_t x, uint64_t y, enum rounding mode)
{
    return exact_fma(f, x, exact_one(f), y, mode);
}

/* A product of 0 keeps its sign when a zero of that sign is added. */
static uint64_t exact_mul(const struct format *f, uint64_t x, uint64_t y, enum rounding mode)
{
    return exact_fma(f, x, y, (x ^ y) & exact_minus(f), mode);
}

static uint64_t exact_div(const struct format *f, uint64_t x, uint64_t y, enum rounding mode)
{
    struct number a = number_decode(f, x), b = number_decode(f, y);
    struct number q = {.negative = a.negative != b.negative};
    bool zero_a = !a.infinite && !a.significand, zero_b = !b.infinite && !b.significand;
    if (a.nan || b.nan || (a.infinite && b.infinite) || (zero_a && zero_b))
        return f->nan;
    q.infinite = a.infinite || zero_b;
    if (q.infinite || zero_a || b.infinite)
        return number_encode(f, q, mode);
    u128 top = (u128)a.significand << 64;
    int exponent = a.exponent - b.exponent - 64;
    for (; !(top >> 127); top <<= 1)
        exponent--;
    u128 quotient = top / b.significand;
    if (quotient * b.significand != top)
        quotient |= 1;
    return number_encode(f, exact_number(q.negative, quotient, exponent), mode);
}

static uint64_t exact_sqrt(const struct format *f, uint64_t x, enum rounding mode)
{
    struct number a = number_decode(f, x);
    if (a.nan || (a.negative && (a.infinite || a.significand)))
        return f->nan;
    if (a.infinite || !a.significand)
        return x;
    u128 m = a.significand, root = 0;
    int exponent = a.exponent;
    for (; !(m >> 125) || exponent & 1; m <<= 1)
        exponent--;
    for (int bit = 63; bit >= 0; bit--) {
        u128 more = root | (u128)1 << bit;
        if (more * more <= m)
            root = more;
    }
    if (root * root != m)
        root = root << 1 | 1, exponent -= 2;
    return number_encode(f, exact_number(false, root, exponent / 2), mode);
}

#endif
