/* Access counters, as NVIDIA's GPUs have them: of each region of memory that a GPU reaches where it is, how
 * often it did so. When a count comes to the threshold, the driver is told of the region once, with the parts
 * of it that were accessed; it counts from 0 again when the driver has cleared it. Pure. */
#ifndef PAGING_TALLY_H
#define PAGING_TALLY_H

#include "base/index.h"

#include <stdbool.h>

enum { TALLY_PARTS = 32 }; /* of a region */

struct tally_count {
    uint32_t count;
    uint32_t parts; /* that were accessed, a bit each */
};

struct tally {
    uint32_t shift; /* of a region's size */
    uint32_t threshold;
    struct index regions; /* by GPU and region */
    struct tally_count *list;
    size_t capacity;
};

void tally_init(struct tally *tally, uint32_t region_shift, uint32_t threshold);
void tally_fini(struct tally *tally);

/* A GPU reached an address. True: that makes the threshold. */
bool tally_add(struct tally *tally, uint32_t gpu, uint64_t at);

/* What was accessed of the region of an address; and it counts from 0 again. */
uint32_t tally_parts(const struct tally *tally, uint32_t gpu, uint64_t at);
void tally_clear(struct tally *tally, uint32_t gpu, uint64_t at);

static inline uint64_t tally_region(const struct tally *tally, uint64_t at)
{
    return at >> tally->shift << tally->shift;
}

static inline uint64_t tally_part_bytes(const struct tally *tally)
{
    return (UINT64_C(1) << tally->shift) / TALLY_PARTS;
}

struct archive;
void tally_archive(struct tally *tally, struct archive *archive);

#endif
