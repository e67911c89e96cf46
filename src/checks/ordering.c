/* What orders the accesses of threads: barriers, operations of a warp, and atomic operations, volatile
 * accesses and fences on variables in memory.
 *
 * The stamps of a block's accesses are its time `now`, which goes on when threads synchronize. After a
 * barrier of all its threads, all earlier accesses have smaller stamps than `base`; after one of a warp,
 * those of the warp have smaller ones than its `warp_base`. What else threads know of others is in their
 * pasts. */
#include "checks/parts.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* ---- pasts of threads ---- */

static struct past *join(struct checked_block *own, struct past *newer, struct past *older)
{
    return past_join(own->launch->pool, newer, older);
}

static bool is_foreign(const struct checked_block *own, const struct past *past)
{
    return past && (past->block != own->number || past->first || past->second);
}

/* Of these lanes; all that anyone of them knows. */
static struct past *join_lanes(struct checked_block *own, struct past *const *pasts, uint32_t warp,
                               lane_mask lanes)
{
    struct past *all = NULL, *last = NULL;
    EACH_LANE (i, lanes) {
        struct past *one = pasts[warp * own->lanes + i];
        if (one != last)
            all = join(own, all, one);
        last = one;
    }
    return all;
}

static void set_lanes(struct checked_block *own, struct past **pasts, uint32_t warp, lane_mask lanes,
                      struct past *past)
{
    own->has_past |= past != NULL;
    EACH_LANE (i, lanes)
        pasts[warp * own->lanes + i] = past;
}

/* What these lanes of a warp have done, and know of others. The next stamps are later. */
static struct past *known_to(struct checked_block *own, uint32_t warp, lane_mask lanes)
{
    uint32_t first = warp * own->lanes + first_lane(lanes);
    struct past *before = own->acquired[first];
    if (lanes & (lanes - 1))
        before = join_lanes(own, own->acquired, warp, lanes);
    return past_add(own->launch->pool, &(struct past){.block = own->number,
                                                      .lanes = lanes,
                                                      .warp = warp,
                                                      .stamp = ++own->now,
                                                      .warp_base = own->warp_base[warp],
                                                      .base = own->base,
                                                      .first = before});
}

struct past *ordering_release(struct checked_block *own, uint32_t warp, lane_mask lanes, bool narrow)
{
    struct past *past = known_to(own, warp, lanes);
    past->narrow = narrow;
    return past;
}

void ordering_acquire(struct checked_block *own, uint32_t warp, lane_mask lanes, struct past *past)
{
    if (!past)
        return;
    EACH_LANE (i, lanes) {
        struct past **acquired = &own->acquired[warp * own->lanes + i];
        if (*acquired != past)
            *acquired = join(own, past, *acquired);
    }
    own->has_past = true;
}

/* Many lanes at once count as if each knew what the others did: that misses some, and saves much. */
void ordering_fence(struct checked_block *own, uint32_t warp, lane_mask lanes, bool narrow)
{
    enum { FEW = 4 };
    if (!lanes)
        return;
    if (isa_count_lanes(lanes) > FEW) {
        set_lanes(own, own->fenced, warp, lanes, ordering_release(own, warp, lanes, narrow));
        return;
    }
    EACH_LANE (i, lanes)
        set_lanes(own, own->fenced, warp, UINT64_C(1) << i,
                  ordering_release(own, warp, UINT64_C(1) << i, narrow));
}

/* ---- operations of a warp ---- */

/* The lanes of a warp that have threads; some may have ended. */
static lane_mask lanes_of(const struct checked_block *own, uint32_t warp)
{
    uint32_t threads = own->threads - warp * own->lanes;
    return UINT64_MAX >> (ISA_LANES - min_u64(threads, own->lanes));
}

void ordering_gathered(struct checked_block *own, const struct gathering *gathering)
{
    uint32_t warp = gathering->warp;
    lane_mask lanes = gathering->lanes;
    if (own->launch->own->in_step || !(lanes & (lanes - 1)))
        return;
    struct past *all = NULL;
    if (own->has_past) {
        all = join_lanes(own, own->acquired, warp, lanes);
        set_lanes(own, own->fenced, warp, lanes, join_lanes(own, own->fenced, warp, lanes));
    }
    if (!(lanes_of(own, warp) & ~lanes)) {
        own->warp_base[warp] = ++own->now;
        if (own->has_past)
            set_lanes(own, own->acquired, warp, lanes, all);
        return;
    }
    struct past *last = own->acquired[warp * own->lanes + first_lane(lanes)];
    if (last && last == all && !last->is_shared && last->block == own->number && last->warp == warp &&
        last->lanes == lanes) { /* nobody else knows of it: it goes on */
        last->stamp = ++own->now;
        last->base = own->base;
        last->warp_base = own->warp_base[warp];
        return;
    }
    set_lanes(own, own->acquired, warp, lanes, known_to(own, warp, lanes));
}

/* ---- barriers of the block ---- */

void ordering_arrived(struct checked_block *own, uint32_t warp, uint16_t site)
{
    const struct arrival *arrival = &own->block->arrival;
    struct arrivals *barrier = &own->barriers[arrival->number];
    barrier->site = barrier->came ? barrier->site : site;
    barrier->came += isa_count_lanes(arrival->waiting);
    struct arrivals_warp *there = &barrier->warps[warp];
    if (there->lanes && there->site != site)
        there->other_site = site;
    there->site = there->lanes ? there->site : site;
    there->lanes |= arrival->waiting;
    there->alive |= arrival->alive;
    there->aligned |= arrival->aligned;
    if (arrival->waits) {
        there->waits |= arrival->waiting;
        return;
    }
    barrier->passes = true;
    barrier->past = join(own, ordering_release(own, warp, arrival->waiting, true), barrier->past);
}

static void open_for_all(struct checked_block *own)
{
    struct past *acquired = NULL, *fenced = NULL, *last = NULL, *last_fenced = NULL;
    own->base = ++own->now;
    if (!own->has_past)
        return;
    for (uint32_t i = 0; i < own->threads; i++) {
        if (own->acquired[i] != last && is_foreign(own, own->acquired[i]))
            acquired = join(own, acquired, own->acquired[i]);
        if (own->fenced[i] != last_fenced)
            fenced = join(own, fenced, own->fenced[i]);
        last = own->acquired[i];
        last_fenced = own->fenced[i];
    }
    for (uint32_t i = 0; i < own->threads; i++) {
        own->acquired[i] = acquired;
        own->fenced[i] = fenced;
    }
    own->has_past = acquired || fenced;
}

static void open_for_some(struct checked_block *own, const struct arrivals *barrier)
{
    struct past *past = barrier->past, *fenced = NULL;
    for (uint32_t i = 0; i < own->warps; i++) {
        if (barrier->warps[i].waits)
            past = join(own, known_to(own, i, barrier->warps[i].waits), past);
        fenced = join(own, join_lanes(own, own->fenced, i, barrier->warps[i].lanes), fenced);
    }
    for (uint32_t i = 0; i < own->warps; i++) {
        set_lanes(own, own->acquired, i, barrier->warps[i].waits, past);
        set_lanes(own, own->fenced, i, barrier->warps[i].waits, fenced);
    }
}

/* The lanes of a warp may come one after the other, but have to come, and to one place. */
static void check_warps(struct checked_block *own, const struct arrivals *barrier)
{
    for (uint32_t i = 0; i < own->warps; i++) {
        const struct arrivals_warp *there = &barrier->warps[i];
        if (!there->lanes || !there->aligned)
            continue;
        if (there->other_site)
            raw_add_sync(own, KIND_DIVERGENT, there->site, there->other_site, i, there->lanes);
        else if (there->alive & ~there->lanes)
            raw_add_sync(own, KIND_DIVERGENT, 0, there->site, i, there->lanes);
    }
}

/* Which barriers have let their threads go. */
void ordering_opened(struct checked_block *own)
{
    for (uint32_t i = 0; i < COUNT_OF(own->barriers); i++) {
        struct arrivals *barrier = &own->barriers[i];
        if (!barrier->came || own->block->barriers[i].arrived)
            continue;
        if (barrier->came >= own->block->alive && !barrier->passes)
            open_for_all(own);
        else
            open_for_some(own, barrier);
        check_warps(own, barrier);
        memset(barrier->warps, 0, own->warps * sizeof *barrier->warps);
        *barrier = (struct arrivals){.warps = barrier->warps};
    }
}

/* ---- the cluster's barrier ---- */

struct checked_cluster *ordering_cluster_new(struct checked_launch *launch)
{
    struct checked_cluster *made = mem_alloc(1, sizeof *made);
    made->made_before = launch->clusters;
    return launch->clusters = made;
}

void ordering_cluster_arrives(struct checked_block *own, uint32_t warp, lane_mask lanes)
{
    if (!lanes)
        return;
    if (!own->cluster) /* the block is launched without, and is one alone */
        own->cluster = ordering_cluster_new(own->launch);
    struct checked_cluster *cluster = own->cluster;
    uint64_t generation = own->cluster_came[warp * own->lanes + first_lane(lanes)] + UINT64_C(1);
    uint32_t place = generation % GENERATIONS;
    if (cluster->generation[place] != generation)
        cluster->past[place] = NULL;
    cluster->generation[place] = generation;
    cluster->past[place] = join(own, ordering_release(own, warp, lanes, false), cluster->past[place]);
    EACH_LANE (i, lanes)
        own->cluster_came[warp * own->lanes + i]++;
}

void ordering_cluster_went_on(struct checked_block *own, uint32_t warp)
{
    lane_mask lanes = own->cluster_waits[warp];
    own->cluster_waits[warp] = 0;
    uint64_t generation = own->cluster_came[warp * own->lanes + first_lane(lanes)];
    if (own->cluster && own->cluster->generation[generation % GENERATIONS] == generation)
        ordering_acquire(own, warp, lanes, own->cluster->past[generation % GENERATIONS]);
}

/* ---- variables ---- */

static struct variable *place_of(const struct checked_launch *launch, uint64_t at)
{
    size_t place = (at * UINT64_C(0x9e3779b97f4a7c15)) >> 24 & (launch->variable_capacity - 1);
    while (launch->variables[place].at && launch->variables[place].at != at)
        place = (place + 1) & (launch->variable_capacity - 1);
    return &launch->variables[place];
}

static void grow_variables(struct checked_launch *launch)
{
    struct variable *old = launch->variables;
    size_t capacity = launch->variable_capacity;
    launch->variable_capacity = capacity ? 2 * capacity : 256;
    launch->variables = mem_alloc(launch->variable_capacity, sizeof *launch->variables);
    for (size_t i = 0; i < capacity; i++)
        if (old[i].at)
            *place_of(launch, old[i].at) = old[i];
    mem_free(old);
}

/* At an address of global memory, or in the shared memory of a block; or NULL. */
struct variable *ordering_variable(struct checked_block *owner, uint64_t at, bool is_shared, bool make)
{
    struct checked_launch *launch = owner->launch;
    uint64_t key = is_shared ? (uintptr_t)owner->block->shared + at : at;
    uint32_t serial = is_shared ? owner->serial : launch->serial;
    if (2 * launch->variable_count >= launch->variable_capacity)
        grow_variables(launch);
    struct variable *own = place_of(launch, key);
    if (own->at && own->serial == serial)
        return own;
    if (!make)
        return NULL;
    launch->variable_count += !own->at;
    *own = (struct variable){.at = key, .serial = serial};
    return own;
}

/* ---- the question ---- */

bool ordering_is_before(const struct touch *touch, const struct accessor *earlier)
{
    struct checked_block *own = touch->own;
    uint32_t warp = earlier->thread / own->lanes, lane = earlier->thread % own->lanes;
    if (earlier->block == (uint32_t)own->number) {
        if (earlier->stamp < own->base || earlier->thread == touch->thread)
            return true;
        if (warp == touch->warp && (own->launch->own->in_step || earlier->stamp < own->warp_base[warp]))
            return true;
    }
    struct past *past = own->acquired[touch->thread];
    return past && past_has(own->launch->pool, past, own->number, earlier->block, warp, lane, earlier->stamp);
}
