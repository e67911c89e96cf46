/* Page migration: a page is at one GPU at a time, and goes to who wants it, for reading as for writing. */
#include "paging/policy.h"

struct page_plan page_plan_pm(const struct page *page, const struct page_want *want, uint32_t least_shift)
{
    (void)least_shift;
    return (struct page_plan){
        .source = page_next_holder(page, want->gpu), .drops = page->holders, .right = PAGE_WRITE};
}
