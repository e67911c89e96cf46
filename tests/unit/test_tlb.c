#include "check.h"
#include "mem/tlb.h"

static struct tlb small(void)
{
    struct tlb tlb;
    tlb_init(&tlb, &(struct tlb_spec){.page = 4096,
                                      .l1_entries = 4,
                                      .l1_ways = 4,
                                      .l2_entries = 16,
                                      .l2_ways = 4,
                                      .l2_cycles = 10,
                                      .walk_cycles = 100});
    return tlb;
}

static void a_page_is_walked_for_once(void **state)
{
    (void)state;
    struct tlb tlb = small();
    assert_int_equal(tlb_cycles(&tlb, 0), 110);
    assert_int_equal(tlb_cycles(&tlb, 4095), 0);
    assert_int_equal(tlb_cycles(&tlb, 4096), 110);
    assert_int_equal(tlb_cycles(&tlb, 0), 0);
    assert_int_equal(tlb.walks, 2);
    tlb_fini(&tlb);
}

static void what_leaves_the_first_level_is_in_the_second(void **state)
{
    (void)state;
    struct tlb tlb = small();
    for (uint64_t page = 0; page < 5; page++)
        assert_int_equal(tlb_cycles(&tlb, page * 4096), 110);
    assert_int_equal(tlb_cycles(&tlb, 0), 10);
    tlb_forget(&tlb);
    assert_int_equal(tlb_cycles(&tlb, 0), 110);
    tlb_fini(&tlb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_walked_for_once),
        cmocka_unit_test(what_leaves_the_first_level_is_in_the_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
