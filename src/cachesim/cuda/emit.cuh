/* What goes out of a chunk: one after the other, in the order of items. */
#ifndef CACHESIM_CUDA_EMIT_CUH
#define CACHESIM_CUDA_EMIT_CUH

#include "cachesim/cuda/stream.cuh"

enum {
    FLAG_PUT_BACK = 1,
    FLAG_GIVEN = 2,
    FLAG_ASKS_SHIFT = 2,
    FLAG_ASKS = 7 << FLAG_ASKS_SHIFT,
    FLAG_TOLD = 32,
    FLAG_TAKE = 64
};

static __device__ __forceinline__ uint32_t asked_of(uint32_t flags)
{
    return (flags & FLAG_PUT_BACK) + ((flags & FLAG_GIVEN) != 0) + ((flags & FLAG_ASKS) != 0);
}

/* The sum of `of` (up to 3 of each item) before this warp's items; `total` gets that of all. */
static __device__ __forceinline__ uint32_t sum_before(struct stream *s, uint32_t (*of)(uint32_t),
                                                      uint32_t *total)
{
    uint32_t sum = 0;
    for (uint32_t base = s->from; base < s->to; base += 32) {
        uint32_t i = base + lane_id(), n = i < s->to ? of(s->flags[i]) : 0;
        sum += __popc(__ballot_sync(0xffffffff, n & 1)) + 2 * __popc(__ballot_sync(0xffffffff, n & 2));
    }
    __syncthreads(); /* the sums were in use */
    if (!lane_id())
        s->sums[s->warp] = sum;
    __syncthreads();
    uint32_t before = 0;
    *total = 0;
    for (uint32_t warp = 0; warp < s->warps; warp++) {
        before += warp < s->warp ? s->sums[warp] : 0;
        *total += s->sums[warp];
    }
    return before;
}

static __device__ __forceinline__ void ask(struct stream *s, bool has_tiles, uint64_t at, uint64_t line,
                                           uint32_t kind, uint32_t tile, uint32_t when)
{
    const struct work_walk *work = s->work;
    line >>= work->below_shift;
    ((uint64_t *)work->asks_words)[at] = line << L2_WORD_SHIFT | kind;
    if (work->slice_counts) {
        ((uint32_t *)work->asks_whens)[at] = when;
        atomicAdd((uint32_t *)work->slice_counts + line % work->slices, 1u);
    } else if (has_tiles) {
        ((uint16_t *)work->asks_tiles)[at] = (uint16_t)tile;
    }
}

static __device__ __forceinline__ void emit_asks(struct stream *s, bool has_tiles, uint32_t chunk_at)
{
    const struct work_walk *work = s->work;
    uint32_t total, before = sum_before(s, asked_of, &total);
    uint64_t next = s->first * work->asks_spread + s->asked + before;
    for (uint32_t base = s->from; base < s->to; base += 32) {
        uint32_t i = base + lane_id(), flags = i < s->to ? s->flags[i] : 0, n = asked_of(flags);
        uint32_t ones = __ballot_sync(0xffffffff, n & 1), twos = __ballot_sync(0xffffffff, n & 2);
        uint64_t at = next + __popc(ones & lanes_below()) + 2 * __popc(twos & lanes_below());
        next += __popc(ones) + 2 * __popc(twos);
        if (!n)
            continue;
        uint64_t line = s->words[i] >> L1_WORD_SHIFT;
        uint32_t tile = has_tiles ? s->tiles[i] : 0;
        uint32_t when = work->slice_counts ? ((const uint32_t *)work->in.whens)[s->first + chunk_at + i] : 0;
        if (flags & FLAG_PUT_BACK)
            ask(s, has_tiles, at++, s->victims[i], COHERENT_PUT_BACK, tile, when);
        if (flags & FLAG_GIVEN)
            ask(s, has_tiles, at++, line, COHERENT_PUT_BACK, has_tiles ? s->givers[i] : 0, when);
        if (flags & FLAG_ASKS)
            ask(s, has_tiles, at, line, ((flags & FLAG_ASKS) >> FLAG_ASKS_SHIFT) - 1, tile, when);
    }
    s->asked += total;
}

static __device__ uint32_t told_of(uint32_t flags)
{
    return (flags & FLAG_TOLD) != 0;
}

static __device__ __forceinline__ void emit_told(struct stream *s, enum walk_kind walk)
{
    const struct work_walk *work = s->work;
    uint32_t total, before = sum_before(s, told_of, &total);
    uint64_t next = s->first + s->told + before;
    for (uint32_t base = s->from; base < s->to; base += 32) {
        uint32_t i = base + lane_id(), flags = i < s->to ? s->flags[i] : 0;
        uint32_t ones = __ballot_sync(0xffffffff, flags & FLAG_TOLD);
        uint64_t line = i < s->to ? s->words[i] >> (walk == WALK_L2 ? L2_WORD_SHIFT : L1_WORD_SHIFT) : 0;
        if (flags & FLAG_TOLD)
            ((uint64_t *)work->told_words)[next + __popc(ones & lanes_below())] =
                line << L1_WORD_SHIFT | ((flags & FLAG_TAKE) != 0);
        next += __popc(ones);
    }
    s->told += total;
}

#endif
