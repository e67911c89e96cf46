/* Prices of European options by the formula of Black and Scholes: a long run of special functions in each
 * thread. The reference is in double; the tolerance covers the float rounding of d1 and d2, which grows where
 * an option is short and calm. */
#include "workload.h"

#define BLACKSCHOLES_RATE 0.02f

enum { BLACKSCHOLES_N, BLACKSCHOLES_BLOCK };
static const struct workload_option blackscholes_options[] = {
    {"n", 32768, 1, 1u << 26, "options to price"},
    {"block", 128, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static double blackscholes_normal(double x) /* the normal distribution up to x */
{
    return 0.5 * erfc(-x * 0.70710678118654752);
}

static void blackscholes_price(float spot, float strike, float years, float volatility, float *call,
                               float *put)
{
    double rate = BLACKSCHOLES_RATE, deviation = volatility * sqrt((double)years);
    double d1 = (log((double)spot / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation;
    double d2 = d1 - deviation, discounted = strike * exp(-rate * years);
    *call = (float)(spot * blackscholes_normal(d1) - discounted * blackscholes_normal(d2));
    *put = (float)(discounted * blackscholes_normal(-d2) - spot * blackscholes_normal(-d1));
}

static void blackscholes_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[BLACKSCHOLES_N], block = (uint32_t)options[BLACKSCHOLES_BLOCK];
    size_t bytes = n * sizeof(float);
    enum { SPOT, STRIKE, YEARS, VOLATILITY, CALL, PUT, ARRAYS };
    float *host[ARRAYS];
    void *device[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        host[i] = (float *)dev_host(gpu, bytes), device[i] = dev_alloc(gpu, bytes);
    float *call = (float *)dev_host(gpu, bytes), *put = (float *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        host[SPOT][i] = 0.5f + workload_unit(&seed), host[STRIKE][i] = 0.5f + workload_unit(&seed);
        host[YEARS][i] = 0.25f + 4 * workload_unit(&seed);
        host[VOLATILITY][i] = 0.1f + 0.4f * workload_unit(&seed);
        blackscholes_price(host[SPOT][i], host[STRIKE][i], host[YEARS][i], host[VOLATILITY][i], &call[i],
                           &put[i]);
    }
    for (int i = SPOT; i <= VOLATILITY; i++)
        dev_upload(gpu, device[i], host[i], bytes);
    DEV_LAUNCH(gpu, "blackscholes", dev_dim((n + block - 1) / block, 1, 1), dev_dim(block, 1, 1), 0, &n,
               &device[SPOT], &device[STRIKE], &device[YEARS], &device[VOLATILITY], &device[CALL],
               &device[PUT]);
    dev_download(gpu, host[CALL], device[CALL], bytes);
    dev_download(gpu, host[PUT], device[PUT], bytes);
    dev_expect_floats(gpu, "calls", host[CALL], call, n, 1e-6f);
    dev_expect_floats(gpu, "puts", host[PUT], put, n, 1e-6f);
}

const struct workload blackscholes_workload = {"blackscholes", "prices of options", blackscholes_options,
                                               blackscholes_run};
