/* Managed memory over ranks (ranks/ranks.h). In one process, managed bytes are at one place, whoever holds
 * their page. Over ranks, the program has them on the leading one, and the GPUs of each rank have a copy of
 * their own: apart. There, lines of pages that move carry their bytes, and say which of these the program
 * does not know. What GPUs wrote is taken to the program after each run, and what the program changed is
 * given out to GPUs between runs (system/managed_apart.c): only these bytes, as both may write to a line.
 *
 * A line may be on its way while the program changes it. So it says of which turn it is: how often changes
 * had been given out when it was read. A block that was given out since, to where the line goes, is newer.
 *
 * All is kept by blocks; no line is longer. Offsets are those in managed memory. */
#ifndef MEM_APART_H
#define MEM_APART_H

#include "base/index.h"
#include "mem/message.h"

#include <stdbool.h>

enum {
    APART_SHIFT = 7,
    APART_BYTES = 1 << APART_SHIFT,
    APART_SECTORS = APART_BYTES / MEM_SECTOR,
    APART_PAGE_SHIFT = 16,
    APART_PAGE_BLOCKS = 1 << (APART_PAGE_SHIFT - APART_SHIFT)
};

/* The first three are constant during runs, and the same on all ranks. */
struct apart {
    uint32_t turn;
    struct index given; /* blocks that were given out while their pages were on the move */
    uint32_t *turns;    /* of each: the last */
    size_t given_capacity;
    /* On the leading rank: what GPUs know of the program's bytes, as a checksum for each block; 0: who knows?
     * The host's island writes it, as it sends lines. */
    struct index pages; /* by offset >> APART_PAGE_SHIFT */
    uint64_t **sums;
    size_t page_capacity;
};

struct apart *apart_new(void);
void apart_free(struct apart *apart);

void apart_give(struct apart *apart, uint64_t offset); /* it is given out, in this turn */
void apart_forget_given(struct apart *apart);          /* nothing is on the move */

/* Whether bytes of a turn are older than what was given out. */
bool apart_is_old(const struct apart *apart, uint64_t offset, uint32_t turn);

/* Requests for slices have the last bits of a turn. */
void apart_mark(struct memsys_request *request, uint32_t turn);
uint32_t apart_turn(const struct apart *apart, const struct memsys_request *request);

/* What follows the data of a line that a slice has read to be moved; listeners and links do not see it. */
struct apart_tail {
    uint32_t turn;
    uint32_t masks[APART_SECTORS]; /* by sector that was read: bytes that the program does not know */
};

uint64_t apart_sum(const void *block);
uint64_t *apart_known(struct apart *apart, uint64_t offset); /* of the block */

/* Bytes that GPUs wrote, and the program does not know. */
struct news {
    struct index blocks; /* by offset >> APART_SHIFT */
    struct news_masks {
        uint32_t of[APART_SECTORS]; /* a bit for each byte */
    } * masks;
    size_t capacity;
};
void news_fini(struct news *news);
void news_add(struct news *news, uint64_t offset, uint32_t mask); /* of a sector */
uint32_t news_of(const struct news *news, uint64_t offset);

#endif
