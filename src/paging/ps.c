/* Page splitting: as ESI, but when a page that one GPU holds alone is wanted by another, it is split, and the
 * half that is wanted goes. So GPUs that write to different parts of a page end up with pages of their own.
 * Halves that come together again at one GPU are merged (the policy's row). */
#include "paging/policy.h"

struct page_plan page_plan_ps(const struct page *page, const struct page_want *want, uint32_t least_shift)
{
    struct page_plan plan = page_plan_esi(page, want, least_shift);
    plan.splits = page->is_exclusive && page->shift > least_shift;
    return plan;
}
