/* A warp's way through its code: straight runs, branches, divergence and meeting again. */
#include "exec/warp.h"
#include "exec/sync.h"
#include "base/bits.h"
#include "base/mem.h"

enum {
    SLICE = 20000,    /* branches of a warp before another has its turn */
    SLICES = 64,      /* slices without an end that look like waiting for another block */
    STACK_SLACK = 16, /* frames of PTX are larger than the machine's: arguments are in memory */
};

static void run_some(struct warp *w, const struct op *op, lanes who)
{
    char *r = w->registers;
    op->run.alu(r + FRAME_SCRATCH, r + op->a, r + op->b, r + op->c, r + op->e);
    blend(r + op->d, r + FRAME_SCRATCH, op->bytes, who);
}

/* Fragments */

static struct fragment *fragment_new(struct warp *w)
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

static void push_frame(struct fragment *fragment, struct frame frame)
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
        push_frame(part, from->frames[i]);
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
static void join_fragments(struct warp *w)
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
static void let_go(struct warp *w)
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
    w->block->alive -= (uint32_t)__builtin_popcount(who);
    remove_lanes(w->now, who);
    if (w->now->depth)
        warp_use_frame(w);
    else
        fragment_drop(w, w->now);
    block_check_barriers(w->block);
}

/* The main loop */

static void count(struct warp *w, uint64_t instructions, lanes active)
{
    struct launch_result *result = &w->block->worker->result;
    uint64_t threads = instructions * (uint64_t)__builtin_popcount(active);
    result->warp_instructions += instructions;
    result->thread_instructions += threads;
    result->thread_instructions_pred_on += threads;
}

static void check_limits(struct warp *w, const struct op *op, lanes active)
{
    struct grid *grid = w->block->worker->grid;
    uint64_t limit = grid->launch->instruction_limit;
    if (grid->launch->interrupt && *grid->launch->interrupt)
        grid->stop = 1;
    if (grid->stop)
        longjmp(w->block->worker->on_fault, 1);
    if (limit && w->block->worker->result.warp_instructions > limit)
        warp_fault(w, op, active, FAULT_LIMIT, 0, "more than %llu warp instructions, the limit given",
                   (unsigned long long)limit);
}

/* Runs the fragment until it waits, ends or its turn is over. */
static enum ran fragment_run(struct warp *w)
{
    struct fragment *f = w->now;
    struct launch_result *result = &w->block->worker->result;
    warp_use_frame(w);
reload:;
    if (w->now != f)
        return RAN_WAITS; /* it ended */
    struct level *top = &f->levels[f->depth - 1];
    const struct op *ops = w->code->ops, *op = ops + top->pc, *start = op;
    lanes active = top->mask;
    char *r = w->registers;
    bool whole = active == w->alive;
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
                    run_some(w, op, active);
                else
                    op->run.exec(w, op, active);
                op++;
            }
        }
        count(w, (uint64_t)(op - start), active);
        start = op + 1;
        if ((op->flags & OP_JOIN) && top->rpc == (uint32_t)(op - ops) && f->depth > 1) {
            f->depth--;
            if (w->fragment_count > 1)
                join_fragments(w);
            goto reload;
        }
        lanes mask = active;
        if (op->flags & OP_GUARD) {
            uint32_t guard = *(uint32_t *)(void *)(r + op->guard);
            mask &= op->flags & OP_GUARD_NOT ? ~guard : guard;
        }
        result->warp_instructions++;
        result->thread_instructions += (uint64_t)__builtin_popcount(active);
        result->thread_instructions_pred_on += (uint64_t)__builtin_popcount(mask);
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
            if (UNLIKELY(--w->slice < 0 || w->spins > w->block->patience)) {
                top->pc = (uint32_t)(op - ops);
                check_limits(w, op, active);
                if (w->spins <= w->block->patience && ++w->slices % SLICES)
                    return RAN_SLICE;
                w->spins = 0;
                let_go(w);
                return RAN_SPINS;
            }
            continue;
        }
        if (op->kind == OP_ALU) {
            if (mask == w->alive)
                op->run.alu(r + op->d, r + op->a, r + op->b, r + op->c, r + op->e);
            else if (mask)
                run_some(w, op, mask);
            op++;
            continue;
        }
        if (op->kind == OP_EXEC) {
            if (mask)
                op->run.exec(w, op, mask);
            op++;
            if (!(op[-1].flags & OP_PAUSES) || w->block->warp_count == 1 || f->depth > 1)
                continue;
            top->pc = (uint32_t)(op - ops);
            return RAN_SLICE;
        }
        top->pc = (uint32_t)(op - ops);
        if (!mask) {
            op++;
            continue;
        }
        check_limits(w, op, active);
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
            let_go(w);
            return RAN_SPINS;
        }
    }
}

enum ran warp_run(struct warp *w)
{
    bool spun = false, sliced = false;
    while (warp_check_sync(w, false)) /* the missing ones may have ended meanwhile */
        ;
    if (w->fragment_count > 1)
        join_fragments(w);
    for (uint32_t tries = w->fragment_count; tries && w->fragment_count; tries--) {
        struct fragment *f = w->fragments[w->turn++ % w->fragment_count];
        if (f->state != FRAGMENT_READY)
            continue;
        w->now = f;
        w->slice = SLICE;
        enum ran ran = fragment_run(w);
        spun |= ran == RAN_SPINS;
        sliced |= ran == RAN_SLICE;
    }
    if (!w->fragment_count)
        return RAN_OUT;
    for (uint32_t i = 0; i < w->fragment_count && !spun; i++) /* some may have become ready meanwhile */
        sliced |= w->fragments[i]->state == FRAGMENT_READY;
    return sliced ? RAN_SLICE : spun ? RAN_SPINS : RAN_WAITS;
}

/* Frames */

static uint64_t special_value(const struct warp *w, uint64_t which, uint32_t lane)
{
    const struct block *block = w->block;
    const struct grid *grid = block->worker->grid;
    const struct launch *launch = grid->launch;
    uint32_t thread = w->index * WARP_LANES + lane;
    switch ((enum ptx_special)which) {
    case PTX_SPECIAL_tid_x:
        return thread % launch->block[0];
    case PTX_SPECIAL_tid_y:
        return thread / launch->block[0] % launch->block[1];
    case PTX_SPECIAL_tid_z:
        return thread / launch->block[0] / launch->block[1];
    case PTX_SPECIAL_ntid_x:
    case PTX_SPECIAL_ntid_y:
    case PTX_SPECIAL_ntid_z:
        return launch->block[which - PTX_SPECIAL_ntid_x];
    case PTX_SPECIAL_ctaid_x:
    case PTX_SPECIAL_ctaid_y:
    case PTX_SPECIAL_ctaid_z:
        return block->id[which - PTX_SPECIAL_ctaid_x];
    case PTX_SPECIAL_nctaid_x:
    case PTX_SPECIAL_nctaid_y:
    case PTX_SPECIAL_nctaid_z:
        return launch->grid[which - PTX_SPECIAL_nctaid_x];
    case PTX_SPECIAL_clusterid_x: /* without clusters, each block is one */
    case PTX_SPECIAL_clusterid_y:
    case PTX_SPECIAL_clusterid_z:
        return block->id[which - PTX_SPECIAL_clusterid_x];
    case PTX_SPECIAL_nclusterid_x:
    case PTX_SPECIAL_nclusterid_y:
    case PTX_SPECIAL_nclusterid_z:
        return launch->grid[which - PTX_SPECIAL_nclusterid_x];
    case PTX_SPECIAL_cluster_nctaid_x:
    case PTX_SPECIAL_cluster_nctaid_y:
    case PTX_SPECIAL_cluster_nctaid_z:
    case PTX_SPECIAL_cluster_nctarank:
        return 1;
    case PTX_SPECIAL_laneid:
        return lane;
    case PTX_SPECIAL_warpid:
        return w->index;
    case PTX_SPECIAL_nwarpid:
        return 64;
    case PTX_SPECIAL_smid:
        return launch->sm_count ? block->number % launch->sm_count : 0;
    case PTX_SPECIAL_nsmid:
        return launch->sm_count;
    case PTX_SPECIAL_lanemask_eq:
        return UINT32_C(1) << lane;
    case PTX_SPECIAL_lanemask_lt:
        return (UINT32_C(1) << lane) - 1;
    case PTX_SPECIAL_lanemask_le:
        return (UINT32_C(2) << lane) - 1;
    case PTX_SPECIAL_lanemask_gt:
        return (uint32_t) ~((UINT64_C(2) << lane) - 1);
    case PTX_SPECIAL_lanemask_ge:
        return (uint32_t) ~((UINT32_C(1) << lane) - 1);
    case PTX_SPECIAL_total_smem_size:
    case PTX_SPECIAL_aggr_smem_size:
        return block->shared_bytes;
    case PTX_SPECIAL_dynamic_smem_size:
        return launch->shared_bytes;
    case PTX_SPECIAL_envreg1: /* together: the address of the workspace of grid-wide barriers */
        return (uint32_t)(grid->workspace >> 32);
    case PTX_SPECIAL_envreg2:
        return (uint32_t)grid->workspace;
    case PTX_SPECIAL_warp_size:
        return WARP_LANES;
    default:
        return 0;
    }
}

static uint64_t constant_value(const struct warp *w, const struct constant *constant, uint32_t lane,
                               uint64_t local_at)
{
    const struct grid *grid = w->block->worker->grid;
    uint64_t value = 0;
    switch ((enum constant_kind)constant->kind) {
    case CONSTANT_VALUE:
        return constant->value;
    case CONSTANT_LOCAL:
        return local_at + constant->value;
    case CONSTANT_SPECIAL:
        return special_value(w, constant->value, lane);
    case CONSTANT_PARAM:
        memcpy(&value, grid->params + constant->value, constant->source_bytes);
        if (constant->is_signed && constant->source_bytes < 8) {
            uint32_t unused = 64 - 8 * constant->source_bytes;
            value = (uint64_t)((int64_t)(value << unused) >> unused);
        }
        return value;
    }
    return 0;
}

static bool differs_by_block(const struct constant *constant)
{
    return constant->kind == CONSTANT_SPECIAL && special_differs_by_block(constant->value);
}

static bool differs_by_lane(const struct constant *constant)
{
    if (constant->kind != CONSTANT_SPECIAL)
        return false;
    uint64_t which = constant->value;
    return which <= PTX_SPECIAL_tid_z || which == PTX_SPECIAL_laneid ||
           (which >= PTX_SPECIAL_lanemask_eq && which <= PTX_SPECIAL_lanemask_gt);
}

void warp_fill_constants(struct warp *w, const struct code *code, lanes who, bool all)
{
    uint64_t local_at = w->now->frames[w->now->frame_count - 1].local_at;
    for (uint32_t i = 0; i < code->constant_count; i++) {
        const struct constant *constant = &code->constants[i];
        if (!all && !differs_by_block(constant))
            continue;
        void *place = warp_at(w, constant->place);
        if (!differs_by_lane(constant)) {
            /* the same for all who call, but for local addresses; of a predicate lane 0 holds the bits of all
             */
            lanes_fill(place, constant->bytes, constant_value(w, constant, 0, local_at),
                       constant->kind == CONSTANT_LOCAL ? who : UINT32_MAX);
            continue;
        }
        EACH_LANE (lane, who)
            lane_set(place, constant->bytes, lane, constant_value(w, constant, lane, local_at));
    }
}

static void zero_registers(struct warp *w, const struct code *code, lanes who)
{
    for (uint32_t i = 0; i < code->zeroed_count; i++) {
        void *place = warp_at(w, code->zeroed[i].place);
        uint32_t bytes = code->zeroed[i].bytes;
        if (who == UINT32_MAX)
            memset(place, 0, bytes);
        else if (bytes == 4)
            *(uint32_t *)place &= ~who;
        else
            EACH_LANE (lane, who)
                lane_set(place, bytes / WARP_LANES, lane, 0);
    }
}

static void need_file(struct warp *w, size_t bytes)
{
    if (bytes <= w->file_bytes)
        return;
    size_t more = max_u64(bytes, 2 * w->file_bytes);
    char *file = mem_alloc_lines(more, 1);
    if (w->file_bytes)
        memcpy(file, w->file, w->file_bytes);
    mem_free(w->file);
    w->file = file;
    w->file_bytes = more;
}

void warp_need_local(struct warp *w, uint64_t bytes)
{
    if (bytes <= w->local_bytes)
        return;
    uint64_t more = max_u64(bytes, 2 * w->local_bytes);
    w->local = mem_resize(w->local, w->local_bytes, more, WARP_LANES);
    w->local_bytes = more;
}

void warp_start(struct warp *w, struct block *block, uint32_t index, lanes exists)
{
    const struct kernel *kernel = block->worker->grid->kernel;
    const struct code *code = kernel->codes[kernel->function];
    w->block = block;
    w->index = index;
    w->exists = w->alive = exists;
    w->fragment_count = 0;
    w->turn = w->spins = w->slices = 0;
    need_file(w, code->frame_bytes);
    warp_need_local(w, code->local_bytes);
    if (code->local_bytes)
        memset(w->local, 0, code->local_bytes * WARP_LANES);
    w->now = fragment_new(w);
    push_frame(w->now, (struct frame){.code = code});
    w->now->levels[w->now->depth++] = (struct level){0, NO_OP, exists, 1};
    warp_use_frame(w);
    bool fresh = w->constants_of != block->worker->grid->serial;
    if (fresh || code->sees_block)
        warp_fill_constants(w, code, UINT32_MAX, fresh);
    w->constants_of = block->worker->grid->serial;
    zero_registers(w, code, UINT32_MAX);
}

void warp_fini(struct warp *w)
{
    for (uint32_t i = 0; i < WARP_LANES && w->fragments[i]; i++) {
        mem_free(w->fragments[i]->frames);
        mem_free(w->fragments[i]);
    }
    mem_free(w->file);
    mem_free(w->local);
}

/* Where a function's registers are. Lanes may be in different functions at a time, or in one that they came
 * to on different ways: as lanes of one register are side by side, only calls of the same function can share
 * a frame. Calls within calls of it have further ones. */
static size_t frame_place(const struct warp *w, const struct code *code)
{
    size_t calls = 0;
    for (uint32_t i = 0; i < w->now->frame_count; i++)
        calls += w->now->frames[i].code == code;
    return code->registers_at + calls * w->block->worker->grid->kernel->frames_bytes;
}

void warp_enter(struct warp *w, const struct op *op, const struct code *code)
{
    struct fragment *f = w->now;
    struct level *top = &f->levels[f->depth - 1];
    struct frame *caller = &f->frames[f->frame_count - 1];
    struct frame frame = {.code = code,
                          .registers_at = frame_place(w, code),
                          .local_at = caller->local_at + caller->code->local_bytes + caller->local_more,
                          .back = top->pc,
                          .rpc = top->rpc};
    uint64_t stack = frame.local_at + code->local_bytes;
    uint64_t limit = w->block->worker->grid->launch->stack_bytes * STACK_SLACK;
    if (stack + 16 * f->frame_count > limit)
        warp_fault(w, op, top->mask, FAULT_STACK, 0, "the stack of a thread overflows, %u calls deep",
                   f->frame_count);
    need_file(w, frame.registers_at + code->frame_bytes);
    warp_need_local(w, stack);
    push_frame(f, frame);
    warp_use_frame(w);
    warp_fill_constants(w, code, top->mask, true);
    zero_registers(w, code, top->mask);
    top->pc = 0;
    top->rpc = NO_OP;
    top->frames++;
}

void warp_return(struct warp *w)
{
    struct fragment *f = w->now;
    struct level *top = &f->levels[f->depth - 1];
    struct frame frame = f->frames[--f->frame_count];
    top->pc = frame.back + 1;
    top->rpc = frame.rpc;
    top->frames--;
    warp_use_frame(w);
}
