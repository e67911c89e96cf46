/* The dispatcher: which block goes to which SM, and when. For this room only. */
#ifndef GPU_DISPATCH_H
#define GPU_DISPATCH_H

#include "gpu/gpu.h"

enum { SHARES = 1 << 16 }; /* of an SM: a block takes SHARES / (blocks that fit) of them */

enum dispatch_event { DISPATCH_LAUNCH, DISPATCH_RELEASE };

struct dispatch_message {
    uint64_t serial; /* of the kernel: after a fault, another one may have its slot by then */
    uint64_t slot;
};

struct dispatch_kernel {
    bool used, started, failed;
    uint64_t blocks, next, ended; /* blocks: of the grid, that were handed out, that ended, */
    uint64_t unsettled;           /* and that ended with writes still under way */
    uint64_t triggered;           /* blocks that let dependent kernels start, or ended */
    uint32_t held;                /* by kernels whose blocks have not triggered, */
    uint32_t held_start;          /* or not all begun: slots; its own blocks are not handed out */
    uint32_t after;               /* kernels whose end its blocks may wait for, and that have not ended */
    uint64_t after_ps;            /* when the last of those that have, ended */
    uint64_t serial;              /* for SM_RELEASE */
    uint32_t share, warps;        /* of a block */
    uint32_t cluster;             /* blocks that begin together; 1: each alone */
    uint32_t first_sm, sm_count;  /* that it may run on */
    uint64_t order;               /* kernels of an earlier number first */
    uint64_t start_ps, end_ps;    /* TIME_NEVER: it has not ended */
    uint64_t marks[GPU_MARKS];    /* as of gpu_kernel_stats */
    uint32_t mark_count;
};

struct dispatch_sm {
    uint32_t shares, warps, blocks; /* that are free */
};

/* The blocks of a kernel that are placed on members: one queue for each member, and one for all others, which
 * run anywhere. */
struct dispatch_queue {
    struct block_place *ranges; /* by their first blocks */
    uint32_t count;
    uint32_t range; /* the one whose turn it is, and */
    uint64_t next;  /* the next block in it */
    uint64_t blocks;
};

/* SMs that can have a cluster's blocks: dispatch_groups. */
struct dispatch_group {
    uint32_t first, count; /* in the dispatcher's `grouped` */
    uint32_t next;         /* the one that gets the next block, if it has room */
};

struct dispatcher {
    const struct dispatch_spec *spec;
    struct clock_domain clock;
    struct component *component;
    struct port *orders, *reports;
    struct dispatch_kernel kernels[SM_KERNELS];
    const struct sm_launch *begun; /* [SM_KERNELS]: the GPU's */
    uint64_t launches;
    uint32_t sm_count, members;
    struct dispatch_sm *sms;
    uint32_t *order, *spread; /* of SMs, member by member; for grids of no more blocks than there are SMs */
    uint32_t next_sm;         /* place in the order */
    uint32_t *grouped;        /* SMs, group by group */
    struct dispatch_group *groups;
    uint32_t group_count, next_group;
    uint32_t *next_of; /* by member: the same among its own, for blocks that are placed there */
    struct dispatch_queue *queues[SM_KERNELS]; /* [members + 1]; NULL: all blocks run anywhere */
    uint64_t free_at;                          /* ps: when it has taken note of the last block that ended */
    uint64_t block_ps, warp_ps, latency_ps, device_launch_ps;
};

void dispatcher_init(struct dispatcher *dispatcher, const struct dispatch_spec *spec,
                     const struct gpu_spec *gpu, uint32_t members);
/* Whether its texts can be read. */
bool dispatch_check(const struct dispatch_spec *spec, struct err *err);
/* The GPC of each SM, or their count, which is given, for one that is in none. */
uint32_t dispatch_gpcs(const struct dispatch_spec *spec, uint32_t sm_count, uint8_t *gpc_of);
void dispatcher_fini(struct dispatcher *dispatcher);

/* Of a kernel that begins, or was read from a checkpoint; and of one that has ended. */
void dispatch_place(struct dispatcher *dispatcher, uint32_t slot, const struct launch *launch);

/* A kernel that begins depends on others, as gpu_launch says. Gives when its blocks need not wait for their
 * end any more, if that is known: a DISPATCH_RELEASE is due then; TIME_NEVER. */
uint64_t dispatch_depend(struct dispatcher *dispatcher, uint32_t slot, const struct gpu_launch *asked);
void dispatch_forget(struct dispatcher *dispatcher, uint32_t slot);
extern const struct component_ops dispatcher_ops;

#endif
