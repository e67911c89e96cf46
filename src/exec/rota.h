/* Turns of blocks without time. A worker runs a block to its end before the next; those that wait for another
 * block are in a ring: each gets its turn, then a new one starts, as long as the GPU has room for it. */
#ifndef EXEC_ROTA_H
#define EXEC_ROTA_H

#include "exec/block.h"

enum block_ran { BLOCK_ENDED, BLOCK_WAITS, BLOCK_ONLY_WAITED };

struct rota {
    struct block *waiting, **last;
    uint64_t count, since_new, idle_turns;
    uint64_t room; /* blocks begun at a time, at most */
};

void rota_init(struct rota *rota, const struct grid *grid);
bool rota_wants_new(const struct rota *rota, const struct grid *grid);
void rota_add(struct rota *rota, struct block *block);
struct block *rota_take(struct rota *rota); /* the next that waits, or NULL */

/* A turn of a block; and what becomes of the block. */
enum block_ran rota_turn(struct worker *worker, struct block *block);
void rota_end_turn(struct rota *rota, struct worker *worker, struct block *block, enum block_ran ran);

/* Launches with turns being run, in this process: one begins (1) or ends (-1). */
void rota_count_launch(int by);

#endif
