/* What memory holds: bytes of the host. Beyond the regions there is nothing: zeroes, and writes are lost. */
#include "mem/partition.h"

static const struct mem_region *region_of(const struct shape *shape, uint64_t address)
{
    for (uint32_t i = 0; i < shape->region_count; i++) {
        if (address - shape->regions[i].at < shape->regions[i].bytes)
            return &shape->regions[i];
    }
    return NULL;
}

bool region_is_remote(const struct shape *shape, uint64_t address)
{
    const struct mem_region *region = region_of(shape, address);
    return region && region->remote;
}

/* The host's bytes of a sector that lies in one region as a whole, as nearly all do; or NULL. */
static char *whole(const struct shape *shape, uint64_t address)
{
    const struct mem_region *region = region_of(shape, address);
    if (!region || region->bytes - (address - region->at) < MEM_SECTOR)
        return NULL;
    return region->host + (address - region->at);
}

char *region_host(const struct shape *shape, uint64_t address)
{
    const struct mem_region *region = region_of(shape, address);
    return region ? region->host + (address - region->at) : NULL;
}

void region_prefetch(const struct shape *shape, uint64_t line)
{
    const char *bytes = region_host(shape, line);
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + MEM_LINE / 2);
}

void region_read(const struct shape *shape, uint64_t address, unsigned char *sector)
{
    const char *from = whole(shape, address);
    if (LIKELY(from != NULL)) {
        memcpy(sector, from, MEM_SECTOR);
        return;
    }
    for (uint32_t i = 0; i < MEM_SECTOR; i++) {
        from = region_host(shape, address + i);
        sector[i] = from ? (unsigned char)*from : 0;
    }
}

void region_read_line(const struct shape *shape, uint64_t address, unsigned char *line)
{
    const struct mem_region *region = region_of(shape, address);
    if (LIKELY(region && region->bytes - (address - region->at) >= MEM_LINE)) {
        memcpy(line, region->host + (address - region->at), MEM_LINE);
        return;
    }
    for (uint32_t at = 0; at < MEM_LINE; at += MEM_SECTOR)
        region_read(shape, address + at, line + at);
}

void region_write(const struct shape *shape, uint64_t address, const unsigned char *sector, uint32_t mask)
{
    char *to = mask == UINT32_MAX ? whole(shape, address) : NULL;
    if (LIKELY(to != NULL)) {
        memcpy(to, sector, MEM_SECTOR);
        return;
    }
    for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(mask);
        to = region_host(shape, address + i);
        if (to)
            *to = (char)sector[i];
    }
}
