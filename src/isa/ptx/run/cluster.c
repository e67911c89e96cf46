/* Clusters of blocks: their barrier, and the addresses of each other's shared memory. */
#include "ptx_run/access.h"
#include "ptx_run/lower.h"
#include "ptx_run/warp.h"
#include "base/bits.h"
#include "exec/cga.h"

#include <string.h>

/* ---- the barrier ---- */

/* Of a fragment that waits at it, behind the numbers of the block's own and of its groups of warps. */
enum { CLUSTER_BARRIER = BARRIERS + GROUP_BARRIERS };

void ptx_open_cluster(struct block *block)
{
    block->cluster_arrivals = 0;
    block->has_come = false;
    block->opened = true;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = warp_of(block, i);
        w->arrived = 0;
        for (uint32_t j = 0; j < w->fragment_count; j++) {
            struct fragment *f = w->fragments[j];
            if (f->state != FRAGMENT_AT_BARRIER || f->barrier != CLUSTER_BARRIER)
                continue;
            f->levels[f->depth - 1].pc++;
            f->state = FRAGMENT_READY;
        }
    }
}

/* A block that is launched without clusters is one alone. */
void ptx_block_check_cluster(struct block *block)
{
    block->has_come = block->cluster_arrivals && block->cluster_arrivals == block->alive;
    if (block->has_come && !block->cluster)
        ptx_open_cluster(block);
}

static enum next run_arrive(struct warp *w, const struct op *op, lanes active)
{
    struct block *block = w->isa.block;
    (void)op;
    struct level *top = &w->now->levels[w->now->depth - 1];
    top->pc++;
    active &= ~w->arrived; /* a second time changes nothing, as on an H200 */
    w->arrived |= active;
    block->cluster_arrivals += (uint32_t)__builtin_popcount(active);
    ptx_block_check_cluster(block);
    return NEXT_MOVED;
}

static enum next run_wait(struct warp *w, const struct op *op, lanes active)
{
    (void)op;
    lanes waiting = w->arrived & active; /* others' barrier is open already */
    struct level *top = &w->now->levels[w->now->depth - 1];
    uint32_t here = top->pc;
    if (!waiting) {
        top->pc++;
        return NEXT_MOVED;
    }
    if (top->mask != waiting)
        fragment_diverge(w, here, waiting, here + 1, top->mask & ~waiting, here + 1);
    struct fragment *f = fragment_part(w, w->now);
    f->state = FRAGMENT_AT_BARRIER;
    f->barrier = CLUSTER_BARRIER;
    f->waiting = waiting;
    return f == w->now ? NEXT_WAIT : NEXT_MOVED;
}

enum lowered lower_cluster_barrier(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    bool waits = ptx_opcode_has(opcode, "wait");
    if (!waits && !ptx_opcode_has(opcode, "arrive"))
        return lower_fail(lower, "Heddle does not know this barrier operation");
    op->kind = OP_CONTROL;
    op->unit = UNIT_SYNC;
    op->role = waits                               ? ROLE_CLUSTER_WAIT
               : ptx_opcode_has(opcode, "relaxed") ? ROLE_NONE
                                                   : ROLE_CLUSTER_ARRIVE;
    op->run.control = waits ? run_wait : run_arrive;
    op->join = (uint32_t)(lower->inst - lower->function->insts) + 1;
    return LOWERED;
}

/* ---- addresses ---- */

/* The same place in the shared memory of another block. As on an H200, any address is taken, and its eight
 * bits that are the rank in one of shared memory are replaced. */
static void run_mapa(struct warp *w, const struct op *op, lanes active)
{
    const uint64_t bits = UINT64_C(0xff) << CLUSTER_SHARED_SHIFT;
    EACH_LANE (i, active) {
        uint64_t at = lane_get(warp_at(w, op->a), op->bytes, i);
        uint64_t rank = lane_get(warp_at(w, op->b), 4, i);
        lane_set(warp_at(w, op->d), op->bytes, i, (at & ~bits) | (rank << CLUSTER_SHARED_SHIFT & bits));
    }
}

static void run_getctarank(struct warp *w, const struct op *op, lanes active)
{
    EACH_LANE (i, active)
        lane_set(warp_at(w, op->d), 4, i,
                 lane_get(warp_at(w, op->a), op->bytes, i) >> CLUSTER_SHARED_SHIFT & 0xff);
}

static bool lower_width(struct lower *lower, struct op *op)
{
    op->bytes = (uint8_t)ptx_type_bytes(lower_type(lower->inst->opcode));
    return op->bytes == 4 || op->bytes == 8;
}

enum lowered lower_mapa(struct lower *lower, struct op *op)
{
    op->run.exec = run_mapa;
    return lower_width(lower, op) &&
                   lower_destination(lower, lower_operand(lower, 0), isa_type_of(op->bytes), &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), isa_type_of(op->bytes), &op->a) &&
                   lower_source(lower, lower_operand(lower, 2), TYPE_u32, &op->b)
               ? LOWERED
               : LOWER_FAILED;
}

enum lowered lower_getctarank(struct lower *lower, struct op *op)
{
    op->run.exec = run_getctarank;
    return lower_width(lower, op) && lower_destination(lower, lower_operand(lower, 0), TYPE_u32, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), isa_type_of(op->bytes), &op->a)
               ? LOWERED
               : LOWER_FAILED;
}

/* ---- accesses ---- */

static _Noreturn void fault_of(struct warp *w, const struct op *op, uint32_t lane, uint64_t at,
                               uint64_t bytes, bool writes, enum fault_kind kind, const char *format,
                               uint64_t number)
{
    char why[100];
    snprintf(why, sizeof why, format, (unsigned long long)(at >> CLUSTER_SHARED_SHIFT),
             (unsigned long long)number);
    warp_fault(w, op, UINT32_C(1) << lane, kind, at, "%s of %llu bytes at 0x%llx of shared memory: %s",
               writes ? "a write" : "a read", (unsigned long long)bytes, (unsigned long long)at, why);
}

/* The block whose shared memory an address is in, or NULL if a model that keeps time has it on another SM; a
 * fault when there is none, or it has less. */
static struct block *find_block(struct warp *w, const struct op *op, uint32_t lane, uint64_t at,
                                uint64_t bytes, bool writes)
{
    struct block *block = w->isa.block, *other = block;
    const struct cga *cluster = block->cluster;
    uint64_t rank = at >> CLUSTER_SHARED_SHIFT, offset = at & (WINDOW_BYTES - 1);
    if (cluster && rank < cluster->size)
        other = cluster->blocks[rank];
    else if (rank)
        fault_of(w, op, lane, at, bytes, writes, FAULT_CLUSTER, "of block %llu, in a cluster of %llu",
                 cluster ? cluster->size : 1);
    if (!other && !cga_is_far(cluster, rank))
        fault_of(w, op, lane, at, bytes, writes, FAULT_CLUSTER, "block %llu of the cluster has ended", 0);
    if (offset > block->shared_bytes || block->shared_bytes - offset < bytes)
        fault_of(w, op, lane, at, bytes, writes, FAULT_ADDRESS, "block %llu of the cluster has %llu",
                 block->shared_bytes);
    return other;
}

char *access_cluster_place(struct warp *w, const struct op *op, uint32_t lane, uint64_t at, uint64_t bytes,
                           bool writes)
{
    const struct block *block = find_block(w, op, lane, at, bytes, writes);
    return block ? block->shared + (at & (WINDOW_BYTES - 1)) : NULL;
}

char *access_cluster_bytes(struct warp *w, const struct op *op, uint32_t lane, uint64_t at, uint64_t bytes,
                           bool writes)
{
    char *place = access_cluster_place(w, op, lane, at, bytes, writes);
    if (!place)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, at,
                   "this instruction does not reach other blocks' shared memory in simulated time: use "
                   "--mode functional");
    return place;
}

lanes access_own(const struct warp *w, const uint64_t at[WARP_LANES], lanes active)
{
    uint64_t from = w->isa.block->shared_from;
    lanes own = 0;
    EACH_LANE (i, active)
        own |= (lanes)(at[i] - from < WINDOW_BYTES) << i;
    return own;
}
