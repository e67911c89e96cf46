/* Finds data races of a launch while it runs: bytes of memory that one warp writes and another one reads or
 * writes, with nothing that orders the two. What they hold then depends on time, and so may the instructions.
 *
 * Nothing orders the blocks of a launch. A barrier orders the warps of its block; one for a part of the block
 * counts as if it were for all of it, and so does any operation on a barrier that lies in shared memory, so
 * that some races are missed and none is invented. Lanes of a warp run in an order that does not depend on
 * time. Atomic operations without a result count as ordered if they commute; one with a result is a read and
 * a write.
 *
 * A running block has a table of the lines (128 bytes) that it uses: by which warps since the last barrier,
 * and whether at all. When it ends, the latter goes to the table of the launch, by block. What a table says
 * of a place does not depend on the order of uses, so the result depends neither on the number of threads nor
 * on their speed. The table of the launch takes about a quarter of the memory that the launch uses; where
 * several blocks share a line, up to twice the line. */
#ifndef ITRACE_RACES_H
#define ITRACE_RACES_H

#include "base/text.h"
#include "isa/request.h"

#include <stdbool.h>
#include <stdint.h>

enum races_found {
    RACES_NONE,
    RACES_WRITES, /* two write the same place, and nobody else reads it */
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

/* Of a launch on several ranks: the blocks that end here are not compared, but gathered for the races of
 * another rank, which takes them. Once it is said, before the first block. */
void races_send(struct races *races);
void races_tell(struct races *races, struct text *bytes); /* adds what came since the last time */
bool races_take(struct races *races, const char *bytes, size_t count);

void races_opened(struct races_block *own); /* a barrier of the block */
void races_use(struct races_block *own, uint32_t warp, const struct request *request);

#endif
