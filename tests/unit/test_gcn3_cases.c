#include "check.h"
#include "gcn3_cases.h"

#define CASES GCN3_CASES_FOLDER "/cases.zst"

static void every_case_and_item_can_be_read(void **state)
{
    (void)state;
    struct gcn3_cases cases;
    struct err err;
    if (!gcn3_cases_open(&cases, CASES, &err))
        fail_msg("%s", err.text);
    assert_true(cases.count > 10000);
    struct gcn3_case one;
    unsigned read = 0;
    while (gcn3_cases_next(&cases, &one, &err)) {
        const unsigned char *at = one.items;
        struct gcn3_item item;
        for (unsigned i = 0; i < one.before + one.after; i++)
            if (!gcn3_case_item(&one, &at, &item, &err))
                fail_msg("%s", err.text);
        assert_ptr_equal(at, one.end);
        assert_true(one.gfx == 8 || one.gfx == 9 || one.gfx == 96);
        read++;
    }
    assert_string_equal(err.text, "");
    assert_int_equal(read, cases.count);
    gcn3_cases_close(&cases);
}

static void every_case_says_what_exec_mode_and_pc_are(void **state)
{
    (void)state;
    struct gcn3_cases cases;
    struct err err;
    assert_true(gcn3_cases_open(&cases, CASES, &err));
    struct gcn3_case one;
    while (gcn3_cases_next(&cases, &one, &err)) {
        unsigned seen = 0;
        const unsigned char *at = one.items;
        struct gcn3_item item;
        for (unsigned i = 0; i < one.before && gcn3_case_item(&one, &at, &item, &err); i++)
            if (item.space == GCN3_SPECIAL)
                seen |= 1u << item.index;
        unsigned wanted = 1u << GCN3_EXEC | 1u << GCN3_MODE | 1u << GCN3_VCC | 1u << GCN3_SCC |
                          1u << GCN3_M0 | 1u << GCN3_PC;
        assert_int_equal(seen & wanted, wanted);
    }
    gcn3_cases_close(&cases);
}

static struct gcn3_item like(enum gcn3_compare compare, unsigned flags, unsigned ulps)
{
    return (struct gcn3_item){
        .space = GCN3_VGPR, .compare = compare, .flags = flags, .ulps = ulps, .width = 1};
}

static void bits_must_be_equal(void **state)
{
    (void)state;
    struct gcn3_item item = like(GCN3_BITS, 0, 0);
    assert_true(gcn3_item_fits(&item, 0x7fc00000, 0x7fc00000));
    assert_false(gcn3_item_fits(&item, 0x7fc00000, 0x7fc00001));
}

static void a_nan_fits_any_nan_and_no_number(void **state)
{
    (void)state;
    struct gcn3_item item = like(GCN3_F32, 0, 0);
    assert_true(gcn3_item_fits(&item, 0x7fc00000, 0xffc00001));
    assert_false(gcn3_item_fits(&item, 0x7fc00000, 0x7f800000));
    assert_false(gcn3_item_fits(&item, 0x3f800000, 0x7fc00000));
}

static void ulps_are_counted_over_zero_and_exponents(void **state)
{
    (void)state;
    struct gcn3_item item = like(GCN3_F32, 0, 2);
    assert_true(gcn3_item_fits(&item, 0x3f7fffff, 0x3f800001));
    assert_false(gcn3_item_fits(&item, 0x3f7fffff, 0x3f800002));
    assert_true(gcn3_item_fits(&item, 0x00000001, 0x80000001));
    assert_false(gcn3_item_fits(&item, 0x00000002, 0x80000001));
    struct gcn3_item wide = like(GCN3_F64, 0, 1);
    assert_true(gcn3_item_fits(&wide, UINT64_C(0x3ff0000000000000), UINT64_C(0x3fefffffffffffff)));
    assert_false(gcn3_item_fits(&wide, UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000)));
}

static void zeros_differ_unless_a_flag_says_so(void **state)
{
    (void)state;
    struct gcn3_item strict = like(GCN3_F32, 0, 0), loose = like(GCN3_F32, GCN3_ANY_ZERO, 0);
    assert_false(gcn3_item_fits(&strict, 0, 0x80000000));
    assert_true(gcn3_item_fits(&loose, 0, 0x80000000));
}

static void absolute_tolerance_is_in_ulps_of_one(void **state)
{
    (void)state;
    struct gcn3_item item = like(GCN3_F32, GCN3_ABSOLUTE, 4);
    assert_true(gcn3_item_fits(&item, 0, 0x35000000));  /* 2^-21 */
    assert_false(gcn3_item_fits(&item, 0, 0x35800000)); /* 2^-20 */
    assert_true(gcn3_item_fits(&item, 0xbf800000, 0xbf7ffffe));
    assert_false(gcn3_item_fits(&item, 0x3f800000, 0xbf800000));
}

static void halves_are_compared_by_themselves(void **state)
{
    (void)state;
    struct gcn3_item one = like(GCN3_F16, 0, 1), both = like(GCN3_F16X2, 0, 1);
    assert_true(gcn3_item_fits(&one, 0x12343c00, 0x12343c01));
    assert_false(gcn3_item_fits(&one, 0x12343c00, 0x12353c00));
    assert_true(gcn3_item_fits(&both, 0x7e003c00, 0xfe013c01));
}

static void a_file_that_is_none_is_refused(void **state)
{
    (void)state;
    struct gcn3_cases cases;
    struct err err;
    assert_false(gcn3_cases_open(&cases, GCN3_CASES_FOLDER "/README.md", &err));
    check_says(&err, "packed by zstd");
    assert_false(gcn3_cases_open(&cases, GCN3_CASES_FOLDER "/none", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_and_item_can_be_read),
        cmocka_unit_test(every_case_says_what_exec_mode_and_pc_are),
        cmocka_unit_test(bits_must_be_equal),
        cmocka_unit_test(a_nan_fits_any_nan_and_no_number),
        cmocka_unit_test(ulps_are_counted_over_zero_and_exponents),
        cmocka_unit_test(zeros_differ_unless_a_flag_says_so),
        cmocka_unit_test(absolute_tolerance_is_in_ulps_of_one),
        cmocka_unit_test(halves_are_compared_by_themselves),
        cmocka_unit_test(a_file_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
