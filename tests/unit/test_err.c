#include "stderr.h"

#include <signal.h>
#include <sys/wait.h>

static void set_returns_false_and_keeps_the_text(void **state)
{
    (void)state;
    struct err err;
    assert_false(err_set(&err, "%s:%d", "a.ini", 7));
    assert_string_equal(err.text, "a.ini:7");
}

static void add_goes_on_at_the_end(void **state)
{
    (void)state;
    struct err err;
    err_set(&err, "one");
    err_add(&err, ", %s", "two");
    assert_string_equal(err.text, "one, two");
}

static void a_text_that_is_too_long_is_cut(void **state)
{
    (void)state;
    struct err err;
    err_set(&err, "%05000d", 0);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    err_add(&err, "more");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void a_bug_names_its_place_and_ends_the_process(void **state)
{
    (void)state;
    struct caught caught;
    int status;
    catch_stderr(&caught);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka would take it */
        REQUIRE(1 + 1 == 3);
    }
    waitpid(child, &status, 0);
    release_stderr(&caught);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(caught.text, "test_err.c:"));
    assert_non_null(strstr(caught.text, "not so: 1 + 1 == 3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_returns_false_and_keeps_the_text),
        cmocka_unit_test(add_goes_on_at_the_end),
        cmocka_unit_test(a_text_that_is_too_long_is_cut),
        cmocka_unit_test(a_bug_names_its_place_and_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
