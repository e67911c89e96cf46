/* Launches by their numbers and the names of their kernels. */
#include "check.h"
#include "base/choice.h"

static void check(const char *text, uint64_t launch, const char *kernel, bool expected)
{
    struct choice choice;
    struct err err;
    assert_true(choice_init(&choice, "--kernels", text, &err));
    assert_int_equal(choice_has(&choice, launch, kernel), expected);
    choice_fini(&choice);
}

static void numbers(void **state)
{
    (void)state;
    check(NULL, 7, "k", true);
    check("7", 7, "k", true);
    check("7", 8, "k", false);
    check("3-5", 5, "k", true);
    check("3-5", 6, "k", false);
    check("3-", UINT64_MAX, "k", true);
    check("3-", 2, "k", false);
    check("0,4-5", 3, "k", false);
    check("0,4-5", 5, "k", true);
}

static void names(void **state)
{
    (void)state;
    static const char mangled[] = "_ZN2ns6kernelILi8EfEEvPT0_"; /* ns::kernel<8, float> */
    check("k", 0, "k", true);
    check("k", 0, "kernel", false);
    check("k*", 0, "kernel", true);
    check("kernel", 0, mangled, true);
    check("ns::kernel", 0, mangled, true);
    check("ns::kernel<8, float>", 0, mangled, true);
    check("ns::kernel<9, float>,other", 0, mangled, false);
    check("_ZN2ns6kernel*", 0, mangled, true);
    check("ns::*", 0, mangled, true);
    check("3,kernel", 0, mangled, true);
    check("3,other", 3, mangled, true);
    check("k[ab],x", 0, "kb", true);
}

static void mistakes(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "1-x", "3-1", "-2", "1-2-3", "1,", ",1", "3x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct choice choice;
        struct err err;
        assert_false(choice_init(&choice, "--kernels", texts[i], &err));
        assert_non_null(strstr(err.text, "--kernels: expected numbers of launches"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(names),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
