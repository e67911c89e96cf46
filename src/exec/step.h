/* Execution one instruction at a time, for models that say when each happens. What a warp does to registers,
 * shared and local memory is done at once; what it wants of global memory is told, and done by the model:
 * values come back through request_deliver when, and from where, the model says.
 *
 *   struct team *team = team_new(&launch, sm, ...);      of one launch, on one SM
 *   struct block *block = team_begin_block(team, number);
 *   for each warp of block->warps: while (warp_settle(w)) { look at w->at, w->active; warp_step(w, &stepped);
 * } team_end_block(team, block);
 */
#ifndef EXEC_STEP_H
#define EXEC_STEP_H

#include "exec/request.h"
#include "exec/warp.h"

/* The blocks of one launch on one SM. Faults leave by longjmp to *on_fault and are in `fault`. */
struct team {
    struct grid grid;
    struct worker *worker;
    struct fault fault;
    struct request request; /* what the last step wants of memory */
    uint64_t told;          /* warp instructions that a watch knows of */
};

struct team *team_new(const struct launch *launch, uint64_t serial, uint32_t sm, uint64_t workspace,
                      jmp_buf *on_fault);
void team_free(struct team *team);

struct block *team_begin_block(struct team *team, uint64_t number);
void team_end_block(struct team *team, struct block *block);

/* Goes to where the warp's next operation is: w->at, for w->active. False: all of it waits, or it has ended
 * (w->fragment_count is 0). */
bool warp_settle(struct warp *warp);

struct stepped {
    lanes mask;    /* whose guard was true */
    bool moved;    /* it is not simply behind the operation: warp_settle must be called */
    bool branched; /* some threads went elsewhere */
    bool diverged; /* not all of them */
    bool waits;    /* at a barrier, or for others of the warp */
};

/* Does the operation at hand. What it wants of memory is in the team's request. */
void warp_step(struct warp *warp, struct stepped *stepped);

/* When all warps of a block wait: lets those go on who wait for threads that never come. */
bool block_force(struct block *block);

/* Where some warp of the block waits, as a fault that names it; does not return. */
_Noreturn void block_report_deadlock(struct block *block);

/* Written to a checkpoint, or read into a team of the same launch that was just made (base/archive.h); then,
 * with the team there, what points into it. What is read takes the place of what was given. */
struct archive;
void team_archive(struct team *team, struct archive *archive);
struct block *block_archive(struct team *team, const struct block *block, struct archive *archive);
const struct code *code_archive(const struct kernel *kernel, const struct code *code,
                                struct archive *archive);
const struct op *op_archive(const struct code *code, const struct op *op, struct archive *archive);
void delivery_archive(const struct warp *warp, struct delivery *of, struct archive *archive);
void piece_archive(const struct warp *warp, struct piece *piece, struct archive *archive);

#endif
