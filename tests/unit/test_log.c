#include "stderr.h"
#include "base/log.h"

static void only_lines_up_to_the_level_are_written(void **state)
{
    (void)state;
    struct caught caught;
    catch_stderr(&caught);
    log_warn("seen %d", 1);
    log_info("not seen");
    log_set_level(LOG_error);
    log_warn("no longer seen");
    log_error("seen %d", 2);
    log_set_level(LOG_warn);
    release_stderr(&caught);
    assert_string_equal(caught.text, "heddle: warn: seen 1\nheddle: error: seen 2\n");
}

static void a_level_has_a_name(void **state)
{
    (void)state;
    enum log_level level;
    struct err err;
    assert_true(log_level_parse("debug", &level, &err));
    assert_int_equal(level, LOG_debug);
}

static void an_unknown_level_is_refused(void **state)
{
    (void)state;
    enum log_level level;
    struct err err;
    assert_false(log_level_parse("loud", &level, &err));
    assert_string_equal(err.text, "'loud' is no log level: expected error, warn, info or debug");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_lines_up_to_the_level_are_written),
        cmocka_unit_test(a_level_has_a_name),
        cmocka_unit_test(an_unknown_level_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
