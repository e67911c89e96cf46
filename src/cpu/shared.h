/* The plain system below the private caches: a cache that all cores share, memory with a latency and a
 * bandwidth, and a directory that knows which cores have copies of a line (MESI, without time for
 * invalidations that nobody waits for). */
#ifndef CPU_SHARED_H
#define CPU_SHARED_H

#include "base/calendar.h"
#include "cpu/outer.h"
#include "cpu/spec.h"
#include "base/index.h"
#include "base/stat.h"

#define CPU_SHARED_STATS(X, S)                                                                               \
    X(S, l3_reads, "lines", "requests of cores for lines")                                                   \
    X(S, l3_misses, "lines", "of these, read from memory")                                                   \
    X(S, write_backs, "lines", "written back by cores")                                                      \
    X(S, memory_writes, "lines", "written to memory")                                                        \
    X(S, transfers, "lines", "taken from another core that had changed them")                                \
    X(S, invalidations, "lines", "copies in other cores that a write ended")

struct cpu_memory;
struct tags;

struct cpu_shared {
    struct outer base;
    const struct cpu_spec *spec;
    struct cpu_memory **cores; /* by number; probes go there */
    uint32_t core_count;
    struct tags *l3; /* or NULL */
    struct calendar l3_ports, memory_ports;
    uint64_t l3_period, memory_period; /* picoseconds */
    struct index lines;                /* the directory, where there are several cores */
    struct cpu_copies *copies;         /* by number in it */
    size_t copies_capacity;
    CPU_SHARED_STATS(STAT_FIELD, cpu_shared)
};

extern const struct stat_table cpu_shared_stats;

void cpu_shared_init(struct cpu_shared *shared, const struct cpu_spec *spec, struct cpu_memory **cores);
void cpu_shared_fini(struct cpu_shared *shared);

#endif
