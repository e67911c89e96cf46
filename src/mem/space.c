#include "mem/space.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { TOP_SHIFT = 30, MIDDLE_SHIFT = 21, LEAF_SHIFT = 12, LEVEL_SHIFT = 9, ADDRESS_BITS = 47 };
enum { ENTRIES = 1 << LEVEL_SHIFT };
#define TOP_ENTRIES (UINT64_C(1) << (ADDRESS_BITS - TOP_SHIFT))

/* Zero: nothing. Bit 0: the packed physical address of a block of this level's size, with the alias in the
 * low bits that are free. Else a table of the next level, by its number. */
typedef uint64_t entry;
enum { IS_BLOCK = 1, NEXT_SHIFT = 1, ALIAS_SHIFT = 1 };

struct table {
    entry at[ENTRIES];
};

struct space_list {
    struct space_block *at;
    uint64_t *ends; /* by place: where the last of those up to it ends, as physical addresses */
    size_t count;
};

/* Pages that are at several homes in turn. */
struct space_region {
    uint64_t at, bytes, page;
    struct physical_address to;
    uint32_t homes;
};

struct space {
    entry *top; /* pages of the host that cost nothing until they are touched */
    struct table **tables;
    size_t table_count, table_capacity;
    struct space_block *mapped; /* as they were given; those found first count */
    size_t mapped_count, mapped_capacity;
    struct space_region *regions; /* few: they take no entries */
    size_t region_count, region_capacity;
    struct space_list by_physical; /* as they were when it was ready last; */
    bool is_ready; /* false: they were cleared since, but keep their aliases if they come again */
    bool has_aliases;
};

struct space *space_new(void)
{
    struct space *space = mem_alloc(1, sizeof *space);
    space->top = mem_alloc_pages(TOP_ENTRIES, sizeof *space->top);
    return space;
}

static void free_tables(struct space *space)
{
    for (size_t i = 0; i < space->table_count; i++)
        mem_free(space->tables[i]);
    space->table_count = 0;
}

void space_free(struct space *space)
{
    if (!space)
        return;
    free_tables(space);
    mem_free(space->tables);
    mem_free(space->mapped);
    mem_free(space->regions);
    mem_free(space->by_physical.at);
    mem_free(space->by_physical.ends);
    mem_free_pages(space->top);
    mem_free(space);
}

static void forget_entries(struct space *space)
{
    free_tables(space);
    mem_free_pages(space->top);
    space->top = mem_alloc_pages(TOP_ENTRIES, sizeof *space->top);
}

void space_clear(struct space *space)
{
    space->mapped_count = 0;
    space->region_count = 0;
    space->is_ready = false;
    forget_entries(space);
}

static struct table *next_table(struct space *space, entry *at)
{
    if (!*at) {
        mem_grow(space->tables, space->table_count, space->table_capacity);
        space->tables[space->table_count] = mem_alloc(1, sizeof(struct table));
        *at = (entry)++space->table_count << NEXT_SHIFT;
    }
    return space->tables[(*at >> NEXT_SHIFT) - 1];
}

/* Whether a block of this size can begin here. */
static bool fits(uint64_t at, uint64_t bytes, struct physical_address to, unsigned shift)
{
    uint64_t rest = (UINT64_C(1) << shift) - 1;
    return !((at | to.packed) & rest) && bytes > rest;
}

/* Maps a block, and gives how far that is. */
static uint64_t map_block(struct space *space, uint64_t at, uint64_t bytes, struct physical_address to,
                          uint8_t alias)
{
    entry *place = &space->top[at >> TOP_SHIFT];
    for (unsigned shift = TOP_SHIFT;; shift -= LEVEL_SHIFT) {
        if (*place & IS_BLOCK)
            return SPACE_PAGE_LEAST;
        if (!*place && fits(at, bytes, to, shift)) {
            *place = to.packed | (entry)alias << ALIAS_SHIFT | IS_BLOCK;
            return UINT64_C(1) << shift;
        }
        place = &next_table(space, place)->at[at >> (shift - LEVEL_SHIFT) & (ENTRIES - 1)];
    }
}

void space_map(struct space *space, uint64_t at, uint64_t bytes, struct physical_address to)
{
    uint64_t before = at % SPACE_PAGE_LEAST, end = at + bytes;
    REQUIRE(end <= UINT64_C(1) << ADDRESS_BITS && physical_offset(to) % SPACE_PAGE_LEAST == before);
    end = (end + SPACE_PAGE_LEAST - 1) / SPACE_PAGE_LEAST * SPACE_PAGE_LEAST;
    at -= before;
    to.packed -= before;
    mem_grow(space->mapped, space->mapped_count, space->mapped_capacity);
    space->mapped[space->mapped_count++] = (struct space_block){.at = at, .bytes = end - at, .to = to};
}

void space_spread(struct space *space, uint64_t at, uint64_t bytes, struct physical_address to, uint64_t page,
                  uint32_t homes)
{
    REQUIRE(!((at | to.packed) % SPACE_PAGE_LEAST) && page >= SPACE_PAGE_LEAST && !(page & (page - 1)));
    mem_grow(space->regions, space->region_count, space->region_capacity);
    space->regions[space->region_count++] =
        (struct space_region){.at = at, .bytes = bytes, .page = page, .to = to, .homes = homes};
}

static void enter(struct space *space, struct space_block block)
{
    for (uint64_t end = block.at + block.bytes, step; block.at < end; block.at += step) {
        step = map_block(space, block.at, end - block.at, block.to, block.alias);
        block.to.packed += step;
    }
}

static int by_physical(const void *a, const void *b)
{
    const struct space_block *x = a, *y = b;
    if (x->to.packed != y->to.packed)
        return x->to.packed < y->to.packed ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static const struct space_block *find_block(const struct space_list *list, const struct space_block *one)
{
    return list->count ? bsearch(one, list->at, list->count, sizeof *one, by_physical) : NULL;
}

/* Numbers for `count` blocks that overlap, one the next, each of which may have one already (`before`). With
 * more blocks than numbers, some have one in common: they are one to caches. */
static void number_overlapping(struct space_block *blocks, size_t count, const bool *before)
{
    bool used[SPACE_ANY_ALIAS] = {false};
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++)
        if (before[i])
            used[blocks[i].alias] = true;
    for (size_t i = 0; i < count; i++) {
        while (!before[i] && next < SPACE_ANY_ALIAS && used[next])
            next++;
        if (!before[i])
            blocks[i].alias = (uint8_t)(next < SPACE_ANY_ALIAS ? next++ : i % SPACE_ANY_ALIAS);
    }
}

/* Blocks that overlap follow each other. Tags in caches, TLBs and messages have the numbers, so a block that
 * was there before keeps its own. */
static void number_aliases(struct space *space, const struct space_list *former)
{
    struct space_list *now = &space->by_physical;
    bool *before = mem_alloc(now->count + 1, sizeof *before);
    space->has_aliases = false;
    for (size_t i = 0; i < now->count; i++) {
        const struct space_block *same = find_block(former, &now->at[i]);
        before[i] = same && same->bytes == now->at[i].bytes;
        now->at[i].alias = before[i] ? same->alias : 0;
    }
    for (size_t first = 0, i; first < now->count; first = i) {
        uint64_t end = 0;
        for (i = first; i < now->count && (i == first || now->at[i].to.packed < end); i++)
            end = max_u64(end, now->at[i].to.packed + now->at[i].bytes);
        number_overlapping(now->at + first, i - first, before + first);
        space->has_aliases |= i - first > 1;
    }
    mem_free(before);
}

void space_ready(struct space *space)
{
    struct space_list former = space->by_physical;
    size_t count = space->mapped_count;
    space->by_physical = (struct space_list){mem_alloc(count + 1, sizeof *former.at),
                                             mem_alloc(count + 1, sizeof *former.ends), count};
    if (count) {
        memcpy(space->by_physical.at, space->mapped, count * sizeof *space->mapped);
        qsort(space->by_physical.at, count, sizeof *space->by_physical.at, by_physical);
    }
    for (size_t i = 0, end = 0; i < count; i++) {
        const struct space_block *one = &space->by_physical.at[i];
        end = space->by_physical.ends[i] = max_u64(end, one->to.packed + one->bytes);
    }
    number_aliases(space, &former);
    mem_free(former.at);
    mem_free(former.ends);
    forget_entries(space);
    for (size_t i = 0; i < count; i++)
        enter(space, *find_block(&space->by_physical, &space->mapped[i]));
    space->is_ready = true;
}

/* ---- regions ---- */

static struct space_block page_of(const struct space *space, const struct space_region *region,
                                  uint64_t number)
{
    uint32_t home = physical_home(region->to) + (uint32_t)(number % region->homes);
    return (struct space_block){
        .at = region->at + number * region->page,
        .bytes = region->page,
        .to = physical_at(home, physical_offset(region->to) + number / region->homes * region->page),
        .has_aliases = space->has_aliases};
}

static struct space_block find_in_regions(const struct space *space, uint64_t address)
{
    for (size_t i = 0; i < space->region_count; i++) {
        const struct space_region *region = &space->regions[i];
        if (address - region->at < region->bytes)
            return page_of(space, region, (address - region->at) / region->page);
    }
    return (struct space_block){0};
}

/* The page of a region that is at this physical address, if nothing else is mapped where it would be. */
static struct space_block name_in_regions(const struct space *space, struct physical_address address)
{
    for (size_t i = 0; i < space->region_count; i++) {
        const struct space_region *region = &space->regions[i];
        uint64_t home = physical_home(address) - physical_home(region->to);
        uint64_t place = (physical_offset(address) - physical_offset(region->to)) / region->page;
        if (home >= region->homes || place > region->bytes / region->page)
            continue;
        uint64_t virtual = region->at + (place * region->homes + home) * region->page;
        struct space_block found = space_find(space, virtual + address.packed % region->page);
        if (found.bytes && address.packed - found.to.packed < found.bytes)
            return found;
    }
    return (struct space_block){0};
}

/* ---- looking up ---- */

/* The first of those that may have this physical address. */
static size_t first_at(const struct space_list *list, uint64_t packed)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->ends[middle] <= packed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct space_block space_name(const struct space *space, struct physical_address address, uint32_t number)
{
    const struct space_list *list = &space->by_physical;
    if (!space->is_ready)
        return (struct space_block){0};
    for (size_t i = first_at(list, address.packed);
         i < list->count && list->at[i].to.packed <= address.packed; i++) {
        const struct space_block *one = &list->at[i];
        if (address.packed - one->to.packed < one->bytes && !number--)
            return *one;
    }
    return number ? (struct space_block){0} : name_in_regions(space, address);
}

static struct space_block block(const struct space *space, entry found, uint64_t address, unsigned shift)
{
    uint64_t bytes = UINT64_C(1) << shift;
    return found ? (struct space_block){.at = address & ~(bytes - 1),
                                        .bytes = bytes,
                                        .to = physical_unpack(found / SPACE_PAGE_LEAST * SPACE_PAGE_LEAST),
                                        .alias = (uint8_t)(found >> ALIAS_SHIFT),
                                        .has_aliases = space->has_aliases}
                 : find_in_regions(space, address);
}

struct space_block space_find(const struct space *space, uint64_t address)
{
    if (address >> ADDRESS_BITS)
        return (struct space_block){0};
    entry found = space->top[address >> TOP_SHIFT];
    if (!found || found & IS_BLOCK)
        return block(space, found, address, TOP_SHIFT);
    found = space->tables[(found >> NEXT_SHIFT) - 1]->at[address >> MIDDLE_SHIFT & (ENTRIES - 1)];
    if (!found || found & IS_BLOCK)
        return block(space, found, address, MIDDLE_SHIFT);
    found = space->tables[(found >> NEXT_SHIFT) - 1]->at[address >> LEAF_SHIFT & (ENTRIES - 1)];
    return block(space, found, address, LEAF_SHIFT);
}
