/* What the microbenchmarks share. Their kernels read the clock before and after a piece of code, once for
 * each warp or block; the host side makes named figures of that (dev_figure). */
#ifndef BENCH_CUDA_MICRO_H
#define BENCH_CUDA_MICRO_H

#include "workload.h"

struct micro_time { /* clocks of one SM */
    uint64_t start, end;
};

/* Cycles from the first start to the last end, of warps on one SM. */
static inline double micro_span(const struct micro_time *times, size_t count)
{
    uint64_t start = times[0].start, end = times[0].end;
    for (size_t i = 1; i < count; i++) {
        start = times[i].start < start ? times[i].start : start;
        end = times[i].end > end ? times[i].end : end;
    }
    return (double)(end - start);
}

/* Cycles of the slowest: clocks of different SMs are not compared. */
static inline double micro_longest(const struct micro_time *times, size_t count)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = times[i].end - times[i].start > longest ? times[i].end - times[i].start : longest;
    return (double)longest;
}

/* What the device wrote, in memory of the host. */
static inline void *micro_fetch(struct dev *gpu, const void *device, size_t bytes)
{
    void *host = dev_host(gpu, bytes);
    dev_download(gpu, host, device, bytes);
    return host;
}

#ifdef __CUDACC__
static __device__ __forceinline__ uint64_t micro_clock(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

/* One row for each warp of the grid. */
static __device__ __forceinline__ void micro_note(struct micro_time *times, uint64_t start, uint64_t end)
{
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0)
        times[warp].start = start, times[warp].end = end;
}

#define MICRO_4(x)  x x x x
#define MICRO_8(x)  MICRO_4(x) MICRO_4(x)
#define MICRO_16(x) MICRO_4(x) MICRO_4(x) MICRO_4(x) MICRO_4(x)
#define MICRO_64(x) MICRO_16(x) MICRO_16(x) MICRO_16(x) MICRO_16(x)
#endif

#endif
