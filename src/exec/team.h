/* The blocks of one launch on one SM, for timing models, which decide when each instruction happens:
 *
 *   struct team *team = team_new(&launch, ...);
 *   struct block *block = team_begin_block(team, number);
 *   for each warp of the block: settle, step (of kernel->isa: isa/warp.h), handle team->request;
 *   team_end_block(team, block); */
#ifndef EXEC_TEAM_H
#define EXEC_TEAM_H

#include "exec/block.h"

/* Faults leave by longjmp to *on_fault and are in `fault`. */
struct team {
    struct grid grid;
    struct worker *worker;
    struct fault fault;
    struct request request; /* what the last step wants of memory */
    uint64_t told;          /* warp instructions that a watch knows of */
};

/* `serial`: another one for each launch; `workspace`: zeroed memory for the barrier of a cooperative launch.
 */
struct team *team_new(const struct launch *launch, uint64_t serial, uint32_t sm, uint64_t workspace,
                      jmp_buf *on_fault);
void team_free(struct team *team);

/* `sms`: of a block of a cluster, the SM of each of its blocks (exec/cga.h); else NULL. */
struct block *team_begin_block(struct team *team, uint64_t number, const uint16_t sms[]);
/* All of a cluster, by its number: a list, by `next`. Without clusters: a block. */
struct block *team_begin_cluster(struct team *team, uint64_t number);
void team_end_block(struct team *team, struct block *block);

/* A fault of a block, by its number, that may have ended. Does not return. */
_Noreturn void team_fault(struct team *team, uint64_t block, enum fault_kind kind, uint64_t address,
                          const char *what);

/* Written to a checkpoint, or read into a team of the same launch that was just made (base/archive.h); then,
 * with the team there, a block of it. What is read takes the place of what was given. */
struct archive;
void team_archive(struct team *team, struct archive *archive);
struct block *block_archive(struct team *team, const struct block *block, struct archive *archive);

#endif
