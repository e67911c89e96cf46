/* Finds data races of a launch while it runs: words of memory (4 bytes) that one warp writes and another one
 * reads or writes, with nothing that orders the two. What they hold then depends on time, and so may the
 * instructions.
 *
 *   blocks of the launch   nothing orders them, so a word that one writes and another one uses is a race
 *   warps of a block       a barrier orders them, so only uses between two barriers count. A barrier for a
 * part of the block counts as one for all of it, and so does any operation on a barrier that is a word in
 * shared memory: some races are missed, and none is made up lanes of a warp        run in an order that does
 * not depend on time
 *
 * Atomic operations without a result count as ordered among themselves if they commute. One with a result is
 * a read and a write.
 *
 * A running block has a table of the lines (128 bytes) that it used since its last barrier, by warp, and at
 * all. When it ends, the latter goes to the table of the launch, by block. What a table says of a word does
 * not depend on the order of uses, so the result depends neither on the number of threads nor on their speed.
 * The table of the launch takes about a quarter of the memory that the launch uses. */
#ifndef ITRACE_RACES_H
#define ITRACE_RACES_H

#include "isa/request.h"

#include <stdbool.h>
#include <stdint.h>

enum races_found {
    RACES_NONE,
    RACES_WRITES, /* two write the same word, and none of others reads it */
    RACES_READS,  /* one reads what another one writes */
};

enum { RACES_WARPS_MOST = 32 }; /* of a block: others count for their number less a multiple of this */

struct races;
struct races_block;

struct races *races_new(void);
void races_free(struct races *races);                   /* with its blocks */
enum races_found races_find(const struct races *races); /* of the blocks that have ended */

/* A place for a running block, for one after another. */
struct races_block *races_block_new(struct races *races, uint32_t warp_count, uint64_t shared_bytes);
void races_block_begin(struct races_block *own, uint64_t number);
void races_block_end(struct races_block *own);

void races_opened(struct races_block *own); /* a barrier of the block */
void races_use(struct races_block *own, uint32_t warp, const struct request *request);

#endif
