#include "native.cuh"
#include "micro_branch.c"

template <typename R>
static __device__ __forceinline__ void measure(unsigned steps, micro_time *times, R step)
{
    uint64_t start = 0, end = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        start = micro_clock();
#pragma unroll 1
        for (unsigned i = 0; i < steps; i++)
            step(i);
        end = micro_clock();
    }
    micro_note(times, start, end);
}

#define PARAMETERS unsigned ways, unsigned steps, unsigned *out, micro_time *times

extern "C" __global__ void micro_loop(PARAMETERS)
{
    unsigned a = threadIdx.x;
    measure(steps, times, [&](unsigned) { asm volatile("mad.lo.s32 %0,%0,%1,%1;" : "+r"(a) : "r"(ways)); });
    out[threadIdx.x] = a;
}

/* A tree of branches down to one way for each number; multipliers are the text's, so that no two ways are
 * alike. */
#define CHAIN(way)                                                                                           \
    MICRO_8(asm volatile("mad.lo.s32 %0,%0,%1,%2;" : "+r"(a) : "n"(2 * (way) + 3), "n"(way));)               \
    break;
#define WAY(n)                                                                                               \
    case n:                                                                                                  \
        CHAIN(n)
#define WAY4(n) WAY(n) WAY((n) + 1) WAY((n) + 2) WAY((n) + 3)

extern "C" __global__ void micro_ways(PARAMETERS)
{
    unsigned a = threadIdx.x % 32, way = threadIdx.x % 32 % ways;
    measure(steps, times, [&](unsigned) {
        switch (way) {
            WAY4(0) WAY4(4) WAY4(8) WAY4(12) WAY4(16) WAY4(20) WAY4(24) WAY4(28)
        }
        __syncwarp();
    });
    out[threadIdx.x] = a;
}

/* The shortest way to part and to meet again. */
extern "C" __global__ void micro_either(PARAMETERS)
{
    unsigned a = threadIdx.x % 32;
    bool odd = a % 2 && ways > 1;
    measure(steps, times, [&](unsigned) {
        if (odd) {
            MICRO_8(asm volatile("mad.lo.s32 %0,%0,5,1;" : "+r"(a));)
        } else {
            MICRO_8(asm volatile("mad.lo.s32 %0,%0,3,7;" : "+r"(a));)
        }
        __syncwarp();
    });
    out[threadIdx.x] = a;
}

static __device__ __noinline__ unsigned called(unsigned a)
{
    asm volatile("mad.lo.s32 %0,%0,%0,%0;" : "+r"(a));
    return a;
}

extern "C" __global__ void micro_calls(PARAMETERS)
{
    unsigned a = threadIdx.x + ways;
    measure(steps, times, [&](unsigned) { a = called(a); });
    out[threadIdx.x] = a;
}

WORKLOAD_MAIN(micro_branch, KERNEL(micro_loop) KERNEL(micro_ways) KERNEL(micro_calls) KERNEL(micro_either))
