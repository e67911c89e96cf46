#include "base/install.h"
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static void data_is_where_the_environment_says(void **state)
{
    (void)state;
    struct text path = {0};
    setenv("HEDDLE_HOME", "/some/where", 1);
    install_add_data(&path, "systems");
    assert_string_equal(path.at, "/some/where/systems");
    text_fini(&path);
    unsetenv("HEDDLE_HOME");
}

static void data_is_found_above_the_program(void **state)
{
    (void)state;
    struct text path = {0};
    assert_int_equal(chdir("/"), 0); /* the current folder has no part in it */
    install_add_data(&path, "systems");
    text_add(&path, "/h200.ini");
    assert_int_equal(path.at[0], '/');
    assert_int_equal(access(path.at, R_OK), 0);
    text_fini(&path);
}

static void what_is_nowhere_is_its_name(void **state)
{
    (void)state;
    struct text path = {0};
    install_add_data(&path, "there/is/none");
    assert_string_equal(path.at, "there/is/none");
    text_fini(&path);
}

static void parts_are_beside_the_program(void **state)
{
    (void)state;
    struct text path = {0};
    assert_true(install_add_part(&path, "test_unit_home"));
    assert_int_equal(access(path.at, X_OK), 0);
    text_fini(&path);
    assert_true(install_add_part(&path, "there/is/none"));
    assert_int_equal(path.at[0], '/');
    assert_non_null(strstr(path.at, "/tests/there/is/none"));
    text_fini(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_where_the_environment_says),
        cmocka_unit_test(data_is_found_above_the_program),
        cmocka_unit_test(what_is_nowhere_is_its_name),
        cmocka_unit_test(parts_are_beside_the_program),
    };
    unsetenv("HEDDLE_HOME");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
