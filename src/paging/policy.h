/* What becomes of a page that a GPU wants. A policy is a file with one function and a row here; its name is a
 * value of the key paging.policy. Pure: it looks at the page and says what to do; who does it, in time, is
 * the IOMMU (mem/iommu.c). */
#ifndef PAGING_POLICY_H
#define PAGING_POLICY_H

#include "paging/directory.h"
#include "base/err.h"

struct page_want {
    uint64_t at;
    uint32_t gpu;
    enum page_right right; /* that it needs: more than it has */
};

struct page_plan {
    bool splits;           /* the page first, once; the rest is about the half that is wanted */
    uint32_t source;       /* the holder that sends the bytes; PAGE_NOBODY: the GPU has them */
    uint64_t drops;        /* holders that hold it no more, maybe the source among them; others may read */
    enum page_right right; /* that the GPU gets */
};

/* `least_shift`: pages of this size are not split. */
typedef struct page_plan page_policy_fn(const struct page *page, const struct page_want *want,
                                        uint32_t least_shift);

/* id, whether neighbours that come together are merged */
#define PAGE_POLICIES(X)                                                                                     \
    X(pm, false)                                                                                             \
    X(esi, false)                                                                                            \
    X(ps, true)

/* The values of paging.policy, in this order behind "none". */
enum page_policy {
    PAGE_POLICY_NONE,
#define X(id, ...) PAGE_POLICY_##id,
    PAGE_POLICIES(X)
#undef X
        PAGE_POLICY_OWN /* the first of plugins' */
};

#define PAGE_FAMILY "page policies" /* of words (base/lexicon.h) */

/* A policy of a plugin: the same, and what it is given. */
typedef struct page_plan page_own_fn(const void *user, const struct page *page, const struct page_want *want,
                                     uint32_t least_shift);

struct page_policy_row {
    page_policy_fn *plan; /* NULL: it is a plugin's */
    bool merges;
    page_own_fn *own;
    const void *user;
    const char *name; /* of a plugin's */
};

enum { PAGE_OWN_MOST = 16 };
extern struct page_policy_row page_policies[];

/* Adds a plugin's, before descriptions are read. */
bool page_policy_add(const struct page_policy_row *row, struct err *err);

/* What the policy says; what a plugin says is checked, and ends the process if it cannot be. */
struct page_plan page_policy_plan(const struct page_policy_row *row, const struct page *page,
                                  const struct page_want *want, uint32_t least_shift);

#define X(id, ...) page_policy_fn page_plan_##id;
PAGE_POLICIES(X)
#undef X

/* The first holder behind a GPU, in the order of numbers and round again: so requests of several GPUs spread
 * over the holders. */
static inline uint32_t page_next_holder(const struct page *page, uint32_t gpu)
{
    uint64_t behind = gpu < 63 ? page->holders >> (gpu + 1) << (gpu + 1) : 0;
    return (uint32_t)__builtin_ctzll(behind ? behind : page->holders);
}

#endif
