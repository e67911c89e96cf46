#include "paging/policy.h"

const struct page_policy_row page_policies[] = {
#define X(id, merges) [PAGE_POLICY_##id] = {page_plan_##id, merges},
    PAGE_POLICIES(X)
#undef X
};
