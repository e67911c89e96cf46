#include "native.cuh"
#include "micro_launch.c"

extern "C" __global__ void micro_empty(unsigned never, unsigned *words)
{
    if (never)
        *words = never;
}

/* Never more than a test, yet with the registers of what follows it. */
extern "C" __global__ void __launch_bounds__(512, 1) micro_empty_128(unsigned never, unsigned *words)
{
    enum { COUNT = 116 };
    if (!never)
        return;
    unsigned held[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        held[i] = words[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        words[i + threadIdx.x] = held[i] * held[(i + 1) % COUNT];
}

extern "C" __global__ void micro_where(unsigned cycles, struct micro_block *rows)
{
    uint64_t start = micro_clock();
    while (micro_clock() - start < cycles)
        ;
    if (threadIdx.x == 0) {
        unsigned sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        rows[blockIdx.x].start = start, rows[blockIdx.x].end = micro_clock();
        rows[blockIdx.x].sm = sm;
    }
}

WORKLOAD_MAIN(micro_launch, KERNEL(micro_empty) KERNEL(micro_empty_128) KERNEL(micro_where))
