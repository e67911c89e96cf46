#include "base/clock.h"
#include "base/err.h"

void clock_init(struct clock_domain *clock, uint64_t hertz)
{
    REQUIRE(hertz > 0 && hertz <= PS_PER_SECOND);
    uint64_t a = PS_PER_SECOND, b = hertz;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    clock->numerator = PS_PER_SECOND / a;
    clock->denominator = hertz / a;
    clock->easy = UINT64_MAX / clock->numerator;
    clock->easy_time = UINT64_MAX / clock->denominator;
}

uint64_t clock_cycle(const struct clock_domain *clock, uint64_t time)
{
    /* floor(n * num / den) <= time  <=>  n * num < (time + 1) * den */
    if (LIKELY(time < clock->easy_time))
        return ((time + 1) * clock->denominator - 1) / clock->numerator;
    unsigned __int128 limit = ((unsigned __int128)time + 1) * clock->denominator;
    return (uint64_t)((limit - 1) / clock->numerator);
}

uint64_t clock_edge(const struct clock_domain *clock, uint64_t time)
{
    uint64_t cycle = clock_cycle(clock, time);
    uint64_t start = clock_time(clock, cycle);
    return start == time ? start : clock_time(clock, cycle + 1);
}
