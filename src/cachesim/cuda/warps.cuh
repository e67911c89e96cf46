/* A walk by warps: each takes bin after bin, 32 accesses at a time.
 *
 * Hits change nothing but what the policy knows of their own cache's set, so that all up to the first access
 * that is more than a hit can be looked at at once. */
#ifndef CACHESIM_CUDA_WARPS_CUH
#define CACHESIM_CUDA_WARPS_CUH

#include "cachesim/cuda/step.cuh"

/* These lanes' accesses use their ways, in order. Only the last use of a way counts; sets (`number`, of all
 * caches) are apart. */
static __device__ __forceinline__ void use_ways(const struct coherent_shape *shape, char *set,
                                                uint32_t number, uint32_t way, uint32_t lanes)
{
    bool is_one = lanes >> lane_id() & 1;
    uint32_t same_set = __match_any_sync(0xffffffff, number) & lanes;
    uint32_t same_way = __match_any_sync(0xffffffff, way) & same_set;
    bool counts = is_one && !(same_way & ~lanes_below() & ~(1u << lane_id()));
    uint32_t turn = __popc(__ballot_sync(0xffffffff, counts) & same_set & lanes_below());
    for (uint32_t now = 0; __any_sync(0xffffffff, counts && turn >= now); now++) {
        if (counts && turn == now)
            replace_use(shape->policy, coherent_row(shape, set), shape->ways, way);
        __syncwarp();
    }
}

/* One that is more than a hit: all lanes snoop, and then one does it. */
template <bool GROUPED>
static __device__ __forceinline__ void walk_slow(struct stream *s, const struct coherent_shape *shape,
                                                 uint32_t i, uint32_t way, struct tally *tally)
{
    const struct work_walk *work = s->work;
    uint32_t given_by = COHERENT_NONE, tile = GROUPED ? s->tiles[i] : 0;
    uint64_t word = s->words[i], tag;
    uint32_t set = set_of(shape, word >> L1_WORD_SHIFT, &tag);
    for (uint32_t base = 0; GROUPED && base < work->caches; base += 32) {
        uint32_t other = base + lane_id();
        bool gave =
            other < work->caches && other != tile &&
            coherent_snoop_one(shape, s->state + ((uint64_t)other * shape->sets + set) * shape->set_bytes,
                               tag, word & 1,
                               (struct coherent_counters *)work->counts + s->number * work->caches + other);
        uint32_t givers = __ballot_sync(0xffffffff, gave); /* one at most */
        given_by = givers ? base + __ffs((int)givers) - 1 : given_by;
    }
    __syncwarp();
    if (!lane_id())
        step<WALK_L1, GROUPED>(s, shape, i, 0, {true, way, given_by}, tally);
    __syncwarp();
}

template <bool GROUPED>
static __device__ __forceinline__ void walk_bin(struct stream *s, const struct coherent_shape *shape,
                                                uint32_t begin, uint32_t end, struct tally *tally)
{
    bool has_flags = s->work->asks_spread || s->work->told_words;
    for (uint32_t at = begin; at < end;) {
        bool is_one = at + lane_id() < end, hits = false;
        uint32_t i = is_one ? s->sorted[at + lane_id()] : 0, way = COHERENT_NONE, number = 0;
        char *set = NULL;
        if (is_one) {
            uint64_t word = s->words[i], tag;
            number = set_of(shape, word >> L1_WORD_SHIFT, &tag) + (GROUPED ? s->tiles[i] * shape->sets : 0);
            set = s->state + (uint64_t)number * shape->set_bytes;
            hits = coherent_is_hit(shape, set, tag, word & 1, &way);
        }
        uint32_t more = __ballot_sync(0xffffffff, is_one && !hits), first = more ? __ffs((int)more) - 1 : 32;
        uint32_t lanes = __ballot_sync(0xffffffff, is_one && lane_id() < first);
        use_ways(shape, set, number, way, lanes);
        if (has_flags && (lanes >> lane_id() & 1))
            s->flags[i] = 0;
        if (first < 32)
            walk_slow<GROUPED>(s, shape, __shfl_sync(0xffffffff, i, first),
                               __shfl_sync(0xffffffff, way, first), tally);
        at += first < 32 ? first + 1 : 32;
    }
}

template <bool GROUPED>
static __device__ __forceinline__ void walk_bins(struct stream *s, const struct coherent_shape *shape,
                                                 struct tally *tally)
{
    if (threadIdx.x < s->work->bins)
        s->bounds[threadIdx.x] = (uint16_t)s->begin;
    if (threadIdx.x == s->work->bins - 1)
        s->bounds[s->work->bins] = (uint16_t)s->end;
    if (!threadIdx.x)
        s->sums[0] = 0; /* the next bin */
    __syncthreads();
    for (;;) {
        uint32_t bin = 0;
        if (!lane_id())
            bin = atomicAdd(&s->sums[0], 1u);
        bin = __shfl_sync(0xffffffff, bin, 0);
        if (bin >= s->work->bins)
            return;
        walk_bin<GROUPED>(s, shape, s->bounds[bin], s->bounds[bin + 1], tally);
    }
}

#endif
