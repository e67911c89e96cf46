/* What a description says of CPUs: sections [cpu], [cpu.l1d] and so on. */
#ifndef CPU_SPEC_H
#define CPU_SPEC_H

#include "cpu/insn.h"
#include "base/config.h"
#include "base/param.h"

#define CPU_CORE_PARAMS(P, S)                                                                                \
    P(S, choice, model, "interval", "inorder|interval", "how a core counts time")                            \
    P(S, count, cores, "1", "1..64", "cores, each with one thread at a time")                                \
    P(S, freq, clock, "3GHz", "1MHz..20GHz", "clock of the cores")                                           \
    P(S, count, width, "4", "1..16", "instructions dispatched, and retired, in a cycle")                     \
    P(S, count, window, "256", "1..1024", "interval: instructions in flight (the reorder buffer)")           \
    P(S, count, loads, "64", "1..1024", "interval: loads in flight")                                         \
    P(S, count, stores, "48", "1..1024", "stores in flight")                                                 \
    P(S, count, depth, "12", "0..100", "cycles from a mispredicted branch to the right instructions")        \
    P(S, count, forward, "5", "0..100", "interval: cycles from a store to a load of the same bytes")         \
    P(S, count, atomic, "15", "0..1000", "cycles that an atomic access takes beside its cache")              \
    P(S, count, syscall, "400", "0..1000000", "cycles of a system call: the kernel itself is not simulated") \
    P(S, flag, blocking, "no", "", "inorder: each access is waited for (timing-simple)")                     \
    P(S, count, quantum, "1000", "1..10000000",                                                              \
      "instructions that a thread may run ahead of others with less simulated time")                         \
    P(S, time, slice, "4ms", "1us..1s", "time that a thread has a core for, if others wait for one")         \
    P(S, time, wake, "2us", "0s..1ms", "from a wake-up of a sleeping thread until it runs")

#define CPU_CACHE_ROWS(P, S, capacity, cycles, in_flight)                                                    \
    P(S, size, bytes, capacity, "64B..1GiB", "capacity")                                                     \
    P(S, count, ways, "8", "1..64", "lines in a set")                                                        \
    P(S, count, latency, cycles, "0..1000", "cycles from the access to its data")                            \
    P(S, count, misses, in_flight, "1..64", "misses in flight")                                              \
    P(S, choice, policy, "lru", "lru|fifo|random|tree|srrip|+replacement", "which line leaves")
#define CPU_CACHE_PARAMS(P, S) CPU_CACHE_ROWS(P, S, "32KiB", "4", "16")
#define CPU_L2_PARAMS(P, S)    CPU_CACHE_ROWS(P, S, "1MiB", "14", "48")

#define CPU_TLB_PARAMS(P, S)                                                                                 \
    P(S, size, page, "4KiB", "1KiB..1GiB", "bytes of a page")                                                \
    P(S, count, instructions, "64", "1..64", "entries for instructions, fully associative")                  \
    P(S, count, data, "64", "1..64", "entries for data, fully associative")                                  \
    P(S, count, second, "2048", "16..65536", "entries of the second level")                                  \
    P(S, count, second_ways, "8", "1..64", "ways of the second level")                                       \
    P(S, count, second_latency, "7", "0..1000", "cycles of the second level")                                \
    P(S, count, walk, "20", "0..10000", "cycles of a walk beside reading the last entry from the L2")

#define CPU_BRANCH_PARAMS(P, S)                                                                              \
    P(S, count, table_bits, "14", "1..24", "log2 of the counters by address, by history, and that choose")   \
    P(S, count, history, "14", "0..64", "branches of history")                                               \
    P(S, count, targets_bits, "12", "1..20", "log2 of the targets known")                                    \
    P(S, count, returns, "32", "1..64", "return addresses known")                                            \
    P(S, count, target_miss, "4", "0..100", "cycles lost by a jump whose target was not known")

#define CPU_PREFETCH_PARAMS(P, S)                                                                            \
    P(S, flag, on, "yes", "", "prefetch by stride")                                                          \
    P(S, count, table, "64", "1..1024", "instructions whose strides are known")                              \
    P(S, count, sure, "2", "1..16", "equal strides before the first prefetch")                               \
    P(S, count, ahead, "8", "1..64", "lines, or strides if larger, ahead of the access")                     \
    P(S, count, degree, "2", "1..16", "prefetches for an access")

#define CPU_L3_PARAMS(P, S)                                                                                  \
    P(S, flag, on, "yes", "", "there is a cache that all cores share")                                       \
    P(S, size, bytes, "32MiB", "64B..16GiB", "capacity")                                                     \
    P(S, count, ways, "16", "1..64", "lines in a set")                                                       \
    P(S, time, latency, "10ns", "0s..1us", "from a miss in an L2 to the data")                               \
    P(S, rate, bandwidth, "200GB/s", "1MB/s..100TB/s", "of all cores together")

#define CPU_MEMORY_PARAMS(P, S)                                                                              \
    P(S, time, latency, "70ns", "0s..10us", "beside the way to the L3")                                      \
    P(S, rate, bandwidth, "100GB/s", "1MB/s..100TB/s", "of reads and writes together")                       \
    P(S, time, transfer, "40ns", "0s..10us", "of a line that another core's caches have changed")

#define CPU_COHERENCE_PARAMS(P, S)                                                                           \
    P(S, text, protocol, "plain", "",                                                                        \
      "heddle protocol lists them; or a file; plain: an L3 with MESI, not with GPUs")                        \
    P(S, text, topology, "crossbar", "",                                                                     \
      "point-to-point, ring, mesh, torus, cluster; or the file of a graph")                                  \
    P(S, count, homes, "1", "1..16", "home nodes, each with a part of the L3; lines in turn")                \
    P(S, time, link_latency, "2ns", "1ps..10us", "of a link of the network")                                 \
    P(S, rate, link_bandwidth, "0B/s", "0|1MB/s..100TB/s", "of a link, each way; 0: no limit")               \
    P(S, count, flit, "16", "1..256", "bytes of a flit: messages are whole flits")                           \
    P(S, time, probe, "3ns", "0s..1us", "from a message at a core's L2 to its answer")                       \
    P(S, size, gpu_bytes, "1MiB", "4KiB..1GiB", "what a GPU's L2 keeps of the host's memory")                \
    P(S, count, gpu_ways, "16", "1..64", "lines in a set of that")                                           \
    P(S, time, gpu_latency, "10ns", "0s..1us", "of an access to that, and of its answer to a message")

/* name_units, name_latency and name_gap of each class. */
#define CPU_UNIT_ROWS(P, S, name, units, latency, gap, help)                                                 \
    P(S, count, name##_units, #units, "0..16", "units for " help)                                            \
    P(S, count, name##_latency, #latency, "0..1000", "cycles until their result")                            \
    P(S, count, name##_gap, #gap, "0..1000", "cycles until a unit takes the next")

struct cpu_core_spec {
    CPU_CORE_PARAMS(PARAM_FIELD, cpu_core_spec)
};
struct cpu_cache_spec {
    CPU_CACHE_PARAMS(PARAM_FIELD, cpu_cache_spec)
};
struct cpu_tlb_spec {
    CPU_TLB_PARAMS(PARAM_FIELD, cpu_tlb_spec)
};
struct cpu_branch_spec {
    CPU_BRANCH_PARAMS(PARAM_FIELD, cpu_branch_spec)
};
struct cpu_prefetch_spec {
    CPU_PREFETCH_PARAMS(PARAM_FIELD, cpu_prefetch_spec)
};
struct cpu_l3_spec {
    CPU_L3_PARAMS(PARAM_FIELD, cpu_l3_spec)
};
struct cpu_memory_spec {
    CPU_MEMORY_PARAMS(PARAM_FIELD, cpu_memory_spec)
};
struct cpu_coherence_spec {
    CPU_COHERENCE_PARAMS(PARAM_FIELD, cpu_coherence_spec)
};
struct cpu_unit_spec {
    uint64_t units, latency, gap;
};

enum { CPU_LINE_SHIFT = 6, CPU_LINE = 1 << CPU_LINE_SHIFT };

struct cpu_spec {
    struct cpu_core_spec core;
    struct cpu_cache_spec l1i, l1d, l2;
    struct cpu_tlb_spec tlb;
    struct cpu_branch_spec branch;
    struct cpu_prefetch_spec prefetch;
    struct cpu_unit_spec units[CPU_CLASS_COUNT];
    struct cpu_l3_spec l3;
    struct cpu_memory_spec memory;
    struct cpu_coherence_spec coherence;
};

/* All groups, which end in NULL: of a configuration of CPUs alone. */
extern const struct param_group *const cpu_groups[];

/* A configuration with the defaults of CPUs, into which a description is read then. */
void cpu_config_init(struct config *config);

/* Fills the spec; false: what was set does not go together. */
bool cpu_spec_fill(struct cpu_spec *spec, const struct config *config, struct err *err);

#endif
