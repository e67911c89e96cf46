/* Collective operations of a warp: shuffles, votes, matches, reductions, matrices. The instruction names its
 * members; those that arrive early wait for the others, in a separate fragment. */
#include "ptx_run/sync.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

static lanes members_of(const struct warp *w, const struct sync_form *form, const char *registers, lanes who)
{
    if (form->who != MEMBERS_GIVEN)
        return form->who == MEMBERS_ALL ? w->alive : who;
    return lanes_bits((const void *)(registers + form->members), who).some;
}

/* What a fragment waits for. All its lanes name the same members: run_sync sees to that. */
struct meeting {
    const struct op *op;
    size_t registers_at;
    lanes members;
};

static struct meeting meeting_of(const struct warp *w, const struct fragment *f)
{
    const struct frame *frame = &f->frames[f->frame_count - 1];
    const struct op *op = &frame->code->ops[f->levels[f->depth - 1].pc];
    lanes members = members_of(w, op->more, w->file + frame->registers_at, f->waiting) & w->alive;
    return (struct meeting){op, frame->registers_at, members};
}

/* Two groups may stand at one operation, each waiting for its own; at a plain bar.warp.sync a group may stand
 * at several. */
static bool meet(const struct meeting *a, const struct meeting *b)
{
    const struct sync_form *form_a = a->op->more, *form_b = b->op->more;
    bool same = a->op == b->op && a->registers_at == b->registers_at;
    return a->members == b->members && (same || (!form_a->run && !form_b->run));
}

/* Who waits in this warp for the same as a fragment; with `leave`, they go on. */
static lanes waiting_for(struct warp *w, const struct meeting *meeting, bool leave)
{
    lanes there = 0;
    for (uint32_t i = 0; i < w->fragment_count; i++) {
        struct fragment *f = w->fragments[i];
        if (f->state != FRAGMENT_AT_SYNC)
            continue;
        struct meeting its = meeting_of(w, f);
        if (!meet(meeting, &its))
            continue;
        there |= f->waiting;
        if (leave) {
            f->state = FRAGMENT_READY;
            f->levels[f->depth - 1].pc++;
        }
    }
    return there;
}

/* Whether somebody wants to know who came together. */
static bool is_looked_at(const struct warp *w)
{
    const struct request *request = w->isa.block->worker->request;
    return UNLIKELY(request) && request->looks;
}

/* For observers: these lanes have come together. */
static void note_gathering(struct warp *w, const struct sync_form *form, const char *registers, lanes there,
                           lanes missing)
{
    struct gathering *gathering = &w->isa.block->gathering;
    *gathering =
        (struct gathering){.lanes = there, .alive = w->alive, .warp = w->isa.index, .missing = missing};
    if (form->who != MEMBERS_GIVEN)
        return;
    const uint32_t *masks = (const void *)(registers + form->members);
    EACH_LANE (lane, there)
        gathering->outside |= (lanes)(~masks[lane] >> lane & 1) << lane;
}

/* Runs what can run now. With `force`, who waits for threads that never come goes on without them, as on a
 * GPU, where the result is then undefined. */
bool warp_check_sync(struct warp *w, bool force)
{
    for (uint32_t i = 0; i < w->fragment_count; i++) {
        struct fragment *f = w->fragments[i];
        if (f->state != FRAGMENT_AT_SYNC)
            continue;
        struct meeting meeting = meeting_of(w, f);
        const struct sync_form *form = meeting.op->more;
        lanes there = waiting_for(w, &meeting, false);
        if ((meeting.members & ~there) && !force)
            continue;
        struct fragment *was = w->now;
        w->now = f;
        warp_use_frame(w);
        waiting_for(w, &meeting, true); /* before the masks may be overwritten */
        if (is_looked_at(w))
            note_gathering(w, form, w->registers, there, meeting.members & ~there);
        if (form->run)
            form->run(w, meeting.op, there);
        w->now = was;
        if (was)
            warp_use_frame(w);
        return true;
    }
    return false;
}

/* Those of the lanes who name the same members as the first of them. */
static lanes same_members(const struct warp *w, const struct sync_form *form, lanes who)
{
    if (form->who != MEMBERS_GIVEN)
        return who;
    const uint32_t *masks = warp_at(w, form->members);
    lanes same = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        same |= (lanes)(masks[i] == masks[first_lane(who)]) << i;
    return same & who;
}

static enum next run_sync(struct warp *w, const struct op *op, lanes active)
{
    const struct sync_form *form = op->more;
    lanes wanted = members_of(w, form, w->registers, active) & w->alive;
    if (LIKELY(!(wanted & ~active))) {
        if (is_looked_at(w))
            note_gathering(w, form, w->registers, active, 0);
        if (form->run)
            form->run(w, op, active);
        return NEXT_OP;
    }
    struct level *top = &w->now->levels[w->now->depth - 1];
    lanes same = same_members(w, form, active), rest = active & ~same;
    uint32_t here = top->pc;
    if (top->mask != same) { /* other groups come here on their own; whom the guard leaves out goes on */
        fragment_diverge(w, here, same, rest ? here : here + 1, top->mask & ~same, here + 1);
        if (rest)
            return NEXT_MOVED;
    }
    struct fragment *f = fragment_part(w, w->now);
    f->state = FRAGMENT_AT_SYNC;
    f->waiting = same;
    while (warp_check_sync(w, false))
        ;
    return f == w->now && f->state != FRAGMENT_READY ? NEXT_WAIT : NEXT_MOVED;
}

struct sync_form *lower_sync(struct lower *lower, struct op *op, exec_fn *run, size_t bytes)
{
    struct sync_form *form = lower_own(lower, bytes);
    op->kind = OP_CONTROL;
    op->unit = UNIT_SYNC;
    op->run.control = run_sync;
    op->more = form;
    op->join = (uint32_t)(lower->inst - lower->function->insts) + 1; /* where its groups are together again */
    form->run = run;
    return form;
}

bool lower_members(struct lower *lower, struct sync_form *form, uint32_t operand)
{
    form->who = MEMBERS_GIVEN;
    return lower_source(lower, lower_operand(lower, operand), TYPE_u32, &form->members);
}

/* shfl */

struct shuffle_form {
    struct sync_form sync;
    enum shuffle kind;
    bool has_predicate;
    uint32_t predicate;
};

/* For observers: who reads a lane that takes no part. */
static void note_lonely(struct warp *w, const struct shuffle_form *form, const uint32_t *b, const uint32_t *c,
                        lanes active)
{
    uint32_t allowed;
    EACH_LANE (lane, active)
        w->isa.block->gathering.lonely |=
            (lane_mask)(~active >> lanes_shuffle_source(form->kind, lane, b[lane], c[lane], &allowed) & 1)
            << lane;
}

static void run_shuffle(struct warp *w, const struct op *op, lanes active)
{
    const struct shuffle_form *form = op->more;
    const uint32_t *b = warp_at(w, op->b), *c = warp_at(w, op->c);
    if (active != UINT32_MAX && is_looked_at(w))
        note_lonely(w, form, b, c, active);
    lanes inside = lanes_shuffle(form->kind, warp_at(w, op->d), warp_at(w, op->a), b, c, active);
    if (form->has_predicate)
        predicate_set(w, form->predicate, active, inside);
}

enum lowered lower_shuffle(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct shuffle_form *form = (void *)lower_sync(lower, op, run_shuffle, sizeof *form);
    const struct ptx_operand *d = lower_operand(lower, 0);
    form->kind = ptx_opcode_has(opcode, "up")     ? SHUFFLE_UP
                 : ptx_opcode_has(opcode, "down") ? SHUFFLE_DOWN
                 : ptx_opcode_has(opcode, "bfly") ? SHUFFLE_BUTTERFLY
                                                  : SHUFFLE_INDEX;
    if (d->kind == PTX_OP_PAIR) {
        form->has_predicate = true;
        if (!lower_destination(lower, lower_element(lower, d, 1), TYPE_pred, &form->predicate))
            return LOWER_FAILED;
        d = lower_element(lower, d, 0);
    }
    if (!lower_destination(lower, d, TYPE_u32, &op->d) ||
        !lower_source(lower, lower_operand(lower, 1), TYPE_u32, &op->a) ||
        !lower_source(lower, lower_operand(lower, 2), TYPE_u32, &op->b) ||
        !lower_source(lower, lower_operand(lower, 3), TYPE_u32, &op->c))
        return LOWER_FAILED;
    if (ptx_opcode_has(opcode, "sync") && !lower_members(lower, &form->sync, 4))
        return LOWER_FAILED;
    return LOWERED;
}

/* vote, and bar.warp.sync, which only waits */

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

struct vote_form {
    struct sync_form sync;
    enum vote kind;
    bool negated;
};

/* Threads of different groups may vote in one instruction, each group with its own mask. */
static lanes group_of(const struct warp *w, const struct sync_form *form, uint32_t lane, lanes active)
{
    if (form->who != MEMBERS_GIVEN)
        return active;
    return (((const uint32_t *)warp_at(w, form->members))[lane] & active) | UINT32_C(1) << lane;
}

/* Whether all these lanes are one group, as they mostly are. */
static bool one_group(const struct warp *w, const struct sync_form *form, lanes active)
{
    return form->who != MEMBERS_GIVEN ||
           (lanes_bits(warp_at(w, form->members), active).all & active) == active;
}

static void vote_together(struct warp *w, const struct op *op, lanes given, lanes active)
{
    const struct vote_form *form = op->more;
    lanes yes = given & active;
    bool result = form->kind == VOTE_ALL   ? yes == active
                  : form->kind == VOTE_ANY ? yes != 0
                                           : yes == active || !yes;
    if (form->kind == VOTE_BALLOT)
        lanes_fill(warp_at(w, op->d), 4, yes, active);
    else
        predicate_set(w, op->d, active, result ? UINT32_MAX : 0);
}

static void run_vote(struct warp *w, const struct op *op, lanes active)
{
    const struct vote_form *form = op->more;
    lanes given = *warp_predicate(w, op->a), result = 0;
    if (form->negated)
        given = ~given;
    if (one_group(w, &form->sync, active)) {
        vote_together(w, op, given, active);
        return;
    }
    EACH_LANE (lane, active) {
        lanes group = group_of(w, &form->sync, lane, active);
        bool all = (given & group) == group, any = given & group;
        switch (form->kind) {
        case VOTE_BALLOT:
            ((uint32_t *)warp_at(w, op->d))[lane] = given & group;
            break;
        case VOTE_ALL:
            result |= (lanes)all << lane;
            break;
        case VOTE_ANY:
            result |= (lanes)any << lane;
            break;
        case VOTE_UNI:
            result |= (lanes)(all || !any) << lane;
            break;
        }
    }
    if (form->kind != VOTE_BALLOT)
        predicate_set(w, op->d, active, result);
}

enum lowered lower_vote(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    if (ptx_is(lower->inst, "bar.warp.sync")) {
        struct sync_form *form = lower_sync(lower, op, NULL, sizeof *form);
        return lower_members(lower, form, 0) ? LOWERED : LOWER_FAILED;
    }
    struct vote_form *form = (void *)lower_sync(lower, op, run_vote, sizeof *form);
    form->kind = ptx_opcode_has(opcode, "all")   ? VOTE_ALL
                 : ptx_opcode_has(opcode, "any") ? VOTE_ANY
                 : ptx_opcode_has(opcode, "uni") ? VOTE_UNI
                                                 : VOTE_BALLOT;
    const struct ptx_operand *source = lower_operand(lower, 1);
    form->negated = source->negated;
    if (!lower_destination(lower, lower_operand(lower, 0), form->kind == VOTE_BALLOT ? TYPE_u32 : TYPE_pred,
                           &op->d) ||
        !lower_predicate(lower, source, &op->a))
        return LOWER_FAILED;
    if (ptx_opcode_has(opcode, "sync") && !lower_members(lower, &form->sync, 2))
        return LOWER_FAILED;
    return LOWERED;
}

/* match */

struct match_form {
    struct sync_form sync;
    bool all, has_predicate;
    uint32_t predicate, bytes;
};

static void run_match(struct warp *w, const struct op *op, lanes active)
{
    const struct match_form *form = op->more;
    const void *values = warp_at(w, op->a);
    uint32_t result[WARP_LANES];
    lanes alike = 0;
    EACH_LANE (lane, active) {
        lanes group = group_of(w, &form->sync, lane, active), same = 0;
        uint64_t mine = lane_get(values, form->bytes, lane);
        EACH_LANE (other, group)
            same |= (lanes)(lane_get(values, form->bytes, other) == mine) << other;
        bool all = same == group;
        result[lane] = form->all && !all ? 0 : same;
        alike |= (lanes)all << lane;
    }
    blend(warp_at(w, op->d), result, 4, active);
    if (form->has_predicate)
        predicate_set(w, form->predicate, active, alike);
}

enum lowered lower_match(struct lower *lower, struct op *op)
{
    struct match_form *form = (void *)lower_sync(lower, op, run_match, sizeof *form);
    const struct ptx_operand *d = lower_operand(lower, 0);
    form->all = ptx_opcode_has(lower->inst->opcode, "all");
    form->bytes = ptx_opcode_has(lower->inst->opcode, "b64") ? 8 : 4;
    if (d->kind == PTX_OP_PAIR) {
        form->has_predicate = true;
        if (!lower_destination(lower, lower_element(lower, d, 1), TYPE_pred, &form->predicate))
            return LOWER_FAILED;
        d = lower_element(lower, d, 0);
    }
    return lower_destination(lower, d, TYPE_u32, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), form->bytes == 8 ? TYPE_u64 : TYPE_u32,
                                &op->a) &&
                   lower_members(lower, &form->sync, 2)
               ? LOWERED
               : LOWER_FAILED;
}

/* redux */

#define REDUCTIONS(R)                                                                                        \
    R("add.u32", a + b)                                                                                      \
    R("add.s32", a + b)                                                                                      \
    R("min.u32", a < b ? a : b)                                                                              \
    R("max.u32", a > b ? a : b)                                                                              \
    R("min.s32", (int32_t)a < (int32_t)b ? a : b)                                                            \
    R("max.s32", (int32_t)a > (int32_t)b ? a : b)                                                            \
    R("and.b32", a &b)                                                                                       \
    R("or.b32", a | b)                                                                                       \
    R("xor.b32", a ^ b)

static uint32_t reduce(uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t row = 0;
#define R(name, meaning)                                                                                     \
    if (kind == row++)                                                                                       \
        return meaning;
    REDUCTIONS(R)
#undef R
    return a;
}

static uint32_t reduce_group(uint32_t kind, const uint32_t values[WARP_LANES], lanes group)
{
    uint32_t sum = values[first_lane(group)];
    EACH_LANE (lane, group & (group - 1))
        sum = reduce(kind, sum, values[lane]);
    return sum;
}

struct redux_form {
    struct sync_form sync;
    uint32_t kind;
};

static void run_redux(struct warp *w, const struct op *op, lanes active)
{
    const struct redux_form *form = op->more;
    const uint32_t *values = warp_at(w, op->a);
    uint32_t result[WARP_LANES];
    if (one_group(w, &form->sync, active)) {
        lanes_fill(warp_at(w, op->d), 4, reduce_group(form->kind, values, active), active);
        return;
    }
    EACH_LANE (lane, active)
        result[lane] = reduce_group(form->kind, values, group_of(w, &form->sync, lane, active));
    blend(warp_at(w, op->d), result, 4, active);
}

static bool is_reduction(const char *opcode, const char *name)
{
    char operation[8] = "";
    memcpy(operation, name, strcspn(name, "."));
    return ptx_opcode_has(opcode, operation) && ptx_opcode_has(opcode, strchr(name, '.') + 1);
}

enum lowered lower_redux(struct lower *lower, struct op *op)
{
    static const char *const names[] = {
#define R(name, meaning) name,
        REDUCTIONS(R)
#undef R
    };
    struct redux_form *form = (void *)lower_sync(lower, op, run_redux, sizeof *form);
    const char *opcode = lower->inst->opcode;
    if (!ptx_opcode_has(opcode, "sync"))
        return lower_fail(lower, "Heddle does not know this instruction");
    while (form->kind < COUNT_OF(names) && !is_reduction(opcode, names[form->kind]))
        form->kind++;
    if (form->kind == COUNT_OF(names))
        return lower_fail(lower, "Heddle does not know this reduction");
    return lower_destination(lower, lower_operand(lower, 0), TYPE_u32, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), TYPE_u32, &op->a) &&
                   lower_members(lower, &form->sync, 2)
               ? LOWERED
               : LOWER_FAILED;
}

/* activemask, elect */

static void run_activemask(struct warp *w, const struct op *op, lanes active)
{
    lanes_fill(warp_at(w, op->d), 4, active, active);
}

enum lowered lower_activemask(struct lower *lower, struct op *op)
{
    op->unit = UNIT_SYNC;
    op->run.exec = run_activemask;
    return lower_destination(lower, lower_operand(lower, 0), TYPE_u32, &op->d) ? LOWERED : LOWER_FAILED;
}

static void run_elect(struct warp *w, const struct op *op, lanes active)
{
    uint32_t leader = first_lane(active);
    lanes_fill(warp_at(w, op->d), 4, leader, active);
    predicate_set(w, op->a, active, UINT32_C(1) << leader);
}

enum lowered lower_elect(struct lower *lower, struct op *op)
{
    struct sync_form *form = lower_sync(lower, op, run_elect, sizeof *form);
    const struct ptx_operand *d = lower_operand(lower, 0);
    if (d->kind != PTX_OP_PAIR)
        return lower_fail(lower, "a register and a predicate were expected");
    return lower_destination(lower, lower_element(lower, d, 0), TYPE_u32, &op->d) &&
                   lower_destination(lower, lower_element(lower, d, 1), TYPE_pred, &op->a) &&
                   lower_members(lower, form, 1)
               ? LOWERED
               : LOWER_FAILED;
}
