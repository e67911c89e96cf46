/* Goes through the instructions of a recorded launch, warp by warp, without time:
 *
 *   struct iwalk *walk = iwalk_new(reader, launch);
 *   if (iwalk_begin(walk, block, warp, err))
 *       while ((got = iwalk_next(walk, &step, err)) > 0) ...
 *   iwalk_free(walk);
 */
#ifndef ITRACE_IWALK_H
#define ITRACE_IWALK_H

#include "itrace/istream.h"
#include "itrace/reader.h"

struct iwalk_step {
    uint32_t code, instruction;    /* of the kernel's functions, the number; of it, the instruction */
    const struct isa_timing *row;  /* of the instruction */
    lane_mask active, mask;        /* mask: whose guard holds */
    const struct request *request; /* what it wants of memory; NULL: nothing */
    const struct istream_run *run; /* the run that it ends, with what happens there; else NULL */
    uint32_t opened;               /* barriers that it stands behind: a bit each */
};

struct iwalk;

struct iwalk *iwalk_new(struct itrace_reader *reader, size_t launch);
void iwalk_free(struct iwalk *walk);

uint64_t iwalk_blocks(const struct iwalk *walk);
uint32_t iwalk_warps(const struct iwalk *walk); /* of a block */

/* The threads of this warp that exist. */
lane_mask iwalk_lanes(const struct iwalk *walk, uint32_t warp);

bool iwalk_begin(struct iwalk *walk, uint64_t block, uint32_t warp, struct err *err);
/* 1: there is one more; 0: the warp has ended; -1: it is damaged. */
int iwalk_next(struct iwalk *walk, struct iwalk_step *step, struct err *err);

bool iwalk_has_ended(const struct iwalk *walk); /* iwalk_next gave 0 */

/* What all instructions of these blocks count as. */
bool iwalk_count(struct iwalk *walk, uint64_t first_block, uint64_t end_block, struct launch_result *counts,
                 struct err *err);

#endif
