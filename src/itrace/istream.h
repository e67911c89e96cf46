/* The dynamic instructions of one warp, coded as three streams of bytes, and back.
 *
 * A run is a sequence of instructions that follow each other in the code, executed by the same lanes. It ends
 * where the warp jumps, waits or ends, or where other lanes become active.
 *
 *   runs    of each run: flags (a byte); the distance of its first instruction from the end of the run before
 *           (signed), how many instructions; and what the flags announce, in the order of enum run_flag
 *   data    of each instruction that may be guarded: its lanes; of each that may access memory: its accesses
 *   firsts  addresses (8 bytes each): of the first access that an instruction makes in this warp
 *
 * Numbers are varints. An access is coded by its shape, which is that of the same instruction's last access
 * unless it is told, and by the addresses of its lanes: a base and a grid, or one by one. The base, mostly
 * that of the first lane, is told as the distance from what the last two accesses of the instruction predict.
 * So the streams of warps that do the same work are the same bytes, but for their firsts, which lie at equal
 * distances. */
#ifndef ITRACE_ISTREAM_H
#define ITRACE_ISTREAM_H

#include "isa/request.h"
#include "isa/warp.h"
#include "itrace/blob.h"

/* Barriers: those of a block, of its groups of four warps (not recorded: the instruction that waits for
 * products implies them), and the cluster's. */
enum { ISTREAM_GROUPS = 16, ISTREAM_CLUSTER = 24, ISTREAM_BARRIERS };

enum run_flag {
    RUN_ACTIVE = 1,     /* other lanes than before: a mask */
    RUN_CODE = 2,       /* of another function: its place */
    RUN_MOVED = 4,      /* its last instruction moves the warp (isa_stepped) */
    RUN_MASK = 8,       /* the guard of its last instruction holds for these lanes only: a mask */
    RUN_MASK_NONE = 16, /* ... for none */
    RUN_EVENTS = 32,    /* enum run_event, and what they announce */
    RUN_BRANCHED = 64,  /* isa_stepped of the last instruction */
    RUN_DIVERGED = 128,
};

enum run_event {
    EVENT_OPENED = 1,  /* before the run: barriers that must have opened: a bit each */
    EVENT_ARRIVES = 2, /* the last instruction arrives at a barrier: number, threads, threads expected */
    EVENT_WAITS = 4,   /* ... and waits there. Without EVENT_ARRIVES: for others of the warp */
    EVENT_WHOLE = 8,   /* ... the whole warp does */
    EVENT_EXITS = 16,  /* threads end: how many */
    EVENT_SLEEPS = 32, /* ns */
};

/* What accesses of an instruction have in common, mostly. */
enum access_flag {
    ACCESS_KEEP = 1, /* as in struct delivery and struct request */
    ACCESS_ACQUIRES = 2,
    ACCESS_RETURNS = 4,
    ACCESS_ASYNC = 8,
    ACCESS_BARRIER = 16,
    ACCESS_SHARED_ATOMIC = 32,
    ACCESS_LOCAL_WRITES = 64,
    ACCESS_WRITES = 128,
};

enum access_set {
    SET_GLOBAL = 1,
    SET_SHARED = 2,
    SET_LOCAL = 4,
    SET_PARAM = 8,
    SET_PIECES = 16,
    SET_OPERANDS_DIFFER = 32, /* of an atomic operation with results: its lanes have different operands */
};

/* Of launches with clusters, behind each access: what it has to do with other blocks. */
enum access_far {
    FAR_LANES = 1,   /* a mask: addresses of these are in shared memory of blocks on other SMs */
    FAR_SIGNALS = 2, /* of those lanes: where the barrier is that counts their bytes */
    FAR_FORGETS = 4, /* as in struct request */
    FAR_TARGETS = 8, /* blocks that a copy goes to; where the barrier is in each; where each piece goes */
    FAR_REDUCES = 16 /* what combines them */
};

/* How the addresses of lanes are told. */
enum addresses_flag {
    ADDRESSES_LANES = 1,   /* their lanes follow; else those whose guard holds */
    ADDRESSES_GRID = 2,    /* of a grid (struct address_grid) that follows; else as last time */
    ADDRESSES_LIST = 4,    /* of none: each lane's distance from the lane before follows */
    ADDRESSES_SCALED = 8,  /* ... in units of 4 bytes */
    ADDRESSES_MISSED = 16, /* not where predicted: the distance from there follows */
    /* Of none, and not far from each other, as in a table: a byte for each lane, the distance from the base,
     * in the units of ADDRESSES_SCALED. The base is the last one, unless the distance from there follows. */
    ADDRESSES_TABLE = 32
};

struct access_shape {
    uint8_t sets;  /* enum access_set; 0: nothing of memory */
    uint8_t flags; /* enum access_flag */
    uint8_t kind;  /* enum request_kind */
    uint8_t bytes, operation, shared_bytes, local_bytes, unused;
};

/* Rows of lanes at equal distances, and rows at equal distances: what blocks of one, two or three dimensions
 * make of addresses. */
struct address_grid {
    int32_t stride, row; /* bytes from lane to lane, from row to row */
    uint8_t shift;       /* a row has 1 << shift lanes */
};

static inline uint64_t address_grid_offset(const struct address_grid *grid, uint32_t lane)
{
    return (uint64_t)(int64_t)grid->stride * (lane & ((1u << grid->shift) - 1)) +
           (uint64_t)(int64_t)grid->row * (lane >> grid->shift);
}

/* What predicts the next access of an instruction: of the first set of addresses. Others are rare. Every warp
 * has one for each such instruction, so they are small. */
struct access_context {
    struct access_shape shape;
    uint64_t base;
    struct address_grid grid;
    bool seen;
    int32_t delta; /* from the base before to the last; 0 where that is far */
};

static inline int32_t istream_delta(uint64_t base, uint64_t before)
{
    int64_t delta = (int64_t)(base - before);
    return delta == (int32_t)delta ? (int32_t)delta : 0;
}

/* The code of a function, with a number for each instruction that may access memory. */
struct istream_code {
    const struct isa_code *code;
    uint32_t *context; /* by instruction; those of all functions are numbered on */
};

/* Numbers the instructions from *count on. */
void istream_code_init(struct istream_code *own, const struct isa_code *code, uint32_t *count);
void istream_code_fini(struct istream_code *own);

/* ---- writing ---- */

struct istream_writer {
    struct blob runs, data, firsts;
    struct access_context *contexts;
    uint32_t context_count;
    const struct istream_code *code; /* of the run */
    uint32_t first, count;           /* its instructions; count 0: there is none */
    lane_mask active;
    uint32_t opened; /* EVENT_OPENED of the run */
    /* of the run before */
    const struct istream_code *last_code;
    uint32_t last_end;
    lane_mask last_active;
    lane_mask waiting[ISTREAM_BARRIERS]; /* by barrier: lanes that wait there */
    bool has_clusters;                   /* of the launch: what enum access_far says is told, too */
    bool waits;                          /* at some of them */
    uint64_t table_bytes;                /* of data: of ADDRESSES_TABLE */
};

/* What an instruction did, beside isa_stepped. */
struct istream_step {
    uint32_t exits; /* threads that ended */
    bool arrives, waits, whole;
    uint32_t barrier, threads, expected;
    lane_mask waiting; /* lanes */
    lane_mask waiting_for_cluster;
};

/* An instruction, as it was before it was executed: code, number, lanes; and what came of it. */
void istream_put(struct istream_writer *writer, const struct istream_code *code, uint32_t context_count,
                 uint32_t instruction, lane_mask active, const struct isa_stepped *stepped,
                 const struct istream_step *step, const struct request *request);
/* Several that follow each other, are plain, and have neither guard nor role. */
void istream_put_plain(struct istream_writer *writer, const struct istream_code *code, uint32_t instruction,
                       uint32_t count, lane_mask active);
void istream_end(struct istream_writer *writer); /* all is in the streams */
void istream_writer_reset(struct istream_writer *writer);
void istream_writer_fini(struct istream_writer *writer);

/* ---- reading ---- */

struct istream_run {
    const struct istream_code *code;
    uint32_t first, count;
    lane_mask active, mask; /* mask: of the last instruction */
    bool has_mask;          /* it is told; else the guard says */
    bool moved, branched, diverged;
    uint32_t events; /* enum run_event */
    uint32_t opened;
    uint32_t barrier, threads, expected, exits, sleep_ns;
};

struct istream_reader {
    struct scan runs, data;
    const uint8_t *operations; /* of struct itrace_operations: `own`; or NULL: they are ours */
    const uint64_t *firsts, *firsts_end;
    struct access_context *contexts;
    bool has_clusters; /* as it was written */
    struct istream_run run;
};

/* Functions of a kernel, by where their code is. */
struct istream_codes {
    struct istream_code *at;
    uint32_t count, context_count;
};

/* The next run. False: there is none, or the streams are damaged (istream_is_bad). */
bool istream_next_run(struct istream_reader *reader, const struct istream_codes *codes);

/* The lanes whose guard holds, of an instruction that may be guarded. */
lane_mask istream_guard(struct istream_reader *reader, lane_mask active);

/* What the instruction wants of memory. */
void istream_access(struct istream_reader *reader, uint32_t context, lane_mask mask, struct request *request);

static inline bool istream_is_bad(const struct istream_reader *reader)
{
    return reader->runs.bad || reader->data.bad;
}

#endif
