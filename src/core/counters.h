/* The counters of an SM, separate for each kernel. They are sums over SMs and time; gpu/metrics computes
 * ratios from them. */
#ifndef CORE_COUNTERS_H
#define CORE_COUNTERS_H

#include "base/stat.h"
#include "isa/isa.h"

#define SM_COUNTERS(X, S)                                                                                    \
    X(S, cycles_active, "cycles", "an SM held a block of the kernel")                                        \
    X(S, warp_cycles, "cycles", "warps that an SM held, summed over cycles")                                 \
    X(S, issue_cycles, "cycles", "a scheduler issued something, summed over schedulers")                     \
    X(S, instructions, "instructions", "machine instructions that warps executed")                           \
    X(S, thread_instructions, "instructions", "the same, times the threads that were active")                \
    X(S, thread_instructions_on, "instructions", "the same, times the threads whose guard was true")         \
    X(S, blocks, "blocks", "blocks that began")                                                              \
    X(S, warps, "warps", "warps that began")                                                                 \
    X(S, branches, "branches", "branches executed")                                                          \
    X(S, divergent_branches, "branches", "branches after which threads of a warp went different ways")       \
    X(S, l1_requests, "requests", "warp instructions that went to the L1 cache")                             \
    X(S, l1_load_sectors, "sectors", "sectors of global memory that loads asked the L1 cache for")           \
    X(S, l1_load_hits, "sectors", "of these, those that were there")                                         \
    X(S, l1_store_sectors, "sectors", "sectors of global memory that stores wrote")                          \
    X(S, l1_store_hits, "sectors", "of these, those that were there")                                        \
    X(S, l1_atomic_sectors, "sectors", "sectors that atomic operations went to")                             \
    X(S, l1_local_sectors, "sectors", "sectors of local memory read or written")                             \
    X(S, l1_local_hits, "sectors", "of these, those that were there")                                        \
    X(S, l1_local_written_back, "sectors", "changed sectors of local memory that left for L2")               \
    X(S, l1_extra_sectors, "sectors",                                                                        \
      "sectors that loads and stores asked for beyond what their bytes would fill side by side")             \
    X(S, l1_wavefronts, "wavefronts", "passes of loads of global memory through the data of L1")             \
    X(S, shared_requests, "requests", "warp instructions that went to shared memory")                        \
    X(S, shared_wavefronts, "wavefronts", "passes they took")                                                \
    X(S, shared_conflicts, "wavefronts", "of these, those that bank conflicts added")                        \
    X(S, const_misses, "requests", "constants that were not in the nearest constant cache")                  \
    X(S, fetch_misses, "requests", "instruction fetches that were not in the nearest instruction cache")     \
    X(S, tlb_misses, "pages", "pages that an SM asked the GPU's own translation for")                        \
    X(S, bytes_from_l2, "bytes", "data that came from L2")                                                   \
    X(S, bytes_to_l2, "bytes", "data that went to L2")

/* Why a warp did not issue in a cycle; named as NVIDIA's profiler does. Last: what it is called when warps
 * wait for it most (report/explain/causes.c); NULL: that is no waiting. */
#define STALLS(X)                                                                                            \
    X(selected, "it issued", NULL)                                                                           \
    X(not_selected, "it could have issued, another one did", NULL)                                           \
    X(wait, "a result of fixed latency is on its way", "latency of arithmetic")                              \
    X(long_scoreboard, "waits for global or local memory or textures", "latency of global memory")           \
    X(short_scoreboard, "waits for shared memory, special functions, shuffles",                              \
      "latency of shared memory and special functions")                                                      \
    X(math_pipe_throttle, "the unit is busy", "busy arithmetic units")                                       \
    X(lg_throttle, "the queue to global and local memory is full", "the queue to global memory is full")     \
    X(mio_throttle, "the queue to shared memory and special functions is full",                              \
      "the queue to shared memory is full")                                                                  \
    X(tex_throttle, "the queue to textures is full", "the queue to textures is full")                        \
    X(barrier, "waits for other warps of its block", "barriers")                                             \
    X(membar, "waits for its writes to be seen", "fences")                                                   \
    X(branch_resolving, "a branch is under way", "branches")                                                 \
    X(no_instruction, "the next instruction has not been fetched", "instruction fetch")                      \
    X(dispatch_stall, "register banks are busy", "register banks")                                           \
    X(sleeping, "it sleeps", "sleep")                                                                        \
    X(drain, "ended, and waits for its writes", "writes at the ends of warps")

enum stall {
#define X(name, help, words) STALL_##name,
    STALLS(X)
#undef X
        STALL_COUNT
};

struct sm_counters {
    SM_COUNTERS(STAT_FIELD, sm_counters)
    uint64_t by_unit[UNIT_COUNT];         /* instructions */
    uint64_t product_cycles;              /* of tensor cores: what a wgmma takes beyond the unit's interval */
    uint64_t stalls[STALL_COUNT];         /* warp cycles */
    uint64_t lanes_active[ISA_LANES + 1]; /* instructions by the number of active lanes */
};

/* Of one operation of a kernel's code, over all SMs. */
#define OP_COUNTERS(X)                                                                                       \
    X(issued, "machine instructions that warps executed there")                                              \
    X(threads, "the same, times the threads that were active, and not switched off by a predicate")          \
    X(sectors, "sectors of global and local memory that it asked the L1 cache for")                          \
    X(extra_sectors, "of these, those beyond what its bytes would fill side by side")                        \
    X(passes, "passes through the data of L1 and shared memory")                                             \
    X(conflicts, "of these, those that bank conflicts added")                                                \
    X(awaited, "warp cycles that were spent waiting for its reply from L2 or memory")

struct op_profile {
#define X(name, help) uint64_t name;
    OP_COUNTERS(X)
#undef X
    uint64_t stalls[STALL_COUNT]; /* warp cycles */
};

static inline void op_profile_sum(struct op_profile *sum, const struct op_profile *one)
{
#define X(name, help) sum->name += one->name;
    OP_COUNTERS(X)
#undef X
    for (int i = 0; i < STALL_COUNT; i++)
        sum->stalls[i] += one->stalls[i];
}

#endif
