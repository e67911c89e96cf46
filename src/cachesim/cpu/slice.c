/* The L2 that all tiles share: requests of all L1s, bucket by bucket of slices, in the order of
 * (instruction count, tile). */
#include "base/mem.h"
#include "base/workers.h"
#include "cachesim/cpu/tile.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct slice_work { /* of a worker: requests while they are sorted */
    struct shared_request *now, *next;
    size_t capacity;
};

struct slice_work *split_works_new(unsigned workers)
{
    return mem_alloc(workers, sizeof(struct slice_work));
}

void split_works_free(struct slice_work *works, unsigned workers)
{
    for (unsigned i = 0; i < workers; i++) {
        mem_free(works[i].now);
        mem_free(works[i].next);
    }
    mem_free(works);
}

/* By one digit of (when, tile), stable. */
static void sort_digit(struct slice_work *work, size_t count, uint64_t first_when, uint32_t tile_bits,
                       uint32_t shift)
{
    size_t places[DIGITS] = {0}, at = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = (work->now[i].when - first_when) << tile_bits | work->now[i].tile;
        places[key >> shift & (DIGITS - 1)]++;
    }
    for (unsigned i = 0; i < DIGITS; i++) {
        size_t here = places[i];
        places[i] = at;
        at += here;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t key = (work->now[i].when - first_when) << tile_bits | work->now[i].tile;
        work->next[places[key >> shift & (DIGITS - 1)]++] = work->now[i];
    }
    struct shared_request *sorted = work->next;
    work->next = work->now;
    work->now = sorted;
}

static uint32_t bits_of(uint64_t n)
{
    return n ? 64 - (uint32_t)__builtin_clzll(n) : 0;
}

/* Requests of one tile are in order already, and those of one access are neighbours: a stable sort leaves
 * them so. */
static void sort(struct slice_work *work, size_t count, uint32_t tiles)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = min_u64(first, work->now[i].when);
        last = max_u64(last, work->now[i].when);
    }
    uint32_t tile_bits = bits_of(tiles - 1), bits = tile_bits + (count ? bits_of(last - first) : 0);
    for (uint32_t shift = 0; shift < bits; shift += DIGIT_BITS)
        sort_digit(work, count, first, tile_bits, shift);
}

static size_t gather(struct caches *caches, uint32_t bucket, struct slice_work *work, uint32_t pieces)
{
    size_t count = 0;
    for (uint32_t piece = 0; piece < pieces; piece++)
        count += caches->requests[(size_t)piece * caches->buckets + bucket].count;
    if (count > work->capacity) {
        mem_free(work->now);
        mem_free(work->next);
        work->capacity = count + count / 4;
        work->now = mem_alloc(work->capacity, sizeof *work->now);
        work->next = mem_alloc(work->capacity, sizeof *work->next);
    }
    count = 0;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        struct shared_requests *from = &caches->requests[(size_t)piece * caches->buckets + bucket];
        if (from->count)
            memcpy(work->now + count, from->at, from->count * sizeof *from->at);
        count += from->count;
        from->count = 0;
    }
    return count;
}

/* A request's place: its set's bytes and all that an access needs. */
struct slice_place {
    struct coherent_group group;
    uint64_t tag, seed;
    uint32_t kind;
};

static inline struct slice_place place_of(struct caches *caches, const struct shared_request *request)
{
    const struct coherent_shape *l2 = &caches->plan.l2;
    uint32_t tiles = caches->plan.spec.tiles, slice = (uint32_t)(request->line % tiles);
    uint64_t tag;
    uint32_t set = set_of(l2, request->line / tiles, &tag);
    struct slice_place place = {
        .group = level_group(l2, caches->l2, caches->l2_of, slice, 1, set),
        .tag = tag | (uint64_t)request->space << 48,
        .seed = set_seed(caches->plan.spec.seed, 1, slice, set),
        .kind = request->kind == COHERENT_CLAIM ? COHERENT_READ : request->kind,
    };
    walk_prefetch(l2, place.group.sets);
    return place;
}

static void run_bucket(void *user, uint32_t bucket, unsigned worker)
{
    struct caches *caches = user;
    struct slice_work *work = &caches->slice_works[worker];
    uint32_t tiles = caches->plan.spec.tiles;
    uint32_t pieces = caches->plan.spec.quantum ? tiles : caches->plan.groups * caches->split.parts;
    size_t count = gather(caches, bucket, work, pieces);
    struct slice_place ahead[L2_AHEAD]; /* their sets are on the way from memory */
    sort(work, count, tiles);
    for (size_t i = 0; i < count + L2_AHEAD; i++) {
        struct slice_place *place = &ahead[i % L2_AHEAD];
        if (i >= L2_AHEAD) {
            struct coherent_outcome outcome =
                coherent_access(&caches->plan.l2, &place->group, 0, place->tag, place->kind, place->seed);
            coherent_count(place->group.counts, place->kind, outcome);
        }
        if (i < count)
            *place = place_of(caches, &work->now[i]);
    }
}

void slices_run(struct caches *caches)
{
    workers_run(caches->workers, caches->buckets, run_bucket, caches);
}
