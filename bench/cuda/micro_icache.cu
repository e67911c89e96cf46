#include "native.cuh"
#include "micro_icache.c"

/* Eight chains, so that one warp can issue in every cycle. */
struct chains {
    float x[8];
};

#define STEP8                                                                                                \
    c.x[0] = fmaf(c.x[0], b, b), c.x[1] = fmaf(c.x[1], b, b), c.x[2] = fmaf(c.x[2], b, b);                   \
    c.x[3] = fmaf(c.x[3], b, b), c.x[4] = fmaf(c.x[4], b, b), c.x[5] = fmaf(c.x[5], b, b);                   \
    c.x[6] = fmaf(c.x[6], b, b), c.x[7] = fmaf(c.x[7], b, b);

static __device__ __forceinline__ chains first(void)
{
    chains c;
    for (int i = 0; i < 8; i++)
        c.x[i] = (float)(threadIdx.x + i);
    return c;
}

static __device__ __forceinline__ float sum(const chains &c)
{
    return c.x[0] + c.x[1] + c.x[2] + c.x[3] + c.x[4] + c.x[5] + c.x[6] + c.x[7];
}

/* All rounds twice: with the code in no cache, and then with as much of it as fits. */
template <typename R>
static __device__ __forceinline__ void measure(unsigned rounds, float *out, micro_time *times, R round)
{
    chains c = first();
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        uint64_t start = micro_clock();
#pragma unroll 1
        for (unsigned i = 0; i < rounds; i++)
            round(c);
        uint64_t end = micro_clock();
        micro_note(times + pass * (blockDim.x / 32), start, end);
    }
    out[threadIdx.x] = sum(c);
}

#define FUNCTION(name, factor)                                                                               \
    static __device__ __noinline__ chains name(chains c)                                                     \
    {                                                                                                        \
        float b = factor;                                                                                    \
        _Pragma("unroll") for (int i = 0; i < MICRO_ICACHE_INSTRUCTIONS / 8; i++)                            \
        {                                                                                                    \
            STEP8                                                                                            \
        }                                                                                                    \
        return c;                                                                                            \
    }
FUNCTION(code0, 0.990f)
FUNCTION(code1, 0.991f)
FUNCTION(code2, 0.992f)
FUNCTION(code3, 0.993f)
FUNCTION(code4, 0.994f)
FUNCTION(code5, 0.995f)
FUNCTION(code6, 0.996f)
FUNCTION(code7, 0.997f)

#define PARAMETERS unsigned functions, unsigned rounds, float *out, micro_time *times
extern "C" __global__ void micro_code(PARAMETERS)
{
    measure(rounds, out, times, [&](chains &c) {
        c = code0(c);
        if (functions > 1)
            c = code1(c);
        if (functions > 2)
            c = code2(c);
        if (functions > 3)
            c = code3(c);
        if (functions > 4)
            c = code4(c);
        if (functions > 5)
            c = code5(c);
        if (functions > 6)
            c = code6(c);
        if (functions > 7)
            c = code7(c);
    });
}

#define SMALL(name, instructions)                                                                            \
    extern "C" __global__ void name(PARAMETERS)                                                              \
    {                                                                                                        \
        float b = 0.99f;                                                                                     \
        (void)functions;                                                                                     \
        measure(rounds, out, times, [&](chains &c) {                                                         \
            _Pragma("unroll") for (int i = 0; i < instructions / 8; i++)                                     \
            {                                                                                                \
                STEP8                                                                                        \
            }                                                                                                \
        });                                                                                                  \
    }
SMALL(micro_code64, 64)
SMALL(micro_code128, 128)
SMALL(micro_code256, 256)
SMALL(micro_code512, 512)

WORKLOAD_MAIN(micro_icache, KERNEL(micro_code) KERNEL(micro_code64) KERNEL(micro_code128)
                                KERNEL(micro_code256) KERNEL(micro_code512))
