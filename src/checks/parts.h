/* The parts of a checked launch; for these files only. */
#ifndef CHECKS_PARTS_H
#define CHECKS_PARTS_H

#include "checks/checker.h"
#include "checks/past.h"
#include "checks/shadow.h"
#include "exec/block.h"
#include "exec/cga.h"
#include "exec/heap.h"
#include "exec/place.h"

/* ---- what is found, before it has words ---- */

/*    id, check, what; of the order of two accesses: the earlier, then the later */
#define KINDS(K)                                                                                             \
    K(BEYOND, memory, "access beyond its array in shared memory")                                            \
    K(READ_AFTER_WRITE, race, "read after write")                                                            \
    K(WRITE_AFTER_READ, race, "write after read")                                                            \
    K(WRITE_AFTER_WRITE, race, "write after write")                                                          \
    K(BEFORE_COPY_READ, race, "read of what an asynchronous copy may not have written yet")                  \
    K(BEFORE_COPY_WRITE, race, "write to where an asynchronous copy may still write")                        \
    K(UNWRITTEN, init, "read of memory that was never written")                                              \
    K(DIVERGENT, sync, "barrier that not all threads of the warp reach together")                            \
    K(OTHER_PLACE, sync, "threads of a block at different barriers")                                         \
    K(NOT_WARPS, sync, "barrier for a number of threads that is no multiple of the warp")                    \
    K(TOO_MANY, sync, "barrier for more threads than the block has left")                                    \
    K(MISSING, sync, "operation of a warp that waits for lanes which never come")                            \
    K(OUTSIDE, sync, "operation of a warp by lanes that its mask does not name")                             \
    K(LONELY, sync, "shuffle from a lane that takes no part")                                                \
    K(NO_BARRIER, sync, "use of a barrier in memory that was not initialized")                               \
    K(TWICE, sync, "initialization of a barrier in memory that is in use")

enum kind {
#define K(id, check, what) KIND_##id,
    KINDS(K)
#undef K
};

struct actor { /* a thread of a block */
    uint64_t block;
    uint32_t thread;
};

struct raw {
    uint8_t kind;
    bool is_shared, same_block;
    uint16_t first, second; /* sites; 0: none */
    uint64_t count, at;     /* of the first one: */
    uint32_t bytes;
    struct actor one, other;
    lane_mask lanes;
};

struct checked_code {
    const struct isa_code *code;
    uint16_t *sites; /* by instruction; 0: none yet */
    struct code_variable *variables;
};

struct site {
    const struct isa_code *code;
    uint32_t instruction;
    struct code_variable variable; /* that it accesses, if that is known */
};

/* ---- who accessed a place ---- */

struct accessor {
    uint32_t block, stamp;
    uint16_t thread : 10, strong : 1, is_async : 1, scope : 2, writes : 1; /* scope: enum access_scope */
    uint16_t site;                                                         /* 0: nobody */
};

struct cell {
    struct accessor write, read,
        other;       /* other: a reader of another warp; or a strong writer before `write` */
    uint32_t value;  /* written: equal for equal values */
    uint32_t serial; /* of a block, or a launch; another one: nobody accessed it */
};

struct cells { /* of a page of global memory; cells have 4 bytes, or 1 */
    struct cell *at;
    bool by_byte;
};

/* What is known of a place that synchronizes: in shared memory until its block ends. */
struct variable {
    uint64_t at; /* 0: free */
    struct past *past;
    uint32_t serial;
    bool is_barrier;
};

struct async_copy {
    uint64_t from, bytes; /* offset in shared memory */
    uint64_t barrier;     /* offset that says when it is done; or NO_BARRIER_AT: */
    uint32_t warp, group; /* groups of this warp's copies do */
};
#define NO_BARRIER_AT UINT64_MAX

/* Who has come to a barrier of the block. */
struct arrivals {
    uint32_t came;
    uint16_t site;     /* of the first */
    bool passes;       /* some do not wait */
    struct past *past; /* of those who do not wait */
    struct arrivals_warp {
        lane_mask lanes, waits, alive; /* alive: when one of them came */
        uint16_t site, other_site;     /* other_site: where lanes came that came apart; or 0 */
        bool aligned;
    } * warps;
};

/* The barrier of a cluster, by how often a thread has come: few generations are there at a time. */
enum { GENERATIONS = 4 };
struct checked_cluster {
    struct checked_cluster *made_before;
    struct past *past[GENERATIONS];
    uint64_t generation[GENERATIONS];
};

struct checked_block {
    struct checked_launch *launch;
    struct checked_block *next, *made_before;
    struct block *block;
    uint64_t number;
    uint32_t warps, lanes, threads, serial;
    uint32_t now, base;
    uint32_t *warp_base;
    struct past **acquired, **fenced; /* by thread */
    bool has_past;                    /* some of these are not NULL */
    struct arrivals barriers[BARRIERS + GROUP_BARRIERS];
    uint16_t *waits_at; /* by warp: a site where some wait for others of it */
    struct checked_cluster *cluster;
    uint32_t *cluster_came;     /* by thread */
    lane_mask *cluster_waits;   /* by warp */
    uint32_t *groups, *pending; /* by warp: asynchronous copies */
    struct async_copy *copies;
    size_t copy_count, copy_capacity;
    uint64_t shared_bytes, shared_room;
    struct cells shared;
    uint64_t *written; /* bits of shared memory */
};

struct checked_launch {
    struct observer observer; /* first */
    struct heap_observer heap;
    struct checker *checker;
    const struct launch *launch;
    uint64_t number;
    uint32_t checks, serial;
    struct isa_ops isa;
    const struct isa_ops *own;
    struct past_pool *pool;
    struct checked_block *unused, *all;
    struct checked_cluster *clusters;
    struct checked_code *codes;
    size_t code_count, code_capacity;
    struct site *sites; /* from 1 on */
    size_t site_count, site_capacity;
    struct raw *raws;
    size_t raw_count, raw_capacity;
    uint32_t *raw_slots; /* by hash: its place, from 1 on */
    size_t slot_count;
    struct variable *variables; /* by hash */
    size_t variable_count, variable_capacity;
};

struct checker {
    uint32_t checks;
    uint32_t serials;
    struct findings findings;
    struct shadow cells;   /* struct cells */
    struct shadow written; /* struct shadow_bits */
};

static inline bool checks_wants(const struct checked_block *own, enum check check)
{
    return own->launch->checks >> check & 1;
}

/* An access by one lane. */
struct touch {
    struct checked_block *own;
    uint32_t warp, lane, thread;
    uint16_t site;
    bool reads, writes, strong, is_async, has_value;
    uint8_t scope;
    uint32_t value;
};

/* ---- calls between the files ---- */

/* raws.c */
uint16_t site_of(struct checked_launch *launch, const struct isa_code *code, uint32_t instruction);
void raw_add(struct checked_launch *launch, const struct raw *raw);
void raws_tell(struct checked_launch *launch); /* to the findings */

/* A mistake by lanes of a warp; first: of two places, or 0. */
void raw_add_sync(struct checked_block *own, enum kind kind, uint16_t first, uint16_t site, uint32_t warp,
                  lane_mask lanes);

/* ordering.c: what synchronizes */
struct past *ordering_release(struct checked_block *own, uint32_t warp, lane_mask lanes, bool narrow);
void ordering_acquire(struct checked_block *own, uint32_t warp, lane_mask lanes, struct past *past);
void ordering_fence(struct checked_block *own, uint32_t warp, lane_mask lanes, bool narrow);
void ordering_gathered(struct checked_block *own, const struct gathering *gathering);
void ordering_arrived(struct checked_block *own, uint32_t warp, uint16_t site);
void ordering_opened(struct checked_block *own);
struct checked_cluster *ordering_cluster_new(struct checked_launch *launch);
void ordering_cluster_arrives(struct checked_block *own, uint32_t warp, lane_mask lanes);
void ordering_cluster_went_on(struct checked_block *own, uint32_t warp);
struct variable *ordering_variable(struct checked_block *owner, uint64_t at, bool is_shared, bool make);
bool ordering_is_before(const struct touch *touch, const struct accessor *earlier);

/* race.c: `offset` in the shared memory of a block, or an address of global memory */
void race_shared(const struct touch *touch, struct checked_block *owner, uint64_t offset, uint32_t bytes);
void race_global(const struct touch *touch, uint64_t at, uint32_t bytes);
void race_forget(struct checker *checker, uint64_t at, uint64_t bytes); /* global memory: it is new */
void race_copies_done(struct checked_block *own, uint32_t warp, uint32_t groups_left);
void race_copies_come(struct checked_block *own, uint64_t barrier);
void race_copy_begins(struct checked_block *owner, const struct async_copy *copy);
void cells_fini(void *cells);

/* touches.c: what an instruction's request says */
void touches_see(struct checked_block *own, const struct isa_warp *warp, uint16_t site);

#endif
