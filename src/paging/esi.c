/* Exclusive, shared, invalid: several may hold copies of a page to read; who writes holds it alone. */
#include "paging/policy.h"

struct page_plan page_plan_esi(const struct page *page, const struct page_want *want, uint32_t least_shift)
{
    uint64_t own = UINT64_C(1) << want->gpu;
    bool writes = want->right == PAGE_WRITE;
    (void)least_shift;
    return (struct page_plan){.source = page->holders & own ? (uint32_t)PAGE_NOBODY
                                                            : page_next_holder(page, want->gpu),
                              .drops = writes ? page->holders & ~own : 0,
                              .right = want->right};
}
