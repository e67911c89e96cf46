/* One instruction at a time (isa/warp.h). */
#include "ptx_run/warp.h"
#include "ptx_run/sync.h"
#include "base/bits.h"

static struct fragment *next_ready(struct warp *w)
{
    for (uint32_t i = 0; i < w->fragment_count; i++) {
        struct fragment *f = w->fragments[w->turn++ % w->fragment_count];
        if (f->state == FRAGMENT_READY)
            return f;
    }
    return NULL;
}

/* The host fetches what the next operation reads and writes; another warp's turn comes first, most often. */
static void bring_near(const struct warp *w)
{
    const struct op *op = w->at;
    const uint32_t places[] = {op->a, op->b, op->c, op->d};
    for (uint32_t i = 0; i < COUNT_OF(places); i++) {
        __builtin_prefetch(w->registers + places[i]);
        __builtin_prefetch(w->registers + places[i] + 64);
    }
}

bool warp_settle(struct isa_warp *isa)
{
    struct warp *w = ptx_warp(isa);
    for (;;) {
        if (w->fragment_count > 1)
            warp_join_fragments(w); /* may end w->now */
        struct fragment *f = w->now;
        if (!f || f->state != FRAGMENT_READY) {
            w->now = f = next_ready(w);
            if (!f && warp_check_sync(w, false)) /* the missing ones may have ended meanwhile */
                continue;
            if (!f)
                return false;
        }
        warp_use_frame(w);
        struct level *top = &f->levels[f->depth - 1];
        const struct op *op = w->code->ops + top->pc;
        if ((op->flags & OP_JOIN) && top->rpc == top->pc && f->depth > 1) {
            f->depth--;
            continue;
        }
        w->at = op;
        isa->code = &w->code->isa;
        isa->next = w->code->isa.timing ? &w->code->isa.timing[top->pc] : NULL;
        isa->active = top->mask;
        bring_near(w);
        return true;
    }
}

static void step_branch(struct warp *w, const struct op *op, lanes mask, struct level *top,
                        struct isa_stepped *stepped)
{
    struct launch_result *result = &w->isa.block->worker->result;
    const struct op *ops = w->code->ops;
    uint32_t here = (uint32_t)(op - ops);
    result->branches++;
    stepped->moved = true;
    stepped->branched = mask != 0;
    stepped->diverged = mask && mask != (lanes)w->isa.active;
    top->pc = mask == (lanes)w->isa.active ? op->target : here + 1;
    if (stepped->diverged) {
        result->divergent_branches++;
        if (ops[op->target].flags & OP_EXITS && !(ops[op->target].flags & OP_GUARD))
            warp_exit(w, mask); /* those who leave need not be waited for */
        else
            fragment_diverge(w, op->target, mask, here + 1, (lanes)w->isa.active & ~mask, op->join);
    }
    /* Round a loop that looks at what others write, those who wait for this part of the warp go on: ptxas has
     * a YIELD in such loops. */
    if (w->spins && op->target <= here) {
        w->spins = 0;
        if (w->now)
            warp_let_go(w);
        w->now = next_ready(w);
    }
}

/* A warp sleeps as long as the thread that asks for most. */
static uint32_t sleep_ns(const struct warp *w, const struct op *op, lanes who)
{
    static const uint32_t most_ns = 1000000; /* PTX: at most a millisecond */
    const uint32_t *asked = warp_at(w, op->a);
    uint32_t ns = 0;
    EACH_LANE (lane, who)
        ns = asked[lane] > ns ? asked[lane] : ns;
    return ns < most_ns ? ns : most_ns;
}

void warp_step(struct isa_warp *isa, struct isa_stepped *stepped)
{
    struct warp *w = ptx_warp(isa);
    const struct op *op = w->at;
    struct worker *worker = w->isa.block->worker;
    struct launch_result *result = &worker->result;
    const lanes active = (lanes)isa->active;
    lanes mask = active;
    char *r = w->registers;
    if (op->flags & OP_GUARD) {
        uint32_t guard = *warp_predicate(w, op->guard);
        mask &= op->flags & OP_GUARD_NOT ? ~guard : guard;
    }
    *stepped = (struct isa_stepped){.mask = mask};
    result->warp_instructions++;
    const uint32_t count = isa_count_lanes(active);
    result->thread_instructions += count;
    result->thread_instructions_pred_on += mask == active ? count : isa_count_lanes(mask);
    if (op->kind == OP_ALU) {
        if (LIKELY(mask == w->alive))
            op->run.alu(r + op->d, r + op->a, r + op->b, r + op->c, r + op->e);
        else if (mask)
            warp_run_some(w, op, mask);
    } else if (op->kind == OP_EXEC) {
        if (mask)
            op->run.exec(w, op, mask);
    } else {
        struct level *top = &w->now->levels[w->now->depth - 1];
        top->pc = (uint32_t)(op - w->code->ops);
        if (op->kind == OP_BRANCH) {
            step_branch(w, op, mask, top, stepped);
            return;
        }
        if (op->role == ROLE_SLEEP)
            stepped->sleep_ns = sleep_ns(w, op, mask);
        if (mask) {
            enum next next = op->run.control(w, op, mask);
            stepped->moved = next != NEXT_OP;
            stepped->waits = next == NEXT_WAIT;
            if (next == NEXT_YIELD) {
                top->pc++;
                warp_let_go(w);
                w->now = next_ready(w);
            }
            if (stepped->moved)
                return;
        }
    }
    w->at = ++op;
    isa->next += isa->next != NULL;
    if (UNLIKELY(op->flags & OP_JOIN)) {
        w->now->levels[w->now->depth - 1].pc = (uint32_t)(op - w->code->ops);
        stepped->moved = true;
        return;
    }
    bring_near(w);
}

uint32_t warp_glide(struct isa_warp *isa, uint32_t most)
{
    struct warp *w = ptx_warp(isa);
    const struct op *op = w->at;
    const struct isa_timing *row = isa->next;
    const lanes active = (lanes)isa->active;
    char *r = w->registers;
    uint32_t count = 0;
    for (; count < most && op->kind == OP_ALU && !op->flags && !(op[1].flags & OP_JOIN) && !row->guards &&
           !row->role;
         count++, op++, row++)
        if (LIKELY(active == w->alive))
            op->run.alu(r + op->d, r + op->a, r + op->b, r + op->c, r + op->e);
        else
            warp_run_some(w, op, active);
    w->at = op;
    isa->next = row;
    struct launch_result *result = &isa->block->worker->result;
    const uint64_t threads = (uint64_t)count * isa_count_lanes(active);
    result->warp_instructions += count;
    result->thread_instructions += threads;
    result->thread_instructions_pred_on += threads;
    return count;
}

bool ptx_block_force(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (warp_check_sync(warp_of(block, i), true))
            return block->opened = true;
    return false;
}
