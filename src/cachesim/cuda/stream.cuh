/* A stream of a block: its items come to shared memory chunk by chunk, and are sorted by set, stable. */
#ifndef CACHESIM_CUDA_STREAM_CUH
#define CACHESIM_CUDA_STREAM_CUH

#include "cachesim/cuda/work.h"

extern __shared__ uint4 shared_memory[];

enum walk_kind { WALK_L1, WALK_L2, WALK_SLICE, WALK_TELL };

static __device__ __forceinline__ uint32_t lane_id()
{
    return threadIdx.x & 31;
}

static __device__ __forceinline__ uint32_t lanes_below()
{
    return (1u << lane_id()) - 1;
}

struct tally { /* of a thread, or of a cache of a group */
#define X(name, help) uint32_t name;
    COHERENT_COUNTERS(X)
#undef X
};

struct stream {
    const struct work_walk *work;
    char *shared, *state;
    uint64_t *words, *victims;
    uint16_t *tiles, *givers, *ranks, *sorted, *histogram;
    uint8_t *flags;
    uint32_t *sums;        /* of each warp */
    uint32_t *marked;      /* bits of places of the sorted */
    uint16_t *bounds;      /* of bins in the sorted */
    struct tally *tallies; /* of each cache of a group */
    uint32_t number, warp, warps;
    uint64_t first;       /* item of the list */
    uint32_t count;       /* items of the list */
    uint32_t from, to;    /* of a chunk: this warp's items */
    uint32_t begin, end;  /* of the sorted: this thread's */
    uint64_t asked, told; /* so far, of the whole stream */
};

static __device__ __forceinline__ struct coherent_shape fixed_shape(struct coherent_shape shape,
                                                                    bool is_fixed)
{
    if (is_fixed) { /* constants, for the compiler's sake */
        shape.ways = 16;
        shape.policy = REPLACE_LRU;
        coherent_plan(&shape);
    }
    return shape;
}

static __device__ __forceinline__ uint32_t bin_of(const struct coherent_shape *shape, enum walk_kind walk,
                                                  const struct work_walk *work, uint64_t word)
{
    uint64_t tag, line = walk == WALK_L2      ? word >> L2_WORD_SHIFT
                         : walk == WALK_SLICE ? word >> (work->space_bits + 1)
                                              : word >> L1_WORD_SHIFT;
    return set_of(shape, line, &tag) & (work->bins - 1);
}

/* This warp's items of a chunk come to shared memory, and are counted by bin. */
static __device__ __forceinline__ void load(struct stream *s, const struct coherent_shape *shape,
                                            enum walk_kind walk, bool has_tiles, uint32_t at, uint32_t items)
{
    const struct work_walk *work = s->work;
    const uint64_t *words = (const uint64_t *)work->in.words + s->first + at;
    const uint16_t *tiles = (const uint16_t *)work->in.tiles + s->first + at;
    uint32_t each = (work->chunk / s->warps + 31) & ~31u;
    s->from = min(s->warp * each, items);
    s->to = min(s->from + each, items);
    uint16_t *histogram = s->histogram + s->warp * s->work->bins;
    for (uint32_t base = s->from; base < s->to; base += 32) {
        uint32_t i = base + lane_id(), bin = 0xffffffff;
        if (i < s->to) {
            uint64_t word = words[i];
            s->words[i] = word;
            if (has_tiles)
                s->tiles[i] = tiles[i];
            bin = bin_of(shape, walk, work, word);
        }
        uint32_t same = __match_any_sync(0xffffffff, bin), before = __popc(same & lanes_below());
        uint32_t old = i < s->to ? histogram[bin] : 0;
        __syncwarp();
        if (i < s->to) {
            s->ranks[i] = (uint16_t)(old + before);
            if (!before)
                histogram[bin] = (uint16_t)(old + __popc(same));
        }
        __syncwarp();
    }
}

/* Where each bin starts; the histograms become the places of each warp's first of each bin. */
static __device__ __forceinline__ void place_bins(struct stream *s)
{
    uint32_t bins = s->work->bins, total = 0;
    bool has_bin = threadIdx.x < bins;
    for (uint32_t warp = 0; has_bin && warp < s->warps; warp++)
        total += s->histogram[warp * bins + threadIdx.x];
    uint32_t sum = total;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffff, sum, step);
        sum += lane_id() >= step ? other : 0;
    }
    if (lane_id() == 31)
        s->sums[s->warp] = sum;
    __syncthreads();
    s->begin = sum - total;
    for (uint32_t warp = 0; warp < s->warp; warp++)
        s->begin += s->sums[warp];
    s->end = s->begin + total;
    uint32_t place = s->begin;
    for (uint32_t warp = 0; has_bin && warp < s->warps; warp++) {
        uint16_t *here = &s->histogram[warp * bins + threadIdx.x];
        uint32_t count = *here;
        *here = (uint16_t)place;
        place += count;
    }
    __syncthreads();
}

static __device__ __forceinline__ void clear_bins(struct stream *s)
{
    for (uint32_t i = threadIdx.x; i < s->warps * s->work->bins; i += blockDim.x)
        s->histogram[i] = 0;
}

static __device__ __forceinline__ void sort(struct stream *s, const struct coherent_shape *shape,
                                            enum walk_kind walk)
{
    place_bins(s);
    const uint16_t *histogram = s->histogram + s->warp * s->work->bins;
    for (uint32_t i = s->from + lane_id(); i < s->to; i += 32)
        s->sorted[histogram[bin_of(shape, walk, s->work, s->words[i])] + s->ranks[i]] = (uint16_t)i;
    __syncthreads();
    clear_bins(s); /* for the next chunk */
}

static __device__ __forceinline__ void copy(uint4 *to, const uint4 *from, uint32_t bytes)
{
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
        to[i] = from[i];
}

static __device__ __forceinline__ void stream_init(struct stream *s, const struct work_walk *work)
{
    s->work = work;
    s->number = blockIdx.x * blockDim.y + threadIdx.y;
    s->warp = threadIdx.x / 32;
    s->warps = blockDim.x / 32;
    s->shared = (char *)shared_memory + threadIdx.y * work->shared.bytes;
    s->words = (uint64_t *)(s->shared + work->shared.words);
    s->victims = (uint64_t *)(s->shared + work->shared.victims);
    s->givers = (uint16_t *)(s->shared + work->shared.givers);
    s->tiles = (uint16_t *)(s->shared + work->shared.tiles);
    s->ranks = (uint16_t *)(s->shared + work->shared.ranks);
    s->sorted = (uint16_t *)(s->shared + work->shared.sorted);
    s->flags = (uint8_t *)(s->shared + work->shared.flags);
    s->histogram = (uint16_t *)(s->shared + work->shared.histogram);
    s->sums = (uint32_t *)(s->shared + work->shared.sums);
    s->marked = (uint32_t *)(s->shared + work->shared.marked);
    s->bounds = (uint16_t *)(s->shared + work->shared.bounds);
    s->tallies = work->tallies ? (struct tally *)work->tallies + s->number * work->caches
                               : (struct tally *)(s->shared + work->shared.tallies);
    for (uint32_t i = threadIdx.x; i < work->shared.tallied * (uint32_t)(sizeof(struct tally) / 4);
         i += blockDim.x)
        ((uint32_t *)s->tallies)[i] = 0;
    s->asked = s->told = 0;
    clear_bins(s);
}

/* The items of a list: that of all tiles of a stream, or of one. */
static __device__ __forceinline__ void take_list(struct stream *s, uint32_t list, uint32_t tile,
                                                 uint32_t tiles)
{
    const struct work_items *in = &s->work->in;
    const uint32_t *offsets = (const uint32_t *)in->offsets;
    bool is_one = s->number < s->work->streams;
    s->first = is_one ? (uint64_t)offsets[tile] * in->spread : 0;
    s->count = !is_one      ? 0
               : in->counts ? ((const uint32_t *)in->counts)[list]
                            : offsets[tile + tiles] - offsets[tile];
}

#endif
