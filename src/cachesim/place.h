/* Where lines go. Pure; CUDA compiles this header as it stands. */
#ifndef CACHESIM_PLACE_H
#define CACHESIM_PLACE_H

#include "cache/coherent.h"

/* A line's set and tag. */
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
