/* Running blocks and the workers that run them, for any instruction set. */
#ifndef EXEC_BLOCK_H
#define EXEC_BLOCK_H

#include "base/bits.h"
#include "base/text.h"
#include "exec/exec.h"
#include "exec/image.h"
#include "isa/warp.h"

#include <setjmp.h>

enum { BARRIERS = 16, GROUP_BARRIERS = 8 }; /* of a block; where groups of four warps wait */

/* How often a warp looks whether another wrote what it waits for. Who waited in vain for another block looks
 * only now and then. */
enum { PATIENCE = 128, IMPATIENCE = 4 };

struct barrier {
    uint32_t arrived, expected; /* threads; expected 0: all there are */
    uint32_t count_true, count_all;
};

/* What a warp's last instruction at a barrier did, for observers. */
struct arrival {
    uint32_t number, threads, expected; /* of the barrier; as counted there; 0: all that there are */
    bool waits;                         /* its threads wait there, if not all have come */
    bool whole;                         /* ... and the whole warp with them */
    lane_mask waiting;                  /* these lanes do */
    lane_mask alive;                    /* of the warp: those that have not ended */
    bool aligned;                       /* all of these have to come together */
};

/* What the last collective operation of a warp did, for observers that look (request->looks). */
struct gathering {
    lane_mask lanes; /* that it brought together; 0: none, since whoever looks cleared it */
    lane_mask alive; /* of the warp */
    uint32_t warp;
    lane_mask outside; /* took part though their own mask does not name them */
    lane_mask lonely;  /* read a lane that took no part */
    lane_mask missing; /* are named, and never came */
};

struct block {
    struct worker *worker;
    struct isa_warp *warps; /* of the instruction set's size: block_warp gives one */
    uint32_t warp_count, warp_capacity;
    uint32_t id[3];
    uint64_t number;
    char *shared;
    uint64_t shared_bytes, shared_capacity;
    uint32_t alive;            /* threads */
    struct cga *cluster;       /* exec/cga.h; NULL: it is launched without */
    uint32_t rank;             /* in it; */
    uint32_t shared_from;      /* the address there of its shared memory; 0 without */
    uint32_t cluster_arrivals; /* threads at the cluster's barrier */
    bool has_come;             /* that is all of them */
    uint64_t clock_from,
        clock_reads;       /* the worker's count of instructions less the block's own; reads of it */
    uint64_t instructions; /* its own, while others run */
    struct barrier barriers[BARRIERS + GROUP_BARRIERS];
    struct arrival arrival;
    struct gathering gathering;
    void *observed;            /* an observer's own */
    uint64_t settled;          /* stepwise.c: a bit for each warp whose next instruction is known */
    bool opened;               /* warps that waited may go on, since whoever resets this last looked */
    uint64_t before_meeting;   /* its instructions before it first met others (block_meets); or 0 */
    uint32_t patience;         /* reads of what others write, before others have their turn */
    struct block *next;        /* in the worker's list */
    struct block *made_before; /* of the same worker */
};

/* The range that an access found last: the next one is mostly in it. */
struct found {
    uint64_t at, bytes;
    bool read_only;
};

struct worker {
    struct grid *grid;
    struct launch_result result;
    struct found *found; /* by memory operation */
    struct found last;
    jmp_buf *on_fault;
    struct request *request; /* where a model that keeps time is told what is wanted of memory; or NULL */
    const uint64_t *clock;   /* of that model, in cycles; or NULL */
    uint64_t clock_hz;       /* its rate, for what tells the time of day */
    struct text *printed;    /* what printf adds to; or NULL: it goes to the launch's file at once */
    uint32_t sm;             /* that its blocks run on, or UINT32_MAX: as if spread evenly */
    struct block *pool;      /* blocks to use again; */
    struct cga *clusters;    /* and clusters */
    struct block *made;      /* all of them */
    struct text line;        /* of printf */
    bool leads;              /* it shows how far the launch is */
    uint32_t looks;          /* whether it is time to show that */
    struct ahead *ahead;     /* its launch, where blocks run ahead of their turns (exec/ahead.h); or NULL */
    bool is_ahead;           /* its block does */
    bool has_turn;           /* its block had the next turn meanwhile; */
    pthread_cond_t turn;     /* this tells a worker that waits for it */
    uint32_t waits;          /* turns in which blocks only waited */
    double waiting_from;     /* since when its blocks only waited; 0: they do not */
};

/* One launch. */
struct grid {
    const struct launch *launch;
    struct kernel *kernel;
    uint64_t block_count, serial;
    uint32_t cluster_size; /* blocks; 1: no clusters */
    uint64_t cluster_count;
    _Atomic uint64_t next_cluster; /* without clusters: a block */
    uint64_t workers;
    _Atomic int stop;
    _Atomic bool told_stuck;
    pthread_mutex_t lock; /* of the fault and of printf */
    struct fault *fault;
    uint32_t warps_per_block, threads_per_block;
    char *params;
    uint64_t param_bytes;
    uint64_t workspace; /* of a cooperative launch: zeroed memory for its barrier */
};

static inline struct isa_warp *block_warp(const struct block *block, uint32_t index)
{
    const struct isa_ops *isa = block->worker->grid->kernel->isa;
    return (struct isa_warp *)(void *)((char *)block->warps + index * isa->warp_bytes);
}

/* All its warps have. */
static inline bool block_has_ended(const struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (!block_warp(block, i)->ended)
            return false;
    return true;
}

/* Of a launch, before workers are made. Parameters are copied. */
void grid_init(struct grid *grid, const struct launch *launch, uint64_t serial, uint64_t workspace,
               struct fault *fault);
void grid_fini(struct grid *grid);

struct worker *worker_new(struct grid *grid);
void worker_free(struct worker *worker);
void worker_show(struct worker *worker); /* how far the launch is, if it is time */
/* The range that holds an address and that its blocks may touch, false when there is none; for a report of
 * such an address, where that is. */
bool worker_find(const struct worker *worker, uint64_t at, struct range *range);
void worker_describe(const struct worker *worker, uint64_t at, struct text *text);
struct block *worker_begin_block(struct worker *worker, uint64_t number);
void worker_end_block(struct worker *worker, struct block *block); /* to be used again */
void block_free(struct block *block);

/* Raises a fault of a thread (by its number in the block), unless there was one before. Does not return. */
_Noreturn void block_fault(struct block *block, uint32_t thread, enum fault_kind kind, uint64_t address,
                           const char *where, const char *what);

/* A worker whose block runs ahead of its turn: returns when it has the turn. */
void ahead_await(struct worker *worker);

/* Before an instruction by which a block may learn of others, or they of it. */
static inline void block_meets(struct block *block)
{
    struct worker *worker = block->worker;
    if (UNLIKELY(worker->is_ahead))
        ahead_await(worker);
    if (UNLIKELY(!block->before_meeting))
        block->before_meeting = worker->result.warp_instructions - block->clock_from;
}

void launch_add_counts(struct launch_result *sum, const struct launch_result *part);

/* For checkpoints: where it points to is written apart. */
struct delivery team_bare_delivery(const struct delivery *of);

#endif
