/* Numbers are drawn one at a time, each in a statement of its own: the order in which C evaluates operands is
 * the compiler's, and the same seed must give the same vectors with all of them. */
#include "values.h"

static const struct {
    const char *name;
    uint8_t bits, fraction, count;
} values[] = {
#define V(name, bits, fraction, count) {#name, bits, fraction, count},
    VALUES(V)
#undef V
};

unsigned value_bytes(enum value value)
{
    return value == VALUE_pred ? 4 : values[value].bits / 8u * values[value].count;
}

enum value value_of(const char *name)
{
    for (enum value i = 0; i < COUNT_OF(values); i++)
        if (!strcmp(values[i].name, name))
            return i;
    return VALUE_none;
}

static uint64_t ones(unsigned count)
{
    return count ? UINT64_MAX >> (64 - count) : 0;
}

/* One of 2^k - 2 .. 2^k + 2. */
static uint64_t near_power(struct rng *rng, unsigned k)
{
    return (UINT64_C(1) << (k & 63)) + rng_below(rng, 5) - 2;
}

/* Random bits of which the last are 0, or a half of the last place that is not, or next to that: what
 * roundings to fewer bits must tell apart. */
static uint64_t trimmed(struct rng *rng, unsigned bits)
{
    unsigned cut = (unsigned)rng_below(rng, bits);
    uint64_t x = rng_next(rng) & ~ones(cut);
    switch (rng_below(rng, 5)) {
    case 0:
        return x;
    case 1:
        return x | UINT64_C(1) << cut >> 1;
    case 2:
        return (x | UINT64_C(1) << cut >> 1) + 1;
    case 3:
        return (x | UINT64_C(1) << cut >> 1) - 1;
    default:
        return x - 1;
    }
}

static uint64_t integer_any(struct rng *rng, unsigned bits, uint64_t before)
{
    uint64_t x;
    switch (rng_below(rng, 8)) {
    case 0: /* 0, 1, -1, the least, the greatest, and beside them */
        return near_power(rng, (unsigned)rng_below(rng, 2) * (bits - 1));
    case 1:
        return near_power(rng, (unsigned)rng_below(rng, bits));
    case 2: /* distances of shifts, positions of fields */
        return rng_below(rng, 72);
    case 3:
        return -rng_below(rng, 72);
    case 4:
        return rng_below(rng, 2) ? before + rng_below(rng, 3) - 1 : -before;
    case 5:
        x = rng_next(rng);
        return x >> rng_below(rng, 64);
    case 6:
        x = trimmed(rng, bits);
        return x >> rng_below(rng, bits);
    default:
        return rng_next(rng);
    }
}

/* Magnitudes at the edges: zeros, subnormal numbers, ones, the greatest, infinities, NaN. */
static uint64_t float_edge(struct rng *rng, unsigned bits, unsigned fraction)
{
    uint64_t one_exponent = ones(bits - 2 - fraction), infinity = ones(bits - 1 - fraction) << fraction;
    switch (rng_below(rng, 8)) {
    case 0:
        return 0;
    case 1:
        return rng_below(rng, 4);
    case 2: /* about the least normal number */
        return (UINT64_C(1) << fraction) + rng_below(rng, 5) - 2;
    case 3:
        return (one_exponent << fraction) + rng_below(rng, 5) - 2;
    case 4: /* the greatest, infinity, a signalling NaN */
        return infinity + rng_below(rng, 5) - 2;
    case 5:
        return infinity;
    case 6:
        return infinity | rng_next(rng);
    default:
        return rng_next(rng) & ones(fraction);
    }
}

/* A power of two with an exponent of at most `spread` more or less than that of 1. */
static uint64_t power_near_one(struct rng *rng, unsigned bits, unsigned fraction, unsigned spread)
{
    return (ones(bits - 2 - fraction) + rng_below(rng, 2 * spread + 1) - spread) << fraction;
}

static uint64_t float_near_one(struct rng *rng, unsigned bits, unsigned fraction, unsigned spread)
{
    uint64_t power = power_near_one(rng, bits, fraction, spread);
    uint64_t part = rng_below(rng, 2) ? trimmed(rng, fraction) : rng_next(rng);
    return power | (part & ones(fraction));
}

/* Such that its product with `before` is near the least normal number, or the greatest. */
static uint64_t float_partner(struct rng *rng, unsigned bits, unsigned fraction, uint64_t before)
{
    int64_t bias = (int64_t)ones(bits - 2 - fraction), most = 2 * bias,
            exponent = before >> fraction & ones(bits - 1 - fraction);
    int64_t wanted = rng_below(rng, 3) ? 0 : most;
    wanted += (int64_t)rng_below(rng, 3) + bias - exponent;
    uint64_t part = trimmed(rng, fraction);
    uint64_t all = rng_below(rng, 3);
    part = all == 0 ? 0 : all == 1 ? UINT64_MAX : part;
    wanted = wanted < 0 ? 0 : wanted > most ? most : wanted;
    return (uint64_t)wanted << fraction | (part & ones(fraction));
}

/* About the numbers at which other types of number or integers end. */
static uint64_t float_limit(struct rng *rng, unsigned bits, unsigned fraction)
{
    static const int16_t limits[] = {-150, -149, -134, -133, -127, -126, -25, -24, -17, -16, -15, -14, -10,
                                     -9,   -7,   -6,   7,    8,    15,   16,  31,  32,  63,  64,  127, 128};
    int64_t bias = (int64_t)ones(bits - 2 - fraction),
            exponent = limits[rng_below(rng, COUNT_OF(limits))] + bias;
    uint64_t power = (uint64_t)(exponent < 0 ? 0 : exponent > 2 * bias ? 2 * bias : exponent) << fraction;
    uint64_t part = trimmed(rng, fraction);
    uint64_t near = rng_below(rng, 5);
    return rng_below(rng, 2) ? power + near - 2 : power | (part & ones(fraction));
}

static uint64_t float_any(struct rng *rng, unsigned bits, unsigned fraction, uint64_t before)
{
    uint64_t sign = rng_below(rng, 2) << (bits - 1), all = ones(bits), magnitude = ones(bits - 1), x;
    unsigned most = (unsigned)ones(bits - 2 - fraction) - 1;
    switch (rng_below(rng, 10)) {
    case 0:
    case 1:
        return sign | (float_edge(rng, bits, fraction) & magnitude);
    case 2: /* powers of two and beside them */
        x = power_near_one(rng, bits, fraction, most < 66 ? most : 66);
        return sign | (x + rng_below(rng, 5) - 2);
    case 3: /* the same number, its negative, or a neighbour */
        return (before + rng_below(rng, 3) - 1) ^ sign;
    case 4: /* up to the width of a significand greater or less */
        return ((before + ((rng_below(rng, 2 * fraction + 5) - fraction - 2) << fraction)) & all) ^ sign;
    case 5:
        return sign | float_near_one(rng, bits, fraction, most < 4 ? most : 4);
    case 6:
        return sign | float_near_one(rng, bits, fraction, most < 70 ? most : 70);
    case 7:
        return sign | float_partner(rng, bits, fraction, before);
    case 8:
        return sign | (float_limit(rng, bits, fraction) & magnitude);
    default:
        return rng_next(rng);
    }
}

uint64_t value_any(struct rng *rng, enum value value, uint64_t before)
{
    unsigned bits = values[value].bits, fraction = values[value].fraction;
    uint64_t all = 0;
    if (value == VALUE_pred)
        return rng_below(rng, 2);
    for (unsigned i = 0; i < values[value].count; i++) {
        uint64_t part = before >> bits * i & ones(bits);
        part = fraction ? float_any(rng, bits, fraction, part) : integer_any(rng, bits, part);
        all |= (part & ones(bits)) << bits * i;
    }
    return all;
}

uint64_t value_tame(struct rng *rng, enum value value, unsigned spread)
{
    unsigned bits = values[value].bits, fraction = values[value].fraction;
    unsigned most = (unsigned)ones(bits - 2 - fraction) - 1;
    uint64_t all = 0;
    if (!fraction)
        return value_any(rng, value, rng_next(rng));
    for (unsigned i = 0; i < values[value].count; i++) {
        uint64_t part = rng_below(rng, 2) << (bits - 1);
        part |= float_near_one(rng, bits, fraction, spread < most ? spread : most);
        all |= (rng_below(rng, 16) ? part : 0) << bits * i;
    }
    return all;
}
