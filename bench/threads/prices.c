/* Prices of options by the formula of Black and Scholes, a table of them again and again. Each thread has its
 * own part of the table: they meet in few lines at its borders, and in that of their sums. */
#include "threads.h"

#include <math.h>

struct contract {
    float share, strike, rate, volatility, years;
    uint32_t is_put;
};

static struct options all;
static struct contract *contracts;
static float *prices;
static uint64_t *sums; /* of each thread */

static float between(uint64_t x, float low, float high)
{
    return low + (high - low) * (float)(x >> 40) / (float)(1 << 24);
}

static void make_contracts(void)
{
    contracts = memory(all.size, sizeof *contracts);
    prices = memory(all.size, sizeof *prices);
    sums = memory(all.threads, sizeof *sums);
    for (uint32_t i = 0; i < all.size; i++)
        contracts[i] = (struct contract){.share = between(chance(i, 1), 20, 120),
                                         .strike = between(chance(i, 2), 20, 120),
                                         .rate = between(chance(i, 3), 0.01f, 0.1f),
                                         .volatility = between(chance(i, 4), 0.1f, 0.7f),
                                         .years = between(chance(i, 5), 0.1f, 2),
                                         .is_put = chance(i, 6) & 1};
}

/* The normal distribution, by a polynomial (Abramowitz and Stegun 26.2.17). */
static float normal(float x)
{
    static const float factors[] = {0.319381530f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    float t = 1 / (1 + 0.2316419f * fabsf(x)), power = t, sum = 0;
    for (int i = 0; i < 5; i++, power *= t)
        sum += factors[i] * power;
    float tail = 0.39894228f * expf(-x * x / 2) * sum;
    return x < 0 ? tail : 1 - tail;
}

static float price(const struct contract *of)
{
    float spread = of->volatility * sqrtf(of->years);
    float d1 = (logf(of->share / of->strike) + (of->rate + of->volatility * of->volatility / 2) * of->years) /
               spread;
    float d2 = d1 - spread, later = of->strike * expf(-of->rate * of->years);
    return of->is_put ? later * normal(-d2) - of->share * normal(-d1)
                      : of->share * normal(d1) - later * normal(d2);
}

static void *work(void *number_of_thread)
{
    uint32_t thread = (uint32_t)(uintptr_t)number_of_thread;
    uint32_t first = first_of(all.size, thread, all.threads);
    uint32_t end = first_of(all.size, thread + 1, all.threads);
    for (uint32_t round = 0; round < all.rounds; round++) {
        uint64_t sum = 0;
        for (uint32_t i = first; i < end; i++) {
            prices[i] = price(&contracts[i]);
            sum += (uint64_t)llrintf(prices[i] * 1000);
        }
        sums[thread] = sum;
    }
    return NULL;
}

int main(int count, char **words)
{
    all = options(count, words, (struct options){.threads = 4, .size = 20000, .rounds = 300});
    make_contracts();
    run_threads(all.threads, work);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < all.threads; i++)
        sum += sums[i];
    printf("%u options, checksum %016llx\n", all.size, (unsigned long long)chance(sum, 0));
    return 0;
}
