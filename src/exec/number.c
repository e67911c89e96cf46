/* Numbers of any format: unpacked, rounded, packed. */
#include "exec/number.h"

const struct format format_f16 = {16, 10, 0x7bff, NAN_F16, true};
const struct format format_bf16 = {16, 7, 0x7f7f, NAN_F16, true};
const struct format format_tf32 = {19, 10, 0x3fbff, 0x3ffff, true};
const struct format format_f32 = {32, 23, 0x7f7fffff, NAN_F32, true};
const struct format format_f64 = {64, 52, UINT64_C(0x7fefffffffffffff), INDEFINITE_F64, true};
const struct format format_e4m3 = {8, 3, 0x7e, 0x7f, false};
const struct format format_e5m2 = {8, 2, 0x7b, 0x7f, true};

static int exponent_bits(const struct format *format)
{
    return format->bits - 1 - format->fraction;
}

/* The exponent of the last place of the smallest numbers. */
static int lowest(const struct format *format)
{
    return 2 - (1 << (exponent_bits(format) - 1)) - format->fraction;
}

struct number number_decode(const struct format *format, uint64_t bits)
{
    uint64_t magnitude = bits & (UINT64_MAX >> (65 - format->bits));
    uint64_t fraction = magnitude & ((UINT64_C(1) << format->fraction) - 1);
    int exponent = (int)(magnitude >> format->fraction);
    struct number number = {.negative = bits >> (format->bits - 1) & 1};
    if (magnitude > format->greatest) {
        number.infinite = format->infinite && fraction == 0;
        number.nan = !number.infinite;
        number.significand = fraction;
    } else {
        number.significand = exponent ? fraction | UINT64_C(1) << format->fraction : fraction;
        number.exponent = lowest(format) + (exponent ? exponent - 1 : 0);
    }
    return number;
}

/* significand / 2^shift, whole. */
static uint64_t rounded(const struct number *number, int shift, enum rounding mode)
{
    uint64_t all = number->significand, whole = shift < 64 ? all >> shift : 0,
             rest = all - (shift < 64 ? whole << shift : 0);
    if (!rest)
        return whole;
    uint64_t half = shift <= 64 ? UINT64_C(1) << (shift - 1) : 0; /* 0: more than any rest */
    bool up = false;
    switch (mode) {
    case ROUND_NEAREST:
        up = half && (rest > half || (rest == half && whole & 1));
        break;
    case ROUND_AWAY:
        up = half && rest >= half;
        break;
    case ROUND_ZERO:
        break;
    case ROUND_DOWN:
        up = number->negative;
        break;
    case ROUND_UP:
        up = !number->negative;
        break;
    }
    return whole + up;
}

static uint64_t overflow(const struct format *format, bool negative, enum rounding mode)
{
    bool stays = mode == ROUND_ZERO || (mode == ROUND_DOWN && !negative) || (mode == ROUND_UP && negative);
    return !format->infinite || stays ? format->greatest : format->greatest + 1;
}

uint64_t number_encode(const struct format *format, struct number number, enum rounding mode)
{
    uint64_t sign = (uint64_t)number.negative << (format->bits - 1);
    if (number.nan)
        return format->nan;
    if (number.infinite)
        return sign | (format->infinite ? format->greatest + 1 : format->greatest);
    if (!number.significand)
        return sign;
    int top = number.exponent + 63 - __builtin_clzll(number.significand);
    int last = top - format->fraction;
    if (last < lowest(format))
        last = lowest(format);
    int shift = last - number.exponent;
    uint64_t whole = shift > 0 ? rounded(&number, shift, mode) : number.significand << -shift;
    /* whole has its leading one where the format hides it, which counts as one more in the exponent; when it
     * was rounded up to the next power of two the exponent becomes right by itself */
    uint64_t room = (UINT64_C(1) << exponent_bits(format)) - 1, exponent = (uint64_t)(last - lowest(format));
    uint64_t magnitude = exponent > room ? UINT64_MAX : (exponent << format->fraction) + whole;
    return sign | (magnitude > format->greatest ? overflow(format, number.negative, mode) : magnitude);
}

struct number number_whole(struct number number, enum rounding mode)
{
    if (number.nan || number.infinite || number.exponent >= 0)
        return number;
    number.significand = rounded(&number, -number.exponent, mode);
    number.exponent = 0;
    return number;
}
