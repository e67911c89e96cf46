/* What an instruction accesses, as its request says, lane by lane. */
#include "checks/parts.h"
#include "base/bits.h"
#include "exec/atomics.h"

/* An instruction of a warp. */
struct step {
    struct checked_block *own;
    const struct request *request;
    uint32_t warp;
    uint16_t site;
    bool strong, releases, acquires; /* of the kind that others may wait for */
};

static struct touch touch_of(const struct step *step, uint32_t lane, bool reads, bool writes)
{
    const struct request *request = step->request;
    return (struct touch){.own = step->own,
                          .warp = step->warp,
                          .lane = lane,
                          .thread = step->warp * step->own->lanes + lane,
                          .site = step->site,
                          .reads = reads,
                          .writes = writes,
                          .strong = step->strong,
                          .scope = request->order ? request->scope : SCOPE_GPU,
                          .has_value = writes && !reads && request->has_wrote,
                          .value = (uint32_t)(request->wrote[lane] ^ request->wrote[lane] >> 32)};
}

/* ---- memory that was never written ---- */

static void found_unwritten(const struct touch *touch, bool is_shared, uint64_t at, uint32_t bytes)
{
    raw_add(touch->own->launch, &(struct raw){.kind = KIND_UNWRITTEN,
                                              .is_shared = is_shared,
                                              .second = touch->site,
                                              .at = at,
                                              .bytes = bytes,
                                              .other = {touch->own->number, touch->thread}});
}

static void init_shared(const struct touch *touch, struct checked_block *owner, uint64_t offset,
                        uint32_t bytes)
{
    if (touch->reads && !bits_are_set(owner->written, offset, bytes))
        found_unwritten(touch, true, offset, bytes);
    if (touch->writes)
        bits_set(owner->written, offset, bytes);
}

static void init_global(const struct touch *touch, uint64_t at, uint32_t bytes)
{
    struct shadow *written = &touch->own->launch->checker->written;
    if (touch->reads && !shadow_is_set(written, at, bytes))
        found_unwritten(touch, false, at, bytes);
    if (touch->writes)
        shadow_set(written, at, bytes);
}

/* ---- variables that synchronize ---- */

static void pass(const struct step *step, const struct touch *touch, struct checked_block *owner, uint64_t at,
                 bool is_shared)
{
    struct checked_block *own = step->own;
    struct past *fenced = own->fenced[touch->thread];
    lane_mask lane = UINT64_C(1) << touch->lane;
    bool tells = touch->writes && (fenced || step->releases);
    struct variable *variable = ordering_variable(owner, at, is_shared, tells);
    if (!variable)
        return;
    if (touch->reads)
        ordering_acquire(own, step->warp, lane, variable->past);
    if (!touch->writes)
        return;
    if (step->releases)
        fenced = ordering_release(own, step->warp, lane, touch->scope == SCOPE_BLOCK);
    variable->past = touch->reads ? past_join(own->launch->pool, fenced, variable->past) : fenced;
}

/* ---- one lane ---- */

/* An instruction that can only mean one array has to stay in it. */
static void check_array(const struct touch *touch, uint64_t offset, uint32_t bytes)
{
    const struct checked_launch *launch = touch->own->launch;
    if (touch->site >= launch->site_count)
        return;
    const struct code_variable *variable = &launch->sites[touch->site].variable;
    if (!variable->bytes || (offset >= variable->at && offset - variable->at < variable->bytes &&
                             variable->bytes - (offset - variable->at) >= bytes))
        return;
    raw_add(touch->own->launch, &(struct raw){.kind = KIND_BEYOND,
                                              .is_shared = true,
                                              .second = touch->site,
                                              .at = offset,
                                              .bytes = bytes,
                                              .other = {touch->own->number, touch->thread}});
}

static void see_shared_at(const struct step *step, const struct touch *touch, struct checked_block *owner,
                          uint64_t offset, uint32_t bytes)
{
    if (offset + bytes > owner->shared_bytes)
        return;
    if (checks_wants(step->own, CHECK_memory) && owner == step->own)
        check_array(touch, offset, bytes);
    if (checks_wants(step->own, CHECK_init))
        init_shared(touch, owner, offset, bytes);
    if (!checks_wants(step->own, CHECK_race))
        return;
    race_shared(touch, owner, offset, bytes);
    if (touch->strong)
        pass(step, touch, owner, offset, true);
}

static void see_global_at(const struct step *step, const struct touch *touch, uint64_t at, uint32_t bytes)
{
    if (checks_wants(step->own, CHECK_init))
        init_global(touch, at, bytes);
    if (!checks_wants(step->own, CHECK_race))
        return;
    race_global(touch, at, bytes);
    if (touch->strong)
        pass(step, touch, step->own, at, false);
}

/* The block in whose shared memory an address is, and where there. NULL: it has ended. */
static struct checked_block *owner_of(struct checked_block *own, uint64_t at, uint64_t *offset)
{
    struct cga *cluster = own->block->cluster;
    *offset = cluster ? at & (WINDOW_BYTES - 1) : at;
    struct block *block = cluster ? cga_block(cluster, at >> CLUSTER_SHARED_SHIFT) : own->block;
    return block ? block->observed : NULL;
}

/* ---- barriers in shared memory ---- */

static void found_barrier(const struct step *step, enum kind kind, uint32_t lane, uint64_t offset)
{
    raw_add(step->own->launch,
            &(struct raw){.kind = (uint8_t)kind,
                          .is_shared = true,
                          .second = step->site,
                          .at = offset,
                          .bytes = 8,
                          .other = {step->own->number, step->warp * step->own->lanes + lane}});
}

static void use_barrier(const struct step *step, uint32_t lane, uint64_t at)
{
    struct checked_block *own = step->own;
    uint64_t offset;
    struct checked_block *owner = owner_of(own, at, &offset);
    if (!owner || offset + 8 > owner->shared_bytes)
        return;
    enum shared_sync sync = (enum shared_sync)step->request->shared_sync;
    struct variable *variable = ordering_variable(owner, offset, true, true);
    bool was = variable->is_barrier;
    if (sync == SYNC_INIT ? was : !was)
        found_barrier(step, was ? KIND_TWICE : KIND_NO_BARRIER, lane, offset);
    bits_set(owner->written, offset, 8);
    variable->is_barrier = sync != SYNC_END;
    if (sync == SYNC_INIT)
        variable->past = NULL;
    if (sync == SYNC_ARRIVE)
        variable->past = past_join(
            own->launch->pool, ordering_release(own, step->warp, UINT64_C(1) << lane, false), variable->past);
    if (sync == SYNC_TEST && step->request->shared_done >> lane & 1) {
        ordering_acquire(own, step->warp, UINT64_C(1) << lane, variable->past);
        race_copies_come(owner, offset);
    }
}

static void see_barriers(const struct step *step)
{
    const struct request *request = step->request;
    EACH_LANE (i, request->shared)
        use_barrier(step, i, request->shared_at[i]);
    for (size_t i = 0; i < request->stretch_count; i++)
        use_barrier(step, request->stretches[i].lane, request->stretches[i].at);
}

/* ---- what requests say ---- */

static void begin_copy(const struct step *step, uint64_t offset, uint32_t bytes)
{
    uint32_t group = step->own->groups[step->warp] + 1;
    race_copy_begins(
        step->own,
        &(struct async_copy){
            .from = offset, .bytes = bytes, .barrier = NO_BARRIER_AT, .warp = step->warp, .group = group});
}

static void see_shared(const struct step *step)
{
    const struct request *request = step->request;
    enum shared_use use = (enum shared_use)request->shared_use;
    bool reads =
        use == SHARED_READ || use == SHARED_CHANGE || request->shared_atomic || (use == SHARED_COMMUTES);
    bool writes = use != SHARED_READ, is_async = request->of.is_async && writes;
    uint32_t parts = request->shared_gap ? 2 : 1, bytes = request->shared_bytes / parts;
    EACH_LANE (i, request->shared) {
        struct touch touch = touch_of(step, i, reads, writes);
        uint64_t offset;
        struct checked_block *owner = owner_of(step->own, request->shared_at[i], &offset);
        touch.is_async = is_async;
        touch.has_value &= !is_async;
        for (uint32_t k = 0; k < parts && owner; k++)
            see_shared_at(step, &touch, owner, offset + (uint64_t)k * request->shared_gap, bytes);
        if (is_async && checks_wants(step->own, CHECK_race))
            begin_copy(step, offset, bytes);
    }
}

/* The barrier that says when a copy is there; NO_BARRIER_AT: it is no such copy. */
static uint64_t barrier_behind(const struct step *step, size_t number)
{
    const struct request *request = step->request;
    for (size_t i = number + 1; i < request->stretch_count; i++) {
        const struct stretch *one = &request->stretches[i];
        uint64_t offset;
        struct checked_block *owner =
            one->is_shared && one->bytes == 8 ? owner_of(step->own, one->at, &offset) : NULL;
        struct variable *variable = owner ? ordering_variable(owner, offset, true, false) : NULL;
        if (variable && variable->is_barrier)
            return offset;
    }
    return NO_BARRIER_AT;
}

static bool is_barrier(struct checked_block *owner, uint64_t offset, const struct stretch *stretch)
{
    struct variable *variable = stretch->bytes == 8 ? ordering_variable(owner, offset, true, false) : NULL;
    return variable && variable->is_barrier;
}

static void see_stretch(const struct step *step, size_t number)
{
    const struct stretch *stretch = &step->request->stretches[number];
    struct touch touch = touch_of(step, stretch->lane, !stretch->writes, stretch->writes);
    uint64_t offset;
    if (!stretch->is_shared) {
        see_global_at(step, &touch, stretch->at, stretch->bytes);
        return;
    }
    struct checked_block *own = step->own, *owner = owner_of(own, stretch->at, &offset);
    if (!owner)
        return;
    if (is_barrier(owner, offset, stretch)) { /* who waits for it sees what the copying thread saw */
        struct variable *variable = ordering_variable(owner, offset, true, true);
        variable->past =
            past_join(own->launch->pool,
                      ordering_release(own, step->warp, UINT64_C(1) << stretch->lane, false), variable->past);
        return;
    }
    uint64_t barrier = stretch->writes ? barrier_behind(step, number) : NO_BARRIER_AT;
    touch.is_async = barrier != NO_BARRIER_AT;
    see_shared_at(step, &touch, owner, offset, stretch->bytes);
    if (touch.is_async && checks_wants(own, CHECK_race))
        race_copy_begins(owner, &(struct async_copy){offset, stretch->bytes, barrier, 0, 0});
}

static void see_global(const struct step *step)
{
    const struct request *request = step->request;
    const struct delivery *of = &request->of;
    bool atomic = of->kind == REQUEST_ATOMIC;
    if (of->kind == REQUEST_NONE || of->kind == REQUEST_CONSTANT)
        return;
    if (of->kind == REQUEST_PIECES) {
        for (size_t i = 0; i < request->piece_count; i++) {
            const struct piece *piece = &request->pieces[i];
            struct touch touch = touch_of(step, piece->lane, !request->writes, request->writes);
            touch.has_value = false;
            see_global_at(step, &touch, piece->at, piece->bytes);
        }
        return;
    }
    EACH_LANE (i, of->lanes) {
        struct touch touch = touch_of(step, i, of->kind != REQUEST_STORE, of->kind != REQUEST_LOAD);
        touch.has_value &= !atomic;
        see_global_at(step, &touch, of->at[i], of->bytes);
    }
}

/* An instruction set whose lanes keep step says nothing of orders: who passes by the caches means others. */
static void find_order(struct step *step)
{
    const struct request *request = step->request;
    const struct delivery *of = &request->of;
    bool in_step = step->own->launch->own->in_step;
    step->strong = request->order & ORDER_STRONG || of->kind == REQUEST_ATOMIC || request->shared_atomic ||
                   (in_step && (of->kind == REQUEST_LOAD || of->kind == REQUEST_STORE) && !of->keep);
    step->releases = request->order & ORDER_RELEASES || (in_step && step->strong);
}

void touches_see(struct checked_block *own, const struct isa_warp *warp, uint16_t site)
{
    struct step step = {
        .own = own, .request = own->block->worker->request, .warp = warp->index, .site = site};
    const struct request *request = step.request;
    find_order(&step);
    if (request->shared && request->shared_use == SHARED_SYNC) {
        see_barriers(&step);
        return;
    }
    if (request->shared)
        see_shared(&step);
    if (!request->stretch_count) {
        see_global(&step);
        return;
    }
    for (size_t i = 0; i < request->stretch_count; i++)
        see_stretch(&step, i);
    if (request->of.kind != REQUEST_PIECES)
        see_global(&step);
}
