#include "mem/home.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/message.h"

#include <stdlib.h>
#include <string.h>

static int by_offset(const void *a, const void *b)
{
    const struct home_range *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Cuts off what an earlier range has already. */
static void remove_overlaps(struct home *home)
{
    uint64_t end = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < home->count; i++) {
        struct home_range range = home->ranges[i];
        uint64_t cut = kept && range.at < end ? end - range.at : 0;
        if (cut >= range.bytes)
            continue;
        range.at += cut;
        range.bytes -= cut;
        range.host += cut;
        end = range.at + range.bytes;
        home->ranges[kept++] = range;
    }
    home->count = kept;
}

void home_set(struct home *home, const struct home_range *ranges, uint32_t count)
{
    mem_free(home->ranges);
    home->ranges = mem_alloc(count + 1, sizeof *ranges);
    home->count = count;
    if (count)
        memcpy(home->ranges, ranges, count * sizeof *ranges);
    if (count)
        qsort(home->ranges, count, sizeof *ranges, by_offset);
    remove_overlaps(home);
}

void home_fini(struct home *home)
{
    mem_free(home->ranges);
    *home = (struct home){0};
}

static bool is_in(const struct home_range *range, uint64_t offset)
{
    return offset - range->at < range->bytes;
}

static __attribute__((noinline)) const struct home_range *search(const struct home *home, uint64_t offset)
{
    uint32_t low = 0, high = home->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (home->ranges[middle].at <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && is_in(&home->ranges[low - 1], offset) ? &home->ranges[low - 1] : NULL;
}

/* Nearly all is in the first. */
static const struct home_range *range_of(const struct home *home, uint64_t offset)
{
    if (LIKELY(home->count && is_in(home->ranges, offset)))
        return home->ranges;
    return search(home, offset);
}

/* The path of a GPU that is not unified stays small enough to be inlined. */
static __attribute__((noinline)) char *host_of_page(const struct home_range *range, uint64_t in_range)
{
    return range->host + (in_range >> __builtin_ctzll(range->page)) * range->stride +
           (in_range & (range->page - 1));
}

static inline char *host_of(const struct home_range *range, uint64_t offset)
{
    return LIKELY(!range->page) ? range->host + (offset - range->at)
                                : host_of_page(range, offset - range->at);
}

/* The host's bytes of a sector that lies in one range as a whole, as nearly all do; or NULL. */
static inline __attribute__((always_inline)) char *whole(const struct home *home, uint64_t offset)
{
    const struct home_range *range = range_of(home, offset);
    if (!range || range->bytes - (offset - range->at) < MEM_SECTOR)
        return NULL;
    return host_of(range, offset);
}

char *home_host(const struct home *home, uint64_t offset)
{
    const struct home_range *range = range_of(home, offset);
    return range ? host_of(range, offset) : NULL;
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
        memcpy(line, host_of(range, offset), bytes); /* lines do not cross pages */
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
