/* The directory of pages, and what the policies make of them (src/paging). */
#include "check.h"
#include "paging/policy.h"

enum { MOST = 16, LEAST = 12 };

static const uint64_t at = (UINT64_C(2) << PHYSICAL_HOME_SHIFT) + 5 * (1 << MOST); /* of GPU 2 */

static void pages_begin_at_home(void **state)
{
    (void)state;
    struct directory *directory = directory_new(MOST, LEAST);
    struct page page = directory_look(directory, at + 100);
    assert_true(page.at == at && page.shift == MOST && page.is_exclusive && page.holders == 1 << 2);
    assert_int_equal(page_right(&page, 2), PAGE_WRITE);
    assert_int_equal(page_right(&page, 1), PAGE_NONE);
    page = directory_look(directory, physical_at(HOME_HOST, 0).packed);
    assert_true(page_is_held(&page, PAGE_HOST));
    directory_free(directory);
}

static void pages_are_split_and_merged(void **state)
{
    (void)state;
    struct directory *directory = directory_new(MOST, LEAST);
    struct page *page = directory_page(directory, at);
    for (int i = MOST; i > LEAST; i--)
        directory_split(directory, directory_page(directory, at + 4096));
    assert_int_equal(directory_page(directory, at)->shift, LEAST);
    assert_int_equal(directory_page(directory, at + 4096)->shift, LEAST);
    assert_int_equal(directory_page(directory, at + 8192)->shift, LEAST + 1);
    assert_int_equal(directory_page(directory, at + 32768)->shift, MOST - 1);
    assert_true(directory_page(directory, at + 65535)->at == at + 32768);
    directory_page(directory, at + 4096)->holders = 1; /* another has it: nothing merges */
    assert_int_equal(directory_merge(directory, directory_page(directory, at)), 0);
    directory_page(directory, at + 4096)->holders = 1 << 2;
    directory_page(directory, at + 8192)->is_busy = true;
    assert_int_equal(directory_merge(directory, directory_page(directory, at + 4096)), 1);
    directory_page(directory, at + 8192)->is_busy = false;
    assert_int_equal(directory_merge(directory, directory_page(directory, at + 4096)), 3);
    assert_true(page->shift == MOST && directory_page(directory, at + 65535) == page);
    directory_free(directory);
}

/* Page migration takes the page from whoever has it. */
static void migration_takes_all(void **state)
{
    (void)state;
    struct page page = {.at = at, .holders = 1 << 2, .shift = MOST, .is_exclusive = true};
    struct page_plan plan = page_plan_pm(&page, &(struct page_want){at, 0, PAGE_READ}, LEAST);
    assert_true(!plan.splits && plan.source == 2 && plan.drops == 1 << 2 && plan.right == PAGE_WRITE);
}

static void readers_share_and_a_writer_is_alone(void **state)
{
    (void)state;
    struct page page = {.at = at, .holders = 1 << 2, .shift = MOST, .is_exclusive = true};
    struct page_plan plan = page_plan_esi(&page, &(struct page_want){at, 0, PAGE_READ}, LEAST);
    assert_true(plan.source == 2 && !plan.drops && plan.right == PAGE_READ);
    page.holders = 7;
    page.is_exclusive = false;
    plan = page_plan_esi(&page, &(struct page_want){at, 0, PAGE_WRITE}, LEAST);
    assert_true(plan.source == PAGE_NOBODY && plan.drops == 6 && plan.right == PAGE_WRITE);
    plan = page_plan_esi(&page, &(struct page_want){at, 3, PAGE_WRITE}, LEAST);
    assert_true(plan.source == 0 && plan.drops == 7);
    plan = page_plan_esi(&page, &(struct page_want){at, 1, PAGE_WRITE}, LEAST);
    assert_true(plan.source == PAGE_NOBODY && plan.drops == 5);
}

/* Only pages that one GPU has alone are split, and not for ever. */
static void splitting_ends(void **state)
{
    (void)state;
    struct page page = {.at = at, .holders = 1 << 2, .shift = LEAST + 1, .is_exclusive = true};
    struct page_want want = {at, 0, PAGE_WRITE};
    assert_true(page_plan_ps(&page, &want, LEAST).splits);
    page.shift = LEAST;
    assert_false(page_plan_ps(&page, &want, LEAST).splits);
    page.shift = MOST;
    page.is_exclusive = false;
    assert_false(page_plan_ps(&page, &want, LEAST).splits);
}

static void sources_are_spread_over_holders(void **state)
{
    (void)state;
    struct page page = {.holders = UINT64_C(0x8000000000000005)}; /* 0, 2 and the host */
    assert_int_equal(page_next_holder(&page, 0), 2);
    assert_int_equal(page_next_holder(&page, 1), 2);
    assert_int_equal(page_next_holder(&page, 2), PAGE_HOST);
    page.holders = 5;
    assert_int_equal(page_next_holder(&page, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_begin_at_home), cmocka_unit_test(pages_are_split_and_merged),
        cmocka_unit_test(migration_takes_all), cmocka_unit_test(readers_share_and_a_writer_is_alone),
        cmocka_unit_test(splitting_ends),      cmocka_unit_test(sources_are_spread_over_holders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
