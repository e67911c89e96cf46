/* The observer of a checked launch: each instruction is executed, then looked at. */
#include "checks/checker.h"
#include "checks/parts.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* ---- what instructions do beside accesses ---- */

static void see_arrival(struct checked_block *own, const struct isa_warp *warp, uint16_t site)
{
    const struct arrival *arrival = &own->block->arrival;
    const struct arrivals *before = &own->barriers[arrival->number];
    if (arrival->aligned && !arrival->expected && before->came && before->site != site &&
        !before->warps[warp->index].lanes)
        raw_add_sync(own, KIND_OTHER_PLACE, before->site, site, warp->index, arrival->waiting);
    if (arrival->expected % own->lanes)
        raw_add_sync(own, KIND_NOT_WARPS, 0, site, warp->index, arrival->waiting);
    uint32_t left = (own->block->alive + own->lanes - 1) / own->lanes * own->lanes;
    if (arrival->expected > left)
        raw_add_sync(own, KIND_TOO_MANY, 0, site, warp->index, arrival->waiting);
    ordering_arrived(own, warp->index, site);
}

static void see_gathering(struct checked_block *own, uint16_t site)
{
    struct gathering *gathering = &own->block->gathering;
    uint32_t warp = gathering->warp;
    if (gathering->missing)
        raw_add_sync(own, KIND_MISSING, 0, site, warp, gathering->missing);
    if (gathering->outside)
        raw_add_sync(own, KIND_OUTSIDE, 0, site, warp, gathering->outside);
    if (gathering->lonely)
        raw_add_sync(own, KIND_LONELY, 0, site, warp, gathering->lonely);
    ordering_gathered(own, gathering);
    *gathering = (struct gathering){0};
}

static void see_role(struct checked_block *own, const struct isa_warp *warp, enum isa_role role,
                     uint32_t count, lane_mask mask)
{
    uint32_t index = warp->index;
    switch (role) {
    case ROLE_FENCE:
    case ROLE_FENCE_SYSTEM:
        ordering_fence(own, index, mask, false);
        break;
    case ROLE_FENCE_BLOCK:
        ordering_fence(own, index, mask, true);
        break;
    case ROLE_COMMIT:
        own->groups[index]++;
        break;
    case ROLE_COPIES:
        race_copies_done(own, index, count);
        break;
    case ROLE_ALL_COPIES:
        own->groups[index]++;
        race_copies_done(own, index, 0);
        break;
    case ROLE_CLUSTER_WAIT:
        own->cluster_waits[index] |= mask;
        break;
    default:
        break;
    }
}

/* ---- the warp interface, wrapped ---- */

static void step_checked(struct isa_warp *warp, struct isa_stepped *stepped)
{
    struct block *block = warp->block;
    struct checked_block *own = block->observed;
    const struct isa_code *code = warp->code;
    const struct isa_timing *row = warp->next;
    uint32_t index = warp->index, arrivals = block->cluster_arrivals, alive = block->alive;
    bool opened = block->opened;
    if (UNLIKELY(block->gathering.lanes)) /* by those who waited, when others ended */
        see_gathering(own, own->waits_at[block->gathering.warp]);
    if (UNLIKELY(own->cluster_waits[index]))
        ordering_cluster_went_on(own, index);
    block->opened = false;
    block->arrival.threads = 0;
    own->launch->own->step(warp, stepped);
    if (row->plain && !row->role && !block->opened)
        goto out;
    uint16_t site = site_of(own->launch, code, (uint32_t)(row - code->timing));
    if (UNLIKELY(row->role))
        see_role(own, warp, (enum isa_role)row->role, row->role_count, stepped->mask);
    if (UNLIKELY(row->role == ROLE_CLUSTER_ARRIVE ||
                 (block->cluster_arrivals != arrivals && block->alive == alive)))
        ordering_cluster_arrives(own, index, stepped->mask);
    if (block->arrival.threads)
        see_arrival(own, warp, site);
    else if (stepped->waits || (stepped->moved && !stepped->branched && !block->gathering.lanes))
        own->waits_at[index] = site;
    if (block->gathering.lanes)
        see_gathering(own, site);
    struct request *request = block->worker->request;
    if (request->of.kind || request->shared || request->stretch_count)
        touches_see(own, warp, site);
    request->stretch_count = 0; /* no model looks at them */
    request->order = 0;
    request->has_wrote = false;
    if (UNLIKELY(block->opened))
        ordering_opened(own);
out:
    block->opened |= opened;
}

static bool force_checked(struct block *block)
{
    struct checked_block *own = block->observed;
    if (!own->launch->own->force(block))
        return false;
    if (block->gathering.lanes)
        see_gathering(own, own->waits_at[block->gathering.warp]);
    return true;
}

/* ---- blocks ---- */

static struct checked_block *block_new(struct checked_launch *launch, const struct block *block)
{
    struct checked_block *own = mem_alloc(1, sizeof *own);
    uint32_t warps = block->warp_count, lanes = launch->own->lanes;
    own->launch = launch;
    own->warps = warps;
    own->lanes = lanes;
    own->threads = block->worker->grid->threads_per_block;
    own->warp_base = mem_alloc(warps, sizeof *own->warp_base);
    own->acquired = mem_alloc((size_t)warps * lanes, sizeof(struct past *));
    own->fenced = mem_alloc((size_t)warps * lanes, sizeof(struct past *));
    own->cluster_came = mem_alloc((size_t)warps * lanes, sizeof *own->cluster_came);
    own->cluster_waits = mem_alloc(warps, sizeof *own->cluster_waits);
    own->groups = mem_alloc(warps, sizeof *own->groups);
    own->waits_at = mem_alloc(warps, sizeof *own->waits_at);
    for (size_t i = 0; i < COUNT_OF(own->barriers); i++)
        own->barriers[i].warps = mem_alloc(warps, sizeof *own->barriers->warps);
    own->shared_bytes = block->shared_bytes;
    own->shared_room = (block->shared_bytes + 63) / 64 * 64;
    own->written = mem_alloc(own->shared_room / 64 + 1, sizeof *own->written);
    own->made_before = launch->all;
    launch->all = own;
    return own;
}

static void block_free_checked(struct checked_block *own)
{
    for (size_t i = 0; i < COUNT_OF(own->barriers); i++)
        mem_free(own->barriers[i].warps);
    mem_free(own->warp_base);
    mem_free(own->acquired);
    mem_free(own->fenced);
    mem_free(own->cluster_came);
    mem_free(own->cluster_waits);
    mem_free(own->groups);
    mem_free(own->waits_at);
    mem_free(own->copies);
    mem_free(own->written);
    cells_fini(&own->shared);
    mem_free(own);
}

/* That of its cluster's blocks that began before, or a new one. */
static struct checked_cluster *cluster_of(struct checked_launch *launch, const struct block *block)
{
    const struct cga *cluster = block->cluster;
    if (!cluster)
        return NULL;
    for (uint32_t i = 0; i < cluster->size; i++) {
        const struct block *other = cluster->blocks[i];
        const struct checked_block *known = other && other != block ? other->observed : NULL;
        if (known)
            return known->cluster;
    }
    return ordering_cluster_new(launch);
}

static void reset(struct checked_block *own)
{
    size_t threads = (size_t)own->warps * own->lanes;
    own->serial = ++own->launch->checker->serials;
    own->now = 1;
    own->base = 0;
    own->has_past = false;
    own->copy_count = 0;
    memset(own->warp_base, 0, own->warps * sizeof *own->warp_base);
    memset(own->acquired, 0, threads * sizeof(struct past *));
    memset(own->fenced, 0, threads * sizeof(struct past *));
    memset(own->cluster_came, 0, threads * sizeof *own->cluster_came);
    memset(own->cluster_waits, 0, own->warps * sizeof *own->cluster_waits);
    memset(own->groups, 0, own->warps * sizeof *own->groups);
    memset(own->written, 0, own->shared_room / 8);
    for (size_t i = 0; i < COUNT_OF(own->barriers); i++) {
        struct arrivals *barrier = &own->barriers[i];
        memset(barrier->warps, 0, own->warps * sizeof *barrier->warps);
        *barrier = (struct arrivals){.warps = barrier->warps};
    }
}

static void block_begins(struct observer *observer, struct block *block)
{
    struct checked_launch *launch = (struct checked_launch *)observer;
    struct checked_block *own = launch->unused;
    if (own)
        launch->unused = own->next;
    else
        own = block_new(launch, block);
    block->worker->request->looks = true;
    block->gathering = (struct gathering){0};
    own->block = block;
    own->number = block->number;
    block->observed = NULL;
    own->cluster = cluster_of(launch, block);
    reset(own);
    block->observed = own;
}

static void block_ends(struct observer *observer, struct block *block)
{
    struct checked_launch *launch = (struct checked_launch *)observer;
    struct checked_block *own = block->observed;
    block->observed = NULL;
    own->next = launch->unused;
    launch->unused = own;
}

/* ---- launches ---- */

/* Malloc in a kernel. What was there before is no matter any more. */
static void took_memory(void *user, uint64_t at, uint64_t bytes)
{
    struct checked_launch *launch = user;
    race_forget(launch->checker, at, bytes);
    checker_new_memory(launch->checker, at, bytes);
}

struct observer *checker_begin(struct checker *checker, const struct launch *launch, uint64_t number,
                               uint32_t checks)
{
    struct checked_launch *own = mem_alloc(1, sizeof *own);
    own->checker = checker;
    own->launch = launch;
    own->number = number;
    own->checks = checks & checker->checks;
    own->serial = ++checker->serials;
    own->own = launch->kernel->isa;
    own->isa = *own->own;
    own->isa.step = step_checked;
    own->isa.force = force_checked;
    own->pool = past_pool_new();
    own->observer = (struct observer){.isa = &own->isa, .begins = block_begins, .ends = block_ends};
    own->heap = (struct heap_observer){took_memory, own};
    if (launch->heap)
        heap_observe(launch->heap, &own->heap);
    return &own->observer;
}

void checker_end(struct checker *checker, struct observer *observer)
{
    struct checked_launch *own = (struct checked_launch *)observer;
    (void)checker;
    if (own->launch->heap)
        heap_observe(own->launch->heap, NULL);
    raws_tell(own);
    for (struct checked_block *block = own->all, *next; block; block = next) {
        next = block->made_before;
        block_free_checked(block);
    }
    for (struct checked_cluster *cluster = own->clusters, *next; cluster; cluster = next) {
        next = cluster->made_before;
        mem_free(cluster);
    }
    for (size_t i = 0; i < own->code_count; i++) {
        mem_free(own->codes[i].sites);
        mem_free(own->codes[i].variables);
    }
    past_pool_free(own->pool);
    mem_free(own->codes);
    mem_free(own->sites);
    mem_free(own->raws);
    mem_free(own->raw_slots);
    mem_free(own->variables);
    mem_free(own);
}

/* ---- the checker ---- */

struct checker *checker_new(uint32_t checks)
{
    struct checker *checker = mem_alloc(1, sizeof *checker);
    checker->checks = checks;
    shadow_init(&checker->cells, sizeof(struct cells));
    shadow_init(&checker->written, sizeof(struct shadow_bits));
    return checker;
}

void checker_free(struct checker *checker)
{
    shadow_fini(&checker->cells, cells_fini);
    shadow_fini(&checker->written, NULL);
    findings_fini(&checker->findings);
    mem_free(checker);
}

struct findings *checker_findings(struct checker *checker)
{
    return &checker->findings;
}

static bool knows_writes(const struct checker *checker)
{
    return checker->checks >> CHECK_init & 1;
}

void checker_new_memory(struct checker *checker, uint64_t at, uint64_t bytes)
{
    if (knows_writes(checker))
        shadow_clear(&checker->written, at, bytes);
}

void checker_old_memory(struct checker *checker, uint64_t at, uint64_t bytes)
{
    checker_written(checker, at, bytes);
}

void checker_written(struct checker *checker, uint64_t at, uint64_t bytes)
{
    if (knows_writes(checker))
        shadow_set(&checker->written, at, bytes);
}

void checker_copied(struct checker *checker, uint64_t to, uint64_t from, uint64_t bytes)
{
    enum { PART = 256 };
    for (uint64_t done = 0; knows_writes(checker) && done < bytes; done += PART) {
        uint64_t part = min_u64(PART, bytes - done);
        if (shadow_is_set(&checker->written, from + done, part)) {
            shadow_set(&checker->written, to + done, part);
            continue;
        }
        for (uint64_t i = done; i < done + part; i++)
            if (shadow_is_set(&checker->written, from + i, 1))
                shadow_set(&checker->written, to + i, 1);
    }
}

uint64_t checker_written_from(struct checker *checker, uint64_t at, uint64_t bytes)
{
    return knows_writes(checker) ? shadow_first_clear(&checker->written, at, bytes) : bytes;
}
