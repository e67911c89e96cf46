#include "stderr.h"
#include "base/host.h"
#include "base/progress.h"

/* A progress that thinks it has a terminal and has been at work for this long. */
static struct progress at_work_for(double seconds)
{
    return (struct progress){
        .what = "phold", .unit = "events", .terminal = true, .start = host_seconds() - seconds};
}

static void nothing_is_written_without_a_terminal(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress;
    catch_stderr(&caught); /* into a file, which is no terminal */
    progress_init(&progress, "phold", "events");
    progress.start -= 10;
    progress_update(&progress, 0.5, 1000);
    progress_fini(&progress);
    release_stderr(&caught);
    assert_string_equal(caught.text, "");
}

static void nothing_is_written_within_the_first_second(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(0);
    catch_stderr(&caught);
    progress_update(&progress, 0.5, 1000);
    progress_fini(&progress);
    release_stderr(&caught);
    assert_string_equal(caught.text, "");
}

static void a_line_has_share_rate_and_time_left(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(10);
    catch_stderr(&caught);
    progress_update(&progress, 0.25, 20000000);
    release_stderr(&caught);
    assert_string_equal(caught.text, "\r\033[Kphold: 25.0% done, 2 M events/s, 30 s left");
}

static void long_times_are_in_minutes(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(100);
    catch_stderr(&caught);
    progress_update(&progress, 0.1, 100);
    release_stderr(&caught);
    assert_non_null(strstr(caught.text, ", 15 min left"));
}

static void an_unknown_share_is_left_out(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(10);
    catch_stderr(&caught);
    progress_update(&progress, -1, 10000);
    release_stderr(&caught);
    assert_string_equal(caught.text, "\r\033[Kphold: 1 K events/s");
}

/* Three digits of 999.9 are 1000, and so no plain number any more. */
static void rates_just_below_a_thousand_are_written_plainly(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(10);
    catch_stderr(&caught);
    progress_update(&progress, -1, 9999);
    release_stderr(&caught);
    assert_null(strstr(caught.text, "e+"));
}

static void updates_in_a_rush_write_once(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(10);
    catch_stderr(&caught);
    progress_update(&progress, -1, 10000);
    progress_update(&progress, -1, 10000);
    release_stderr(&caught);
    assert_null(strstr(caught.text + 1, "\r"));
}

static void the_end_wipes_the_line(void **state)
{
    (void)state;
    struct caught caught;
    struct progress progress = at_work_for(10);
    progress.shown = true;
    catch_stderr(&caught);
    progress_fini(&progress);
    progress_fini(&progress);
    release_stderr(&caught);
    assert_string_equal(caught.text, "\r\033[K");
}

static void host_seconds_do_not_go_back(void **state)
{
    (void)state;
    double before = host_seconds();
    assert_true(host_seconds() >= before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_written_without_a_terminal),
        cmocka_unit_test(nothing_is_written_within_the_first_second),
        cmocka_unit_test(a_line_has_share_rate_and_time_left),
        cmocka_unit_test(long_times_are_in_minutes),
        cmocka_unit_test(an_unknown_share_is_left_out),
        cmocka_unit_test(rates_just_below_a_thousand_are_written_plainly),
        cmocka_unit_test(updates_in_a_rush_write_once),
        cmocka_unit_test(the_end_wipes_the_line),
        cmocka_unit_test(host_seconds_do_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
