#include "check.h"
#include "mem/tlb.h"

static void pages_leave_for_others(void **state)
{
    (void)state;
    struct tlb tlb;
    tlb_init(&tlb, 4, 4);
    for (uint64_t page = 0; page < 4; page++) {
        assert_false(tlb_has(&tlb, page));
        tlb_add(&tlb, page);
        assert_true(tlb_has(&tlb, page));
    }
    assert_true(tlb_has(&tlb, 0));
    tlb_add(&tlb, 4); /* the oldest leaves */
    assert_true(tlb_has(&tlb, 0));
    assert_false(tlb_has(&tlb, 1));
    tlb_fini(&tlb);
}

static void the_last_page_is_not_known_for_longer_than_others(void **state)
{
    (void)state;
    struct tlb tlb;
    tlb_init(&tlb, 1, 16);
    tlb_add(&tlb, 7);
    assert_true(tlb_has(&tlb, 7));
    tlb_add(&tlb, 8);
    assert_false(tlb_has(&tlb, 7));
    tlb_fini(&tlb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_leave_for_others),
        cmocka_unit_test(the_last_page_is_not_known_for_longer_than_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
