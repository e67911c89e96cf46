#include "paging/directory.h"
#include "base/archive.h"
#include "base/index.h"
#include "base/mem.h"

#include <string.h>

/* Regions are pages of the largest size, each with units of the least. */
struct directory {
    uint32_t most_shift, least_shift;
    struct index regions; /* by address >> most_shift */
    struct page **units;  /* by region */
    size_t capacity;
};

struct directory *directory_new(uint32_t most_shift, uint32_t least_shift)
{
    struct directory *directory = mem_alloc(1, sizeof *directory);
    directory->most_shift = most_shift;
    directory->least_shift = least_shift;
    return directory;
}

static void forget_all(struct directory *directory)
{
    for (size_t i = 0; i < directory->regions.count; i++)
        mem_free(directory->units[i]);
    index_fini(&directory->regions);
    mem_free(directory->units);
    directory->units = NULL;
    directory->capacity = 0;
}

void directory_free(struct directory *directory)
{
    if (!directory)
        return;
    forget_all(directory);
    mem_free(directory);
}

static size_t units_of_region(const struct directory *directory)
{
    return (size_t)1 << (directory->most_shift - directory->least_shift);
}

/* As it is before anybody moved it. */
static struct page at_home(const struct directory *directory, uint64_t at)
{
    return (struct page){.at = at >> directory->most_shift << directory->most_shift,
                         .holders = UINT64_C(1) << directory_home(at),
                         .shift = (uint8_t)directory->most_shift,
                         .is_exclusive = true};
}

/* The page of an address: the largest one that begins at an address of its size and has it. */
static struct page *find(const struct directory *directory, uint32_t region, uint64_t at)
{
    for (uint32_t shift = directory->most_shift; shift >= directory->least_shift; shift--) {
        uint64_t in_region = at & ((UINT64_C(1) << directory->most_shift) - 1);
        struct page *unit = &directory->units[region][in_region >> shift << shift >> directory->least_shift];
        if (unit->shift == shift)
            return unit;
    }
    return NULL;
}

struct page *directory_page(struct directory *directory, uint64_t at)
{
    uint32_t region = index_find(&directory->regions, at >> directory->most_shift);
    if (region == INDEX_NONE) {
        region = index_add(&directory->regions, at >> directory->most_shift);
        if (directory->capacity <= region) {
            size_t more = directory->capacity ? 2 * directory->capacity : 64;
            directory->units =
                mem_resize(directory->units, directory->capacity, more, sizeof *directory->units);
            directory->capacity = more;
        }
        directory->units[region] = mem_alloc(units_of_region(directory), sizeof(struct page));
        directory->units[region][0] = at_home(directory, at);
    }
    return find(directory, region, at);
}

struct page directory_look(const struct directory *directory, uint64_t at)
{
    uint32_t region = index_find(&directory->regions, at >> directory->most_shift);
    return region == INDEX_NONE ? at_home(directory, at) : *find(directory, region, at);
}

static struct page *unit_behind(const struct directory *directory, struct page *page, uint64_t bytes)
{
    return page + (bytes >> directory->least_shift);
}

void directory_split(struct directory *directory, struct page *page)
{
    page->shift--;
    struct page *half = unit_behind(directory, page, page_bytes(page));
    *half = *page;
    half->at += page_bytes(page);
}

static bool are_alike(const struct page *a, const struct page *b)
{
    return a->shift == b->shift && a->holders == b->holders && a->is_exclusive && b->is_exclusive &&
           !a->is_busy && !b->is_busy;
}

uint32_t directory_merge(struct directory *directory, struct page *page)
{
    uint32_t merged = 0;
    for (; page->shift < directory->most_shift; merged++) {
        struct page *first = page, *second;
        if (page->at >> page->shift & 1)
            first = page - (page_bytes(page) >> directory->least_shift);
        second = unit_behind(directory, first, page_bytes(page));
        if (!are_alike(first, second))
            break;
        if (second->granted > first->granted)
            first->granted = second->granted;
        *second = (struct page){0};
        first->shift++;
        page = first;
    }
    return merged;
}

static void each_of_region(const struct directory *directory, uint32_t region, directory_fn *call, void *user)
{
    struct page *units = directory->units[region];
    for (size_t i = 0, pages; i < units_of_region(directory); i += pages) {
        pages = (size_t)1 << (units[i].shift - directory->least_shift);
        call(user, &units[i]);
    }
}

void directory_each(const struct directory *directory, directory_fn *call, void *user)
{
    for (size_t i = 0; i < directory->regions.count; i++)
        each_of_region(directory, (uint32_t)i, call, user);
}

void directory_send_home(struct page *page)
{
    page->holders = UINT64_C(1) << directory_home(page->at);
    page->is_exclusive = true;
}

/* What was read is pages that fill their region. */
static bool region_fits(const struct directory *directory, uint32_t region)
{
    const struct page *units = directory->units[region];
    uint64_t first = directory->regions.keys[region] << directory->most_shift;
    for (size_t i = 0; i < units_of_region(directory);) {
        uint32_t shift = units[i].shift;
        if (shift < directory->least_shift || shift > directory->most_shift || !units[i].holders ||
            units[i].at != first + ((uint64_t)i << directory->least_shift) ||
            units[i].at >> shift << shift != units[i].at)
            return false;
        i += (size_t)1 << (shift - directory->least_shift);
    }
    return true;
}

void directory_archive(struct directory *directory, struct archive *archive)
{
    archive_expect(archive, directory->most_shift);
    archive_expect(archive, directory->least_shift);
    if (archive->reading && archive->good)
        forget_all(directory);
    index_archive(&directory->regions, archive);
    if (archive->reading && archive->good) {
        directory->capacity = directory->regions.count + 1;
        directory->units = mem_alloc(directory->capacity, sizeof *directory->units);
        for (size_t i = 0; i < directory->regions.count; i++)
            directory->units[i] = mem_alloc(units_of_region(directory), sizeof(struct page));
    }
    for (size_t i = 0; i < directory->regions.count && archive->good; i++) {
        archive_sparse(archive, directory->units[i], units_of_region(directory) * sizeof(struct page));
        archive_check(archive, region_fits(directory, (uint32_t)i));
    }
}
