/* An instruction, independent of its instruction set: the unit that executes it and the types of its
 * operands. Costs are not here: they come from the description of a GPU. */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "isa/units.h"

#include <stdbool.h>
#include <stdint.h>

enum { ISA_LANES = 64 };    /* of a warp, at most; an instruction set may have fewer (isa/warp.h) */
typedef uint64_t lane_mask; /* a bit for each lane */

/* Mostly all of 32 lanes. (Without -mpopcnt the compiler's own is a call.) */
static inline uint32_t isa_count_lanes(lane_mask who)
{
    if (who == UINT32_MAX)
        return 32;
    who -= who >> 1 & UINT64_C(0x5555555555555555);
    who = (who & UINT64_C(0x3333333333333333)) + (who >> 2 & UINT64_C(0x3333333333333333));
    who = (who + (who >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(who * UINT64_C(0x0101010101010101) >> 56);
}

static inline uint32_t first_lane(lane_mask who)
{
    return (uint32_t)__builtin_ctzll(who);
}

/* A loop over the lanes in a mask; break and continue work. */
#define EACH_LANE(i, who)                                                                                    \
    for (lane_mask rest_##i = (who), more_##i = 1; rest_##i && more_##i;)                                    \
        for (uint32_t i = (more_##i = 0, first_lane(rest_##i)); !more_##i;                                   \
             more_##i = 1, rest_##i &= rest_##i - 1)

/* The unit of an SM that an instruction occupies: a row of units.h. */
enum isa_unit {
#define U(P, S, id, ...) UNIT_##id,
    ISA_UNITS(U, , )
#undef U
        UNIT_COUNT
};

/* How others get a unit's result. */
enum unit_result {
    RESULT_ALU, /* of fixed latency: integers and logic */
    RESULT_FMA, /* products and floats */
    RESULT_FP64,
    RESULT_FIXED, /* others */
    RESULT_QUEUE, /* of variable latency: special functions and conversions, which have a queue */
    RESULT_SHORT, /* others of short latency */
    RESULT_LONG,  /* memory */
    RESULT_KINDS = 16
};

/* What a unit does beside computing. */
enum unit_does {
    UNIT_DOES_NOTHING,
    UNIT_DOES_MEMORY,       /* goes to memory, where there may be no room */
    UNIT_DOES_MEMORY_QUEUE, /* so does it, by the sub-core's queue to the SM's memory pipeline */
    UNIT_DOES_JUMP,         /* the warp waits until it is over */
    UNIT_DOES_HOLDS_ISSUE,  /* the sub-core issues nothing for wide_issue_cycles */
};

/* A machine instruction. One of an instruction set that is not the machine's own (PTX) becomes none, one or
 * several of them. */
enum isa_step_flag {
    STEP_CHAINED = 1, /* needs the result of the step before it, of those that are not beside the others */
    STEP_GUARDED = 2, /* it is the guard of this one */
    STEP_JOINS = 4,   /* needs the results of all before it */
    STEP_BESIDE = 8,  /* nobody waits for its result: the other half of a value, or a comparison */
    STEP_FLOWS = 16,  /* instructions of others may stand between it and the step before */
    STEP_SHARED = 32, /* of shared memory, by what the instruction says */
    STEP_MERGED = 64, /* an atomic operation that one lane does for all */
};

struct isa_step {
    uint8_t unit;  /* enum isa_unit */
    uint8_t flags; /* enum isa_step_flag */
};

/* What an instruction is to a model that keeps time, beside its units. */
enum isa_role {
    ROLE_NONE,
    ROLE_BRANCH,       /* isa_stepped says who went where */
    ROLE_FENCE,        /* waits until what was written can be seen by the GPU */
    ROLE_FENCE_SYSTEM, /* or by the whole system */
    ROLE_FENCE_BLOCK,
    ROLE_RELEASE,        /* waits as a fence of the GPU does, before it does what it does */
    ROLE_COMMIT,         /* the asynchronous copies so far are a group */
    ROLE_COPIES,         /* waits until no more than role_count groups are under way */
    ROLE_ALL_COPIES,     /* waits until no copy is */
    ROLE_CALL,           /* enters a function */
    ROLE_SLEEP,          /* isa_stepped says how long */
    ROLE_BARRIER,        /* of a block */
    ROLE_FORGET,         /* what the caches of the SM hold may be old */
    ROLE_COUNTED,        /* its counters count it */
    ROLE_WAIT,           /* until no more than role_count operations are under way: a byte for each counter */
    ROLE_CLUSTER_ARRIVE, /* waits until what was written can be seen by the GPU */
    ROLE_CLUSTER_WAIT,   /* what the caches of the SM hold may be old behind it */
    ROLE_BULK_COMMIT,    /* the bulk copies from shared memory so far are a group */
    ROLE_BULK_WAIT,      /* until no more than role_count of these groups are under way */
    ROLE_PRODUCT, /* of matrices, by a group of warps, which goes on meanwhile: role_count is PRODUCT_... */
    ROLE_PRODUCTS_COMMIT, /* the products so far are a group */
    ROLE_PRODUCTS,        /* waits until no more than role_count groups are under way */
    ROLE_TRIGGER,         /* kernels that depend on this one may start when all blocks did this */
    ROLE_GRID_WAIT,       /* until the kernels that this one depends on have ended */
    ROLE_LAUNCH,          /* asks for other kernels: waits until what was written can be seen by the GPU */
    ROLE_COUNT
};

/* What ROLE_PRODUCT tells of a product: how many times 8 columns, and what is in shared memory besides. */
enum { PRODUCT_COLUMNS = 63, PRODUCT_READS_A = 64, PRODUCT_IS_SPARSE = 128 };

/* Memory operations that a program counts itself, instead of the registers that they write. */
enum {
    ISA_COUNTERS = 2, /* kinds of them */
    ISA_COUNTED = 16  /* of each that may be under way, at most */
};

/* What a model that keeps time is told of an instruction. Its registers are numbers in a list: those it
 * reads, then those it writes. */
struct isa_timing {
    uint32_t registers; /* where in the list they begin */
    uint8_t reads, writes;
    uint16_t steps; /* how many machine instructions it becomes */
    uint32_t first_step;
    uint8_t guards : 4; /* how many of the first registers that it reads are predicates it waits longer for */
    uint8_t counters : ISA_COUNTERS; /* it is counted by, or waits for: a bit each */
    uint8_t merged : 1;              /* one of its steps is STEP_MERGED */
    uint8_t plain : 1;               /* it wants nothing of memory, whatever its lanes hold */
    uint8_t role;                    /* enum isa_role */
    uint16_t role_count;
};

/* Types of a lane's value. f16 and bf16 are held as their 16 bits; pred is one bit. */
#define ISA_TYPES(T)                                                                                         \
    T(nil, char, 0)                                                                                          \
    T(u16, uint16_t, 2)                                                                                      \
    T(s16, int16_t, 2)                                                                                       \
    T(f16, uint16_t, 2)                                                                                      \
    T(bf16, uint16_t, 2)                                                                                     \
    T(u32, uint32_t, 4)                                                                                      \
    T(s32, int32_t, 4)                                                                                       \
    T(f32, float, 4)                                                                                         \
    T(u64, uint64_t, 8)                                                                                      \
    T(s64, int64_t, 8)                                                                                       \
    T(f64, double, 8)                                                                                        \
    T(pred, _Bool, 0)

enum isa_type {
#define T(name, ctype, bytes) TYPE_##name,
    ISA_TYPES(T)
#undef T
};

/* Of a lane; 0 for a predicate. */
static inline uint32_t isa_type_bytes(enum isa_type type)
{
    static const uint8_t bytes[] = {
#define T(name, ctype, size) size,
        ISA_TYPES(T)
#undef T
    };
    return bytes[type];
}

/* The unsigned type of 2, 4 or 8 bytes. */
static inline enum isa_type isa_type_of(uint32_t bytes)
{
    return bytes == 8 ? TYPE_u64 : bytes == 4 ? TYPE_u32 : TYPE_u16;
}

#endif
