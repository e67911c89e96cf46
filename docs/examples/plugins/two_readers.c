/* A page policy: at most two GPUs hold copies of a page to read; who writes holds it alone.
 *
 *   heddle bench fir --system r9nano-x4 --unified 4 --mode timing --plugin ./two_readers.so \
 *       --set paging.policy=two_readers */
#include <heddle_plugin.h>

static uint32_t first_of(uint64_t holders)
{
    uint32_t number = 0;
    while (!(holders >> number & 1))
        number++;
    return number;
}

static uint32_t count_of(uint64_t holders)
{
    uint32_t count = 0;
    for (; holders; holders &= holders - 1)
        count++;
    return count;
}

static struct heddle_page_plan plan(const struct heddle_page *page, const struct heddle_page_want *want,
                                    uint64_t least)
{
    uint64_t own = UINT64_C(1) << want->gpu, others = page->holders & ~own;
    struct heddle_page_plan plan = {.right = want->right, .source = HEDDLE_PAGE_NOBODY};
    (void)least;
    if (!(page->holders & own))
        plan.source = first_of(others);
    if (want->right == HEDDLE_PAGE_WRITE)
        plan.drops = others;
    else if (count_of(others) > 1) /* a third reader takes the place of the first */
        plan.drops = UINT64_C(1) << first_of(others);
    return plan;
}

static const struct heddle_page_policy policies[] = {
    {"two_readers", "at most two GPUs hold copies of a page", 0, plan}, {0}};

HEDDLE_PLUGIN = {HEDDLE_PLUGIN_VERSION, "two_readers", NULL, policies, NULL};
