/* What follows from a description: where lines go. The same for all backends. */
#ifndef CACHESIM_PLAN_H
#define CACHESIM_PLAN_H

#include "cachesim/caches.h"

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

/* A line's set and tag; `below` are the bits that do not count (slices). */
CACHE_CALL uint32_t set_of(const struct coherent_shape *shape, uint64_t line, uint64_t *tag)
{
    uint32_t mask = shape->sets - 1;
    if (!(shape->sets & mask)) {
        *tag = line >> lowest_bit(shape->sets);
        return (uint32_t)line & mask;
    }
    *tag = line / shape->sets;
    return (uint32_t)(line - *tag * shape->sets);
}

CACHE_CALL uint64_t line_of(const struct coherent_shape *shape, uint32_t set, uint64_t tag)
{
    return tag * shape->sets + set;
}

/* Of REPLACE_RANDOM: another for each set of each cache. */
CACHE_CALL uint64_t set_seed(uint64_t seed, uint32_t level, uint32_t cache, uint32_t set)
{
    return (seed + level) * UINT64_C(0xa0761d6478bd642f) + ((uint64_t)cache << 32 | set);
}

#endif
