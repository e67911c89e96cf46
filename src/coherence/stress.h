/* A random tester for coherent memory systems, after gem5's: every agent loads, stores and adds at random
 * places, few enough that lines are fought for; caches are small, messages overtake each other. All that was
 * read is checked.
 *
 * Stores write values that occur once. A load must give the value of a store that began before the load
 * ended, and that was not overwritten: no other store began after that one ended and ended before the load
 * began. A GPU's L1 may give older values, but none that was overwritten before its last acquire. Sums of
 * additions must be exact. */
#ifndef COHERENCE_STRESS_H
#define COHERENCE_STRESS_H

#include "base/text.h"
#include "coherence/coherence.h"

struct stress_spec {
    const struct protocol *protocol;
    enum topology topology;
    const struct net_graph *graph; /* of topology_read, for just these agents; NULL: the topology's */
    uint32_t cpus, l1s, homes;
    uint32_t lines;    /* that are fought for */
    uint64_t accesses; /* at least so many in all */
    uint64_t round;    /* operations of an agent between two checks; 0: 20000 */
    /* Hardly any room: for one message on each link of a shape and at each agent, of each virtual network,
     * and for two misses of a cache. */
    bool tight;
    bool one_network; /* no virtual networks: then that may deadlock */
    uint64_t seed;
    unsigned threads;
    /* Checkpoints: begin with the one in `load`; end at a time (0: when all is done); save there. Or NULL. */
    const char *load, *save;
    uint64_t until_ps;
    const _Atomic int *interrupt; /* or NULL */
};

struct stress_result {
    uint64_t accesses, loads, stores, adds, fences, copies;
    uint64_t time_ps, events, digest;
    struct coherence_counters counters; /* of caches */
};

/* False: err says what was read and should not have been, or what is stuck. */
bool stress_run(const struct stress_spec *spec, struct stress_result *result, struct err *err);

#endif
