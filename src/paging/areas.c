#include "paging/areas.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

void areas_fini(struct areas *areas)
{
    mem_free(areas->list);
    *areas = (struct areas){0};
}

/* The first that ends behind an address. */
static size_t first_behind(const struct areas *areas, uint64_t at)
{
    size_t low = 0, high = areas->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (areas->list[middle].at + areas->list[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct areas *areas, size_t place, const struct area *area)
{
    mem_grow(areas->list, areas->count, areas->capacity);
    memmove(areas->list + place + 1, areas->list + place, (areas->count - place) * sizeof *areas->list);
    areas->list[place] = *area;
    areas->count++;
}

void areas_add(struct areas *areas, uint64_t at, uint64_t bytes)
{
    struct area area = {
        .at = at, .bytes = bytes, .advice = {.preferred = AREA_NOWHERE, .prefetched = AREA_NOWHERE}};
    insert(areas, first_behind(areas, at), &area);
}

/* An area that an address is within becomes two. */
static void cut(struct areas *areas, uint64_t at)
{
    size_t place = first_behind(areas, at);
    if (place == areas->count || areas->list[place].at >= at)
        return;
    struct area second = areas->list[place];
    uint64_t before = at - second.at;
    second.at = at;
    second.bytes -= before;
    areas->list[place].bytes = before;
    insert(areas, place + 1, &second);
}

struct areas_span areas_cut(struct areas *areas, uint64_t at, uint64_t bytes)
{
    cut(areas, at);
    cut(areas, at + bytes);
    size_t from = first_behind(areas, at), to = from;
    while (to < areas->count && areas->list[to].at < at + bytes)
        to++;
    return (struct areas_span){areas->list + from, to - from};
}

void areas_remove(struct areas *areas, uint64_t at, uint64_t bytes)
{
    struct areas_span span = areas_cut(areas, at, bytes);
    if (!span.count)
        return;
    size_t behind = (size_t)(span.first - areas->list) + span.count;
    memmove(span.first, span.first + span.count, (areas->count - behind) * sizeof *span.first);
    areas->count -= span.count;
}

const struct area *areas_find(const struct areas *areas, uint64_t at)
{
    size_t place = first_behind(areas, at);
    return place < areas->count && areas->list[place].at <= at ? &areas->list[place] : NULL;
}

uint32_t areas_pages(const struct areas *areas, uint64_t at, uint32_t page_shift)
{
    uint32_t pages = 0;
    uint64_t end = at + (UINT64_C(32) << page_shift);
    for (size_t i = first_behind(areas, at); i < areas->count && areas->list[i].at < end; i++) {
        const struct area *area = &areas->list[i];
        uint64_t from = max_u64(area->at, at), last = min_u64(area->at + area->bytes, end) - 1;
        for (uint64_t page = (from - at) >> page_shift; page <= (last - at) >> page_shift; page++)
            pages |= UINT32_C(1) << page;
    }
    return pages;
}
