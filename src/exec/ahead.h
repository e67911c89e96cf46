/* Launches whose result may depend on the order of blocks, on several threads, with the result of one thread.
 * One worker leads: it gives blocks their turns in the order of one thread. The others run blocks ahead of
 * their first turn, up to the first instruction by which blocks meet (an atomic, a fence, a volatile load),
 * and wait there until the leader comes to that block; then its worker leads on. Programs without races
 * cannot tell the difference, as until then a block reads nothing that others write in the same launch. */
#ifndef EXEC_AHEAD_H
#define EXEC_AHEAD_H

#include "exec/block.h"

void ahead_run(struct grid *grid, unsigned threads, struct launch_result *result);

#endif
