#include "mem/rights.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum {
    REGION_SHIFT = PAGE_MOST_SHIFT,
    UNIT_SHIFT = PAGE_UNIT_SHIFT,
    UNITS = 1 << (REGION_SHIFT - UNIT_SHIFT)
};

struct rights_region {
    uint8_t *units; /* by unit; NULL: all are alike */
    uint8_t all;
};

void rights_fini(struct rights *rights)
{
    for (size_t i = 0; i < rights->regions.count; i++)
        mem_free(rights->list[i].units);
    mem_free(rights->list);
    index_fini(&rights->regions);
    rights->list = NULL;
    rights->capacity = 0;
}

static enum page_right at_first(const struct rights *rights, uint64_t address)
{
    return physical_home(physical_unpack(address)) == rights->home ? PAGE_WRITE : PAGE_NONE;
}

static uint32_t unit_of(uint64_t address)
{
    return (uint32_t)(address >> UNIT_SHIFT) & (UNITS - 1);
}

enum page_right rights_of(const struct rights *rights, uint64_t address)
{
    uint32_t number = index_find(&rights->regions, address >> REGION_SHIFT);
    if (number == INDEX_NONE)
        return at_first(rights, address);
    const struct rights_region *region = &rights->list[number];
    return region->units ? region->units[unit_of(address)] : region->all;
}

static struct rights_region *region_at(struct rights *rights, uint64_t address)
{
    uint32_t number = index_find(&rights->regions, address >> REGION_SHIFT);
    if (number == INDEX_NONE) {
        number = index_add(&rights->regions, address >> REGION_SHIFT);
        size_t count = number;
        mem_grow(rights->list, count, rights->capacity);
        rights->list[number] = (struct rights_region){.all = (uint8_t)at_first(rights, address)};
    }
    return &rights->list[number];
}

void rights_set(struct rights *rights, uint64_t at, uint32_t shift, enum page_right right)
{
    struct rights_region *region = region_at(rights, at);
    if (shift >= REGION_SHIFT) {
        mem_free(region->units);
        *region = (struct rights_region){.all = (uint8_t)right};
        return;
    }
    if (!region->units) {
        region->units = mem_alloc(UNITS, 1);
        memset(region->units, region->all, UNITS);
    }
    memset(region->units + unit_of(at), right, (size_t)1 << (shift - UNIT_SHIFT));
}

void rights_forget(struct rights *rights, uint64_t at, uint64_t bytes)
{
    for (size_t i = 0; i < rights->regions.count && bytes; i++) {
        uint64_t first = rights->regions.keys[i] << REGION_SHIFT;
        if (first > at + (bytes - 1) || first + ((1 << REGION_SHIFT) - 1) < at)
            continue;
        uint64_t from = max_u64(first, at) >> UNIT_SHIFT,
                 to = min_u64(first + ((1 << REGION_SHIFT) - 1), at + (bytes - 1)) >> UNIT_SHIFT;
        for (uint64_t unit = from; unit <= to; unit++)
            rights_set(rights, unit << UNIT_SHIFT, UNIT_SHIFT, at_first(rights, first));
    }
}

void rights_archive(struct rights *rights, struct archive *archive)
{
    if (archive->reading && archive->good)
        rights_fini(rights);
    index_archive(&rights->regions, archive);
    if (archive->reading && archive->good) {
        rights->capacity = rights->regions.count + 1;
        rights->list = mem_alloc(rights->capacity, sizeof *rights->list);
    }
    for (size_t i = 0; i < rights->regions.count && archive->good; i++) {
        struct rights_region *region = &rights->list[i];
        uint8_t has_units = region->units != NULL;
        ARCHIVE_VALUE(archive, region->all);
        ARCHIVE_VALUE(archive, has_units);
        if (archive->reading && has_units)
            region->units = mem_alloc(UNITS, 1);
        if (has_units)
            archive_sparse(archive, region->units, UNITS);
    }
}
