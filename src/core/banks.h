/* The banks of shared memory: in how many passes the lanes of a warp get to their words. Pure, but for what
 * it remembers of patterns it has seen: few of them come again and again. */
#ifndef CORE_BANKS_H
#define CORE_BANKS_H

#include "isa/request.h"

/* Where lanes go, from the first of them: banks turn with it, so all else follows from that. */
struct bank_pattern {
    uint32_t offsets[ISA_LANES];
    lane_mask who; /* 0: nothing is remembered here */
    uint8_t bytes, first_byte;
    uint32_t passes;
};

enum { BANK_PATTERNS = 16 };

struct banks {
    struct bank_pattern seen[BANK_PATTERNS];
};

/* Of the request's lanes in shared memory, with so many banks of 4 bytes (256 at most, always the same). */
uint32_t bank_passes(struct banks *banks, uint32_t count, const struct request *request);

#endif
