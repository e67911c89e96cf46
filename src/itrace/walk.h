/* Goes through the instructions of a recorded launch, warp by warp, without time:
 *
 *   struct walk *walk = walk_new(reader, launch);
 *   if (walk_begin(walk, block, warp, err))
 *       while ((got = walk_next(walk, &step, err)) > 0) ...
 *   walk_free(walk);
 */
#ifndef ITRACE_WALK_H
#define ITRACE_WALK_H

#include "itrace/istream.h"
#include "itrace/reader.h"

struct walk_step {
    uint32_t code, instruction;    /* of the kernel's functions, the number; of it, the instruction */
    const struct isa_timing *row;  /* of the instruction */
    lane_mask active, mask;        /* mask: whose guard holds */
    const struct request *request; /* what it wants of memory; NULL: nothing */
    const struct istream_run *run; /* the run that it ends, with what happens there; else NULL */
    uint32_t opened;               /* barriers that it stands behind: a bit each */
};

struct walk;

struct walk *walk_new(struct itrace_reader *reader, size_t launch);
void walk_free(struct walk *walk);

uint64_t walk_blocks(const struct walk *walk);
uint32_t walk_warps(const struct walk *walk); /* of a block */

/* The threads of this warp that exist. */
lane_mask walk_lanes(const struct walk *walk, uint32_t warp);

bool walk_begin(struct walk *walk, uint64_t block, uint32_t warp, struct err *err);
/* 1: there is one more; 0: the warp has ended; -1: it is damaged. */
int walk_next(struct walk *walk, struct walk_step *step, struct err *err);

bool walk_has_ended(const struct walk *walk); /* walk_next gave 0 */

/* What all instructions of these blocks count as. */
bool walk_count(struct walk *walk, uint64_t first_block, uint64_t end_block, struct launch_result *counts,
                struct err *err);

#endif
