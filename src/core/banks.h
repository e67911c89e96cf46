/* The banks of shared memory: how many passes the lanes of a warp need to access their words. Pure, except
 * that it caches the results of recent patterns, because few patterns recur again and again. */
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
