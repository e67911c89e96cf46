/* One instruction at a time: see step.h. */
#include "exec/step.h"
#include "exec/sync.h"
#include "exec/watch.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

struct team *team_new(const struct launch *launch, uint64_t serial, uint32_t sm, uint64_t workspace,
                      jmp_buf *on_fault)
{
    struct team *team = mem_alloc(1, sizeof *team);
    const struct kernel_facts *facts = &launch->kernel->facts;
    struct grid *grid = &team->grid;
    grid->launch = launch;
    grid->kernel = launch->kernel;
    grid->serial = serial;
    grid->fault = &team->fault;
    grid->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->threads_per_block = launch->block[0] * launch->block[1] * launch->block[2];
    grid->warps_per_block = (grid->threads_per_block + WARP_LANES - 1) / WARP_LANES;
    grid->param_bytes = facts->param_bytes;
    grid->params = mem_alloc(1, facts->param_bytes + 16);
    if (facts->param_bytes)
        memcpy(grid->params, launch->params, facts->param_bytes);
    grid->workspace = workspace;
    pthread_mutex_init(&grid->lock, NULL);
    team->worker = worker_new(grid);
    team->worker->sm = sm;
    team->worker->request = &team->request;
    team->worker->on_fault = on_fault;
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    worker_free(team->worker);
    pthread_mutex_destroy(&team->grid.lock);
    mem_free(team->grid.params);
    mem_free(team->request.pieces);
    mem_free(team);
}

struct block *team_begin_block(struct team *team, uint64_t number)
{
    return worker_begin_block(team->worker, number);
}

void team_end_block(struct team *team, struct block *block)
{
    watch_leave(team);
    worker_end_block(team->worker, block);
}

static struct fragment *next_ready(struct warp *w)
{
    for (uint32_t i = 0; i < w->fragment_count; i++) {
        struct fragment *f = w->fragments[w->turn++ % w->fragment_count];
        if (f->state == FRAGMENT_READY)
            return f;
    }
    return NULL;
}

bool warp_settle(struct warp *w)
{
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
        w->active = top->mask;
        return true;
    }
}

static void step_branch(struct warp *w, const struct op *op, lanes mask, struct level *top,
                        struct stepped *stepped)
{
    struct launch_result *result = &w->block->worker->result;
    const struct op *ops = w->code->ops;
    uint32_t here = (uint32_t)(op - ops);
    result->branches++;
    stepped->moved = true;
    stepped->branched = mask != 0;
    stepped->diverged = mask && mask != w->active;
    top->pc = mask == w->active ? op->target : here + 1;
    if (stepped->diverged) {
        result->divergent_branches++;
        if (ops[op->target].flags & OP_EXITS && !(ops[op->target].flags & OP_GUARD))
            warp_exit(w, mask); /* those who leave need not be waited for */
        else
            fragment_diverge(w, op->target, mask, here + 1, w->active & ~mask, op->join);
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

void warp_step(struct warp *w, struct stepped *stepped)
{
    const struct op *op = w->at;
    struct worker *worker = w->block->worker;
    struct launch_result *result = &worker->result;
    lanes mask = w->active;
    char *r = w->registers;
    if (op->flags & OP_GUARD) {
        uint32_t guard = *warp_predicate(w, op->guard);
        mask &= op->flags & OP_GUARD_NOT ? ~guard : guard;
    }
    *stepped = (struct stepped){.mask = mask};
    result->warp_instructions++;
    result->thread_instructions += count_lanes(w->active);
    result->thread_instructions_pred_on += count_lanes(mask);
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
    if (UNLIKELY(op->flags & OP_JOIN)) {
        w->now->levels[w->now->depth - 1].pc = (uint32_t)(op - w->code->ops);
        stepped->moved = true;
    }
}

bool block_force(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (warp_check_sync(&block->warps[i], true))
            return block->opened = true;
    return false;
}
