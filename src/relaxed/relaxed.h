/* A relaxed parallel simulator of a GPU, after GpuTejas (Malhotra, Goel and Sarangi, 2014): recorded
 * instructions (src/itrace) are simulated by threads that each have some SMs. Every SM has a clock of its
 * own. Threads meet where they share a structure, by parallel ports (port.h), and keep together by phasers
 * (phaser.h). Results of several threads depend on which of them was first; those of one thread do not vary.
 *
 *   struct relaxed *gpu = relaxed_new(&spec, &options);
 *   for each launch: relaxed_run(gpu, reader, launch, &fit, &result, err);
 *   relaxed_free(gpu);
 *
 * It knows nothing of the engine, and describes a GPU by numbers of its own: relaxed/runs fills them from a
 * description. Latencies are in cycles of an SM, throughputs in parts of them (RELAXED_PARTS, port.h). */
#ifndef RELAXED_RELAXED_H
#define RELAXED_RELAXED_H

#include "base/err.h"
#include "isa/isa.h"
#include "itrace/reader.h"
#include "relaxed/port.h"

/* ---- the GPU ---- */

/* What an instruction is, for statistics. */
#define RELAXED_CLASSES(C)                                                                                   \
    C(INTEGER, "integer")                                                                                    \
    C(FLOAT, "float")                                                                                        \
    C(CONTROL, "control")                                                                                    \
    C(MEMORY, "memory")

enum relaxed_class {
#define C(id, name) RELAXED_##id,
    RELAXED_CLASSES(C)
#undef C
        RELAXED_CLASS_COUNT
};

struct relaxed_unit {
    uint32_t latency, interval, shared; /* as in the rows of sm.* */
    uint8_t place;                      /* the unit that is taken: enum isa_unit */
    uint8_t does;                       /* enum unit_does */
    bool queues;                        /* instructions wait for it in a queue, not in the warp */
    uint8_t class;                      /* enum relaxed_class */
};

struct relaxed_cache_spec {
    uint32_t line, ways, policy; /* enum replace_policy */
    uint64_t bytes;              /* 0: there is none */
    uint32_t latency, interval;  /* cycles, when it has what was asked for; of straight code: a line more */
    bool scattered, hashed;      /* as in struct tags_spec */
};

enum relaxed_l1_write { RELAXED_UPDATE, RELAXED_INVALIDATE, RELAXED_ALLOCATE };

enum { RELAXED_LEVELS = 3, RELAXED_SUBCORES = 8, RELAXED_SLOTS = 64, RELAXED_STORES_MOST = 1024 };

struct relaxed_spec {
    uint32_t sms, subcores, lanes;
    uint32_t warps_per_subcore; /* at most RELAXED_SLOTS */
    uint32_t turn_cycles, turn_issues;
    bool oldest_first; /* the warp that issued last, then the oldest; else in turn */
    struct relaxed_unit units[UNIT_COUNT];
    uint32_t queue; /* instructions that wait for a unit that queues */

    uint32_t branch_taken_cycles, diverge_cycles, guard_cycles, wide_issue_cycles;
    uint32_t block_start_cycles, block_least_cycles, warp_start_cycles, block_end_cycles;
    uint32_t fence_cycles, fence_after_cycles, fence_block_cycles, fence_system_cycles, sleep_cycles;

    struct relaxed_cache_spec code[RELAXED_LEVELS]; /* the first is a sub-core's */
    uint32_t memory_code_latency, memory_code_interval;
    struct relaxed_cache_spec constants[2];
    uint32_t constant_memory_cycles;
    bool constants_kept;

    struct relaxed_cache_spec l1; /* its size is a launch's */
    uint32_t l1_fill_sectors, l1_write, l1_line_cycles, l1_to_noc_cycles, l1_fill_cycles;
    bool l1_keeps_global;
    uint32_t shared_latency, shared_banks, conflict_cycles, atomic_shared_cycles;
    uint32_t lsu_request_parts, lsu_wavefront_parts, l1_tag_parts;
    uint32_t lsu_queue, stores;

    uint32_t noc_latency, noc_spread, noc_overhead;
    double noc_request_parts, noc_reply_parts; /* for a byte; 0: no limit */

    uint32_t slices;
    struct relaxed_cache_spec l2; /* of a slice */
    uint32_t l2_fill_sectors, l2_atomic_cycles, l2_far_cycles;
    double l2_request_parts, l2_read_parts, l2_write_parts; /* for a request; for a byte */
    double l2_atomic_sector_parts, l2_atomic_lane_parts, l2_atomic_same_parts;

    uint32_t channels_per_slice, dram_latency;
    double dram_parts; /* for a byte */

    uint32_t launch_cycles, dispatch_cycles, end_cycles; /* of a kernel, before and after its blocks */
    double block_parts;                                  /* from one block's leaving to the next one's */
    double cycles_per_ns;
};

/* ---- how it is simulated ---- */

enum relaxed_blocks {
    RELAXED_IN_RUNS, /* algorithm 1: as many as fit an SM, then the next SM */
    RELAXED_IN_TURN  /* block i goes to SM i modulo their number */
};

struct relaxed_options {
    unsigned threads;
    uint64_t epoch;  /* cycles */
    unsigned steps;  /* of an epoch, in which threads show how far they are; 0 is 1. It divides the epoch */
    bool no_phasers; /* plain barriers at the ends of steps */
    enum relaxed_blocks blocks;
    const _Atomic int *interrupt; /* or NULL */
};

/* ---- what comes of it ---- */

enum relaxed_memory_class {
    RELAXED_GLOBAL,
    RELAXED_LOCAL,
    RELAXED_SHARED,
    RELAXED_CONSTANT,
    RELAXED_MEMORIES
};

/*   name, what it counts */
#define RELAXED_COUNTS(X)                                                                                    \
    X(warp_instructions, "instructions of the trace")                                                        \
    X(thread_instructions, "the same, times their active lanes")                                             \
    X(instructions, "machine instructions issued")                                                           \
    X(warp_cycles, "cycles, times the warps that SMs held")                                                  \
    X(blocks, "blocks")                                                                                      \
    X(warps, "warps")                                                                                        \
    X(refused, "times that warps asked for a unit that was busy")                                            \
    X(inactive, "times that a warp waited for others of its block")                                          \
    X(l1_sectors, "sectors that loads asked L1 for")                                                         \
    X(l1_hits, "of these, those that were there")                                                            \
    X(constant_requests, "lookups of the nearest constant cache")                                            \
    X(constant_hits, "of these, those that were there")                                                      \
    X(code_fetches, "lines of code that warps went to")                                                      \
    X(code_hits, "of these, those that the nearest instruction cache had")                                   \
    X(shared_requests, "instructions that went to shared memory")                                            \
    X(shared_passes, "passes they took")                                                                     \
    X(l2_sectors, "sectors that were asked of L2")                                                           \
    X(l2_hits, "of these, those that were there; all that were written")                                     \
    X(dram_read, "bytes read from memory")                                                                   \
    X(dram_written, "bytes written to memory")

/* Where threads spent their time. */
#define RELAXED_SHARES(X)                                                                                    \
    X(scheduling, "scheduling")                                                                              \
    X(pipeline, "pipeline")                                                                                  \
    X(memory, "memory system")                                                                               \
    X(phaser, "phaser wait")                                                                                 \
    X(barrier, "barrier wait")

enum relaxed_share {
#define X(name, text) RELAXED_TIME_##name,
    RELAXED_SHARES(X)
#undef X
        RELAXED_TIMES
};

struct relaxed_counts {
#define X(name, help) uint64_t name;
    RELAXED_COUNTS(X)
#undef X
    uint64_t classes[RELAXED_CLASS_COUNT];
    uint64_t memories[RELAXED_MEMORIES];
    uint64_t lanes[ISA_LANES + 1]; /* machine instructions by the number of active lanes */
    struct relaxed_port_counts ports;
};

struct relaxed_result {
    uint64_t cycles; /* of the kernel; sums over launches add up */
    struct relaxed_counts counts;
    double seconds[RELAXED_TIMES]; /* summed over threads */
    uint64_t phaser_waits, barrier_waits;
    uint64_t epochs;
    double wall;
};

void relaxed_result_add(struct relaxed_result *sum, const struct relaxed_result *one);

/* What of a launch depends on the GPU: how many of its blocks an SM holds, and what is left for L1. */
struct relaxed_fit {
    uint32_t blocks_per_sm;
    uint64_t l1_bytes;
};

struct relaxed;

struct relaxed *relaxed_new(const struct relaxed_spec *spec, const struct relaxed_options *options);
void relaxed_free(struct relaxed *gpu);

/* A recorded launch. Caches keep what they had. False: the trace is damaged, or the user ended it. */
bool relaxed_run(struct relaxed *gpu, struct itrace_reader *reader, size_t launch,
                 const struct relaxed_fit *fit, struct relaxed_result *result, struct err *err);

#endif
