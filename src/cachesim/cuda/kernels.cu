/* Many caches on a GPU. The logic of a set is cache/coherent.h, the same as on the CPU; here is who does
 * which set, and in what order. Made to PTX by ./regenerate.
 *
 * A stream is the accesses of tiles that feel each other, in order. A block takes chunks of it: items are
 * sorted by set, stable, in shared memory, and then each thread walks through those of its sets. */
#include "cachesim/cuda/order.cuh"
#include "cachesim/cuda/slices.cuh"
#include "cachesim/cuda/threads.cuh"
#include "cachesim/cuda/warps.cuh"

template <enum walk_kind WALK, bool GROUPED, bool BY_WARPS>
static __device__ __forceinline__ void walk_list(struct stream *s, const struct coherent_shape *shape,
                                                 uint32_t self, struct tally *tally)
{
    const struct work_walk *work = s->work;
    for (uint32_t at = 0; __syncthreads_or(at < s->count); at += work->chunk) {
        uint32_t items = at < s->count ? min(work->chunk, s->count - at) : 0;
        load(s, shape, WALK, GROUPED && WALK != WALK_TELL, at, items);
        __syncthreads();
        sort(s, shape, WALK);
        if (BY_WARPS)
            walk_bins<GROUPED>(s, shape, tally);
        else
            walk_own_bin<WALK, GROUPED>(s, shape, items, self, tally);
        __syncthreads();
        if (WALK == WALK_L1 && work->asks_spread)
            emit_asks(s, GROUPED, at);
        if ((WALK == WALK_L1 || WALK == WALK_L2) && work->told_words)
            emit_told(s, WALK);
    }
}

static __device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
    for (uint32_t step = 16; step; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

static __device__ __forceinline__ void add_tally(struct coherent_counters *counts, const struct tally *tally)
{
#define X(name, help)                                                                                        \
    {                                                                                                        \
        uint32_t sum = warp_sum(tally->name);                                                                \
        if (!lane_id() && sum)                                                                               \
            atomicAdd((unsigned long long *)&counts->name, (unsigned long long)sum);                         \
    }
    COHERENT_COUNTERS(X)
#undef X
}

template <enum walk_kind WALK, bool GROUPED, bool FIXED, bool BY_WARPS>
static __device__ __forceinline__ void walk(const struct work_walk *work)
{
    struct coherent_shape shape = fixed_shape(work->shape, FIXED);
    struct stream s;
    stream_init(&s, work);
    bool is_one = s.number < work->streams;
    uint64_t state_bytes = (uint64_t)shape.sets * shape.set_bytes * work->caches;
    char *state = (char *)work->state + s.number * state_bytes;
    s.state = work->shared.has_state ? s.shared + work->shared.state : state;
    if (work->shared.has_state && is_one)
        copy((uint4 *)s.state, (const uint4 *)state, (uint32_t)state_bytes);
    struct tally tally = {};
    if (WALK == WALK_TELL) {
        for (uint32_t tile = 0; tile < work->caches; tile++) {
            uint32_t list = s.number * work->caches + tile;
            take_list(&s, list, list, 1);
            walk_list<WALK, GROUPED, BY_WARPS>(&s, &shape, tile, &tally);
        }
        return;
    }
    take_list(&s, s.number, s.number * work->caches, work->caches);
    walk_list<WALK, GROUPED, BY_WARPS>(&s, &shape, 0, &tally);
    __syncthreads();
    if (!is_one)
        return;
    if (work->shared.has_state)
        copy((uint4 *)state, (const uint4 *)s.state, (uint32_t)state_bytes);
    struct coherent_counters *counts = (struct coherent_counters *)work->counts + s.number * work->caches;
    if (!GROUPED)
        add_tally(counts, &tally);
    for (uint32_t i = threadIdx.x; GROUPED && i < work->caches; i += blockDim.x) {
#define X(name, help)                                                                                        \
    atomicAdd((unsigned long long *)&counts[i].name, (unsigned long long)s.tallies[i].name);                 \
    s.tallies[i].name = 0;
        COHERENT_COUNTERS(X)
#undef X
    }
    if (!threadIdx.x && WALK == WALK_L1 && work->asks_spread)
        ((uint32_t *)work->asks_counts)[s.number] = (uint32_t)s.asked;
    if (!threadIdx.x && work->told_words)
        ((uint32_t *)work->told_counts)[s.number] = (uint32_t)s.told;
}

/*   kernel                      kind        of a group  of 16 ways, LRU  by warps */
#define WALK(name, walk_kind, grouped, fixed, by_warps)                                                      \
    extern "C" __global__ void __launch_bounds__(WALK_THREADS_MOST) name(const struct work_walk work)        \
    {                                                                                                        \
        walk<walk_kind, grouped, fixed, by_warps>(&work);                                                    \
    }
WALK(walk_l1, WALK_L1, false, false, false)
WALK(walk_l1_lru16, WALK_L1, false, true, false)
WALK(walk_l1_warps, WALK_L1, false, false, true)
WALK(walk_l1_warps_lru16, WALK_L1, false, true, true)
WALK(walk_l1_group, WALK_L1, true, false, false)
WALK(walk_l1_group_lru16, WALK_L1, true, true, false)
WALK(walk_l1_group_warps, WALK_L1, true, false, true)
WALK(walk_l1_group_warps_lru16, WALK_L1, true, true, true)
WALK(walk_l2, WALK_L2, false, false, false)
WALK(walk_l2_lru16, WALK_L2, false, true, false)
WALK(walk_l2_group, WALK_L2, true, false, false)
WALK(walk_l2_group_lru16, WALK_L2, true, true, false)
WALK(walk_slices, WALK_SLICE, false, false, false)
WALK(walk_slices_lru16, WALK_SLICE, false, true, false)
WALK(walk_tell, WALK_TELL, true, false, false)
