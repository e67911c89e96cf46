/* Clusters (NVIDIA also calls them CGAs): blocks of a launch that run at the same time and see each other's
 * shared memory. A launch without has clusters of one block, for which none of this is made.
 *
 * A block's shared memory begins at its rank times CLUSTER_SHARED of its cluster's, as on an H200. */
#ifndef EXEC_CGA_H
#define EXEC_CGA_H

#include "exec/block.h"

enum { CLUSTER_MOST = 64, CLUSTER_SHARED_SHIFT = 24 };

struct cga {
    uint32_t size;                      /* blocks */
    bool apart;                         /* a model that keeps time has the others elsewhere */
    uint64_t left, come, stuck;         /* by rank: have not ended; are at the barrier; can only wait */
    struct block *blocks[CLUSTER_MOST]; /* by rank; NULL: it has ended */
    struct cga *next;                   /* to be used again */
};

static inline bool launch_has_clusters(const struct launch *launch)
{
    return launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1;
}

/* Blocks of a cluster: 1 without. */
uint32_t launch_cluster_size(const struct launch *launch);
/* The number of a block, by its cluster's number and its rank there; and back. */
uint64_t launch_cluster_block(const struct launch *launch, uint64_t cluster, uint32_t rank);
uint64_t launch_cluster_of(const struct launch *launch, uint64_t block, uint32_t *rank);

/* Begins all blocks of a cluster, by its number: a list, by `next`. */
struct block *cga_begin(struct worker *worker, uint64_t number);
/* The part of a cluster that one block is, whose others are elsewhere. */
void cga_join(struct block *block);
void cga_leave(struct block *block); /* it has ended: the others need not wait for it */
void cga_drop(struct block *block);  /* its launch is over, whatever the others do */

/* Of this rank; NULL: it has ended. */
static inline struct block *cga_block(const struct cga *cluster, uint64_t rank)
{
    return rank < cluster->size ? cluster->blocks[rank] : NULL;
}

/* Without time: all threads of the block have come to the barrier of its cluster, or only wait. */
void cga_came(struct block *block);
bool cga_is_stuck(struct block *block); /* and so do all others: nobody will ever go on */

#endif
