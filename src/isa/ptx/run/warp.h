/* Running warps, blocks and workers.
 *
 * A warp's threads run together. Where they diverge, a stack of levels records the position of each part: the
 * top level runs, and ends where its threads reconverge with the others (rpc); then the level below continues
 * with all. That is one fragment. When threads of a lower level must not wait for those above (a lock held by
 * one lane that another spins on; a barrier in one branch), they become a separate fragment, with its own
 * stack. Fragments take turns, and join again when they are at the same place. */
#ifndef PTX_RUN_WARP_H
#define PTX_RUN_WARP_H

#include "ptx_run/code.h"
#include "ptx_run/lanes.h"
#include "exec/block.h"

enum { LEVELS_MOST = 80 };

struct level {
    uint32_t pc, rpc; /* operations of the function that runs there */
    lanes mask;
    uint32_t frames; /* how many functions deep it is */
};

struct frame {
    const struct code *code;
    size_t registers_at;           /* in the warp's register file */
    uint64_t local_at, local_more; /* local memory: where the function's begins; what it allocated besides */
    uint32_t back;                 /* the call, in the caller's code; unused in the kernel's frame */
    uint32_t rpc;                  /* of the level that called */
};

/* What an operation on a barrier in memory found. On a GPU who waits for such a phase sleeps, and all wake
 * when it ends, before anyone can end the next one or make the barrier anew. */
enum wait {
    WAIT_NOT,
    WAIT_LONGER, /* for a phase that has not ended */
    WAIT_OVER,   /* a phase has ended: whoever waits for it must see that before this warp goes on */
};

enum fragment_state { FRAGMENT_READY, FRAGMENT_AT_BARRIER, FRAGMENT_AT_SYNC };

struct fragment {
    struct level levels[LEVELS_MOST];
    uint32_t depth;
    struct frame *frames;
    uint32_t frame_count, frame_capacity;
    enum fragment_state state;
    uint32_t barrier; /* it waits at */
    lanes waiting;    /* those who wait: the guard may leave some out */
};

struct warp {
    struct isa_warp isa;     /* first */
    char *registers;         /* of the function that runs */
    const struct code *code; /* that runs */
    struct fragment *now;    /* that runs */
    const struct op *at;     /* one instruction at a time: the next */
    lanes exists, alive;     /* threads there are; of these, who did not end */
    lanes arrived;           /* who came to the cluster's barrier, which is not open yet */
    uint32_t turn, slices;
    int32_t slice;  /* branches until others have their turn */
    uint32_t spins; /* reads of what others may be about to write */
    enum wait wait; /* of the operation just done */
    struct fragment *fragments[WARP_LANES];
    uint32_t fragment_count;
    char *file; /* registers of all frames */
    size_t file_bytes;
    char *local;           /* local memory: word by word, 32 lanes side by side */
    uint64_t local_bytes;  /* of a lane */
    uint64_t constants_of; /* the launch whose constants are in the file */
};

/* Raises a fault of the first of these lanes; does not return. The operation is one of the code, or a copy of
 * one, whose `more` it is. */
_Noreturn void warp_fault(struct warp *warp, const struct op *op, lanes who, enum fault_kind kind,
                          uint64_t address, const char *format, ...)
    __attribute__((format(__printf__, 6, 7), cold));

static inline struct warp *ptx_warp(struct isa_warp *warp)
{
    return (struct warp *)(void *)warp;
}

static inline struct warp *warp_of(const struct block *block, uint32_t index)
{
    return (struct warp *)(void *)block->warps + index;
}

static inline const struct ptx_kernel *warp_kernel(const struct warp *warp)
{
    return ptx_kernel_of(warp->isa.block->worker->grid->kernel);
}

/* What isa/warp.h asks for. */
enum isa_ran warp_run(struct isa_warp *warp);
bool warp_settle(struct isa_warp *warp);
void warp_step(struct isa_warp *warp, struct isa_stepped *stepped);
uint32_t warp_glide(struct isa_warp *warp, uint32_t most);
void warp_start(struct isa_warp *warp, lane_mask exists);
void warp_fini(struct isa_warp *warp);
bool ptx_block_force(struct block *block);
void ptx_block_describe(const struct block *block, struct text *text);
_Noreturn void ptx_block_report_deadlock(struct block *block);

/* Parts of it that single steps need, too. */
void warp_run_some(struct warp *warp, const struct op *op, lanes who);
void warp_join_fragments(struct warp *warp);
void warp_let_go(struct warp *warp);
void warp_check_limits(struct warp *warp, const struct op *op, lanes active); /* may be a fault */

struct fragment *fragment_new(struct warp *warp);
void fragment_push(struct fragment *fragment, struct frame frame);

/* The running fragment's threads of the top level become one that can wait alone. */
struct fragment *fragment_part(struct warp *warp, struct fragment *fragment);

/* Threads end. */
void warp_exit(struct warp *warp, lanes who);

/* Splits the running fragment's top level: some go to one operation, the others to another; all meet at
 * `join`. */
void fragment_diverge(struct warp *warp, uint32_t taken_pc, lanes taken, uint32_t other_pc, lanes other,
                      uint32_t join);

/* Functions: enters one for the active lanes (all of the top level); returns from it. */
void warp_enter(struct warp *warp, const struct op *op, const struct code *code);
void warp_return(struct warp *warp);
void warp_use_frame(struct warp *warp); /* after the fragment or its frames changed */
void warp_need_local(struct warp *warp, uint64_t bytes);
uint64_t warp_alloca_limit(const struct warp *warp); /* bytes of a thread's stack */
uint64_t warp_most_file(const struct warp *warp);    /* bytes that its registers of all calls can grow to */
uint64_t warp_most_local(const struct warp *warp);   /* bytes of a lane's local memory */
void warp_fill_constants(struct warp *warp, const struct code *code, lanes who, bool all);

/* Barriers (barrier.c) */
void ptx_block_check_barriers(struct block *block);

/* Clusters (cluster.c) */
void ptx_block_check_cluster(struct block *block);
void ptx_open_cluster(struct block *block);

/* What lanes that have ended would get does not matter: then a register is written as a whole. */
static inline lanes warp_writable(const struct warp *warp, lanes active)
{
    return active == warp->alive ? UINT32_MAX : active;
}

static inline void *warp_at(const struct warp *warp, uint32_t place)
{
    return warp->registers + place;
}

static inline uint32_t *warp_predicate(const struct warp *warp, uint32_t place)
{
    return (uint32_t *)(void *)(warp->registers + place);
}

/* The bits of a lane. */
static inline uint64_t lane_get(const void *place, uint32_t bytes, uint32_t lane)
{
    switch (bytes) {
    case 2:
        return ((const uint16_t *)place)[lane];
    case 4:
        return ((const uint32_t *)place)[lane];
    default:
        return ((const uint64_t *)place)[lane];
    }
}

static inline void lane_set(void *place, uint32_t bytes, uint32_t lane, uint64_t value)
{
    switch (bytes) {
    case 2:
        ((uint16_t *)place)[lane] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)place)[lane] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)place)[lane] = value;
    }
}

static inline void predicate_set(struct warp *warp, uint32_t place, lanes who, lanes value)
{
    uint32_t *at = warp_predicate(warp, place);
    *at = (*at & ~who) | (value & who);
}

#endif
