/* Coalescing: the addresses of a warp's lanes become lines and sectors of memory. Pure. */
#ifndef CORE_COALESCE_H
#define CORE_COALESCE_H

#include "isa/request.h"
#include "mem/message.h"

/* A lane has 255 bytes at most, from any address on: they touch five lines of 64. */
enum { LANE_BYTES_MOST = 256, COALESCED_MOST = 5 * ISA_LANES };

/* The lines that lanes go to, in the order of the first lane of each. Most of it is never looked at. */
struct coalesced {
    uint32_t count;
    uint32_t shift; /* a line has 1 << shift bytes */
    bool spans;     /* some lane's bytes go on in another sector, or line */
    struct {
        uint64_t line; /* its address, divided by its size */
        lane_mask who;
    } at[COALESCED_MOST];
};

/* To lines of 1 << shift bytes. */
void coalesce(const struct delivery *of, lane_mask lanes, uint32_t shift, struct coalesced *lines);

/* The sectors of line number i that its lanes want. */
uint8_t coalesce_sectors(const struct delivery *of, const struct coalesced *lines, uint32_t i);

/* Whether some lane's bytes go on in another sector. */
bool coalesce_spans(const struct delivery *of, lane_mask lanes);

/* Whether a lane, or one of several, has bytes in this block of memory: a line, or a part of one. */
static inline bool coalesce_touches(const struct delivery *of, uint32_t lane, uint64_t block,
                                    uint32_t block_bytes)
{
    return of->at[lane] / block_bytes <= block && block <= (of->at[lane] + of->bytes - 1u) / block_bytes;
}

bool coalesce_some_touch(const struct delivery *of, lane_mask lanes, uint64_t block, uint32_t block_bytes);

#endif
