/* The integer instructions of alu.def whose meaning is longer than a line. All defined for any operands. */
#ifndef PTX_RUN_INTEGER_H
#define PTX_RUN_INTEGER_H

#include "exec/number.h"

LANE uint64_t mulhi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

LANE uint64_t mulhi_s64(int64_t a, int64_t b)
{
    return (uint64_t)((unsigned __int128)((__int128)a * b) >> 64);
}

LANE int32_t clamp_s32(int64_t x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

LANE int32_t low24(int32_t a)
{
    return (int32_t)((uint32_t)a << 8) >> 8;
}

/* Quotients of 32 bits are exact through f64. What PTX leaves open, division by zero, is as ptxas's code for
 * it does it: all bits set, in the remainder as well. */
LANE uint32_t div_u32(uint32_t a, uint32_t b)
{
    return b ? (uint32_t)((double)a / (double)(b ? b : 1)) : UINT32_MAX;
}

LANE uint32_t rem_u32(uint32_t a, uint32_t b)
{
    return b ? a - div_u32(a, b) * b : UINT32_MAX;
}

LANE int32_t div_s32(int32_t a, int32_t b)
{
    double q = (double)a / (double)(b ? b : 1);
    return b ? q >= 0x1p31 ? INT32_MIN : (int32_t)q : -1;
}

LANE int32_t rem_s32(int32_t a, int32_t b)
{
    return b ? (int32_t)((uint32_t)a - (uint32_t)div_s32(a, b) * (uint32_t)b) : -1;
}

LANE uint16_t div_u16(uint16_t a, uint16_t b)
{
    return b ? (uint16_t)((float)a / (float)(b ? b : 1)) : UINT16_MAX;
}

LANE int16_t div_s16(int16_t a, int16_t b)
{
    return b ? (int16_t)(int32_t)((float)a / (float)(b ? b : 1)) : -1;
}

LANE uint64_t div_u64(uint64_t a, uint64_t b)
{
    return b ? a / b : UINT64_MAX;
}

LANE uint64_t rem_u64(uint64_t a, uint64_t b)
{
    return b ? a % b : UINT64_MAX;
}

/* The one quotient out of range wraps. */
LANE int64_t div_s64(int64_t a, int64_t b)
{
    return b == 0 ? -1 : b == -1 ? (int64_t) - (uint64_t)a : a / b;
}

LANE int64_t rem_s64(int64_t a, int64_t b)
{
    return b == 0 ? -1 : b == -1 ? 0 : a % b;
}

/* Counted in steps that vectors have, too (written so that gcc does not see the pattern and count each
 * alone). */
LANE uint32_t popc_b32(uint32_t a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f;
    a += a >> 8;
    return (a + (a >> 16)) & 63;
}

LANE uint32_t popc_b64(uint64_t a)
{
    return popc_b32((uint32_t)a) + popc_b32((uint32_t)(a >> 32));
}

LANE uint32_t clz_b32(uint32_t a)
{
    a |= a >> 1;
    a |= a >> 2;
    a |= a >> 4;
    a |= a >> 8;
    a |= a >> 16;
    return popc_b32(~a);
}

LANE uint32_t clz_b64(uint64_t a)
{
    uint32_t high = clz_b32((uint32_t)(a >> 32)), low = clz_b32((uint32_t)a);
    return high == 32 ? 32 + low : high;
}

/* Where the highest bit is that differs from the sign; all bits set if none does. */
LANE uint32_t bfind_u32(uint32_t a)
{
    return 31 - clz_b32(a);
}

LANE uint32_t bfind_u64(uint64_t a)
{
    return 63 - clz_b64(a);
}

LANE uint32_t bfind_s32(int32_t a)
{
    return bfind_u32((uint32_t)(a ^ a >> 31));
}

LANE uint32_t bfind_s64(int64_t a)
{
    return bfind_u64((uint64_t)(a ^ a >> 63));
}

LANE uint32_t brev_b32(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
    return a >> 16 | a << 16;
}

LANE uint64_t brev_b64(uint64_t a)
{
    return (uint64_t)brev_b32((uint32_t)a) << 32 | brev_b32((uint32_t)(a >> 32));
}

/* The offset-th set bit from base upwards, or downwards where it is negative; the least of all offsets is
 * more than ptxas's code for it can count. */
LANE uint32_t fns_b32(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == INT32_MIN)
        return 0;
    if (offset == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1;
    uint32_t left = offset > 0 ? (uint32_t)offset : -(uint32_t)offset;
    for (int64_t at = base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

/* Shifts of any distance; what is moved out is gone. */
LANE uint32_t shl_b32(uint32_t a, uint32_t by)
{
    return by < 32 ? a << (by & 31) : 0;
}

LANE uint32_t shr_u32(uint32_t a, uint32_t by)
{
    return by < 32 ? a >> (by & 31) : 0;
}

LANE int32_t shr_s32(int32_t a, uint32_t by)
{
    return a >> (by < 31 ? by : 31);
}

LANE uint64_t shl_b64(uint64_t a, uint64_t by)
{
    return by < 64 ? a << (by & 63) : 0;
}

LANE uint64_t shr_u64(uint64_t a, uint64_t by)
{
    return by < 64 ? a >> (by & 63) : 0;
}

LANE int64_t shr_s64(int64_t a, uint64_t by)
{
    return a >> (by < 63 ? by : 63);
}

/* The upper and the lower word of high:low shifted by 0..32. */
LANE uint32_t shf_left(uint32_t low, uint32_t high, uint32_t by)
{
    return (uint32_t)(((uint64_t)high << 32 | low) << by >> 32);
}

LANE uint32_t shf_right(uint32_t low, uint32_t high, uint32_t by)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> by);
}

/* Fields. Position and length are a byte each, but not for words of 64 bits; what reaches beyond the word is
 * not there. */
LANE uint32_t bfe_u32(uint32_t a, uint32_t position, uint32_t length)
{
    return shr_u32(a, position & 255) & ~shl_b32(UINT32_MAX, length & 255);
}

LANE uint64_t bfe_u64(uint64_t a, uint64_t position, uint64_t length)
{
    return shr_u64(a, position) & ~shl_b64(UINT64_MAX, length);
}

LANE int32_t bfe_s32(int32_t a, uint32_t position, uint32_t length)
{
    uint32_t count = (length & 255) < 32 ? length & 255 : 32, away = (32 - count) & 31;
    return count ? (int32_t)((uint32_t)shr_s32(a, position & 255) << away) >> away : 0;
}

LANE int64_t bfe_s64(int64_t a, uint64_t position, uint64_t length)
{
    uint64_t count = length < 64 ? length : 64, away = (64 - count) & 63;
    return count ? (int64_t)((uint64_t)shr_s64(a, position) << away) >> away : 0;
}

LANE uint32_t bfi_b32(uint32_t a, uint32_t into, uint32_t position, uint32_t length)
{
    uint32_t field = shl_b32(~shl_b32(UINT32_MAX, length & 255), position & 255);
    return (into & ~field) | (shl_b32(a, position & 255) & field);
}

LANE uint64_t bfi_b64(uint64_t a, uint64_t into, uint64_t position, uint64_t length)
{
    uint64_t field = shl_b64(~shl_b64(UINT64_MAX, length), position);
    return (into & ~field) | (shl_b64(a, position) & field);
}

/* Bits position .. position + length - 1. */
LANE uint32_t bmsk_clamp(uint32_t position, uint32_t length)
{
    return shl_b32(~shl_b32(UINT32_MAX, length), position);
}

LANE uint32_t bmsk_wrap(uint32_t position, uint32_t length)
{
    return bmsk_clamp(position & 31, length & 31);
}

LANE uint32_t szext_u32(uint32_t a, uint32_t length)
{
    return a & ~shl_b32(UINT32_MAX, length);
}

LANE int32_t szext_s32(int32_t a, uint32_t length)
{
    return bfe_s32(a, 0, length < 32 ? length : 32);
}

/* Byte `at` of a word, or of two. */
LANE uint32_t byte_u32(uint32_t a, uint32_t at)
{
    return a >> 8 * at & 255;
}

LANE int32_t byte_s32(uint32_t a, uint32_t at)
{
    return (int32_t)(a << (24 - 8 * at)) >> 24;
}

LANE int32_t half_s32(uint32_t a, uint32_t at)
{
    return (int32_t)(a << (16 - 16 * at)) >> 16;
}

#define DOT4(a, pa, b, pb, c)                                                                                \
    ((uint32_t)(c) + (uint32_t)(pa(a, 0) * pb(b, 0)) + (uint32_t)(pa(a, 1) * pb(b, 1)) +                     \
     (uint32_t)(pa(a, 2) * pb(b, 2)) + (uint32_t)(pa(a, 3) * pb(b, 3)))
#define DOT2(a, pa, b, pb, at, c)                                                                            \
    ((uint32_t)(c) + (uint32_t)pa(a, 0) * (uint32_t)pb(b, at) + (uint32_t)pa(a, 1) * (uint32_t)pb(b, at + 1))

LANE uint32_t half_u32(uint32_t a, uint32_t at)
{
    return a >> 16 * at & 0xffff;
}

/* prmt: byte `nibble & 7` of high:low, or its sign eight times where bit 3 is set. */
LANE uint32_t prmt_byte(uint32_t low, uint32_t high, uint32_t nibble)
{
    uint32_t byte = (nibble & 4 ? high : low) >> 8 * (nibble & 3) & 255;
    return nibble & 8 ? (byte >> 7) * 255 : byte;
}

LANE uint32_t prmt_nibbles(uint32_t low, uint32_t high, uint32_t nibbles)
{
    return prmt_byte(low, high, nibbles & 15) | prmt_byte(low, high, nibbles >> 4 & 15) << 8 |
           prmt_byte(low, high, nibbles >> 8 & 15) << 16 | prmt_byte(low, high, nibbles >> 12 & 15) << 24;
}

/* Its modes, as the nibbles they stand for, with the lowest of the four cases in the lowest 16 bits. */
LANE uint32_t prmt_mode(uint32_t low, uint32_t high, uint32_t which, uint64_t cases)
{
    return prmt_nibbles(low, high, (uint32_t)(cases >> 16 * (which & 3)));
}

/* The function of three bits that the table's eight bits are: a is bit 2 of its index, b bit 1, c bit 0. */
LANE uint32_t lop3_b32(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t low = 0, high = 0;
    for (int ab = 0; ab < 4; ab++) {
        uint32_t here = ((ab & 2) ? a : ~a) & ((ab & 1) ? b : ~b);
        low |= here & -(table >> 2 * ab & 1);
        high |= here & -(table >> (2 * ab + 1) & 1);
    }
    return (low & ~c) | (high & c);
}

LANE int64_t clamp(int64_t x, int64_t least, int64_t greatest)
{
    return x < least ? least : x > greatest ? greatest : x;
}

/* c above a above b, of which n bits count. */
LANE uint32_t pack_low(int64_t a, int64_t b, uint32_t c, int n)
{
    uint32_t part = (UINT32_C(1) << n) - 1;
    return c << 2 * n | ((uint32_t)a & part) << n | ((uint32_t)b & part);
}

#endif
