/* What follows from a description: where lines go. The same for all backends. */
#ifndef CACHESIM_PLAN_H
#define CACHESIM_PLAN_H

#include "cachesim/caches.h"
#include "cachesim/place.h"

struct caches_plan {
    struct caches_spec spec;
    struct coherent_shape l1, l2;
    uint32_t groups;   /* of tiles that snoop on each other */
    uint32_t l1_shift; /* of an address to its line */
    uint32_t l2_shift; /* and from an L1's line to the L2's */
    uint32_t parts;    /* a group can be cut into so many by the L1's set: lines of two never meet */
    uint64_t l1_bytes, l2_bytes; /* state of a tile */
};

/* The description must have passed caches_check. */
void caches_plan(struct caches_plan *plan, const struct caches_spec *spec);

#endif
