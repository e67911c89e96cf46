/* Slices: what all ask, to lists of each slice, in order. */
#ifndef CACHESIM_CUDA_SLICES_CUH
#define CACHESIM_CUDA_SLICES_CUH

#include "cachesim/cuda/stream.cuh"

/* One block: where each slice's list starts; the counts are 0 again for the next round. */
extern "C" __global__ void slices_place(const struct work_slices work)
{
    __shared__ uint32_t sums[32];
    __shared__ uint32_t so_far;
    uint32_t *counts = (uint32_t *)work.counts, *offsets = (uint32_t *)work.offsets,
             *cursors = (uint32_t *)work.cursors;
    if (!threadIdx.x)
        so_far = 0;
    for (uint32_t base = 0; base < work.slices; base += blockDim.x) {
        uint32_t i = base + threadIdx.x, count = i < work.slices ? counts[i] : 0, sum = count;
        for (uint32_t step = 1; step < 32; step *= 2) {
            uint32_t other = __shfl_up_sync(0xffffffff, sum, step);
            sum += lane_id() >= step ? other : 0;
        }
        __syncthreads();
        if (lane_id() == 31)
            sums[threadIdx.x / 32] = sum;
        __syncthreads();
        uint32_t before = so_far;
        for (uint32_t warp = 0; warp < threadIdx.x / 32; warp++)
            before += sums[warp];
        if (i < work.slices) {
            offsets[i] = cursors[i] = before + sum - count;
            counts[i] = 0;
        }
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1)
            so_far = before + sum;
    }
    __syncthreads();
    if (!threadIdx.x)
        offsets[work.slices] = so_far;
}

/* A block for each group; in no order: the keys tell it. */
extern "C" __global__ void slices_scatter(const struct work_slices work)
{
    uint32_t group = blockIdx.x, count = ((const uint32_t *)work.asks.counts)[group];
    uint32_t space = group * work.caches / work.space_tiles;
    uint64_t first = (uint64_t)((const uint32_t *)work.asks.offsets)[group * work.caches] * work.asks.spread;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        uint64_t word = ((const uint64_t *)work.asks.words)[first + i], line = word >> L2_WORD_SHIFT;
        uint64_t number = line / work.slices;
        uint32_t at = atomicAdd((uint32_t *)work.cursors + (line - number * work.slices), 1u);
        struct slice_item *item = (struct slice_item *)work.unsorted + at;
        item->key = (uint64_t)((const uint32_t *)work.asks.whens)[first + i] << 32 | (uint32_t)(first + i);
        item->word = (number << work.space_bits | space) << 1 | ((word & 7) == COHERENT_PUT_BACK);
    }
}

/* In shared memory, up to a power of two; missing ones are the greatest. */
static __device__ __forceinline__ void sort_some(struct slice_item *items, uint32_t count)
{
    uint32_t size = 32;
    while (size < count)
        size *= 2;
    for (uint32_t i = count + threadIdx.x; i < size; i += blockDim.x)
        items[i].key = UINT64_MAX;
    __syncthreads();
    for (uint32_t run = 2; run <= size; run *= 2) {
        for (uint32_t apart = run / 2; apart; apart /= 2) {
            for (uint32_t n = threadIdx.x; n < size / 2; n += blockDim.x) {
                uint32_t i = (n & ~(apart - 1)) * 2 + (n & (apart - 1)), j = i + apart;
                struct slice_item a = items[i], b = items[j];
                if ((a.key > b.key) == !(i & run)) {
                    items[i] = b;
                    items[j] = a;
                }
            }
            __syncthreads();
        }
    }
}

static __device__ __forceinline__ uint32_t keys_before(const struct slice_item *items, uint32_t count,
                                                       uint64_t key)
{
    uint32_t low = 0;
    while (count) {
        uint32_t half = count / 2;
        bool is_before = items[low + half].key < key;
        low += is_before ? half + 1 : 0;
        count = is_before ? count - half - 1 : half;
    }
    return low;
}

/* A block for each slice. Long lists are sorted piece by piece, and the pieces merged. */
extern "C" __global__ void slices_sort(const struct work_slices work)
{
    __shared__ struct slice_item some[SLICE_SORT_ITEMS];
    const uint32_t *offsets = (const uint32_t *)work.offsets;
    uint32_t first = offsets[blockIdx.x], count = offsets[blockIdx.x + 1] - first;
    struct slice_item *from = (struct slice_item *)work.unsorted + first,
                      *to = (struct slice_item *)work.sorted + first;
    uint64_t *words = (uint64_t *)work.words + first;
    for (uint32_t at = 0; at < count; at += SLICE_SORT_ITEMS) {
        uint32_t here = min(count - at, (uint32_t)SLICE_SORT_ITEMS);
        for (uint32_t i = threadIdx.x; i < here; i += blockDim.x)
            some[i] = from[at + i];
        sort_some(some, here);
        for (uint32_t i = threadIdx.x; i < here; i += blockDim.x) {
            if (count <= SLICE_SORT_ITEMS)
                words[i] = some[i].word;
            else
                from[at + i] = some[i];
        }
        __syncthreads();
    }
    if (count <= SLICE_SORT_ITEMS)
        return;
    for (uint32_t run = SLICE_SORT_ITEMS; run < count; run *= 2) {
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
            uint32_t begin = i / run * run, pair = (begin / run ^ 1) * run;
            uint32_t others = pair < count ? min(run, count - pair) : 0;
            struct slice_item item = from[i];
            to[min(begin, pair) + (i - begin) + keys_before(from + pair, others, item.key)] = item;
        }
        __syncthreads();
        struct slice_item *swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = from[i].word;
}

#endif
