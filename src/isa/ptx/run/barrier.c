/* Barriers of a block: bar and barrier, with numbers, counts and reductions. */
#include "ptx_run/lower.h"
#include "ptx_run/warp.h"
#include "base/bits.h"

#include <string.h>

enum reduction { REDUCE_NONE, REDUCE_POPC, REDUCE_AND, REDUCE_OR };

struct barrier_form {
    bool waits, has_count, negated, aligned;
    enum reduction reduction;
    uint32_t source; /* a predicate */
};

static uint32_t result_of(const struct barrier *barrier, enum reduction reduction)
{
    switch (reduction) {
    case REDUCE_POPC:
        return barrier->count_true;
    case REDUCE_AND:
        return barrier->count_true == barrier->count_all ? UINT32_MAX : 0;
    case REDUCE_OR:
        return barrier->count_true ? UINT32_MAX : 0;
    case REDUCE_NONE:
        break;
    }
    return 0;
}

static void release(struct block *block, uint32_t number)
{
    struct barrier done = block->barriers[number];
    block->barriers[number] = (struct barrier){0};
    block->opened = true;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = warp_of(block, i);
        for (uint32_t j = 0; j < w->fragment_count; j++) {
            struct fragment *f = w->fragments[j];
            if (f->state != FRAGMENT_AT_BARRIER || f->barrier != number)
                continue;
            struct level *top = &f->levels[f->depth - 1];
            const struct frame *frame = &f->frames[f->frame_count - 1];
            const struct op *op = &frame->code->ops[top->pc];
            const struct barrier_form *form = op->more;
            char *place = w->file + frame->registers_at + op->d;
            uint32_t result = result_of(&done, form->reduction);
            if (form->reduction == REDUCE_POPC)
                EACH_LANE (lane, f->waiting)
                    lane_set(place, op->bytes, lane, result);
            else if (form->reduction != REDUCE_NONE)
                blend(place, &result, 0, f->waiting);
            top->pc++;
            f->state = FRAGMENT_READY;
        }
    }
}

static void check_barrier(struct block *block, uint32_t number)
{
    const struct barrier *barrier = &block->barriers[number];
    if (barrier->arrived && barrier->arrived >= (barrier->expected ? barrier->expected : block->alive))
        release(block, number);
}

/* After threads ended: any barrier may have waited for these alone. */
void ptx_block_check_barriers(struct block *block)
{
    for (uint32_t i = 0; i < BARRIERS + GROUP_BARRIERS; i++)
        check_barrier(block, i);
    if (UNLIKELY(block->cluster_arrivals))
        ptx_block_check_cluster(block);
}

static enum next arrive_at(struct warp *w, const struct op *op, lanes active, uint32_t number,
                           uint32_t expected)
{
    const struct barrier_form *form = op->more;
    struct barrier *barrier = &w->isa.block->barriers[number];
    uint32_t threads = lanes_count(active);
    if (expected) { /* counted in whole warps: threads that are not there count too */
        barrier->expected = expected;
        if (active == w->alive)
            threads = WARP_LANES;
    }
    barrier->arrived += threads;
    w->isa.block->arrival = (struct arrival){.number = number,
                                             .threads = threads,
                                             .expected = expected,
                                             .waits = form->waits,
                                             .waiting = active,
                                             .alive = w->alive,
                                             .aligned = form->aligned};
    barrier->count_all += lanes_count(active);
    if (form->reduction != REDUCE_NONE) {
        lanes given = *warp_predicate(w, form->source);
        barrier->count_true += lanes_count(active & (form->negated ? ~given : given));
    }
    if (!form->waits) {
        struct level *top = &w->now->levels[w->now->depth - 1];
        top->pc++;
        check_barrier(w->isa.block, number);
        return NEXT_MOVED;
    }
    struct level *top = &w->now->levels[w->now->depth - 1];
    uint32_t here = top->pc;
    if (top->mask != active) { /* the guard leaves some out: they go on */
        fragment_diverge(w, here, active, here + 1, top->mask & ~active, here + 1);
    }
    struct fragment *f = fragment_part(w, w->now);
    w->isa.block->arrival.whole = f == w->now;
    f->state = FRAGMENT_AT_BARRIER;
    f->barrier = number;
    f->waiting = active;
    check_barrier(w->isa.block, number);
    return f == w->now && f->state != FRAGMENT_READY ? NEXT_WAIT : NEXT_MOVED;
}

static enum next run_barrier(struct warp *w, const struct op *op, lanes active)
{
    const struct barrier_form *form = op->more;
    uint32_t lane = first_lane(active);
    uint32_t number = ((uint32_t *)warp_at(w, op->a))[lane];
    uint32_t expected = form->has_count ? ((uint32_t *)warp_at(w, op->b))[lane] : 0;
    if (number >= BARRIERS)
        warp_fault(w, op, active, FAULT_INSTRUCTION, 0, "barrier %u: there are %d", number, BARRIERS);
    return arrive_at(w, op, active, number, expected);
}

/* wgmma.wait_group: the four warps of a group wait for each other, as each has read what all multiply. */
static enum next run_group_wait(struct warp *w, const struct op *op, lanes active)
{
    uint32_t group = w->isa.index / 4, warps = w->isa.block->warp_count - group * 4;
    return arrive_at(w, op, active, BARRIERS + group, WARP_LANES * (warps < 4 ? warps : 4));
}

enum lowered lower_group_wait(struct lower *lower, struct op *op)
{
    struct barrier_form *form = lower_own(lower, sizeof *form);
    op->kind = OP_CONTROL;
    op->unit = UNIT_SYNC;
    op->run.control = run_group_wait;
    op->more = form;
    if (lower->inst->guard >= 0)
        op->join = (uint32_t)(lower->inst - lower->function->insts) + 1;
    form->waits = true;
    return LOWERED;
}

enum lowered lower_barrier(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct barrier_form *form = lower_own(lower, sizeof *form);
    uint32_t i = 0;
    op->kind = OP_CONTROL;
    op->unit = UNIT_SYNC;
    op->role = ROLE_BARRIER;
    op->run.control = run_barrier;
    op->more = form;
    if (lower->inst->guard >= 0) /* where those who waited meet those who did not */
        op->join = (uint32_t)(lower->inst - lower->function->insts) + 1;
    form->waits = !ptx_opcode_has(opcode, "arrive");
    form->aligned = !ptx_is(lower->inst, "barrier") || ptx_opcode_has(opcode, "aligned");
    if (ptx_opcode_has(opcode, "red")) {
        form->reduction = ptx_opcode_has(opcode, "popc")  ? REDUCE_POPC
                          : ptx_opcode_has(opcode, "and") ? REDUCE_AND
                                                          : REDUCE_OR;
        enum isa_type type = form->reduction == REDUCE_POPC ? TYPE_u32 : TYPE_pred;
        if (!lower_destination(lower, lower_operand(lower, i++), type, &op->d))
            return LOWER_FAILED;
        const struct ptx_operand *source = lower_operand(lower, lower->inst->count - 1);
        form->negated = source->negated;
        if (!lower_predicate(lower, source, &form->source))
            return LOWER_FAILED;
    }
    uint32_t last = lower->inst->count - (form->reduction != REDUCE_NONE);
    if (!lower_source(lower, lower_operand(lower, i++), TYPE_u32, &op->a))
        return LOWER_FAILED;
    form->has_count = i < last;
    if (form->has_count && !lower_source(lower, lower_operand(lower, i), TYPE_u32, &op->b))
        return LOWER_FAILED;
    return LOWERED;
}
