/* The directory of pages that move between memories: for each page, who holds it, and whether one alone does.
 * Pure: no clock, no messages.
 *
 * Addresses are physical and packed (base/address.h). They name bytes and stay the same wherever these are; a
 * page that nobody moved yet is held by its home alone. Pages begin with the largest size and may be split in
 * half, down to the least, and be merged again. */
#ifndef PAGING_DIRECTORY_H
#define PAGING_DIRECTORY_H

#include "base/address.h"

#include <stdbool.h>
#include <stddef.h>

/* Who can hold pages: GPUs by their number, below the host's. */
enum { PAGE_HOST = 63, PAGE_NOBODY = 64 };

/* Pages have from 1 << PAGE_UNIT_SHIFT to 1 << PAGE_MOST_SHIFT bytes: as the rows of PAGING_PARAMS allow
 * (mem/spec.h). */
enum { PAGE_UNIT_SHIFT = 10, PAGE_MOST_SHIFT = 21 };

/* What a holder may do. */
enum page_right {
    PAGE_NONE,
    PAGE_READ,
    PAGE_WRITE,
    PAGE_FAR, /* read and write it, but where it is: at the host */
};

struct page {
    uint64_t at;       /* its first byte */
    uint64_t holders;  /* a bit each */
    uint64_t mappers;  /* who reaches it at the host: a bit for each GPU */
    uint64_t granted;  /* when it was given to somebody last, as a count of such events */
    uint8_t shift;     /* it has 1 << shift bytes; 0: not the first unit of a page */
    bool is_exclusive; /* its only holder may write */
    bool is_busy;      /* on the move: the owner's */
};

struct directory;

struct directory *directory_new(uint32_t most_shift, uint32_t least_shift);
void directory_free(struct directory *directory);

static inline uint32_t directory_home(uint64_t at) /* as a holder */
{
    uint32_t home = physical_home(physical_unpack(at));
    return home >= HOME_MANAGED ? (uint32_t)PAGE_HOST : home;
}

/* The page of an address, to be changed: it stays where it is until pages are split or merged. */
struct page *directory_page(struct directory *directory, uint64_t at);

/* The same to look at only: one that was never moved takes no room. */
struct page directory_look(const struct directory *directory, uint64_t at);

/* Halves a page that is larger than the least. Both are as it was. */
void directory_split(struct directory *directory, struct page *page);

/* Merges a page with its neighbours as long as these are alike: held by the same one alone, and not busy.
 * Gives how often. */
uint32_t directory_merge(struct directory *directory, struct page *page);

/* All pages that are in the directory, in the order in which their regions came. */
typedef void directory_fn(void *user, struct page *page);
void directory_each(const struct directory *directory, directory_fn *call, void *user);

/* Its home alone holds a page again. */
void directory_send_home(struct page *page);

struct archive;
void directory_archive(struct directory *directory, struct archive *archive);

static inline uint64_t page_bytes(const struct page *page)
{
    return UINT64_C(1) << page->shift;
}

static inline bool page_is_held(const struct page *page, uint32_t holder)
{
    return page->holders >> holder & 1;
}

struct page_range {
    uint64_t from, last;
};

static inline bool page_has_some_of(const struct page *page, const struct page_range *range)
{
    return page->at + (page_bytes(page) - 1) >= range->from && page->at <= range->last;
}

/* What a holder may do with a page. */
static inline enum page_right page_right(const struct page *page, uint32_t holder)
{
    return !page_is_held(page, holder) ? PAGE_NONE : page->is_exclusive ? PAGE_WRITE : PAGE_READ;
}

#endif
