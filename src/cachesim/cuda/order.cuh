/* Tiles that feel each other: their accesses in one order. */
#ifndef CACHESIM_CUDA_ORDER_CUH
#define CACHESIM_CUDA_ORDER_CUH

#include "cachesim/cuda/stream.cuh"

/* How many of these are before `when`, or at it, too. */
static __device__ __forceinline__ uint32_t how_many_before(const uint32_t *whens, uint32_t count,
                                                           uint32_t when, bool or_at)
{
    uint32_t low = 0;
    while (count) {
        uint32_t half = count / 2, there = whens[low + half];
        bool is_before = or_at ? there <= when : there < when;
        low += is_before ? half + 1 : 0;
        count = is_before ? count - half - 1 : half;
    }
    return low;
}

/* A block for each run, or several (blockIdx.y). */
extern "C" __global__ void merge(const struct work_merge work)
{
    uint32_t runs = (work.caches + work.width - 1) / work.width;
    uint32_t group = blockIdx.x / runs, run = blockIdx.x % runs, pair = run ^ 1;
    const uint32_t *offsets = (const uint32_t *)work.in.offsets + group * work.caches;
    uint32_t begin = offsets[run * work.width], end = offsets[min((run + 1) * work.width, work.caches)];
    uint32_t other = offsets[min(pair * work.width, work.caches)],
             others = offsets[min((pair + 1) * work.width, work.caches)] - other;
    uint32_t base = min(begin, other);
    const uint64_t *words = (const uint64_t *)work.in.words;
    const uint32_t *whens = (const uint32_t *)work.in.whens;
    for (uint32_t i = begin + blockIdx.y * blockDim.x + threadIdx.x; i < end; i += blockDim.x * gridDim.y) {
        uint32_t when = whens[i];
        uint32_t to = base + (i - begin) + how_many_before(whens + other, others, when, run & 1);
        ((uint64_t *)work.out.words)[to] = words[i];
        ((uint32_t *)work.out.whens)[to] = when;
        ((uint16_t *)work.out.tiles)[to] =
            work.in.tiles ? ((const uint16_t *)work.in.tiles)[i] : (uint16_t)run;
    }
}

#endif
