/* The execution of a warp: straight-line code, branches, divergence and reconvergence. */
#include "ptx_run/warp.h"
#include "ptx_run/sync.h"
#include "base/bits.h"
#include "base/mem.h"

enum {
    SLICE = 20000, /* branches of a warp before another has its turn */
    SLICES = 64,   /* slices without an end that look like waiting for another block */
};

void warp_run_some(struct warp *w, const struct op *op, lanes who)
{
    char *r = w->registers;
    op->run.alu(r + FRAME_SCRATCH, r + op->a, r + op->b, r + op->c, r + op->e);
    blend(r + op->d, r + FRAME_SCRATCH, op->bytes, who);
}

/* Fragments */

struct fragment *fragment_new(struct warp *w)
{
    REQUIRE(w->fragment_count < WARP_LANES);
    struct fragment **slot = &w->fragments[w->fragment_count++];
    if (!*slot)
        *slot = mem_alloc(1, sizeof **slot);
    struct fragment *fragment = *slot;
    fragment->depth = fragment->frame_count = 0;
    fragment->state = FRAGMENT_READY;
    return fragment;
}

void fragment_push(struct fragment *fragment, struct frame frame)
{
    mem_grow(fragment->frames, fragment->frame_count, fragment->frame_capacity);
    fragment->frames[fragment->frame_count++] = frame;
}

/* The fragment's place goes to the last one; its memory is kept for the next. */
static void fragment_drop(struct warp *w, struct fragment *fragment)
{
    uint32_t i = 0;
    while (w->fragments[i] != fragment)
        i++;
    w->fragments[i] = w->fragments[--w->fragment_count];
    w->isa.ended = !w->fragment_count;
    w->fragments[w->fragment_count] = fragment;
    if (w->now == fragment)
        w->now = NULL;
}

/* Takes lanes out of all levels; levels without any go. */
static void remove_lanes(struct fragment *fragment, lanes who)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fragment->depth; i++) {
        struct level level = fragment->levels[i];
        level.mask &= ~who;
        if (level.mask)
            fragment->levels[kept++] = level;
    }
    fragment->depth = kept;
    if (kept) /* those who are left may be out of a function that the others called */
        fragment->frame_count = fragment->levels[kept - 1].frames;
}

/* Some of the lanes as a fragment of their own, with what they have of the levels. */
static struct fragment *take_lanes(struct warp *w, struct fragment *from, lanes who)
{
    struct fragment *part = fragment_new(w);
    for (uint32_t i = 0; i < from->frame_count; i++)
        fragment_push(part, from->frames[i]);
    for (uint32_t i = 0; i < from->depth; i++) {
        part->levels[part->depth] = from->levels[i];
        part->levels[part->depth].mask &= who;
        part->depth += part->levels[part->depth].mask != 0;
    }
    part->frame_count = part->levels[part->depth - 1].frames;
    remove_lanes(from, who);
    return part;
}

static lanes all_lanes(const struct fragment *fragment)
{
    lanes all = 0;
    for (uint32_t i = 0; i < fragment->depth; i++)
        all |= fragment->levels[i].mask;
    return all;
}

struct fragment *fragment_part(struct warp *w, struct fragment *fragment)
{
    lanes top = fragment->levels[fragment->depth - 1].mask;
    if (all_lanes(fragment) == top)
        return fragment;
    struct fragment *part = take_lanes(w, fragment, top);
    warp_use_frame(w); /* those who stay may be out of a function that the others called */
    return part;
}

static bool same_place(const struct fragment *a, const struct fragment *b)
{
    if (a->depth != b->depth || a->frame_count != b->frame_count || a->state != b->state)
        return false;
    for (uint32_t i = 0; i < a->depth; i++)
        if (a->levels[i].pc != b->levels[i].pc || a->levels[i].rpc != b->levels[i].rpc ||
            a->levels[i].frames != b->levels[i].frames)
            return false;
    for (uint32_t i = 0; i < a->frame_count; i++)
        if (a->frames[i].code != b->frames[i].code || a->frames[i].back != b->frames[i].back ||
            a->frames[i].rpc != b->frames[i].rpc || a->frames[i].registers_at != b->frames[i].registers_at ||
            a->frames[i].local_at != b->frames[i].local_at ||
            a->frames[i].local_more != b->frames[i].local_more)
            return false;
    return true;
}

/* Fragments that stand ready at the same place become one again. */
void warp_join_fragments(struct warp *w)
{
    for (uint32_t i = 0; i < w->fragment_count; i++)
        for (uint32_t j = i + 1; j < w->fragment_count;) {
            struct fragment *a = w->fragments[i], *b = w->fragments[j];
            if (a->state != FRAGMENT_READY || !same_place(a, b)) {
                j++;
                continue;
            }
            for (uint32_t l = 0; l < a->depth; l++)
                a->levels[l].mask |= b->levels[l].mask;
            fragment_drop(w, b);
        }
}

void warp_use_frame(struct warp *w)
{
    const struct frame *frame = &w->now->frames[w->now->frame_count - 1];
    w->code = frame->code;
    w->registers = w->file + frame->registers_at;
}

/* Those who wait for the top level's lanes go on without them. */
void warp_let_go(struct warp *w)
{
    struct fragment *fragment = w->now;
    lanes above = fragment->levels[fragment->depth - 1].mask, all = all_lanes(fragment);
    if (above == all)
        return;
    take_lanes(w, fragment, above); /* the new one goes on as before; this one has the others */
}

void fragment_diverge(struct warp *w, uint32_t taken_pc, lanes taken, uint32_t other_pc, lanes other,
                      uint32_t join)
{
    struct fragment *f = w->now;
    struct level *top = &f->levels[f->depth - 1];
    REQUIRE(f->depth + 2 < LEVELS_MOST);
    if (join == top->rpc && join != NO_OP) { /* who is there already waits in the level below */
        f->depth--;
    } else {
        top->pc = join;
        if (join == NO_OP) /* nowhere: the level is given up */
            f->depth--;
    }
    if (taken_pc != join)
        f->levels[f->depth++] = (struct level){taken_pc, join, taken, f->frame_count};
    if (other_pc != join)
        f->levels[f->depth++] = (struct level){other_pc, join, other, f->frame_count};
}

void warp_exit(struct warp *w, lanes who)
{
    w->alive &= ~who;
    w->isa.block->cluster_arrivals -= lanes_count(w->arrived & who);
    w->arrived &= ~who;
    w->isa.block->alive -= lanes_count(who);
    remove_lanes(w->now, who);
    if (w->now->depth)
        warp_use_frame(w);
    else
        fragment_drop(w, w->now);
    ptx_block_check_barriers(w->isa.block);
}

/* The main loop */

/* Of so many instructions of `width` threads, the last was done by `on` of them. */
static inline void count(struct launch_result *result, uint64_t instructions, uint64_t width, uint64_t on)
{
    uint64_t threads = instructions * width;
    result->warp_instructions += instructions;
    result->thread_instructions += threads;
    result->thread_instructions_pred_on += threads - width + on;
}

static _Noreturn void beyond_limit(struct warp *w, const struct op *op, lanes active)
{
    struct text text = {0};
    char where[1200];
    ptx_block_describe(w->isa.block, &text);
    snprintf(where, sizeof where, "%s", text.at);
    text_fini(&text);
    warp_fault(w, op, active, FAULT_LIMIT, 0, "more than %llu warp instructions, the limit given; %s",
               (unsigned long long)w->isa.block->worker->grid->launch->instruction_limit, where);
}

void warp_check_limits(struct warp *w, const struct op *op, lanes active)
{
    struct grid *grid = w->isa.block->worker->grid;
    uint64_t limit = grid->launch->instruction_limit;
    if (grid->launch->interrupt && *grid->launch->interrupt)
        grid->stop = 1;
    if (UNLIKELY(grid->launch->show))
        worker_show(w->isa.block->worker);
    if (grid->stop)
        longjmp(*w->isa.block->worker->on_fault, 1);
    if (limit && w->isa.block->worker->result.warp_instructions > limit)
        beyond_limit(w, op, active);
}

/* Runs the fragment until it waits, ends or its turn is over. */
static enum isa_ran fragment_run(struct warp *w)
{
    struct fragment *f = w->now;
    struct launch_result *result = &w->isa.block->worker->result;
    warp_use_frame(w);
reload:;
    if (w->now != f)
        return RAN_WAITS; /* it ended */
    struct level *top = &f->levels[f->depth - 1];
    const struct op *ops = w->code->ops, *op = ops + top->pc, *start = op;
    lanes active = top->mask;
    char *r = w->registers;
    bool whole = active == w->alive;
    const uint64_t width = lanes_count(active);
    for (;;) {
        if (whole) {
            while (!op->flags) {
                if (op->kind == OP_ALU)
                    op->run.alu(r + op->d, r + op->a, r + op->b, r + op->c, r + op->e);
                else
                    op->run.exec(w, op, active);
                op++;
            }
        } else {
            while (!op->flags) {
                if (op->kind == OP_ALU)
                    warp_run_some(w, op, active);
                else
                    op->run.exec(w, op, active);
                op++;
            }
        }
        if ((op->flags & OP_JOIN) && top->rpc == (uint32_t)(op - ops) && f->depth > 1) {
            count(result, (uint64_t)(op - start), width, width);
            f->depth--;
            if (w->fragment_count > 1)
                warp_join_fragments(w);
            goto reload;
        }
        lanes mask = active;
        if (op->flags & OP_GUARD) {
            uint32_t guard = *(uint32_t *)(void *)(r + op->guard);
            mask &= op->flags & OP_GUARD_NOT ? ~guard : guard;
        }
        count(result, (uint64_t)(op - start) + 1, width, mask == active ? width : lanes_count(mask));
        start = op + 1;
        if (op->kind == OP_BRANCH) {
            result->branches++;
            uint32_t here = (uint32_t)(op - ops);
            if (!mask) {
                op++;
            } else if (mask == active) {
                op = ops + op->target;
            } else {
                result->divergent_branches++;
                if (ops[op->target].flags & OP_EXITS && !(ops[op->target].flags & OP_GUARD)) {
                    top->pc = here + 1; /* those who leave need not be waited for */
                    warp_exit(w, mask);
                } else {
                    fragment_diverge(w, op->target, mask, here + 1, active & ~mask, op->join);
                }
                goto reload;
            }
            start = op;
            if (UNLIKELY(--w->slice < 0 || w->spins > w->isa.block->patience)) {
                top->pc = (uint32_t)(op - ops);
                warp_check_limits(w, op, active);
                if (w->spins <= w->isa.block->patience && ++w->slices % SLICES)
                    return RAN_SLICE;
                w->spins = 0;
                warp_let_go(w);
                return RAN_SPINS;
            }
            continue;
        }
        if (op->kind == OP_ALU) {
            if (mask == w->alive)
                op->run.alu(r + op->d, r + op->a, r + op->b, r + op->c, r + op->e);
            else if (mask)
                warp_run_some(w, op, mask);
            op++;
            continue;
        }
        if (op->kind == OP_EXEC) {
            if (op->flags & OP_MEETS && mask)
                block_meets(w->isa.block);
            if (mask)
                op->run.exec(w, op, mask);
            op++;
            if (LIKELY(!(op[-1].flags & (OP_PAUSES | OP_WAITS))))
                continue;
            top->pc = (uint32_t)(op - ops);
            if (op[-1].flags & OP_PAUSES ? w->isa.block->warp_count > 1 && f->depth == 1
                                         : w->wait == WAIT_OVER && mask)
                return RAN_SLICE;
            if (op[-1].flags & OP_PAUSES || w->wait != WAIT_LONGER || !mask)
                continue;
            warp_check_limits(w, op - 1, active);
            warp_let_go(w);
            return RAN_SPINS;
        }
        top->pc = (uint32_t)(op - ops);
        if (!mask) {
            op++;
            continue;
        }
        if (UNLIKELY(op->flags & OP_MEETS))
            block_meets(w->isa.block);
        warp_check_limits(w, op, active);
        switch (op->run.control(w, op, mask)) {
        case NEXT_OP:
            op++;
            continue;
        case NEXT_MOVED:
            goto reload;
        case NEXT_WAIT:
            return RAN_WAITS;
        case NEXT_YIELD:
            top->pc++;
            warp_let_go(w);
            return RAN_SPINS;
        }
    }
}

enum isa_ran warp_run(struct isa_warp *isa)
{
    struct warp *w = ptx_warp(isa);
    bool spun = false, sliced = false;
    while (warp_check_sync(w, false)) /* the missing ones may have ended meanwhile */
        ;
    if (w->fragment_count > 1)
        warp_join_fragments(w);
    for (uint32_t tries = w->fragment_count; tries && w->fragment_count; tries--) {
        struct fragment *f = w->fragments[w->turn++ % w->fragment_count];
        if (f->state != FRAGMENT_READY)
            continue;
        w->now = f;
        w->slice = SLICE;
        enum isa_ran ran = fragment_run(w);
        spun |= ran == RAN_SPINS;
        sliced |= ran == RAN_SLICE;
    }
    if (!w->fragment_count)
        return RAN_OUT;
    for (uint32_t i = 0; i < w->fragment_count && !spun; i++) /* some may have become ready meanwhile */
        sliced |= w->fragments[i]->state == FRAGMENT_READY;
    return sliced ? RAN_SLICE : spun ? RAN_SPINS : RAN_WAITS;
}
