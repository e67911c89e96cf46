#include "paging/policy.h"
#include "base/lexicon.h"

#include <string.h>

_Static_assert((int)PAGE_OWN_MOST == (int)LEXICON_MOST, "each has a word");

struct page_policy_row page_policies[PAGE_POLICY_OWN + PAGE_OWN_MOST] = {
#define X(id, merging) [PAGE_POLICY_##id] = {.plan = page_plan_##id, .merges = merging},
    PAGE_POLICIES(X)
#undef X
};

static bool is_taken(const char *name)
{
    static const char *const ours[] = {"none",
#define X(id, ...) #id,
                                       PAGE_POLICIES(X)
#undef X
    };
    const char *word = NULL;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcmp(ours[i], name))
            return true;
    for (uint32_t i = 0; (word = lexicon_at(PAGE_FAMILY, strlen(PAGE_FAMILY), i)) && strcmp(word, name);)
        i++;
    return word;
}

bool page_policy_add(const struct page_policy_row *row, struct err *err)
{
    struct page_policy_row *to = page_policies + PAGE_POLICY_OWN;
    if (is_taken(row->name))
        return err_set(err, "there is a page policy %.80s already", row->name);
    while (to < page_policies + PAGE_POLICY_OWN + PAGE_OWN_MOST && to->own)
        to++;
    if (!lexicon_add(PAGE_FAMILY, row->name, err))
        return false;
    *to = *row;
    return true;
}

/* What is wrong with a plan; NULL: nothing. */
static const char *wrong_with(const struct page_plan *plan, const struct page *page,
                              const struct page_want *want, uint32_t least_shift)
{
    uint64_t own = UINT64_C(1) << want->gpu, left = (page->holders & ~plan->drops) | own;
    bool has_it = page->holders & own;
    bool sends = plan->source != PAGE_NOBODY;
    if (plan->splits && page->shift <= least_shift)
        return "splits a page of the least size";
    if (sends && (plan->source > PAGE_HOST || !(page->holders >> plan->source & 1)))
        return "lets one send the page that does not hold it";
    if (sends == has_it)
        return has_it ? "sends the page to a GPU that holds it" : "sends the page from nowhere";
    if (plan->drops & own)
        return "takes the page from the GPU that wants it";
    if (plan->right < want->right || plan->right > PAGE_WRITE)
        return "gives another right than was asked for";
    return plan->right == PAGE_WRITE && left != own ? "lets a GPU write a page that others hold, too" : NULL;
}

struct page_plan page_policy_plan(const struct page_policy_row *row, const struct page *page,
                                  const struct page_want *want, uint32_t least_shift)
{
    if (row->plan)
        return row->plan(page, want, least_shift);
    struct page_plan plan = row->own(row->user, page, want, least_shift);
    const char *wrong = wrong_with(&plan, page, want, least_shift);
    if (wrong)
        err_of_plugin("%s %s (GPU %u, page 0x%llx)", row->name, wrong, want->gpu,
                      (unsigned long long)page->at);
    plan.drops &= page->holders;
    return plan;
}
