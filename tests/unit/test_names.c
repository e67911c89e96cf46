#include "check.h"
#include "base/names.h"

static void a_name_keeps_its_number(void **state)
{
    (void)state;
    struct names names = {0};
    assert_int_equal(names_find(&names, "warp"), NO_NAME);
    assert_int_equal(names_add(&names, "warp"), 0);
    assert_int_equal(names_add(&names, "weft"), 1);
    assert_int_equal(names_add(&names, "warp"), 0);
    assert_int_equal(names_find(&names, "weft"), 1);
    assert_int_equal(names_find(&names, "wef"), NO_NAME);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.at[1], "weft");
    names_fini(&names);
}

static void many_names_are_all_found(void **state)
{
    (void)state;
    struct names names = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20000; i++) {
            char name[32];
            snprintf(name, sizeof name, "node.b%d", i);
            assert_int_equal(names_add(&names, name), i);
        }
    }
    names_fini(&names);
}

static void the_empty_name_is_one_too(void **state)
{
    (void)state;
    struct names names = {0};
    assert_int_equal(names_add(&names, ""), 0);
    assert_int_equal(names_find(&names, ""), 0);
    names_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_keeps_its_number),
        cmocka_unit_test(many_names_are_all_found),
        cmocka_unit_test(the_empty_name_is_one_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
