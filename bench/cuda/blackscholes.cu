#include "native.cuh"
#include "blackscholes.c"

static __device__ float normal(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

extern "C" __global__ void blackscholes(unsigned n, const float *spots, const float *strikes,
                                        const float *years, const float *volatilities, float *calls,
                                        float *puts)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float spot = spots[i], time = years[i], volatility = volatilities[i];
    float deviation = volatility * sqrtf(time);
    float drift = fmaf(0.5f * volatility, volatility, BLACKSCHOLES_RATE) * time;
    float d1 = (logf(spot / strikes[i]) + drift) / deviation, d2 = d1 - deviation;
    float discounted = strikes[i] * expf(-BLACKSCHOLES_RATE * time);
    calls[i] = spot * normal(d1) - discounted * normal(d2);
    puts[i] = discounted * normal(-d2) - spot * normal(-d1);
}

WORKLOAD_MAIN(blackscholes, KERNEL(blackscholes))
