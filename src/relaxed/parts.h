/* The data structures of an SM (for this folder only). */
#ifndef RELAXED_PARTS_H
#define RELAXED_PARTS_H

#include "itrace/istream.h"
#include "relaxed/memory.h"
#include "relaxed/phaser.h"

/* Epochs take a host some 0.1 ms. A thread that sleeps must be woken by one for which all others wait. */
enum { SPINS_OWN_CORE = 20000, SPINS_SHARED_CORE = 2000 };

enum { BARRIERS = 16, COPY_GROUPS = 8, WHEEL = 256, LSU_QUEUE_MOST = 16 };

struct relaxed_block {
    bool lives;
    uint64_t number;
    uint32_t alive, warps_left;
    const struct chunk_warp *streams;                                   /* of its warps */
    uint32_t arrived[BARRIERS], expected[BARRIERS], openings[BARRIERS]; /* threads; times that it opened */
    uint64_t written;                                                   /* when its last store is done */
    uint64_t waiting[RELAXED_SUBCORES]; /* warps that are inactive, a bit each: by sub-core */
};

struct relaxed_warp {
    struct istream_reader stream;
    const struct isa_code *code;
    const struct isa_timing *timing; /* the next instruction */
    uint64_t *board;                 /* by register: the cycle from which it can be used */
    lane_mask exists;
    bool has_run;
    uint8_t subcore, slot, place; /* place: the unit that it wants next */
    uint32_t done;                /* instructions of the run that were taken */
    uint32_t block;               /* of the part's */
    uint32_t index;               /* in the block */
    uint64_t age;
    uint64_t earliest; /* it cannot issue before */
    /* an instruction of several steps, while step > 0 */
    uint32_t step;
    bool memory_result;
    bool branched, diverged, moved, waits;
    uint32_t sleep_ns;
    lane_mask active;
    uint64_t result_at, chain_at;
    uint64_t code_line, code_at; /* that it is in, and when it came */
    uint64_t loaded;             /* when its last load is there */
    uint32_t board_capacity, context_capacity;
    uint32_t group; /* of asynchronous copies */
    uint32_t arrivals[BARRIERS];
    uint64_t group_at[COPY_GROUPS];
    uint32_t counted[ISA_COUNTERS];                 /* operations that a counter counts */
    uint64_t counted_at[ISA_COUNTERS][ISA_COUNTED]; /* when the last ones, and all before, are done */
};

/* Units that the warps of an SM share. Where the SM is shared by threads, ports say who has them when. */
struct relaxed_sm {
    _Alignas(CACHE_LINE) uint32_t number;
    uint32_t parts; /* of it, that different threads have */
    struct relaxed_store l1, code[RELAXED_LEVELS - 1], constants[2];
    struct relaxed_store near_code[RELAXED_SUBCORES];
    struct relaxed_port requests, replies; /* to and from the crossbar */
    /* of a shared SM: */
    struct relaxed_port *issue;  /* by sub-core */
    struct relaxed_port *units;  /* by sub-core and unit */
    struct relaxed_port *common; /* by unit: those that sub-cores share */
    struct relaxed_port pipeline;
};

struct relaxed_thread;
struct relaxed_kernel;

struct relaxed_due {
    uint64_t warps; /* a bit each */
    uint64_t units; /* that become free, a bit each: those who wait for them come back */
};

/* Passes that a pattern of addresses in shared memory takes: few recur again and again. Where lanes go from
 * the first of them is all that counts, as banks turn with it. */
struct relaxed_banks {
    uint32_t offsets[ISA_LANES];
    lane_mask who; /* 0: nothing is remembered here */
    uint32_t bytes, first_byte, passes;
};
enum { BANK_PATTERNS = 16 };

/* An SM, or what a thread has of one: warps in three queues. Those that are ready ask for a unit; those that
 * execute come back at a known cycle; inactive ones wait for others of their block. */
struct relaxed_part {
    _Alignas(CACHE_LINE) struct relaxed *gpu;
    struct relaxed_sm *sm;
    struct relaxed_thread *thread;
    uint64_t clock;
    uint64_t ready[RELAXED_SUBCORES]; /* the ready queue: a bit for each warp. The execute queue: */
    uint64_t used[WHEEL / 64];        /* cycles that wheel has something for */
    struct relaxed_due *wheel;        /* by the cycle, and by sub-core: who comes back */
    uint64_t wake_at[RELAXED_SUBCORES][RELAXED_SLOTS];
    uint64_t parked[RELAXED_SUBCORES][UNIT_COUNT]; /* warps that wait for a unit */
    uint64_t wants[RELAXED_SUBCORES][UNIT_COUNT];  /* warps by the unit of their next instruction */
    uint64_t taken[RELAXED_SUBCORES];              /* warps that live */
    uint32_t last[RELAXED_SUBCORES];
    uint32_t next_subcore;
    struct relaxed_warp *warps; /* sub-core by sub-core, RELAXED_SLOTS each */
    struct relaxed_block *blocks;
    uint32_t block_capacity;
    /* units, where no other thread has a part of the SM */
    uint64_t unit_free[RELAXED_SUBCORES][UNIT_COUNT], common_free[UNIT_COUNT];
    uint64_t issue_free[RELAXED_SUBCORES]; /* nothing issues before */
    uint64_t pipeline_free;                /* in parts of a cycle */
    uint64_t memory_begins[RELAXED_SUBCORES][LSU_QUEUE_MOST];
    uint32_t memory_next[RELAXED_SUBCORES];
    uint64_t stores[RELAXED_STORES_MOST]; /* when the last ones are done: a ring */
    uint32_t store_next, store_room;
    uint64_t drained;    /* when its last store is done */
    uint64_t next_start; /* of a block */
    uint64_t ages;
    uint32_t warps_now, blocks_now, resident;
    uint64_t held_since; /* warp_cycles are counted up to this cycle */
    /* blocks of the launch that it will have */
    uint64_t next_block;
    struct request request;
    struct relaxed_banks banks[BANK_PATTERNS];
    struct relaxed_counts counts;
    struct relaxed_asker asker;
    uint32_t pipeline_carry, request_carry, reply_carry; /* parts of cycles not yet charged (port.h) */
    bool timed;                                          /* now: where time goes */
    uint64_t lap_at;
    uint64_t laps[RELAXED_TIMES];
};

struct relaxed_kernel {
    struct itrace_reader *reader;
    const struct itrace *trace;
    const struct itrace_launch *launch;
    const struct itrace_kernel *of;
    size_t number; /* of the launch */
    struct istream_codes codes;
    uint64_t code_at; /* its code, for instruction caches */
    uint64_t params_at;
    uint64_t block_count, base; /* base: the cycle it begins in */
    uint32_t warps_per_block, threads_per_block;
    uint32_t blocks_per_sm;
};

struct relaxed_thread {
    _Alignas(CACHE_LINE) struct relaxed *gpu;
    unsigned number;
    pthread_t handle;
    struct relaxed_part **parts;
    uint32_t part_count;
    uint64_t ticks; /* in parts */
    uint64_t phaser_ticks, phaser_waits;
    uint64_t arrived_at; /* the kernel's end: ticks */
};

struct relaxed {
    struct relaxed_spec spec;
    struct relaxed_options options;
    struct relaxed_memory memory;
    struct relaxed_sm *sms;
    struct relaxed_part *parts;
    uint32_t part_count;
    struct relaxed_thread *threads;
    struct relaxed_phaser phaser;
    struct relaxed_kernel kernel;
    struct gate go, ended; /* a launch begins; all threads have ended it */
    _Atomic uint32_t arrived;
    uint64_t ended_at; /* when the last thread arrived: ticks */
    _Atomic bool failed, quit;
    struct err why;
    pthread_mutex_t lock; /* of why */
    uint64_t clock;       /* up to which launches were simulated */
    uint64_t step;        /* cycles: threads signal that they have ended one */
    unsigned spins;       /* before a thread that waits lends its core */
    uint64_t params;      /* launches so far */
};

/* Says once what is wrong; all threads end. */
void relaxed_fail(struct relaxed *gpu, const char *format, ...) __attribute__((format(__printf__, 2, 3)));

/* ---- streams (stream.c) ---- */

/* Goes to the warp's next instruction. False: it waits for others, or has ended (then *ended). */
bool relaxed_settle(struct relaxed_part *part, struct relaxed_warp *w, bool *ended);
/* Takes it: what it wants of memory is in part->request. Gives the lanes whose guard holds. */
lane_mask relaxed_step(struct relaxed_part *part, struct relaxed_warp *w);
void relaxed_open(struct relaxed_part *part, struct relaxed_warp *w);
/* The streams of all its warps are at hand from now on, and until it ends. False: the launch failed. */
bool relaxed_open_block(struct relaxed_part *part, struct relaxed_block *block);
void relaxed_close_block(struct relaxed_part *part, struct relaxed_block *block);

/* ---- blocks (blocks.c) ---- */

void relaxed_begin_blocks(struct relaxed_part *part); /* those that fit, at first */
void relaxed_warp_ended(struct relaxed_part *part, struct relaxed_warp *w);
void relaxed_wake_block(struct relaxed_part *part, struct relaxed_block *block);

/* ---- issue (issue.c) ---- */

/* Finds when the warp's next instruction can issue, and puts it into a queue. */
void relaxed_prepare(struct relaxed_part *part, struct relaxed_warp *w);
/* Simulates up to a cycle. False: all blocks have ended. */
bool relaxed_part_run(struct relaxed_part *part, uint64_t until);

/* ---- memory instructions (access.c) ---- */

/* Gives the cycle from which on the results can be used. */
uint64_t relaxed_access(struct relaxed_part *part, struct relaxed_warp *w);
/* The cycle from which on a memory instruction can issue. */
uint64_t relaxed_access_room(const struct relaxed_part *part, const struct relaxed_warp *w);
/* Cycles until the line of code is there; 0: it is. */
uint64_t relaxed_fetch(struct relaxed_part *part, struct relaxed_warp *w, uint64_t line, uint64_t now);

static inline struct relaxed_warp *relaxed_warp_at(const struct relaxed_part *part, uint32_t subcore,
                                                   uint32_t slot)
{
    return &part->warps[subcore * RELAXED_SLOTS + slot];
}

static inline uint64_t relaxed_code_line(const struct relaxed_part *part, const struct isa_code *code,
                                         uint64_t step)
{
    return (part->gpu->kernel.code_at + code->code_at + step * code->step_bytes) >>
           part->sm->near_code[0].shift;
}

/* Time since the last lap was spent so. */
static inline void relaxed_lap(struct relaxed_part *part, enum relaxed_share share)
{
    if (LIKELY(!part->timed))
        return;
    uint64_t now = host_ticks();
    part->laps[share] += now - part->lap_at;
    part->lap_at = now;
}

#endif
