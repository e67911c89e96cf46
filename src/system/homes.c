#include "system/homes.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/home.h"
#include "mem/space.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *a, const void *b)
{
    const struct memory_range *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

void homes_fini(struct homes *table)
{
    mem_free(table->ranges);
    mem_free(table->spread);
    *table = (struct homes){0};
}

void homes_set(struct homes *table, const struct memory_range *ranges, uint32_t count)
{
    homes_fini(table);
    table->ranges = mem_alloc(count + 1, sizeof *ranges);
    table->spread = mem_alloc(count + 1, sizeof *ranges);
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].page)
            table->spread[table->spread_count++] = ranges[i];
        else
            table->ranges[table->count++] = ranges[i];
    }
    if (table->count)
        qsort(table->ranges, table->count, sizeof *ranges, by_address);
}

/* ---- ranges ---- */

/* The first that ends behind an address. */
static uint32_t first_behind(const struct homes *table, uint64_t at)
{
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->ranges[middle].at + table->ranges[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has(const struct memory_range *range, uint64_t at, uint64_t bytes)
{
    return at - range->at < range->bytes && bytes <= range->bytes - (at - range->at);
}

static const struct memory_range *plain_range(const struct homes *table, uint64_t at, uint64_t bytes)
{
    uint32_t i = first_behind(table, at);
    return i < table->count && has(&table->ranges[i], at, bytes) ? &table->ranges[i] : NULL;
}

static const struct memory_range *spread_range(const struct homes *table, uint64_t at, uint64_t bytes)
{
    for (uint32_t i = 0; i < table->spread_count; i++)
        if (has(&table->spread[i], at, bytes))
            return &table->spread[i];
    return NULL;
}

/* What two ranges of addresses have in common. */
struct overlap {
    uint64_t from, to;
};

static struct overlap overlap_of(const struct memory_range *range, uint64_t at, uint64_t bytes)
{
    return (struct overlap){max_u64(at, range->at),
                            min_u64(add_saturating(at, bytes), range->at + range->bytes)};
}

static bool is_host(const struct memory_range *range)
{
    return physical_home(range->to) >= HOME_MANAGED;
}

/* ---- pages that are at several homes ---- */

/* Where a page of a spread range is. */
static struct physical_address page_place(const struct memory_range *range, uint64_t page)
{
    uint32_t home = physical_home(range->to) + (uint32_t)(page % range->homes);
    return physical_at(home, physical_offset(range->to) + page / range->homes * range->page);
}

static struct physical_address spread_place(const struct memory_range *range, uint64_t at)
{
    struct physical_address place = page_place(range, (at - range->at) / range->page);
    place.packed += (at - range->at) % range->page;
    return place;
}

/* The pages of one home follow each other there, so that they are one call. */
static void each_spread_home(const struct memory_range *range, struct overlap part, homes_range_fn *call,
                             void *user)
{
    uint64_t first = (part.from - range->at) / range->page, last = (part.to - 1 - range->at) / range->page;
    for (uint64_t page = first; page <= last && page < first + range->homes; page++) {
        uint64_t last_here = last - (last - page) % range->homes;
        struct physical_address from = page_place(range, page);
        uint64_t end = page_place(range, last_here).packed + range->page;
        if (page == first)
            from = spread_place(range, part.from);
        if (last_here == last)
            end = spread_place(range, part.to - 1).packed + 1;
        call(user, from, end - from.packed);
    }
}

/* ---- looking up ---- */

struct homes_piece homes_find(const struct homes *table, uint64_t at)
{
    const struct memory_range *range = plain_range(table, at, 1);
    if (range)
        return (struct homes_piece){physical_unpack(range->to.packed + (at - range->at)),
                                    range->bytes - (at - range->at)};
    range = spread_range(table, at, 1);
    if (range)
        return (struct homes_piece){spread_place(range, at), range->page - (at - range->at) % range->page};
    return (struct homes_piece){0};
}

char *homes_bytes(const struct homes *table, uint64_t at, uint64_t bytes)
{
    const struct memory_range *range = spread_range(table, at, bytes);
    if (!range)
        range = plain_range(table, at, bytes);
    return range ? range->host + (at - range->at) : NULL;
}

static bool keeps(const struct memory_range *range, uint64_t host, uint64_t bytes)
{
    return has(range, range->at + (host - (uintptr_t)range->host), bytes);
}

bool homes_keeps(const struct homes *table, uint64_t host, uint64_t bytes)
{
    const struct memory_range *same = plain_range(table, host, bytes); /* most are at their own address */
    if (same && keeps(same, host, bytes))
        return true;
    for (uint32_t i = 0; i < table->spread_count; i++)
        if (keeps(&table->spread[i], host, bytes))
            return true;
    for (uint32_t i = 0; i < table->count; i++)
        if (keeps(&table->ranges[i], host, bytes))
            return true;
    return false;
}

/* ---- all ---- */

void homes_each_home(const struct homes *table, uint64_t at, uint64_t bytes, homes_range_fn *call, void *user)
{
    for (uint32_t i = 0; i < table->spread_count; i++) {
        struct overlap part = overlap_of(&table->spread[i], at, bytes);
        if (part.from < part.to)
            each_spread_home(&table->spread[i], part, call, user);
    }
    for (uint32_t i = first_behind(table, at); i < table->count; i++) {
        const struct memory_range *range = &table->ranges[i];
        struct overlap part = overlap_of(range, at, bytes);
        if (part.from >= part.to)
            return;
        if (!is_host(range))
            call(user, physical_unpack(range->to.packed + (part.from - range->at)), part.to - part.from);
    }
}

void homes_each_bytes(const struct homes *table, uint64_t at, uint64_t bytes, homes_bytes_fn *call,
                      void *user)
{
    for (uint32_t i = 0; i < table->spread_count; i++) {
        const struct memory_range *range = &table->spread[i];
        struct overlap part = overlap_of(range, at, bytes);
        if (part.from < part.to)
            call(user, range->host + (part.from - range->at), part.to - part.from);
    }
    for (uint32_t i = first_behind(table, at); i < table->count; i++) {
        const struct memory_range *range = &table->ranges[i];
        struct overlap part = overlap_of(range, at, bytes);
        if (part.from >= part.to)
            return;
        if (!is_host(range) && !spread_range(table, range->at, range->bytes))
            call(user, range->host + (part.from - range->at), part.to - part.from);
    }
}

static struct home_range spread_in_home(const struct memory_range *range, uint32_t number)
{
    uint64_t pages = (range->bytes + range->page - 1) / range->page;
    uint64_t here = pages / range->homes + (number < pages % range->homes);
    return (struct home_range){.at = physical_offset(range->to),
                               .bytes = here * range->page,
                               .host = range->host + number * range->page,
                               .page = range->page,
                               .stride = range->homes * range->page};
}

uint32_t homes_ranges_of(const struct homes *table, uint32_t home, struct home_range *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->spread_count; i++) {
        const struct memory_range *range = &table->spread[i];
        uint32_t number = home - physical_home(range->to);
        if (number < range->homes)
            list[count++] = spread_in_home(range, number);
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct memory_range *range = &table->ranges[i];
        if (physical_home(range->to) == home)
            list[count++] = (struct home_range){
                .at = physical_offset(range->to), .bytes = range->bytes, .host = range->host};
    }
    return count;
}

void homes_map(const struct homes *table, struct space *space)
{
    for (uint32_t i = 0; i < table->count; i++)
        space_map(space, table->ranges[i].at, table->ranges[i].bytes, table->ranges[i].to);
    for (uint32_t i = 0; i < table->spread_count; i++)
        space_spread(space, table->spread[i].at, table->spread[i].bytes, table->spread[i].to,
                     table->spread[i].page, (uint32_t)table->spread[i].homes);
}
