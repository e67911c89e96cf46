#include "mem/home.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/message.h"

#include <string.h>

void home_set(struct home *home, const struct home_range *ranges, uint32_t count)
{
    home->ranges = mem_resize(home->ranges, home->count, count, sizeof *ranges);
    home->count = count;
    if (count)
        memcpy(home->ranges, ranges, count * sizeof *ranges);
}

void home_fini(struct home *home)
{
    mem_free(home->ranges);
    *home = (struct home){0};
}

static const struct home_range *range_of(const struct home *home, uint64_t offset)
{
    for (uint32_t i = 0; i < home->count; i++) {
        if (offset - home->ranges[i].at < home->ranges[i].bytes)
            return &home->ranges[i];
    }
    return NULL;
}

/* The host's bytes of a sector that lies in one range as a whole, as nearly all do; or NULL. */
static char *whole(const struct home *home, uint64_t offset)
{
    const struct home_range *range = range_of(home, offset);
    if (!range || range->bytes - (offset - range->at) < MEM_SECTOR)
        return NULL;
    return range->host + (offset - range->at);
}

char *home_host(const struct home *home, uint64_t offset)
{
    const struct home_range *range = range_of(home, offset);
    return range ? range->host + (offset - range->at) : NULL;
}

void home_prefetch(const struct home *home, uint64_t line)
{
    const char *bytes = home_host(home, line);
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
}

void home_read(const struct home *home, uint64_t offset, unsigned char *sector)
{
    const char *from = whole(home, offset);
    if (LIKELY(from != NULL)) {
        memcpy(sector, from, MEM_SECTOR);
        return;
    }
    for (uint32_t i = 0; i < MEM_SECTOR; i++) {
        from = home_host(home, offset + i);
        sector[i] = from ? (unsigned char)*from : 0;
    }
}

void home_read_line(const struct home *home, uint64_t offset, unsigned char *line, uint32_t bytes)
{
    const struct home_range *range = range_of(home, offset);
    if (LIKELY(range && range->bytes - (offset - range->at) >= bytes)) {
        memcpy(line, range->host + (offset - range->at), bytes);
        return;
    }
    for (uint32_t at = 0; at < bytes; at += MEM_SECTOR)
        home_read(home, offset + at, line + at);
}

void home_write(const struct home *home, uint64_t offset, const unsigned char *sector, uint32_t mask)
{
    char *to = mask == UINT32_MAX ? whole(home, offset) : NULL;
    if (LIKELY(to != NULL)) {
        memcpy(to, sector, MEM_SECTOR);
        return;
    }
    for (; mask; mask &= mask - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(mask);
        to = home_host(home, offset + i);
        if (to)
            *to = (char)sector[i];
    }
}
