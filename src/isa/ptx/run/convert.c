/* Conversions between all types of PTX: the value is unpacked, rounded once, and packed. */
#include "ptx_run/convert.h"

#include <string.h>

#include "base/bits.h"

struct conversion_type {
    const char *name;
    uint8_t bits; /* of one element */
    bool is_signed;
    uint8_t elements;
    const struct format *format; /* or null: an integer */
};

static const struct conversion_type types[] = {
    {"u8", 8, false, 1, 0},
    {"s8", 8, true, 1, 0},
    {"u16", 16, false, 1, 0},
    {"s16", 16, true, 1, 0},
    {"u32", 32, false, 1, 0},
    {"s32", 32, true, 1, 0},
    {"u64", 64, false, 1, 0},
    {"s64", 64, true, 1, 0},
    {"f16", 16, false, 1, &format_f16},
    {"bf16", 16, false, 1, &format_bf16},
    {"tf32", 32, false, 1, &format_tf32},
    {"f32", 32, false, 1, &format_f32},
    {"f64", 64, false, 1, &format_f64},
    {"f16x2", 16, false, 2, &format_f16},
    {"bf16x2", 16, false, 2, &format_bf16},
    {"e4m3x2", 8, false, 2, &format_e4m3},
    {"e5m2x2", 8, false, 2, &format_e5m2},
};

static const struct {
    const char *name;
    enum rounding rounding;
    bool whole;
} roundings[] = {
    {"rn", ROUND_NEAREST, false}, {"rz", ROUND_ZERO, false},  {"rm", ROUND_DOWN, false},
    {"rp", ROUND_UP, false},      {"rna", ROUND_AWAY, false}, {"rni", ROUND_NEAREST, true},
    {"rzi", ROUND_ZERO, true},    {"rmi", ROUND_DOWN, true},  {"rpi", ROUND_UP, true},
};

static bool is(const char *part, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(part, name, length);
}

static const struct conversion_type *type_of(const char *part, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (is(part, length, types[i].name))
            return &types[i];
    return 0;
}

/* One of .rn .. .rpi, .ftz, .sat, .satfinite, .relu. */
static bool modifier(struct conversion *how, const char *part, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(roundings); i++) {
        if (is(part, length, roundings[i].name)) {
            how->rounding = roundings[i].rounding;
            how->whole = roundings[i].whole;
            return true;
        }
    }
    bool *flag = is(part, length, "ftz")         ? &how->ftz
                 : is(part, length, "sat")       ? &how->sat
                 : is(part, length, "satfinite") ? &how->satfinite
                 : is(part, length, "relu")      ? &how->relu
                                                 : 0;
    if (flag)
        *flag = true;
    return flag;
}

bool conversion_parse(const char *opcode, struct conversion *how)
{
    *how = (struct conversion){0};
    if (strncmp(opcode, "cvt.", 4))
        return false;
    const char *part = opcode + 4;
    for (size_t length; length = strcspn(part, "."), !how->from; part += length + (part[length] == '.')) {
        const struct conversion_type *type = type_of(part, length);
        if (type && how->to)
            how->from = type;
        else if (type)
            how->to = type;
        else if (how->to || !modifier(how, part, length))
            return false;
    }
    if (*part)
        return false;
    how->two = how->to->elements == 2 && how->from->elements == 1;
    if (how->from->elements == 2 && how->to->elements == 1)
        return false;
    how->to_bits = (uint8_t)(how->to->bits * how->to->elements);
    how->from_bits = (uint8_t)(how->from->bits * how->from->elements);
    how->to_signed = how->to->is_signed;
    return true;
}

static uint64_t low_bits(uint64_t x, int count)
{
    return x & UINT64_MAX >> (64 - count);
}

static struct number from_integer(const struct conversion_type *type, uint64_t bits)
{
    bool negative = type->is_signed && bits >> (type->bits - 1) & 1;
    return (struct number){.negative = negative,
                           .significand = negative ? low_bits(-bits, type->bits) : bits};
}

/* Of a whole number; what is out of range becomes the nearest in it. */
static uint64_t to_integer(const struct conversion_type *type, struct number number)
{
    uint64_t greatest = UINT64_MAX >> (64 - type->bits + type->is_signed),
             least = type->is_signed ? greatest + 1 : 0;
    uint64_t limit = number.negative ? least : greatest, magnitude = limit;
    if (!number.infinite && number.exponent + 64 - __builtin_clzll(number.significand | 1) <= 64)
        magnitude = min_u64(number.significand << (number.exponent & 63), limit);
    return low_bits(number.negative ? -magnitude : magnitude, type->bits);
}

/* From f64, and to 64 bits, a NaN is the highest bit; else 0. */
static uint64_t nan_to_integer(const struct conversion *how)
{
    return how->from->bits == 64 || how->to->bits == 64 ? UINT64_C(1) << (how->to->bits - 1) : 0;
}

static struct number flushed(struct number number)
{
    if (number.significand < UINT64_C(1) << format_f32.fraction && !number.nan && !number.infinite)
        number.significand = 0;
    return number;
}

/* To 0..1. */
static struct number saturated(struct number number)
{
    if (number.negative)
        return (struct number){0};
    struct number one = {.significand = 1};
    bool large = number.infinite ||
                 (number.significand && 63 - __builtin_clzll(number.significand) + number.exponent >= 0);
    return large ? one : number;
}

/* Whether it only puts bits to other places: such a NaN is not even made quiet. */
static bool only_moves(const struct conversion *how)
{
    const struct format *to = how->to->format, *from = how->from->format;
    bool same = to == from && (to == &format_f32 || to == &format_f64);
    return !how->whole && !how->ftz && (same || (from == &format_bf16 && to == &format_f32));
}

/* Most become the one NaN of their type. From and to f64 they keep what they say. */
static uint64_t nan_to_float(const struct conversion *how, uint64_t bits, struct number number)
{
    const struct format *to = how->to->format, *from = how->from->format;
    if (how->sat)
        return 0;
    if (to == &format_tf32 && how->rounding == ROUND_AWAY) /* cut like a number, and like one too great */
        return (bits & ~UINT64_C(0x1fff)) - (how->satfinite ? 0x2000 : 0);
    if (to == &format_f64 && how->ftz)
        return UINT64_C(0x7fffffffe0000000); /* that of f32 */
    if (from != &format_f64 && to != &format_f64 && !only_moves(how))
        return to == &format_tf32 ? to->nan << 13 : to->nan;
    int shift = to->fraction - from->fraction;
    uint64_t fraction = shift < 0 ? number.significand >> -shift : number.significand << shift;
    uint64_t quiet = only_moves(how) ? 0 : UINT64_C(1) << (to->fraction - 1);
    return (uint64_t)number.negative << (to->bits - 1) | (to->greatest + 1) | quiet | fraction;
}

static uint64_t to_float(const struct conversion *how, struct number number)
{
    const struct format *format = how->to->format;
    if (how->sat)
        number = saturated(number);
    if (how->relu && number.negative)
        number = (struct number){0};
    uint64_t bits = number_encode(format, number, how->rounding);
    uint64_t sign = UINT64_C(1) << (format->bits - 1);
    if (how->satfinite && (bits & ~sign) > format->greatest)
        bits = (bits & sign) | format->greatest;
    if (how->ftz && format == &format_f32)
        bits = number_encode(format, flushed(number_decode(format, bits)), ROUND_NEAREST);
    return format == &format_tf32 ? bits << 13 : bits;
}

static uint64_t convert_one(const struct conversion *how, uint64_t bits)
{
    const struct conversion_type *to = how->to, *from = how->from;
    bits = low_bits(bits, from->bits);
    if (!from->format) {
        struct number number = from_integer(from, bits);
        if (to->format)
            return to_float(how, number);
        return how->sat ? to_integer(to, number)
                        : low_bits(number.negative ? -number.significand : bits, to->bits);
    }
    struct number number = number_decode(from->format, bits);
    if (how->ftz && from->format == &format_f32 && to->format != &format_f16) /* which has no use for it */
        number = flushed(number);
    if (!to->format)
        return number.nan ? nan_to_integer(how) : to_integer(to, number_whole(number, how->rounding));
    if (number.nan)
        return nan_to_float(how, bits, number);
    return to_float(how, how->whole ? number_whole(number, how->rounding) : number);
}

uint64_t convert(const struct conversion *how, uint64_t a, uint64_t b)
{
    if (how->to->elements == 1)
        return convert_one(how, a);
    uint64_t low = how->two ? b : a, high = how->two ? a : a >> how->from->bits;
    return convert_one(how, high) << how->to->bits | convert_one(how, low);
}

bool convert_extends(const struct conversion *how, bool *from_signed)
{
    *from_signed = how->from->is_signed;
    return !how->from->format && !how->to->format && !how->sat && !how->two;
}
