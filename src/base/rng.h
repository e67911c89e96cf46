/* Seeded random streams (xoshiro256**). A stream is plain data that lives in a component's state; it is
 * seeded by the run's seed and a name, so that adding a component does not change another's numbers.
 * All of it is integer arithmetic: the same on every machine. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "base/bits.h"

struct rng {
    uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *stream);

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
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

extern const uint32_t rng_log2_table[257];

/* Exponentially distributed with this mean: -ln(u) * mean, u even in (0, 1], the logarithm to about 2^-18 by
 * interpolation in a table. */
static inline uint64_t rng_exponential(struct rng *rng, uint64_t mean)
{
    uint64_t u = rng_next(rng) | 1;
    int zeros = __builtin_clzll(u);
    uint64_t fraction = u << zeros << 1;                 /* u = 2^(63-zeros) * (1 + fraction / 2^64) */
    uint32_t cell = fraction >> 56;
    uint64_t low = rng_log2_table[cell], high = rng_log2_table[cell + 1];
    uint64_t log2_fraction = (low << 24) + (high - low) * (fraction >> 32 & 0xffffff); /* Q.54, see rng.c */
    uint64_t minus_log2 = ((uint64_t)(zeros + 1) << 54) - log2_fraction;              /* -log2(u / 2^64), Q10.54 */
    const uint64_t ln2 = UINT64_C(0xb17217f7d1cf79ac);                                /* Q0.64 */
    uint64_t minus_ln = (unsigned __int128)minus_log2 * ln2 >> 64;
    return (unsigned __int128)minus_ln * mean >> 54;
}

#endif
