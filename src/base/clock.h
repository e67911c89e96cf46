/* Simulated time is integer picoseconds. A clock domain turns cycles into time without drift: cycle n of a
 * domain of f hertz starts at floor(n * 10^12 / f) ps, computed from n each time, never by adding periods. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/bits.h"

#define TIME_NEVER UINT64_MAX

#define PS_PER_SECOND UINT64_C(1000000000000)

struct clock_domain {
    uint64_t numerator, denominator; /* the period in ps, as a fraction in lowest terms */
    uint64_t easy, easy_time;        /* up to this cycle, before this time, 64 bits are enough */
};

void clock_init(struct clock_domain *clock, uint64_t hertz);

/* When a cycle starts; TIME_NEVER for one that starts after all time that can be counted. */
static inline uint64_t clock_time(const struct clock_domain *clock, uint64_t cycle)
{
    if (LIKELY(cycle <= clock->easy))
        return cycle * clock->numerator / clock->denominator;
    unsigned __int128 time = (unsigned __int128)cycle * clock->numerator / clock->denominator;
    return time > TIME_NEVER ? TIME_NEVER : (uint64_t)time;
}

/* The cycle that this moment falls into: the last one that started at it or before. */
uint64_t clock_cycle(const struct clock_domain *clock, uint64_t time);

/* The first start of a cycle at this moment or after it. */
uint64_t clock_edge(const struct clock_domain *clock, uint64_t time);

#endif
