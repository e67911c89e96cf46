/* A part of a trace as a trace that can be replayed. All calls of the program stay; launches that are left
 * out are not recorded. */
#ifndef ITRACE_CUT_H
#define ITRACE_CUT_H

#include "itrace/reader.h"

struct itrace_part {
    uint64_t first_launch, end_launch; /* by number; end 0: no end */
    uint64_t first_block, end_block; /* of each; likewise. A launch with fewer blocks has a grid of so many */
};

bool itrace_part_has(const struct itrace_part *part, const struct itrace_launch *launch); /* and recorded */
/* The blocks of a launch that are in the part; first == end: none. */
void itrace_part_blocks(const struct itrace_part *part, const struct itrace_launch *launch, uint64_t *first,
                        uint64_t *end);

/* Writes the part of the trace in folder `from` to `to`. */
bool itrace_cut(const char *from, const struct itrace_part *part, const char *to, struct err *err);

#endif
