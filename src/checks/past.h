/* What happened before what in a launch. Each access of memory has a stamp: the time of its block, which goes
 * on whenever threads synchronize. A node of a past says up to which stamp the accesses of some threads are
 * known to have happened; what its threads knew of others before is in the nodes that it leads to.
 *
 * Nodes live as long as the pool. */
#ifndef CHECKS_PAST_H
#define CHECKS_PAST_H

#include "isa/isa.h"

struct past {
    uint64_t block;  /* whose threads; PAST_NOBODY: only what it leads to */
    uint64_t mark;   /* of the last search that came here */
    lane_mask lanes; /* of the warp: their accesses before `stamp` */
    uint32_t warp;
    uint32_t stamp;
    uint32_t warp_base;          /* all accesses of the warp before this, */
    uint32_t base;               /* and all of the block before this */
    bool narrow;                 /* only for threads of the same block */
    bool is_shared;              /* others lead here */
    struct past *first, *second; /* or NULL; the newer one is the first */
};

#define PAST_NOBODY UINT64_MAX

struct past_pool;
struct past_pool *past_pool_new(void);
void past_pool_free(struct past_pool *pool);

/* A copy; what it leads to stays as it is from now on. */
struct past *past_add(struct past_pool *pool, const struct past *of);

/* All that either knows; each may be NULL. */
struct past *past_join(struct past_pool *pool, struct past *newer, struct past *older);

/* A thread of a block that has this past asks for an access of some thread. A search that takes too long
 * gives true: better no alarm than a false one. */
bool past_has(struct past_pool *pool, struct past *past, uint64_t asks, uint64_t block, uint32_t warp,
              uint32_t lane, uint32_t stamp);

#endif
