/* Data and blocks of a workload on the members of a unified GPU, as its option `locality` asks: in equal,
 * contiguous parts, so that blocks find their data on their own member. A grid is counted in units: blocks,
 * or rows of blocks. */
#ifndef BENCH_CUDA_PLACEMENT_H
#define BENCH_CUDA_PLACEMENT_H

#include "workload.h"

#define PLACEMENT_OPTION                                                                                     \
    {                                                                                                        \
        "locality", 0, 0, 1, "no|yes: place data and blocks on the members of a unified GPU"                 \
    }

struct placement {
    struct dev *gpu;
    unsigned members; /* 1: nothing is placed */
    uint64_t units;
};

static inline struct placement placement_of(struct dev *gpu, uint64_t wanted, uint64_t units)
{
    struct placement placement;
    placement.gpu = gpu, placement.units = units;
    placement.members = wanted ? dev_members(gpu) : 1;
    if (placement.members > DEV_MEMBERS)
        placement.members = DEV_MEMBERS;
    return placement;
}

/* The first unit of a member. */
static inline uint64_t placement_first(const struct placement *placement, unsigned member)
{
    return placement->units * member / placement->members;
}

static inline unsigned placement_member(const struct placement *placement, uint64_t unit)
{
    return (unsigned)(((unit + 1) * placement->members - 1) / placement->units);
}

/* Memory of which each unit uses `unit_bytes`, in order; the last one may use less. */
static inline void placement_memory(const struct placement *placement, void *device, size_t bytes,
                                    size_t unit_bytes)
{
    for (unsigned i = 0; placement->members > 1 && i < placement->members; i++) {
        size_t from = (size_t)placement_first(placement, i) * unit_bytes;
        size_t end = (size_t)placement_first(placement, i + 1) * unit_bytes;
        end = end < bytes ? end : bytes;
        if (from < end)
            dev_place_memory(placement->gpu, device, from, end - from, i);
    }
}

/* The next launch, whose units have so many blocks. */
static inline void placement_blocks(const struct placement *placement, uint64_t unit_blocks)
{
    struct dev_blocks ranges[DEV_MEMBERS];
    size_t count = 0;
    for (unsigned i = 0; i < placement->members; i++) {
        struct dev_blocks *range = &ranges[count];
        range->first = placement_first(placement, i) * unit_blocks, range->member = i;
        range->end = placement_first(placement, i + 1) * unit_blocks;
        count += range->first < range->end;
    }
    if (placement->members > 1)
        dev_place_blocks(placement->gpu, ranges, count);
}

#endif
