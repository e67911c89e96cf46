/* What a row of alu.def should compute, from its opcode alone and one lane at a time: as the PTX manual's
 * pseudo-code has it, bit by bit where that is plainer; where an H200 does otherwise (tests/oracle), as that
 * does. It shares nothing with alu.def but the formats of numbers. */
#ifndef TESTS_UNIT_SLOW_ALU_H
#define TESTS_UNIT_SLOW_ALU_H

#include "exact.h"
#include "base/bits.h"
#include "ptx_run/convert.h"

#include <stdlib.h>
#include <string.h>

typedef __int128 s128;

struct slow {
    char part[8][16]; /* of the opcode, between the dots */
    int parts;
    const char *type; /* the last part that is one */
    int bits;         /* of it */
    bool is_signed;
};

static bool slow_has(const struct slow *s, const char *part)
{
    for (int i = 0; i < s->parts; i++)
        if (!strcmp(s->part[i], part))
            return true;
    return false;
}

static void slow_split(struct slow *s, const char *opcode)
{
    memset(s, 0, sizeof *s);
    for (; *opcode && s->parts < 8; s->parts++) {
        size_t length = strcspn(opcode, ".");
        memcpy(s->part[s->parts], opcode, length);
        opcode += length + (opcode[length] == '.');
    }
    for (int i = 1; i < s->parts; i++) {
        const char *digits = strpbrk(s->part[i], "123456789");
        if (digits && strchr("usbf", s->part[i][0])) {
            s->type = s->part[i];
            s->bits = atoi(digits);
            s->is_signed = s->part[i][0] == 's';
        }
    }
}

static uint64_t slow_cut(uint64_t x, int bits)
{
    return bits < 64 ? x & ((UINT64_C(1) << bits) - 1) : x;
}

static s128 slow_value(uint64_t x, int bits, bool is_signed)
{
    x = slow_cut(x, bits);
    return is_signed && x >> (bits - 1) & 1 ? (s128)x - ((s128)1 << bits) : (s128)x;
}

static s128 slow_clamp(s128 x, int bits, bool is_signed)
{
    s128 least = is_signed ? -((s128)1 << (bits - 1)) : 0, greatest = ((s128)1 << (bits - is_signed)) - 1;
    return x < least ? least : x > greatest ? greatest : x;
}

/* --- integers --- */

static s128 slow_product24(const struct slow *s, uint64_t a, uint64_t b)
{
    s128 p = slow_value(a, 24, s->is_signed) * slow_value(b, 24, s->is_signed);
    return slow_has(s, "hi") ? p >> 16 : p;
}

static s128 slow_product(const struct slow *s, uint64_t a, uint64_t b)
{
    s128 p = (s128)((u128)slow_value(a, s->bits, s->is_signed) * (u128)slow_value(b, s->bits, s->is_signed));
    if (!slow_has(s, "hi"))
        return p;
    return s->is_signed ? p >> s->bits : (s128)((u128)p >> s->bits);
}

/* Of a position or a length 8 bits count, on 64 bits all. */
static int64_t slow_field(uint64_t x, int bits)
{
    return (int64_t)(bits == 64 ? x : x & 255);
}

static uint64_t slow_bfe(uint64_t a, uint64_t b, uint64_t c, int bits, bool is_signed)
{
    int64_t msb = bits - 1, position = slow_field(b, bits), length = slow_field(c, bits),
            last = position + length - 1;
    bool sign = is_signed && length && a >> (last < msb ? last : msb) & 1;
    uint64_t d = 0;
    for (int i = 0; i <= msb; i++)
        d |= (uint64_t)(i < length && position + i <= msb ? a >> (position + i) & 1 : sign) << i;
    return d;
}

static uint64_t slow_bfi(uint64_t a, uint64_t b, uint64_t c, uint64_t e, int bits)
{
    int64_t position = slow_field(c, bits), length = slow_field(e, bits);
    for (int64_t i = 0; i < length && position + i < bits; i++)
        b = (b & ~(UINT64_C(1) << (position + i))) | (a >> i & 1) << (position + i);
    return b;
}

static uint64_t slow_bfind(const struct slow *s, uint64_t a)
{
    if (s->is_signed && a >> (s->bits - 1) & 1)
        a = slow_cut(~a, s->bits);
    for (int i = s->bits - 1; i >= 0; i--)
        if (a >> i & 1)
            return (uint64_t)(slow_has(s, "shiftamt") ? s->bits - 1 - i : i);
    return UINT32_MAX;
}

static uint64_t slow_fns(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == INT32_MIN)
        return 0;
    if (offset == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    int64_t position = base, count = offset < 0 ? -(int64_t)offset : offset, step = offset < 0 ? -1 : 1;
    for (; position >= 0 && position < 32; position += step)
        if (mask >> position & 1 && --count == 0)
            return (uint64_t)position;
    return UINT32_MAX;
}

static uint64_t slow_bmsk(uint64_t a, uint64_t b, bool wrap)
{
    uint64_t d = 0;
    if (wrap)
        a &= 31, b &= 31;
    for (uint64_t i = a; i < 32 && i < a + b; i++)
        d |= UINT64_C(1) << i;
    return d;
}

static uint64_t slow_szext(const struct slow *s, uint64_t a, uint64_t b)
{
    if (slow_has(s, "wrap"))
        b &= 31;
    return b >= 32 ? a : b ? (uint64_t)slow_value(a, (int)b, s->is_signed) : 0;
}

static uint64_t slow_prmt(const struct slow *s, uint64_t a, uint64_t b, uint64_t c)
{
    static const struct {
        const char *mode;
        uint8_t bytes[4][4]; /* from the highest down, by the manual's table */
    } modes[] = {
        {"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
        {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
        {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
        {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
        {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
        {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}},
    };
    uint64_t both = b << 32 | a, d = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t nibble = c >> 4 * i & 15;
        for (size_t m = 0; m < COUNT_OF(modes); m++)
            if (slow_has(s, modes[m].mode))
                nibble = modes[m].bytes[c & 3][3 - i];
        uint64_t byte = both >> 8 * (nibble & 7) & 255;
        d |= (nibble & 8 ? byte >> 7 ? 255 : 0 : byte) << 8 * i;
    }
    return d;
}

static uint64_t slow_dot(const struct slow *s, uint64_t a, uint64_t b, uint64_t c)
{
    bool two = !strcmp(s->part[0], "dp2a");
    bool sign_a = s->part[s->parts - 2][0] == 's', sign_b = s->is_signed;
    s128 sum = (s128)c;
    for (int i = 0; i < (two ? 2 : 4); i++) {
        int at = two && slow_has(s, "hi") ? i + 2 : i, width = two ? 16 : 8;
        sum += slow_value(a >> width * i, width, sign_a) * slow_value(b >> 8 * at, 8, sign_b);
    }
    return (uint64_t)sum;
}

static uint64_t slow_pack(const struct slow *s, uint64_t a, uint64_t b, uint64_t c)
{
    int n = atoi(s->part[3] + 1);
    bool is_signed = s->part[3][0] == 's';
    uint64_t high = slow_cut((uint64_t)slow_clamp(slow_value(a, 32, true), n, is_signed), n);
    uint64_t low = slow_cut((uint64_t)slow_clamp(slow_value(b, 32, true), n, is_signed), n);
    return (n < 16 ? c << 2 * n : 0) | high << n | low;
}

static s128 slow_divide(s128 a, s128 b, bool rest)
{
    return b == 0 ? -1 : rest ? a % b : a / b;
}

static bool slow_integer(const struct slow *s, uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t *d)
{
    const char *op = s->part[0];
    int bits = s->bits;
    s128 x = slow_value(a, bits, s->is_signed), y = slow_value(b, bits, s->is_signed),
         z = slow_value(c, bits, s->is_signed);
    s128 r;
    if (!strcmp(op, "add"))
        r = x + y;
    else if (!strcmp(op, "sub"))
        r = x - y;
    else if (!strcmp(op, "neg"))
        r = -x;
    else if (!strcmp(op, "abs"))
        r = x < 0 ? -x : x;
    else if (!strcmp(op, "mul"))
        r = slow_product(s, a, b);
    else if (!strcmp(op, "mad") && slow_has(s, "wide"))
        r = (s128)((u128)slow_product(s, a, b) + c);
    else if (!strcmp(op, "mad"))
        r = (s128)((u128)slow_product(s, a, b) + (u128)z);
    else if (!strcmp(op, "mul24"))
        r = slow_product24(s, a, b);
    else if (!strcmp(op, "mad24"))
        r = slow_product24(s, a, b) + z;
    else if (!strcmp(op, "sad"))
        r = z + (x < y ? y - x : x - y);
    else if (!strcmp(op, "div") || !strcmp(op, "rem"))
        r = slow_divide(x, y, op[0] == 'r');
    else if (!strcmp(op, "min"))
        r = x < y ? x : y;
    else if (!strcmp(op, "max"))
        r = x > y ? x : y;
    else if (!strcmp(op, "and"))
        r = a & b;
    else if (!strcmp(op, "or"))
        r = a | b;
    else if (!strcmp(op, "xor"))
        r = a ^ b;
    else if (!strcmp(op, "not"))
        r = ~a;
    else if (!strcmp(op, "cnot"))
        r = a == 0;
    else if (!strcmp(op, "mov"))
        r = a;
    else if (!strcmp(op, "shl"))
        r = b < (uint64_t)bits ? (s128)(a << b) : 0;
    else if (!strcmp(op, "shr"))
        r = x >> (b < 100 ? b : 100);
    else if (!strcmp(op, "shf")) {
        uint64_t n = slow_has(s, "wrap") ? c & 31 : c < 32 ? c : 32, both = b << 32 | a;
        r = slow_has(s, "l") ? both << n >> 32 : both >> n;
    } else if (!strcmp(op, "popc"))
        r = __builtin_popcountll(a);
    else if (!strcmp(op, "clz"))
        r = a ? __builtin_clzll(a) - (64 - bits) : bits;
    else if (!strcmp(op, "brev")) {
        r = 0;
        for (int i = 0; i < bits; i++)
            r |= (s128)(a >> i & 1) << (bits - 1 - i);
    } else if (!strcmp(op, "bfind"))
        r = slow_bfind(s, a);
    else if (!strcmp(op, "fns"))
        r = slow_fns((uint32_t)a, (uint32_t)b, (int32_t)c);
    else if (!strcmp(op, "bfe"))
        r = slow_bfe(a, b, c, bits, s->is_signed);
    else if (!strcmp(op, "bfi"))
        r = slow_bfi(a, b, c, e, bits);
    else if (!strcmp(op, "bmsk"))
        r = slow_bmsk(a, b, slow_has(s, "wrap"));
    else if (!strcmp(op, "szext"))
        r = slow_szext(s, a, b);
    else if (!strcmp(op, "prmt"))
        r = slow_prmt(s, a, b, c);
    else if (!strcmp(op, "lop3")) {
        r = 0;
        for (int i = 0; i < 32; i++)
            r |= (s128)(e >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    } else if (!strncmp(op, "dp", 2))
        r = slow_dot(s, a, b, c);
    else if (!strcmp(op, "copysign"))
        r = (a & UINT64_C(1) << (bits - 1)) | slow_cut(b, bits - 1);
    else if (!strcmp(op, "cvt"))
        r = slow_pack(s, a, b, c);
    else
        return false;
    if (slow_has(s, "sat") && strcmp(op, "cvt"))
        r = slow_clamp(r, bits, s->is_signed);
    if (slow_has(s, "relu") && r < 0)
        r = 0;
    *d = (uint64_t)r;
    return true;
}

/* --- numbers --- */

static const struct format *slow_format(const char *type)
{
    return !strncmp(type, "f16", 3)    ? &format_f16
           : !strncmp(type, "bf16", 4) ? &format_bf16
           : !strcmp(type, "f32")      ? &format_f32
           : !strcmp(type, "f64")      ? &format_f64
                                       : NULL;
}

static bool slow_nan(const struct format *f, uint64_t x)
{
    return number_decode(f, x).nan;
}

static uint64_t slow_ftz(const struct format *f, uint64_t x)
{
    uint64_t sign = UINT64_C(1) << (f->bits - 1);
    return (x & ~sign) >> f->fraction ? x : x & sign;
}

/* By value; 0 before NaN is asked for elsewhere. */
static double slow_double(const struct format *f, uint64_t x)
{
    return f64_bits(number_encode(&format_f64, number_decode(f, x), ROUND_NEAREST));
}

static uint64_t slow_extreme(const struct slow *s, const struct format *f, uint64_t x, uint64_t y)
{
    uint64_t sign = UINT64_C(1) << (f->bits - 1), turned = slow_has(s, "xorsign") ? (x ^ y) & sign : 0;
    if (slow_has(s, "xorsign"))
        x &= ~sign, y &= ~sign;
    bool nan_x = slow_nan(f, x), nan_y = slow_nan(f, y), greater = !strcmp(s->part[0], "max");
    if ((nan_x && nan_y) || ((nan_x || nan_y) && slow_has(s, "NaN")))
        return f->nan;
    double a = slow_double(f, x), b = slow_double(f, y);
    bool first = a == b ? (bool)(x & sign) != greater : (a < b) != greater;
    return (nan_x ? y : nan_y ? x : first ? x : y) ^ turned;
}

/* An operand that is a NaN, quiet, is the answer of f64: from the second on, and the first last; of quotients
 * in order. */
static uint64_t slow_f64_nan(uint64_t r, const uint64_t *s, int count, bool in_order)
{
    if (!slow_nan(&format_f64, r))
        return r;
    for (int i = 0; i < count; i++) {
        uint64_t x = s[in_order ? i : (i + 1) % count];
        if (slow_nan(&format_f64, x))
            return x | QUIET_F64;
    }
    return INDEFINITE_F64;
}

/* Whether a product, and what is added to it, is below the normal numbers if it is rounded to as many bits as
 * they have: that differs from r, rounded to the place of the subnormal ones, where this is the least normal
 * number. Found with all 16 times as large. */
static bool slow_tiny(const struct format *f, const uint64_t *v, bool sums, uint64_t r, enum rounding mode)
{
    uint64_t sign = UINT64_C(1) << (f->bits - 1), one = UINT64_C(1) << f->fraction, more = 4 * one;
    if ((r & ~sign) != one)
        return (r & ~sign) < one;
    uint64_t w[3] = {v[0], v[1], v[2]}, *less = (w[0] & ~sign) < (w[1] & ~sign) ? &w[0] : &w[1];
    if (!(*less & ~sign) ||
        (sums && (w[2] & ~sign) > number_encode(f, (struct number){.significand = 1}, mode)))
        return false; /* exact */
    *less += more;
    w[2] += w[2] & ~sign ? more : 0;
    uint64_t scaled = sums ? exact_fma(f, w[0], w[1], w[2], mode) : exact_mul(f, w[0], w[1], mode);
    return (scaled & ~sign) < one + more;
}

static bool slow_float(const struct slow *s, const struct format *f, const uint64_t *source, uint64_t *d)
{
    const char *op = s->part[0];
    uint64_t v[3] = {source[0], source[1], source[2]}, sign = UINT64_C(1) << (f->bits - 1), r;
    enum rounding mode = slow_has(s, "rz")   ? ROUND_ZERO
                         : slow_has(s, "rm") ? ROUND_DOWN
                         : slow_has(s, "rp") ? ROUND_UP
                                             : ROUND_NEAREST;
    int count = 2;
    if (slow_has(s, "approx") || slow_has(s, "full"))
        return false;
    for (int i = 0; i < 3 && slow_has(s, "ftz"); i++)
        v[i] = slow_ftz(f, v[i]);
    if (!strcmp(op, "add"))
        r = exact_add(f, v[0], v[1], mode);
    else if (!strcmp(op, "sub"))
        r = exact_add(f, v[0], v[1] ^ sign, mode);
    else if (!strcmp(op, "mul"))
        r = exact_mul(f, v[0], v[1], mode);
    else if (!strcmp(op, "fma") || !strcmp(op, "mad"))
        count = 3, r = exact_fma(f, v[0], v[1], v[2], mode);
    else if (!strcmp(op, "mul-sub"))
        count = 3, v[2] ^= sign, r = exact_fma(f, v[0], v[1], v[2], mode);
    else if (!strcmp(op, "sub-mul"))
        count = 3, v[0] ^= sign, r = exact_fma(f, v[0], v[1], v[2], mode);
    else if (!strcmp(op, "div"))
        r = exact_div(f, v[0], v[1], mode);
    else if (!strcmp(op, "rcp"))
        count = 1, r = exact_div(f, exact_one(f), v[0], mode);
    else if (!strcmp(op, "sqrt"))
        count = 1, r = exact_sqrt(f, v[0], mode);
    else if (!strcmp(op, "min") || !strcmp(op, "max"))
        r = slow_extreme(s, f, v[0], v[1]);
    else if (!strcmp(op, "abs"))
        count = 1, r = slow_nan(f, v[0]) ? f->nan : v[0] & ~sign;
    else if (!strcmp(op, "neg"))
        count = 1, r = slow_nan(f, v[0]) ? f->nan : v[0] ^ sign;
    else
        return false;
    if (f == &format_f64)
        r = slow_f64_nan(r, source, count, !strcmp(op, "div"));
    bool product = strstr(op, "mul") || !strcmp(op, "fma") || !strcmp(op, "mad");
    if (slow_has(s, "ftz"))
        r = product && slow_tiny(f, v, count == 3, r, mode) ? r & sign : slow_ftz(f, r);
    if (slow_has(s, "sat"))
        r = slow_nan(f, r) || r & sign ? 0 : r > exact_one(f) ? exact_one(f) : r;
    if (slow_has(s, "relu") && r & sign)
        r = 0;
    *d = r;
    return true;
}

/* --- comparisons --- */

static bool slow_holds(const char *op, bool less, bool equal, bool unordered)
{
    bool greater = !less && !equal && !unordered;
    if (!strcmp(op, "num") || !strcmp(op, "nan"))
        return unordered == !strcmp(op, "nan");
    size_t length = strlen(op);
    bool or_unordered = length == 3 && op[2] == 'u';
    if (unordered)
        return or_unordered;
    if (!strncmp(op, "eq", 2) || !strncmp(op, "ne", 2))
        return equal == (op[0] == 'e');
    if (!strncmp(op, "lt", 2) || !strcmp(op, "lo"))
        return less;
    if (!strncmp(op, "le", 2) || !strcmp(op, "ls"))
        return less || equal;
    if (!strncmp(op, "gt", 2) || !strcmp(op, "hi"))
        return greater;
    return greater || equal;
}

static bool slow_compare(const struct slow *s, const struct format *f, uint64_t a, uint64_t b)
{
    if (!f) {
        s128 x = slow_value(a, s->bits, s->is_signed), y = slow_value(b, s->bits, s->is_signed);
        return slow_holds(s->part[1], x < y, x == y, false);
    }
    if (slow_has(s, "ftz"))
        a = slow_ftz(f, a), b = slow_ftz(f, b);
    double x = slow_double(f, a), y = slow_double(f, b);
    return slow_holds(s->part[1], x < y, x == y, slow_nan(f, a) || slow_nan(f, b));
}

static uint64_t slow_true(const char *type, bool pair)
{
    return !strncmp(type, "f16", 3)    ? 0x3c00
           : !strncmp(type, "bf16", 4) ? 0x3f80
           : !strcmp(type, "f32")      ? 0x3f800000
           : pair                      ? 0xffff
                                       : UINT64_MAX;
}

static bool slow_testp(const char *what, const struct format *f, uint64_t a)
{
    struct number n = number_decode(f, a);
    bool finite = !n.nan && !n.infinite,
         subnormal = finite && n.significand && !slow_cut(slow_ftz(f, a), f->bits - 1);
    return !strcmp(what, "finite")       ? finite
           : !strcmp(what, "infinite")   ? n.infinite
           : !strcmp(what, "number")     ? !n.nan
           : !strcmp(what, "notanumber") ? n.nan
           : !strcmp(what, "subnormal")  ? subnormal
                                         : finite && !subnormal;
}

/* The result of one lane, if this opcode's is known here; predicates are 0 or 1. Bits above the destination's
 * type are not to be looked at. */
static bool slow_alu(const char *opcode, const uint64_t *v, uint64_t *d)
{
    struct slow s;
    slow_split(&s, opcode);
    const char *op = s.part[0], *last = s.part[s.parts - 1];
    if (!strcmp(last, "pred")) {
        *d = !strcmp(op, "and")   ? v[0] & v[1]
             : !strcmp(op, "or")  ? v[0] | v[1]
             : !strcmp(op, "xor") ? v[0] ^ v[1]
             : !strcmp(op, "not") ? !v[0]
                                  : v[0];
        return true;
    }
    if (!strcmp(op, "selp"))
        return *d = v[2] ? v[0] : v[1], true;
    if (!strcmp(op, "slct")) {
        uint64_t c = slow_has(&s, "ftz") ? slow_ftz(&format_f32, v[2]) : v[2];
        bool first = !strcmp(last, "f32") ? slow_double(&format_f32, c) >= 0.0 : !(c >> 31 & 1);
        return *d = first ? v[0] : v[1], true;
    }
    struct conversion how;
    if (conversion_parse(opcode, &how))
        return *d = (uint64_t)slow_value(convert(&how, v[0], v[1]), how.to_bits, how.to_signed), true;
    const struct format *f = s.type ? slow_format(s.type) : NULL;
    bool pair = s.type && strstr(s.type, "x2");
    if (!strcmp(op, "testp"))
        return *d = slow_testp(s.part[1], f, v[0]), true;
    if (!strcmp(op, "setp"))
        return *d = slow_compare(&s, f, v[0], v[1]), true;
    uint64_t half[2][3] = {{0}}, r[2] = {0};
    for (int i = 0; i < 3; i++)
        half[0][i] = v[i] & 0xffff, half[1][i] = v[i] >> 16 & 0xffff;
    if (!strcmp(op, "set")) {
        const char *to = s.part[s.parts - 2];
        for (int i = 0; i < 2; i++)
            r[i] = slow_compare(&s, f, half[i][0], half[i][1]) ? slow_true(to, true) : 0;
        *d = pair ? r[1] << 16 | r[0] : slow_compare(&s, f, v[0], v[1]) ? slow_true(to, false) : 0;
        return true;
    }
    if (pair) {
        for (int i = 0; i < 2; i++)
            if (!(f ? slow_float(&s, f, half[i], &r[i])
                    : slow_integer(&s, half[i][0], half[i][1], half[i][2], 0, &r[i])))
                return false;
        return *d = r[1] << 16 | (r[0] & 0xffff), true;
    }
    return (f && slow_float(&s, f, v, d)) || (s.type && slow_integer(&s, v[0], v[1], v[2], v[3], d));
}

#endif
