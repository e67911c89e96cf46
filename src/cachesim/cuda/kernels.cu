/* Many caches on a GPU. The logic of a set is cache/coherent.h, the same as on the CPU; here is who does
 * which set, and in what order. Made to PTX by ./regenerate.
 *
 * A stream is the accesses of tiles that feel each other, in order. A block takes chunks of it: items are
 * sorted by set, stable, in shared memory, and then each thread walks through those of its sets. */
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

/* ---- one stream of a block ---- */

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

/* ---- what goes out: one after the other, in the order of items ---- */

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

/* ---- what an item does ---- */

/* Accesses to L1s are counted by the host. */
static __device__ __forceinline__ void count(struct tally *tally, bool grouped, enum walk_kind walk,
                                             uint32_t kind, struct coherent_outcome outcome)
{
#define X(name, is_so)                                                                                       \
    if (!grouped)                                                                                            \
        tally->name += (is_so);                                                                              \
    else if (is_so)                                                                                          \
        atomicAdd(&tally->name, 1u);
    if (walk != WALK_L1) {
        COHERENT_COUNTED_ACCESS(X, kind)
    }
    COHERENT_COUNTED_OUTCOME(X, kind, outcome)
#undef X
}

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
        if (passes && WALK == WALK_L1 && shape->policy != REPLACE_SRRIP && repeats<GROUPED>(s, place)) {
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

/* What an access does. Of an L1 it may be known which way its line is in, and others may have been snooped
 * on. */
struct known {
    bool is_so;
    uint32_t way, given_by;
};

template <enum walk_kind WALK, bool GROUPED>
static __device__ __forceinline__ void step(struct stream *s, const struct coherent_shape *shape, uint32_t i,
                                            uint32_t self, struct known known, struct tally *tally)
{
    const struct work_walk *work = s->work;
    uint64_t word = s->words[i], line, tag;
    uint32_t kind;
    if (WALK == WALK_L2) {
        line = word >> L2_WORD_SHIFT;
        kind = word & 7;
    } else if (WALK == WALK_SLICE) {
        line = word >> (work->space_bits + 1);
        kind = word & 1 ? COHERENT_PUT_BACK : COHERENT_READ;
    } else {
        line = word >> L1_WORD_SHIFT;
        kind = word & 1 ? COHERENT_WRITE : COHERENT_READ;
    }
    uint32_t set = set_of(shape, line, &tag);
    if (WALK == WALK_SLICE)
        tag |= (word >> 1 & ((1u << work->space_bits) - 1)) << 48;
    uint32_t first = s->number * work->caches;
    struct coherent_counters *counts = (struct coherent_counters *)work->counts + first;
    struct coherent_group group = {s->state + (uint64_t)set * shape->set_bytes,
                                   (uint64_t)shape->sets * shape->set_bytes, GROUPED ? work->caches : 1,
                                   counts};
    if (known.is_so)
        group.caches = 0; /* nobody is left to snoop on */
    if (WALK == WALK_TELL) {
        struct coherent_outcome outcome;
        coherent_snoop(shape, &group, self, tag, word & 1, &outcome);
        return;
    }
    uint32_t tile = GROUPED ? s->tiles[i] : 0;
    uint64_t seed = set_seed(work->seed, work->level, first + tile, set);
    struct coherent_outcome outcome =
        known.is_so ? coherent_access_way(shape, &group, tile, tag, known.way, kind, seed)
                    : coherent_access(shape, &group, tile, tag, kind, seed);
    if (known.is_so)
        outcome.given_by = known.given_by;
    count(GROUPED ? s->tallies + tile : tally, GROUPED, WALK, kind, outcome);
    if (WALK == WALK_SLICE || !(work->asks_spread || work->told_words))
        return;
    uint32_t flags = 0;
    if (work->told_words && outcome.asks)
        flags |= FLAG_TOLD | (kind != COHERENT_READ ? FLAG_TAKE : 0);
    if (WALK == WALK_L1 && work->asks_spread) {
        if (outcome.put_back) {
            flags |= FLAG_PUT_BACK;
            s->victims[i] = line_of(shape, set, outcome.victim);
        }
        if (GROUPED && outcome.given_by != COHERENT_NONE) {
            flags |= FLAG_GIVEN;
            s->givers[i] = (uint16_t)outcome.given_by;
        }
        if (outcome.asks && (outcome.below != COHERENT_DISOWN || work->disowns))
            flags |= (outcome.below + 1u) << FLAG_ASKS_SHIFT;
    }
    s->flags[i] = (uint8_t)flags;
}

/* ---- a walk by warps: each takes bin after bin, 32 accesses at a time ----
 *
 * Hits change nothing but what the policy knows of their own cache's set, so that all up to the first access
 * that is more than a hit can be looked at at once. */

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

/* ---- a walk by threads: each has a bin ---- */

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

/* ---- a walk ---- */

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

/* ---- tiles that feel each other: their accesses in one order ---- */

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

/* ---- slices: what all ask, to lists of each slice, in order ---- */

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
