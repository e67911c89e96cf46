/* The private part of a core's memory system: L1I, L1D, an L2 that holds all that they hold, TLBs and a
 * prefetcher. Times are cycles of the core. Calls need not come in the order of their times: a line that is
 * on its way has the cycle at which it arrives. */
#ifndef CPU_MEMORY_H
#define CPU_MEMORY_H

#include "cpu/outer.h"
#include "cpu/spec.h"
#include "cpu/stride.h"
#include "base/clock.h"
#include "base/stat.h"

#define CPU_MEMORY_STATS(X, S)                                                                               \
    X(S, fetches, "lines", "lines of instructions that were asked for")                                      \
    X(S, l1i_misses, "lines", "misses of the L1I")                                                           \
    X(S, loads, "accesses", "loads, one for each line they touch")                                           \
    X(S, stores, "accesses", "stores, likewise")                                                             \
    X(S, l1d_misses, "accesses", "misses of the L1D, and hits of lines on their way from further down")      \
    X(S, l2_misses, "lines", "misses of the L2, for data and for instructions")                              \
    X(S, upgrades, "lines", "stores to lines of which others had copies")                                    \
    X(S, itlb_misses, "accesses", "misses of the first TLB of instructions")                                 \
    X(S, dtlb_misses, "accesses", "misses of the first TLB of data")                                         \
    X(S, walks, "accesses", "walks of the page table")                                                       \
    X(S, prefetches, "lines", "lines prefetched from below the L2 or from it")                               \
    X(S, probes, "lines", "invalidations and downgrades by other cores that found a copy")

/* Where the data of an access came from, nearest first. */
enum cpu_level { CPU_L1, CPU_L2, CPU_L3, CPU_MEMORY, CPU_LEVEL_COUNT };

struct cpu_reply {
    uint64_t done; /* the cycle from which its data can be used */
    enum cpu_level level;
    bool walked; /* a TLB miss of the second level was part of it */
};

struct cpu_flights {
    uint64_t done[64]; /* of misses in flight: when each is over */
    uint32_t count;
};

struct cpu_cache {
    struct tags *tags;
    uint64_t *arrives; /* by slot: the cycle at which the line is there */
    uint64_t latency;
    struct cpu_flights flights;
};

struct cpu_tlb {
    struct tags *first_instructions, *first_data, *second;
    uint64_t page_shift, last_page[2]; /* of instructions, of data */
};

struct cpu_memory {
    const struct cpu_spec *spec;
    struct outer *outer;
    uint32_t core;
    struct clock_domain clock;
    struct cpu_cache l1i, l1d, l2;
    struct cpu_tlb tlb;
    struct stride strides;
    CPU_MEMORY_STATS(STAT_FIELD, cpu_memory)
};

extern const struct stat_table cpu_memory_stats;

void cpu_memory_init(struct cpu_memory *memory, const struct cpu_spec *spec, uint32_t core,
                     struct outer *outer);
void cpu_memory_fini(struct cpu_memory *memory);

/* The line of an instruction. */
struct cpu_reply cpu_memory_fetch(struct cpu_memory *memory, uint64_t pc, uint64_t cycle);

/* A load or a store of the instruction at pc. A store's reply is when the core may write the line. */
struct cpu_reply cpu_memory_access(struct cpu_memory *memory, uint64_t pc, const struct cpu_access *access,
                                   bool writes, uint64_t cycle);

/* Another core wants the line: the copies end, or may only be read from now on. Whether it was changed. */
bool cpu_memory_probe(struct cpu_memory *memory, uint64_t line, bool invalidate);

/* Whether the core has changed the line. */
bool cpu_memory_is_dirty(const struct cpu_memory *memory, uint64_t line);

#endif
