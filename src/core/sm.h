/* A streaming multiprocessor: sub-cores that issue warps' instructions, the memory pipeline, caches. It is a
 * component on its own island. It exchanges messages with the memory system (mem/message.h) and with the
 * dispatcher (messages below). Inside, time is counted in cycles of its clock.
 *
 * The instruction set defines what an instruction does (isa/warp.h) and which machine instructions it becomes
 * (isa_timing). The description says what these cost (core/spec.h). */
#ifndef CORE_SM_H
#define CORE_SM_H

#include "cache/mshr.h"
#include "cache/tags.h"
#include "core/counters.h"
#include "core/spec.h"
#include "base/probe.h"
#include "exec/cga.h"
#include "exec/team.h"
#include "mem/memsys.h"
#include "mem/space.h"

enum {
    SM_SUBCORES = 8,     /* at most */
    SUBCORE_WARPS = 32,  /* at most */
    SM_KERNELS = 32,     /* at a time */
    SM_PRODUCTS = 8,     /* groups of wgmma of a warp that are told apart */
    SM_COPY_GROUPS = 32, /* asynchronous copies of a warp: groups that are told apart */
    SM_BULK_GROUPS = 8,  /* the same of bulk copies */
};

/* From and to the dispatcher. */
/* SM_SETTLED: the last write of a block has arrived that ended before it. SM_TRIGGERED: a block lets
 * dependent kernels start. SM_RELEASE: the kernels that one depends on have ended. */
enum sm_message { SM_BEGIN, SM_ENDED, SM_SETTLED, SM_FAULT, SM_TRIGGERED, SM_RELEASE };

struct sm_block_message {
    uint64_t number; /* of the block; SM_RELEASE: the kernel's serial */
    uint32_t kernel; /* slot */
    /* SM_ENDED: 1 when */
    uint16_t writes;    /* some are under way, so that SM_SETTLED will follow */
    uint16_t triggered; /* SM_TRIGGERED was sent */
};

/* Follows SM_BEGIN of a block of a cluster: the SM of each of its blocks, by rank. */
struct sm_cluster_message {
    struct sm_block_message block;
    uint16_t sms[CLUSTER_MOST];
};

/* A kernel that may have blocks on SMs; written while nothing runs. */
struct sm_launch {
    const struct launch *launch; /* NULL: none */
    uint64_t serial;             /* of all launches: another number for each */
    uint64_t workspace;          /* of grid-wide barriers */
    uint64_t code_at;            /* where its code lies, for instruction caches */
    uint32_t shared_bytes;       /* that SMs set aside of their L1 for shared memory while it runs */
    bool profile;                /* counts for each operation */
    bool depends;                /* on other kernels: its blocks may wait for SM_RELEASE */
};

struct sm_config {
    const struct sm_spec *spec;
    const struct tlb_spec *tlb;
    uint64_t clock_hz;
    uint32_t subcores, warps_per_subcore, blocks;
    const struct sm_launch *launches; /* [SM_KERNELS] */
    const struct space *space;        /* which changes between runs alone */
    uint32_t home;                    /* the GPU's own memory, in physical addresses */
    uint32_t first_sm;                /* what programs call its GPU's first SM: %smid */
    bool is_elsewhere;                /* on another rank: nothing is made but the component's ports */
    bool is_member; /* of a unified GPU: what is visible to the GPU is so to other members */
    struct memsys *mem;
    const struct probe *probe; /* who is told of blocks, requests and translations */
    uint32_t sms_per_tpc;      /* that are near each other: numbers in a row */
    bool has_clusters;         /* it is plugged into the network between SMs */
    uint64_t launch_ps;        /* from a kernel's call that launches another to where launches begin */
    uint64_t siblings_ps;      /* how long messages to SMs that share caches take; 0: there are none */
};

struct printed { /* up to this byte it was printed at this time */
    uint64_t cycle;
    size_t end;
};

/* What an SM knows of one kernel. */
struct sm_kernel {
    struct team *team;
    const struct isa_ops *isa;
    const struct isa_code *code; /* of its own, without functions it calls */
    uint64_t serial;
    struct sm_counters counters;
    struct op_profile *profile;
    uint32_t blocks_now;
    uint64_t since; /* cycle from which blocks_now and warps_now are counted */
    uint32_t warps_now;
    struct text text; /* of printf */
    size_t text_seen;
    struct printed *printed;
    size_t printed_count, printed_capacity;
};

struct sm *sm_new(const struct sm_config *config, uint32_t number);
void sm_free(struct sm *sm);

/* As a component: its ports are "requests,replies,orders,reports,translations,siblings,cluster,multicast".
 * SMs are plugged into the links of the last three in the order of their numbers. */
extern const struct component_ops sm_ops;
struct component *sm_component(struct sm *sm, struct engine *engine, struct island *island, const char *name);

/* Whether it is on this rank: else it is only a name, and what follows does nothing. */
bool sm_is_here(const struct sm *sm);

/* Between runs, at this time: caches forget; what it knows of a kernel, whose slot is free afterwards. */
void sm_forget(struct sm *sm, uint64_t time);
void sm_forget_data(struct sm *sm, uint64_t time); /* code stays */
void sm_forget_places(struct sm *sm);              /* the page table has changed */
/* Addresses of lines of code that came from memory since sm_clear_new_code, whose first call begins this; and
 * the SM's caches get such lines. */
const uint64_t *sm_new_code(const struct sm *sm, size_t *count);
void sm_clear_new_code(struct sm *sm);
void sm_add_code(struct sm *sm, const uint64_t *lines, size_t count);
struct sm_kernel *sm_kernel(struct sm *sm, uint32_t slot);
void sm_count_kernel(struct sm *sm, uint32_t slot); /* what goes on, up to now */
void sm_end_kernel(struct sm *sm, uint32_t slot);

/* What it does now, between windows: its warps by why they wait (STALL_not_selected: they can issue). */
struct sm_view {
    uint32_t number, blocks, warps, warps_most;
    uint32_t by_reason[STALL_COUNT];
    uint64_t instructions; /* of the kernels that are here */
};
void sm_look(const struct sm *sm, struct sm_view *view);
bool sm_where_any(const struct sm *sm, uint32_t *at, struct text *text); /* the next block from `at` on */
bool sm_where(const struct sm *sm, uint32_t slot,
              struct text *text); /* a block of it; false: there is none */
void sm_abandon(struct sm *sm);   /* ends all blocks, wherever they are */
void sm_stop(struct sm *sm);      /* and takes no notice of what still comes; for good */

/* When nothing is left to happen: at `time`, threads go on that wait for others in vain; or if there are
 * none, where blocks wait, that is a fault of the kernel. */
void sm_post_unlock(struct sm *sm, struct engine *engine, uint64_t time);

#endif
