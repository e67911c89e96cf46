/* How each level is walked: kernels, threads, shared memory. */
#include "cachesim/cuda/rounds.h"

enum {
    CHUNK = 512,
    CHUNK_OF_GROUP = 1024,
    CHUNK_OF_WARPS = 2048,
    FEW_OF_SM = 1024,
    THREADS_LEAST = 32,
    THREADS_MOST = 256 /* of a stream */
};

static uint32_t up_to_16(uint64_t bytes)
{
    return (uint32_t)((bytes + 15) / 16 * 16);
}

static uint32_t threads_for(uint32_t sets)
{
    uint32_t threads = THREADS_LEAST;
    while (threads < sets && threads < THREADS_MOST)
        threads *= 2;
    return threads;
}

/* Gives the bytes of a stream; the state's place is the last one. */
static void place_shared(struct work_walk *work, uint32_t threads, bool tells)
{
    struct work_shared *shared = &work->shared;
    uint32_t at = 0, warps = threads / 32;
#define PLACE(name, bytes)                                                                                   \
    shared->name = at;                                                                                       \
    at += up_to_16(bytes)
    PLACE(words, (uint64_t)work->chunk * 8);
    PLACE(victims, work->asks_spread ? (uint64_t)work->chunk * 8 : 0);
    PLACE(givers, work->asks_spread && work->caches > 1 ? work->chunk * 2 : 0);
    PLACE(tiles, work->caches > 1 ? work->chunk * 2 : 0);
    PLACE(ranks, work->chunk * 2);
    PLACE(sorted, work->chunk * 2);
    PLACE(flags, work->asks_spread || tells ? work->chunk : 0);
    PLACE(histogram, (uint64_t)warps * work->bins * 2);
    PLACE(sums, warps * 4);
    PLACE(marked, work->chunk / 8);
    PLACE(bounds, (work->bins + 1) * 2);
    shared->tallied = work->caches > 1 && !work->tallies ? work->caches : 0;
    PLACE(tallies, (uint64_t)shared->tallied * TALLY_BYTES);
#undef PLACE
    shared->state = shared->bytes = at;
}

/* The state comes to shared memory where that leaves enough streams at work at a time: a fourth of an SM's,
 * or all that there are. */
static void place_state(struct caches *caches, struct work_walk *work, uint64_t state_bytes)
{
    uint64_t whole = work->shared.bytes + state_bytes, sm = card_sm_shared(caches->device);
    if (whole > card_block_shared(caches->device))
        return;
    if (whole > sm / 4 && work->streams > (uint64_t)card_sms(caches->device) * (sm / (whole + 1024)))
        return;
    work->shared.has_state = true;
    work->shared.bytes = (uint32_t)whole;
}

static void plan_level(struct caches *caches, struct round_level *level, bool is_l2, uint32_t streams,
                       uint32_t tiles)
{
    struct work_walk *work = &level->work;
    work->shape = is_l2 ? caches->plan.l2 : caches->plan.l1;
    work->state = is_l2 ? caches->l2 : caches->l1;
    work->counts = is_l2 ? caches->l2_counts : caches->l1_counts;
    work->seed = caches->plan.spec.seed;
    if (tiles > TALLIED_MOST)
        work->tallies = is_l2 ? caches->l2_tallies : caches->l1_tallies;
    work->level = is_l2;
    work->streams = streams;
    work->caches = tiles;
    work->chunk = tiles > 1 ? CHUNK_OF_GROUP : CHUNK;
    work->slices = caches->plan.spec.tiles;
    while ((caches->plan.groups - 1) >> work->space_bits)
        work->space_bits++;
    work->bins = level->threads = threads_for(work->shape.sets);
}

static void plan_place(struct caches *caches, struct round_level *level, bool is_l2)
{
    struct work_walk *work = &level->work;
    place_shared(work, level->threads, caches->plan.spec.quantum && caches->plan.spec.snoop > 1);
    if (!is_l2) /* an L2 is used here and there only */
        place_state(caches, work, (uint64_t)work->caches * work->shape.sets * work->shape.set_bytes);
    level->threads_y = caches->host.per_block ? caches->host.per_block : 1;
    while (level->threads_y > 1 &&
           (level->threads_y * level->threads > WALK_THREADS_MOST ||
            level->threads_y * work->shared.bytes > card_block_shared(caches->device)))
        level->threads_y--;
}

/* Whether a warp takes each set: where they are not enough to keep the GPU's threads at work, and in groups,
 * whose tiles keep the same sets busy. */
static bool suits_warps(const struct caches *caches, const struct work_walk *work)
{
    if (!replace_last_uses_count(work->shape.policy))
        return false;
    return work->caches > 1 ||
           (uint64_t)work->streams * work->bins < (uint64_t)card_sms(caches->device) * FEW_OF_SM;
}

void levels_plan(struct caches *caches)
{
    const struct caches_spec *spec = &caches->plan.spec;
    const struct kernels *kernels = &caches->kernels;
    uint32_t together = spec->quantum ? 1 : spec->snoop, streams = spec->tiles / together;
    bool is_lru16[2] = {spec->l1.ways == 16, spec->l2.ways == 16};
    is_lru16[0] &= spec->policy == REPLACE_LRU;
    is_lru16[1] &= spec->policy == REPLACE_LRU;
    bool is_shared = spec->machine == CACHES_SHARED, tells = spec->quantum && spec->snoop > 1;

    plan_level(caches, &caches->l1_level, false, streams, together);
    if (spec->machine != CACHES_L1) {
        caches->l1_level.work.asks_spread = together > 1 ? 3 : 2;
        caches->l1_level.work.below_shift = caches->plan.l2_shift;
        caches->l1_level.work.disowns = !is_shared && spec->snoop > 1;
        plan_level(caches, &caches->l2_level, true, is_shared ? spec->tiles : streams,
                   is_shared ? 1 : together);
        plan_place(caches, &caches->l2_level, true);
    }
    bool by_warps = !caches->host.per_block && suits_warps(caches, &caches->l1_level.work);
    if (by_warps) {
        caches->l1_level.threads = WALK_THREADS_MOST;
        caches->l1_level.work.chunk = CHUNK_OF_WARPS;
    }
    plan_place(caches, &caches->l1_level, false);
    const device_handle l1_walks[2][2][2] = {
        {{kernels->walk_l1, kernels->walk_l1_lru16}, {kernels->walk_l1_warps, kernels->walk_l1_warps_lru16}},
        {{kernels->walk_l1_group, kernels->walk_l1_group_lru16},
         {kernels->walk_l1_group_warps, kernels->walk_l1_group_warps_lru16}}};
    caches->l1_level.walk = l1_walks[together > 1][by_warps][is_lru16[0]];
    if (is_shared)
        caches->l2_level.walk = is_lru16[1] ? kernels->walk_slices_lru16 : kernels->walk_slices;
    else if (together > 1)
        caches->l2_level.walk = is_lru16[1] ? kernels->walk_l2_group_lru16 : kernels->walk_l2_group;
    else
        caches->l2_level.walk = is_lru16[1] ? kernels->walk_l2_lru16 : kernels->walk_l2;
    for (unsigned is_l2 = 0; tells && is_l2 < 2; is_l2++) {
        struct round_level *level = is_l2 ? &caches->l2_tell : &caches->l1_tell;
        if (is_l2 && spec->machine != CACHES_PRIVATE)
            continue;
        plan_level(caches, level, is_l2, caches->plan.groups, spec->snoop);
        plan_place(caches, level, true);
        level->walk = kernels->walk_tell;
    }
}
