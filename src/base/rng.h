/* Seeded random streams (wyrand: one word of state, passes BigCrush). A stream is plain data that lives in a
 * component's state; it is seeded by the run's seed and a name, so that adding a component does not change
 * another's numbers. All of it is integer arithmetic: the same on every machine. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "base/bits.h"

struct rng {
    uint64_t state;
};

void rng_init(struct rng *rng, uint64_t seed, const char *stream);

static inline uint64_t rng_next(struct rng *rng)
{
    rng->state += UINT64_C(0xa0761d6478bd642f);
    unsigned __int128 product = (unsigned __int128)rng->state * (rng->state ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* Evenly from 0 to n - 1 (off by at most n / 2^64). */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
    return (uint64_t)((unsigned __int128)rng_next(rng) * n >> 64);
}

/* A share as a threshold for rng_chance: 0.25 becomes a quarter of 2^64. */
uint64_t rng_share(double share);

/* True with the probability that rng_share made `threshold` from. */
static inline int rng_chance(struct rng *rng, uint64_t threshold)
{
    return rng_next(rng) < threshold || threshold == UINT64_MAX;
}

extern const uint32_t rng_ln_table[257];

/* Exponentially distributed with this mean, from a drawn number, by its upper 32 bits (but for one in 2^32):
 * -ln(u) * mean, u even in (0, 1], the logarithm to about 2^-19 by interpolation in a table. */
static inline uint64_t rng_exponential_of(uint64_t drawn, uint64_t mean)
{
    const uint64_t ln2 = 46516320; /* this and all below: times 2^26 */
    uint64_t u = drawn | 1;
    unsigned zeros = (unsigned)__builtin_clzll(u);
    uint64_t fraction = u << zeros << 1; /* u / 2^64 = 2^-(zeros + 1) * (1 + fraction / 2^64) */
    const uint32_t *cell = &rng_ln_table[fraction >> 56];
    uint64_t ln_fraction = cell[0] + ((cell[1] - cell[0]) * (fraction >> 32 & 0xffffff) >> 24);
    uint64_t minus_ln = (zeros + 1) * ln2 - ln_fraction;
    return (uint64_t)((unsigned __int128)minus_ln * mean >> 26);
}

static inline uint64_t rng_exponential(struct rng *rng, uint64_t mean)
{
    return rng_exponential_of(rng_next(rng), mean);
}

#endif
