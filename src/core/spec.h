/* The parameters of an SM, as rows. The defaults are the H200's; systems/h200.ini has their sources. */
#ifndef CORE_SPEC_H
#define CORE_SPEC_H

#include "base/param.h"
#include "core/counters.h"

#define UNIT_PARAMS(P, S, id, name, place, result, busy, does, pipe, letter, reckoned, latency, interval,    \
                    shared, what)                                                                            \
    P(S, count, name##_latency, latency, "1..10000", what ": cycles until its result can be used")           \
    P(S, count, name##_interval, interval, "1..1000", what ": cycles until a sub-core can begin the next")   \
    P(S, count, name##_shared, shared, "0..1000", what ": the same for the whole SM, where it is shared")

#define SM_PARAMS(P, S)                                                                                      \
    P(S, choice, scheduler, "gty", "gto|lrr|gty|two_level", "which of the warps that could issue does")      \
    P(S, count, two_level_active, "6", "1..32", "warps of a sub-core that two_level looks at")               \
    P(S, count, turn_cycles, "1", "1..16", "a sub-core issues once in so many cycles, sub-cores in turn")    \
    P(S, count, turn_issues, "1", "1..8",                                                                    \
      "instructions that a sub-core issues at a time, of different warps and to different units")            \
    ISA_UNITS(UNIT_PARAMS, P, S)                                                                             \
    P(S, count, queue, "4", "0..64",                                                                         \
      "instructions that wait for a unit of variable latency, when it is busy")                              \
    P(S, count, branch_taken_cycles, "4", "0..1000", "a warp waits behind a branch, beside its latency")     \
    P(S, count, guard_cycles, "9", "0..1000",                                                                \
      "a guarded instruction or a vote waits longer for its predicate than for other operands")              \
    P(S, count, cross_cycles, "1", "0..100",                                                                 \
      "until a result of the integer, product or float units is at another's")                               \
    P(S, count, diverge_cycles, "18", "0..1000", "a warp waits when its threads part")                       \
    P(S, count, wide_issue_cycles, "4", "1..100",                                                            \
      "until a sub-core can issue anything behind an integer product of 64 bits")                            \
    P(S, count, block_start_cycles, "40", "0..100000",                                                       \
      "from a block's arrival at an SM to its first instruction")                                            \
    P(S, count, block_least_cycles, "22", "0..100000", "from one block's start to the next one's, at least") \
    P(S, count, block_gap_cycles, "6", "0..100000", "from a block's last warp to the next one's first")      \
    P(S, count, warp_start_cycles, "3", "0..10000", "from one warp of a block to the next, when it starts")  \
    P(S, count, block_end_cycles, "60", "0..100000", "from a block's end to its room being free")            \
    P(S, count, register_banks, "2", "1..16", "banks of a sub-core's registers")                             \
    P(S, count, register_ports, "3", "1..16", "operands of an instruction that a bank gives without a wait") \
    P(S, flag, operand_reuse, "yes", "", "operands of the instruction before can be used again unread")      \
    P(S, size, l1, "256KiB", "1KiB..16MiB",                                                                  \
      "L1 cache and shared memory together; the cache alone with l1_apart")                                  \
    P(S, flag, l1_apart, "no", "", "L1 cache and shared memory are two arrays: L1 is always of its size")    \
    P(S, count, l1_ways, "8", "1..64", "ways of the L1 cache; more where its size asks for it")              \
    P(S, size, l1_line, "128B", "64B..128B", "bytes of a line of L1: 64 or 128, at most l2.line")            \
    P(S, count, l1_fill_sectors, "1", "1..4",                                                                \
      "sectors of 32 bytes that a miss of L1 asks for together: 1, 2 or 4")                                  \
    P(S, choice, l1_policy, "tree", "lru|fifo|random|tree|srrip|+replacement",                               \
      "which line leaves the L1 cache")                                                                      \
    P(S, count, l1_latency, "32", "1..10000", "cycles from a load to its use, when L1 has it")               \
    P(S, count, l1_misses, "512", "1..65536",                                                                \
      "lines under way that an L1 cache merges loads of and keeps; others are just read")                    \
    P(S, choice, l1_tags, "virtual", "virtual|physical",                                                     \
      "addresses that L1 knows lines by; physical: they are translated before it is looked into")            \
    P(S, choice, l1_keeps, "global", "global|local",                                                         \
      "which memory's lines L1 keeps; local: a thread's own alone, others are always asked of L2")           \
    P(S, choice, l1_write, "allocate", "update|invalidate|allocate", "what a store does to a line of L1")    \
    P(S, flag, shared_apart, "no", "", "shared memory has a pipeline of its own, beside that of L1")         \
    P(S, count, shared_latency, "23", "1..10000", "cycles from a load of shared memory to its use")          \
    P(S, count, shared_banks, "32", "1..256", "banks of shared memory, 4 bytes each")                        \
    P(S, count, conflict_cycles, "2", "1..100", "cycles that each further pass through shared memory takes") \
    P(S, real, lsu_wavefront_cycles, "1.064", "0..100", "cycles of a pass through the data of L1")           \
    P(S, count, lsu_request_cycles, "1", "1..100", "cycles of the SM's memory pipeline for an instruction")  \
    P(S, count, lsu_queue, "5", "1..16", "memory instructions of a sub-core that wait for the pipeline")     \
    P(S, real, l1_tag_cycles, "1.07", "0..100",                                                              \
      "cycles of the pipeline for each line that an instruction touches")                                    \
    P(S, count, bulk_start_cycles, "120", "0..10000",                                                        \
      "of a bulk copy to shared memory, before it asks for its first line")                                  \
    P(S, real, bulk_read_cycles, "1.2", "0..1000", "from a line that a bulk copy asks for to the next one")  \
    P(S, real, bulk_write_cycles, "4", "0..1000", "from a line that a bulk copy writes to the next one")     \
    P(S, count, bulk_write_end_cycles, "170", "0..10000",                                                    \
      "from the last line that a bulk copy writes until its group is done")                                  \
    P(S, count, cluster_cycles, "76", "1..100000",                                                           \
      "of a message from an SM to another one, between blocks of a cluster")                                 \
    P(S, real, cluster_bytes_per_cycle, "20.5", "0..100000",                                                 \
      "that an SM sends to others, and gets from them; 0: no limit")                                         \
    P(S, real, cluster_far_bytes_per_cycle, "16.6", "0..100000",                                             \
      "the same to SMs of another TPC; 0: as many")                                                          \
    P(S, real, multicast_bytes_per_cycle, "152", "0..100000",                                                \
      "what an SM gets of copies that others read for it; 0: no limit")                                      \
    P(S, count, l1_line_cycles, "2", "0..100", "later, for each further line")                               \
    P(S, count, stores, "256", "1..65536", "lines that an SM has written and nobody has acknowledged")       \
    P(S, count, reductions, "1536", "1..65536",                                                              \
      "lanes of atomic operations without results that an SM has sent and nobody has acknowledged")          \
    P(S, count, l1_to_noc_cycles, "20", "0..10000", "from the L1 cache's miss to the crossbar")              \
    P(S, count, l1_fill_cycles, "20", "0..10000", "from the crossbar to the registers")                      \
    P(S, count, atomic_shared_cycles, "2", "0..1000", "more for an atomic operation on shared memory")       \
    P(S, count, fetch_group, "1", "1..64",                                                                   \
      "SMs that share instruction and constant caches, but for those of sub-cores; 1: each has its own")     \
    P(S, size, code_line, "128B", "32B..256B", "bytes of a line of code, a power of two")                    \
    P(S, size, code_first, "0", "0..64KiB", "bytes of a kernel's code that are there when it begins")        \
    P(S, size, l0_code, "14KiB", "0|128B..1MiB", "instruction cache of a sub-core; 0: none")                 \
    P(S, size, l1_code, "32KiB", "0|128B..1MiB", "instruction cache of the SM; 0: none")                     \
    P(S, size, l2_code, "120KiB", "0|128B..16MiB", "instruction cache behind it (L1.5); 0: none")            \
    P(S, count, l1_code_latency, "20", "1..10000", "cycles of a fetch from the SM's instruction cache")      \
    P(S, count, l2_code_latency, "60", "1..10000", "cycles of a fetch from the cache behind it")             \
    P(S, count, memory_code_latency, "300", "1..100000", "cycles of a fetch from L2 or memory")              \
    P(S, count, l1_code_interval, "10", "1..10000",                                                          \
      "straight code: from one line to the next, from the SM's cache")                                       \
    P(S, count, l2_code_interval, "17", "1..10000", "straight code: the same, from the cache behind it")     \
    P(S, count, memory_code_interval, "26", "0..10000",                                                      \
      "straight code: the same, from L2 or memory; 0: no line is fetched ahead")                             \
    P(S, size, constant_cache, "2KiB", "0|64B..1MiB",                                                        \
      "constant cache of the SM, nearest to the units; 0: none")                                             \
    P(S, size, l2_constants, "128KiB", "0|2KiB..16MiB", "constant cache behind it (L1.5); 0: none")          \
    P(S, count, constant_miss_cycles, "70", "1..10000",                                                      \
      "cycles until a constant comes from the cache behind it")                                              \
    P(S, flag, constants_kept, "yes", "",                                                                    \
      "constant caches keep their lines from kernel to kernel; no: they begin empty, as L1 does")            \
    P(S, count, constant_memory_cycles, "300", "1..100000", "cycles until a parameter comes from memory")    \
    P(S, count, fence_cycles, "262", "0..100000", "of a fence, at least")                                    \
    P(S, count, fence_after_cycles, "75", "0..100000", "of a fence, after the last write it waits for")      \
    P(S, count, fence_shared_cycles, "11", "1..10000", "from one fence of an SM to the next")                \
    P(S, count, fence_system_shared_cycles, "24", "1..10000",                                                \
      "from one fence for the system to the next of an SM")                                                  \
    P(S, count, fence_block_cycles, "8", "0..100000", "of a fence for the block")                            \
    P(S, count, fence_system_cycles, "980", "0..100000", "of a fence for the system, at least")              \
    P(S, count, sleep_cycles, "50", "0..1000000", "of a sleep, beside what was asked for")                   \
    P(S, count, wgmma_columns_cycles, "4", "1..10000", "of a tensor core, for 8 columns of a wgmma")         \
    P(S, count, wgmma_least_cycles, "13", "1..10000", "of a tensor core, for a wgmma, at least")             \
    P(S, size, wgmma_memory_bytes, "128B", "1B..64KiB", "of shared memory that wgmma reads in a cycle")      \
    P(S, count, wgmma_latency, "16", "0..10000", "from the last cycle of a wgmma to those who wait for it")

struct sm_spec {
    SM_PARAMS(PARAM_FIELD, sm_spec)
};
extern const struct param_group sm_params;

/* The rows of units, by unit, with what the description says of each. */
struct unit_cost {
    uint32_t latency, interval, shared;
    uint8_t place;  /* enum isa_unit */
    uint8_t result; /* enum unit_result */
    uint8_t busy;   /* enum stall */
    uint8_t does;   /* enum unit_does */
};
void sm_unit_costs(const struct sm_spec *spec, struct unit_cost costs[UNIT_COUNT]);

#endif
