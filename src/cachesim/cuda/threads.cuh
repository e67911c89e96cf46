/* A walk by threads: each has a bin. */
#ifndef CACHESIM_CUDA_THREADS_CUH
#define CACHESIM_CUDA_THREADS_CUH

#include "cachesim/cuda/step.cuh"

/* An access to an L1 that repeats the last one of its tile to the set hits and changes nothing. Whether it
 * does is seen in the state... */
template <bool GROUPED>
static __device__ __forceinline__ bool is_again(const struct stream *s, const struct coherent_shape *shape,
                                                uint32_t i)
{
    uint64_t word = s->words[i], tag;
    uint32_t set = set_of(shape, word >> L1_WORD_SHIFT, &tag), tile = GROUPED ? s->tiles[i] : 0;
    return coherent_is_again(shape, s->state + ((uint64_t)tile * shape->sets + set) * shape->set_bytes, tag,
                             word & 1);
}

/* ... or, for most of them, before the walk and by all threads at once, among the few that come before it in
 * its bin. What others do to other lines of the set is no matter to it. */
template <bool GROUPED> static __device__ __forceinline__ bool repeats(const struct stream *s, uint32_t place)
{
    enum { LOOK_BACK = GROUPED ? 12 : 1 };
    uint32_t i = s->sorted[place], tile = GROUPED ? s->tiles[i] : 0;
    uint64_t word = s->words[i];
    for (uint32_t back = 1; back <= LOOK_BACK && back <= place; back++) {
        uint32_t before = s->sorted[place - back];
        uint64_t other = s->words[before];
        bool same_tile = !GROUPED || s->tiles[before] == tile;
        if (other >> L1_WORD_SHIFT == word >> L1_WORD_SHIFT)
            return same_tile && (other & 1) >= (word & 1);
        if (same_tile)
            return false;
    }
    return false;
}

/* A bit for each place of the sorted that is to be walked through. */
template <enum walk_kind WALK, bool GROUPED>
static __device__ __forceinline__ void mark(struct stream *s, const struct coherent_shape *shape,
                                            uint32_t items)
{
    for (uint32_t base = s->warp * 32; base < items; base += blockDim.x) {
        uint32_t place = base + lane_id();
        bool passes = place < items;
        if (passes && WALK == WALK_L1 && replace_is_settled(shape->policy, false) &&
            repeats<GROUPED>(s, place)) {
            passes = false;
            if (s->work->asks_spread || s->work->told_words)
                s->flags[s->sorted[place]] = 0;
        }
        uint32_t bits = __ballot_sync(0xffffffff, passes);
        if (!lane_id())
            s->marked[base / 32] = bits;
    }
    __syncthreads();
}

/* The next place from this one on that is marked, or the end. */
static __device__ __forceinline__ uint32_t next_marked(const struct stream *s, uint32_t place)
{
    while (place < s->end) {
        uint32_t bits = s->marked[place / 32] >> place % 32;
        if (bits)
            return min(place + __ffs((int)bits) - 1, s->end);
        place = (place / 32 + 1) * 32;
    }
    return s->end;
}

template <enum walk_kind WALK, bool GROUPED>
static __device__ __forceinline__ void walk_own_bin(struct stream *s, const struct coherent_shape *shape,
                                                    uint32_t items, uint32_t self, struct tally *tally)
{
    mark<WALK, GROUPED>(s, shape, items);
    for (uint32_t place = next_marked(s, s->begin); place < s->end; place = next_marked(s, place + 1)) {
        uint32_t i = s->sorted[place];
        if (WALK != WALK_L1 || !is_again<GROUPED>(s, shape, i))
            step<WALK, GROUPED>(s, shape, i, self, {false, 0, 0}, tally);
        else if (s->work->asks_spread || s->work->told_words)
            s->flags[i] = 0;
    }
}

#endif
