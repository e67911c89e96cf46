/* The data structures of an SM; for this room only. */
#ifndef CORE_PARTS_H
#define CORE_PARTS_H

#include "core/banks.h"
#include "core/sm.h"
#include "base/clock.h"
#include "mem/cache.h"

/* A register's value can be used from this cycle on, times RESULT_KINDS, plus its enum unit_result. PENDING:
 * not known yet. */
#define PENDING UINT64_MAX
#define NO_SLOT UINT32_MAX

enum { LSU_PARTS = 64 };

enum sm_warp_state {
    WARP_NONE,
    WARP_READY,    /* has an operation that can issue from ready_at on */
    WARP_REGISTER, /* waits for a register's value */
    WARP_BARRIER,  /* for others */
    WARP_STORES,   /* for its writes to be seen: a fence */
    WARP_LOADS,    /* for all its loads: before a call, at a fence */
    WARP_COPIES,   /* for asynchronous copies */
    WARP_DRAIN,    /* has ended, its writes are under way */
    WARP_ROOM,     /* for the crossbar, or for writes under way to become fewer */
    WARP_GRID,     /* for kernels that its own depends on */
};

struct sm_warp {
    /* what every instruction needs: two lines of the host's cache */
    _Alignas(64) struct isa_warp *exec;
    struct sm_kernel *kernel;
    struct sm_block *block;
    uint64_t *board;                  /* by register: cycle * RESULT_KINDS + kind */
    uint64_t since;                   /* up to here its time is accounted for */
    const struct isa_timing *timing;  /* of its next operation, or of the one under way; */
    const struct isa_step *steps;     /* the machine instructions that this becomes, */
    uint16_t step;                    /* and how many of them were issued already */
    uint8_t state;                    /* enum sm_warp_state */
    uint8_t place;                    /* sub-core * SUBCORE_WARPS + place in it */
    struct op_profile *profile;       /* of the kernel's, what it does is counted in; or NULL */
    uint64_t code_base;               /* of its kernel's code */
    uint64_t code_line;               /* that was fetched last, + 1 */
    const struct isa_code *under_way; /* whose operation was issued last */
    uint32_t loads;                   /* under way: instructions */
    uint32_t waits_for;               /* register */
    uint8_t reason;                   /* of its waiting: enum stall */
    bool fence_waited;                /* at a fence: there were writes under way */
    /* of an operation that becomes several machine instructions, while step > 0 */
    bool memory_result;
    struct isa_stepped stepped;
    uint64_t result_at, chain_at; /* of all steps; of the last that others wait for: as on the board */
    /* what few need */
    uint32_t board_capacity;
    uint64_t code_first;                 /* line that it began with */
    uint64_t code_at;                    /* when the line of code was there */
    uint64_t drained_at;                 /* when its last write has left the memory pipeline */
    uint64_t fence_from;                 /* since when it is at a fence; 0: it is not */
    uint32_t counted[ISA_COUNTERS];      /* operations that began, of each counter; */
    uint32_t settled[ISA_COUNTERS];      /* the first so many are done, */
    uint64_t settled_at[ISA_COUNTERS];   /* at this time, as on the board */
    uint32_t group;                      /* of asynchronous copies: the open one */
    uint32_t group_left[SM_COPY_GROUPS]; /* copies under way */
    uint32_t bulk_group;                 /* of bulk copies from shared memory: the open one */
    uint64_t bulk_done[SM_BULK_GROUPS];  /* when they are done */
    uint32_t products;                   /* groups of wgmma that it closed */
    uint64_t product_at;                 /* when the last of them is done */
    uint64_t products_at[SM_PRODUCTS];   /* when groups were: a ring */
};

struct sm_block {
    struct block *exec; /* NULL: the slot is free */
    struct sm_kernel *kernel;
    uint64_t number;
    uint32_t slot, warps_left;
    uint32_t waiting;    /* warps at a barrier */
    bool triggered;      /* kernels that depend on its own may start, as far as it is concerned */
    uint32_t writes;     /* its place in the SM's */
    uint64_t drained_at; /* when the last write of all warps has left */
    uint16_t warps[SM_SUBCORES * SUBCORE_WARPS]; /* numbers in the SM */
};

struct subcore {
    uint32_t ready_at[SUBCORE_WARPS]; /* low bits of the cycle */
    uint32_t runnable;                /* a bit for each warp that is WARP_READY */
    uint32_t last;                    /* that issued */
    uint32_t active;                  /* two_level: those looked at */
    uint32_t memory_next;             /* of memory_begins: the oldest, which the next one replaces */
    uint64_t dispatch_free;           /* when its registers have been read for the last instruction */
    uint8_t unit[SUBCORE_WARPS];      /* of a warp that is WARP_READY: what it would issue to, */
    uint8_t throttle[SUBCORE_WARPS];  /* and as what it waits while that is busy: enum stall */
    uint64_t unit_free[UNIT_COUNT];   /* by the unit whose place is taken: unit_cost.place */
    uint64_t memory_begins[16];       /* of the last memory instructions: a ring of lsu_queue */
    uint32_t older[SUBCORE_WARPS];    /* by warp: a bit for each one that started before it, */
    uint32_t younger[SUBCORE_WARPS];  /* or after it */
    const struct sm_warp *reader;     /* whose instruction was the last, and what it read */
    uint16_t read[8];
    uint8_t read_count;
};

/* Caches of code or of constants, from the nearest on. Of code only tags and times are modelled. */
enum { FETCH_LEVELS_MOST = 3 };

struct fetch_level {
    struct cache *caches;       /* one, or one of each sub-core */
    uint32_t count;             /* of them */
    uint32_t latency, interval; /* cycles until what is found here comes; 0: it is at hand */
};

struct fetch_levels {
    uint32_t count;
    uint32_t own;       /* the first so many are of sub-cores, which no group shares */
    uint64_t forgot_at; /* when all of it was forgotten last: ps */
    struct fetch_level at[FETCH_LEVELS_MOST + 1]; /* the last one has no caches: what is behind them all */
};

enum {
    CONSTANT_LINE = 64, /* of a line of constants, in the nearest cache and in the one behind it */
    CONSTANT_LINE_BEHIND = 256,
    CONSTANT_MISSES = 32 /* lines under way */
};

/* Room for loads of an SM at first: pages of the host that are never touched cost nothing. */
enum { LOADS_AT_FIRST = 512 };

/* A load, atomic or copy whose values are under way. */
struct load {
    struct delivery of;
    struct sm_warp *warp;
    struct op_profile *profile; /* of the operation that asks, or NULL */
    uint64_t ready_at;
    uint32_t lines_left;
    uint32_t next; /* free */
    uint32_t group;
    const struct isa_code *code; /* of the instruction that asks, */
    const struct isa_timing *timing;
    uint8_t writes;                 /* and how many of the registers that it writes wait for this */
    uint8_t result;                 /* enum unit_result: how others get it */
    uint32_t counted[ISA_COUNTERS]; /* registers of the operation that it is of, or NO_SLOT */
    uint32_t block_writes;          /* of a store that is counted: its block's place in the SM's */
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    bool pieces_ascend;   /* by address, none longer than a line */
    unsigned char *stage; /* of.stage_bytes: the request's; or, of any other than pieces, lanes' bytes */
    size_t stage_capacity;
};

/* Writes of a block that are under way. A block ends before they arrive, a kernel does not. */
struct writes {
    struct sm_block *block; /* NULL: it has ended */
    uint32_t kernel;        /* slot, or SM_KERNELS: nobody wants to know */
    uint32_t lines;
    uint32_t next; /* free */
};

struct outgoing { /* a message that waits for room on the crossbar */
    uint64_t at;  /* when it was to leave: time */
    uint32_t to;
    uint32_t wire_bytes;
    uint16_t bytes;
    uint8_t kind;
    unsigned char payload[MEM_PAYLOAD_MOST];
};

struct untranslated { /* what waits for its page to be known: */
    uint64_t page;
    uint32_t load;           /* a load, whose line was looked up; or NO_SLOT: */
    struct outgoing message; /* a message */
};

struct sm {
    /* what every cycle needs, side by side */
    uint64_t cycle;                    /* now */
    uint64_t next_at[SM_SUBCORES];     /* a sub-core can issue nothing before */
    struct sm_warp *warps;             /* sub-core by sub-core */
    uint32_t turn_cycles, turn_issues; /* as the description has them */
    struct sm_config config;
    struct clock_domain clock;
    uint64_t lsu_free, lds_free;      /* in parts of a cycle: LSU_PARTS; of shared memory, if it is apart */
    uint64_t bulk_free;               /* likewise, of bulk copies */
    uint64_t shared_free[UNIT_COUNT]; /* likewise, where sub-cores share it */
    uint64_t product_memory_free;     /* what wgmma reads of shared memory: quarters of a cycle */
    struct unit_cost cost[UNIT_COUNT];
    uint8_t crossing[RESULT_KINDS][UNIT_COUNT]; /* cycles from where a value comes from to the unit */
    struct subcore subcores[SM_SUBCORES];
    struct banks banks;

    uint32_t number;
    uint32_t overhead_bytes; /* of a message on the crossbar */
    struct component *component;
    struct port *requests, *replies, *reports, *translations;
    uint64_t fence_free; /* when the next fence can begin */
    struct cache l1;
    uint32_t code_line_shift;
    bool notes_code; /* lines that came from memory, as sm_new_code tells: */
    uint64_t *new_code;
    size_t new_code_count, new_code_capacity;
    bool keeps_peers;     /* the GPU, lines of other GPUs' memory (mem/peer_cache.h) */
    uint32_t memory_line; /* bytes of a line of L2: what messages are about. L1 may have shorter ones */
    uint32_t l1_shared;   /* bytes that shared memory takes now */
    bool l1_has_local;    /* lines of local memory may be there */
    struct space_block last_block; /* of the page table, that an address was in */
    struct load *loads;
    uint32_t load_count, load_capacity, free_load;
    struct writes *writes;
    uint32_t writes_count, writes_capacity, free_writes;
    uint32_t request_serial;                    /* of the next one: l1.h */
    uint32_t loads_under_way, stores_under_way; /* instructions; lines */
    uint32_t reductions_under_way;              /* lanes of atomic operations without a result */
    bool room_wanted;                           /* some warp is WARP_ROOM */
    uint32_t *ending;                           /* loads that a line ends */
    uint32_t ending_capacity;
    struct outgoing *outgoing; /* a ring */
    uint32_t outgoing_first, outgoing_count, outgoing_capacity;
    bool translates;                   /* which takes time */
    struct tlb tlb;                    /* its own entries, or none */
    struct untranslated *untranslated; /* in order */
    uint32_t untranslated_count, untranslated_capacity;
    struct fetch_levels code, constants;
    struct port *siblings;                     /* SMs that share them; NULL: none */
    struct port *cluster, *multicast;          /* SMs of the GPU; NULL: it has no clusters */
    uint64_t constants_asked[CONSTANT_MISSES]; /* by miss: when, for siblings; ps */

    uint32_t next_subcore;
    struct sm_block *blocks;
    uint32_t blocks_now, warps_now;
    uint64_t next_start; /* cycle in which the next block can start */
    struct fault fault;
    jmp_buf on_fault;
    uint32_t kernels_made; /* no slot from here on was ever used: pages of the host that are not there */
    struct sm_kernel kernels[SM_KERNELS];
    uint32_t released; /* kernels that need not wait for others any more: a bit each */
    bool stopped;      /* what it was at is gone: messages to it are dropped */
};

static inline uint32_t sm_warp_count(const struct sm *sm)
{
    return sm->config.subcores * sm->config.warps_per_subcore;
}

static inline struct sm_warp *sm_warp_of(const struct sm *sm, uint32_t subcore, uint32_t lane)
{
    return &sm->warps[subcore * sm->config.warps_per_subcore + lane];
}

static inline uint64_t sm_time(const struct sm *sm, uint64_t cycle)
{
    return clock_time(&sm->clock, cycle);
}

/* The registers that an instruction writes can be used from then on: as on the board, or PENDING. */
static inline void sm_warp_set_results(struct sm_warp *w, uint32_t slots_at, const struct isa_timing *timing,
                                       const uint16_t *registers, uint64_t ready)
{
    for (uint32_t i = timing->reads; i < (uint32_t)timing->reads + timing->writes; i++)
        w->board[slots_at + registers[i]] = ready;
}

/* What a warp did up to a cycle. */
static inline void sm_warp_account(struct sm_warp *w, uint64_t until, enum stall why)
{
    if (until <= w->since)
        return;
    uint64_t cycles = until - w->since;
    w->since = until;
    w->kernel->counters.stalls[why] += cycles;
    if (w->profile)
        w->profile->stalls[why] += cycles;
}

/* Which warp of those that could (schedule.c) */
typedef uint32_t sm_schedule_fn(struct sm *sm, struct subcore *sub, uint32_t ready);
sm_schedule_fn *sm_schedule_policy(uint32_t choice);

/* Sub-cores (subcore.c): issues what it can in this cycle, if it is its turn. */
void subcore_issue(struct sm *sm, uint32_t number, sm_schedule_fn *schedule);

/* Warps (warp.c) */
void sm_warp_ready(struct sm *sm, struct sm_warp *w, uint64_t at, enum stall why);
void sm_warp_block(struct sm *sm, struct sm_warp *w, enum sm_warp_state state, enum stall why);
/* wgmma (products.c): an operation has been issued; its group is closed; when the groups but the last
 * `allowed` are done. */
void sm_product_issued(struct sm *sm, struct sm_warp *w);
void sm_products_committed(struct sm_warp *w);
uint64_t sm_products_done(const struct sm_warp *w, uint32_t allowed);

void sm_warp_crossings(struct sm *sm);                  /* fills sm->crossing */
void sm_warp_prepare(struct sm *sm, struct sm_warp *w); /* its next operation: when can it issue? */
void sm_warp_release(struct sm *sm, struct sm_warp *w); /* what it waited for may be there */
/* Its unit is free. False: something else is not, and it waits for that. */
bool sm_warp_issue(struct sm *sm, struct subcore *sub, struct sm_warp *w);

/* Bulk copies (bulk.c) */
bool bulk_is_one(const struct request *request);
void bulk_issue(struct sm *sm, struct sm_warp *w, const struct request *request,
                const struct isa_timing *timing);
void bulk_commit(struct sm_warp *w);
uint64_t bulk_done(const struct sm_warp *w, uint32_t allowed); /* the cycle, of all groups but so many */

/* Other blocks of a cluster, on other SMs (dsm.c): lanes' loads; stores; atomic operations and signals,
 * of which the load, if one is given, gets the old values. */
struct cga;
void dsm_load(struct sm *sm, struct load *load, lane_mask lanes, uint64_t cycle);
void dsm_store(struct sm *sm, struct sm_warp *w, const struct request *request, uint64_t cycle);
void dsm_atomic(struct sm *sm, struct sm_warp *w, struct load *load, const struct request *request,
                uint64_t cycle);
/* Of bulk copies to other blocks: a piece that is there, or nothing of which is in memory; sectors of a line
 * that a load brought; signals to the barriers that count the bytes, behind all of them. */
void dsm_put_piece(struct sm *sm, struct sm_warp *w, const struct delivery *of, const struct piece *piece,
                   uint64_t cycle);
void dsm_pass_on(struct sm *sm, const struct load *load, uint64_t line, uint32_t sectors,
                 const unsigned char *data);
void dsm_put_signals(struct sm *sm, struct sm_warp *w, const struct delivery *of, bool is_multicast,
                     uint64_t cycle);
/* A block's threads have come to the cluster's barrier; it ends; whose barrier may be open goes on. */
void dsm_came(struct sm *sm, struct sm_block *block);
void dsm_left(struct sm *sm, const struct sm_block *block);
void dsm_wake(struct sm *sm, const struct cga *cluster);
void dsm_arrive(struct sm *sm, const struct event *event);

/* A load whose values are under way (lsu.c). */
struct load *lsu_begin_load(struct sm *sm, struct sm_warp *w, const struct request *request,
                            const struct isa_timing *timing);

/* Blocks (block.c) */
/* `sms`: of a block of a cluster, the SM of each of its blocks; else NULL. */
void sm_block_begin(struct sm *sm, const struct sm_block_message *order, const uint16_t *sms);
void sm_block_warp_left(struct sm *sm, struct sm_warp *w);
void sm_block_wake_others(struct sm *sm, struct sm_block *block); /* whose barrier is open */
static inline uint32_t sm_block_writes(const struct sm *sm,
                                       const struct sm_block *block) /* lines under way */
{
    return sm->writes[block->writes].lines;
}
void sm_block_write_begins(struct sm *sm, struct sm_warp *w,
                           uint64_t leaves); /* the pipeline, in this cycle */
void sm_block_write_done(struct sm *sm, uint32_t writes);
void sm_block_abandon_all(struct sm *sm);
void sm_block_trigger(struct sm *sm, struct sm_block *block);              /* at once, or once more */
bool sm_kernel_waits(const struct sm *sm, const struct sm_kernel *kernel); /* for others: WARP_GRID */
void sm_kernel_release(struct sm *sm, const struct sm_block_message *order);
void sm_kernel_make(struct sm *sm, uint32_t slot); /* what an SM has of one that has blocks on it */
void sm_kernel_account(struct sm *sm, struct sm_kernel *kernel); /* up to now */
void sm_kernel_note_print(struct sm *sm, struct sm_kernel *kernel);

/* Memory (lsu.c, l1.c) */
/* A sub-core has a queue to the SM's memory pipeline: it has room when the instruction that took the place
 * has begun. */
static inline uint64_t lsu_room_at(const struct subcore *sub)
{
    return sub->memory_begins[sub->memory_next];
}

bool lsu_is_full(const struct sm *sm); /* until lsu_let_in is called */
void lsu_let_in(struct sm *sm);        /* warps that waited for room, if there is some */
void lsu_issue(struct sm *sm, struct sm_warp *w, const struct isa_timing *timing, const uint16_t *registers);
void l1_reply(struct sm *sm, const struct event *event);
void l1_send_waiting(struct sm *sm);
void translation_came(struct sm *sm, uint64_t page);
void translation_shot(struct sm *sm, const struct event *event);
/* a page left: its entries go */ /* what waited for it goes on */
void l1_set_shared(struct sm *sm, uint32_t bytes);
void l1_make(struct sm *sm);
void l1_forget(struct sm *sm);

/* The same where other GPUs may have made it visible: what the GPU keeps of their lines is forgotten, too.
 * What the warp makes visible afterwards waits for that. */
void l1_acquire(struct sm *sm, struct sm_warp *w);
uint64_t l1_tag(struct sm *sm, uint64_t address); /* mem/space.h */

/* Who listens (tell.c). The message of a request begins with a struct memsys_request or memsys_reply: both
 * have the line and the id. tell_request and tell_hit are for when somebody does. */
void tell_block(const struct sm *sm, const struct sm_block *block, enum probe_phase phase);
void tell_request(const struct sm *sm, enum probe_phase phase, const char *what, uint64_t cycle,
                  const void *message, uint32_t bytes);
void tell_hit(const struct sm *sm, uint32_t id, uint64_t line, uint64_t cycle); /* in L1: begins and ends */
void tell_translation(const struct sm *sm, enum probe_phase phase, uint64_t page);

/* Checkpoints (sm_archive.c) */
void sm_archive(struct component *self, void *state, struct archive *archive);

void sm_forget_data_now(struct sm *sm); /* sm_forget_data while it runs (sm.c) */

/* Fetching and parameters (fetch.c): how many cycles the next instruction or parameter is away. */
uint32_t fetch_wait(struct sm *sm, struct sm_warp *w, uint64_t line);

/* The line of code that a step is in, + 1. */
static inline uint64_t fetch_code_line(const struct sm *sm, const struct sm_warp *w,
                                       const struct isa_code *code, uint64_t step)
{
    return ((w->code_base + code->code_at + step * code->step_bytes) >> sm->code_line_shift) + 1;
}

/* That of an operation of the warp's code. */
static inline uint64_t fetch_line_of(const struct sm *sm, const struct sm_warp *w,
                                     const struct isa_timing *timing)
{
    return fetch_code_line(sm, w, w->exec->code, timing->first_step);
}
uint32_t fetch_param_wait(struct sm *sm, const struct sm_warp *w, const struct request *request);
void fetch_make(struct sm *sm);
void fetch_free(struct sm *sm);
void fetch_forget(struct sm *sm, uint64_t time); /* ps: nothing asked for before it is kept */
void fetch_forget_constants(struct sm *sm, uint64_t time);
void fetch_archive(struct sm *sm, struct archive *archive);

/* A line that another SM fetched; these are tags. */
void fetch_place(const struct fetch_levels *levels, uint64_t address);

/* SMs that share these caches (siblings.c). Each has a copy, and tells the others what comes to it. */
enum sibling_message { SIBLING_CODE, SIBLING_PARAM, SIBLING_CONSTANTS };

/* A line begins to come, and is there at this cycle. */
void siblings_tell_line(struct sm *sm, enum sibling_message what, uint64_t address, uint64_t there);
/* Sectors of a line of memory came that were asked for at this time; the bytes are side by side. */
void siblings_tell_constants(struct sm *sm, uint64_t from, uint32_t sectors, const unsigned char *packed,
                             uint64_t asked);
void siblings_told(struct sm *sm, const struct event *event);

#endif
