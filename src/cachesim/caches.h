/* Many caches at once: tiles with an L1 each, and an L2 each or shared, over the accesses of one core each.
 * Without time: what is counted is hits, misses, evictions, write-backs, invalidations.
 *
 * Exact: accesses of caches that can meet happen in the order of (instruction count, tile); the number of
 * threads, the batches they come in, and the device they are simulated on are no part of the result.
 *
 *   struct caches *caches = caches_cpu.make(&spec, &host, err);
 *   while (there is more)
 *       caches_cpu.run(caches, &batch, err);
 *   caches_cpu.count(caches, &result, err);
 *   caches_cpu.close(caches);
 */
#ifndef CACHESIM_CACHES_H
#define CACHESIM_CACHES_H

#include "base/err.h"
#include "cache/coherent.h"
#include "trace/access.h"

#include <stddef.h>

/*    name     text       help */
#define CACHES_MACHINES(X)                                                                                   \
    X(L1, "l1", "an L1 of each tile alone")                                                                  \
    X(PRIVATE, "private", "an L2 of each tile behind it")                                                    \
    X(SHARED, "shared", "an L2 slice of each tile; all lines are spread over the slices")

enum caches_machine {
#define X(name, text, help) CACHES_##name,
    CACHES_MACHINES(X)
#undef X
};

enum { CACHES_TILES_MOST = 65536 };

/* Addresses are taken modulo 2^52: address spaces are told apart by the bits above. */
enum { CACHES_ADDRESS_BITS = 52 };

struct cache_shape {
    uint64_t bytes;
    uint32_t ways, line_bytes;
};

struct caches_spec {
    enum caches_machine machine;
    uint32_t tiles;
    struct cache_shape l1, l2;
    uint32_t policy;  /* enum replace_policy */
    uint32_t snoop;   /* neighbouring tiles of one address space, which snoop on each other; 1: none do */
    uint64_t quantum; /* 0: exact. Else what a tile does is felt by others at the end of a quantum of so many
                         accesses of each tile */
    uint64_t seed;
};

/* Whether such caches can be. */
bool caches_check(const struct caches_spec *spec, struct err *err);

/* Accesses of all tiles: `count[i]` from at[i] on, each in order of instruction counts. Those of a batch come
 * before those of the next: no instruction count is above any of a later batch (exact mode). */
struct caches_batch {
    const struct trace_access *const *at;
    const size_t *count;
};

struct caches_result {
    uint64_t accesses;                       /* to lines: one that crosses lines is one to each */
    struct coherent_counters l1, l2;         /* in all */
    struct coherent_counters *l1_of, *l2_of; /* of each tile; the caller's arrays, or NULL */
    double transfer_s, l1_s, l2_s;           /* cuda: the device's time; overlapped, they add up to more */
};

static inline void counters_add(struct coherent_counters *sum, const struct coherent_counters *one)
{
#define X(name, help) sum->name += one->name;
    COHERENT_COUNTERS(X)
#undef X
}

struct caches;

/* How it is simulated, which no count depends on. */
struct caches_host {
    unsigned threads;   /* of the CPU */
    bool no_overlap;    /* cuda: transfers and kernels one after the other */
    bool resident;      /* cuda: nothing is simulated before all is transferred (at `count`) */
    uint32_t per_block; /* cuda: tiles of a block of threads, each set a thread's; 0: what is best */
};

struct caches_backend {
    const char *name, *help;
    /* NULL where it cannot be: err says why, such as that there is no such device. */
    struct caches *(*make)(const struct caches_spec *spec, const struct caches_host *host, struct err *err);
    void (*close)(struct caches *caches);
    /* What the batch points to may change as soon as this returns. */
    bool (*run)(struct caches *caches, const struct caches_batch *batch, struct err *err);
    bool (*count)(struct caches *caches, struct caches_result *result, struct err *err);
    /* The name of the device that these are on, as long as they are; or NULL: that is the host. */
    const char *(*device)(const struct caches *caches);
};

extern const struct caches_backend caches_cpu, caches_cuda;

#endif
