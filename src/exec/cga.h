/* Clusters (NVIDIA also calls them CGAs): blocks of a launch that run at the same time and see each other's
 * shared memory. A launch without has clusters of one block, for which none of this is made.
 *
 * A block's shared memory begins at its rank times CLUSTER_SHARED of its cluster's, as on an H200. */
#ifndef EXEC_CGA_H
#define EXEC_CGA_H

#include "exec/block.h"

enum { CLUSTER_MOST = 64, CLUSTER_SHARED_SHIFT = 24 };

struct cga {
    uint64_t number;
    uint32_t size;        /* blocks */
    bool apart;           /* a model that keeps time: other blocks are on other SMs, and tell of themselves */
    uint8_t phase;        /* of the barrier: 0 or 1. Others may have come to the next one already */
    uint64_t here;        /* by rank: blocks that are below; */
    uint64_t left, stuck; /* have not ended; can only wait */
    uint64_t come[2];     /* are at the barrier, by phase */
    uint16_t sms[CLUSTER_MOST];         /* apart: where each is, or was */
    struct block *blocks[CLUSTER_MOST]; /* by rank; NULL: it has ended, or is elsewhere */
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
/* A block of a cluster whose others may be on other SMs: `sms` has one for each. */
void cga_join(struct block *block, const uint16_t sms[]);
void cga_leave(struct block *block); /* it has ended: the others need not wait for it */
void cga_drop(struct block *block);  /* its launch is over, whatever the others do */

/* Of this rank; NULL: it has ended, or is on another SM. */
static inline struct block *cga_block(const struct cga *cluster, uint64_t rank)
{
    return rank < cluster->size ? cluster->blocks[rank] : NULL;
}

/* One of the cluster's blocks that has not ended, which is on another SM. */
static inline bool cga_is_far(const struct cga *cluster, uint64_t rank)
{
    return (cluster->left & ~cluster->here) >> rank & 1;
}

/* All threads of the block have come to the barrier of its cluster; the same of blocks on other SMs, in this
 * phase; these have ended. */
void cga_came(struct block *block);
void cga_others_came(struct cga *cluster, uint64_t ranks, uint32_t phase);
void cga_others_left(struct cga *cluster, uint64_t ranks);
/* Without time: all its threads only wait, and so do those of all others: nobody will ever go on. */
bool cga_is_stuck(struct block *block);

/* For checkpoints: what a block of a team that is being read or written is of. */
struct archive;
void cga_archive(struct block *block, struct archive *archive);

#endif
