/* What checks found: counted, shown once, as lines for other processes (checks/findings.h). */
#include "check.h"
#include "base/err.h"
#include "checks/findings.h"

static void count_shown(void *user, const char *text)
{
    (void)text;
    ++*(int *)user;
}

static struct finding finding_at(const char *place)
{
    return (struct finding){.check = CHECK_race,
                            .what = "read after write",
                            .kernel = "k",
                            .first = "a.cu:1",
                            .second = place,
                            .detail = "threads\tand\nlines",
                            .launch = 3,
                            .count = 2};
}

static void lists_of_checks_are_read(void **state)
{
    (void)state;
    uint32_t checks;
    struct err err;
    assert_true(checks_parse("race", &checks, &err));
    assert_int_equal(checks, 1u << CHECK_race);
    assert_true(checks_parse("init,memory", &checks, &err));
    assert_int_equal(checks, 1u << CHECK_init | 1u << CHECK_memory);
    assert_true(checks_parse("all", &checks, &err));
    assert_int_equal(checks, (1u << CHECK_COUNT) - 1);
    const char *const wrong[] = {"", "races", "race,", ",race", "race sync", "ALL"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(checks_parse(wrong[i], &checks, &err));
    assert_false(checks_parse("race,xyz", &checks, &err));
    assert_string_equal(err.text, "expected memory, race, init, sync or all, not 'xyz'");
}

static void equal_ones_are_counted_and_shown_once(void **state)
{
    (void)state;
    int shown = 0;
    struct findings findings = {.most = 2, .show = count_shown, .user = &shown};
    struct finding a = finding_at("a.cu:2"), b = finding_at("a.cu:3"), c = finding_at("a.cu:4");
    struct text text = {0};
    findings_add(&findings, &a);
    findings_add(&findings, &a);
    findings_add(&findings, &b);
    findings_add(&findings, &c);
    assert_int_equal(shown, 2);
    assert_int_equal(findings.count, 3);
    assert_int_equal(findings.list[0].count, 4);
    findings_summarize(&findings, 1u << CHECK_race | 1u << CHECK_sync, &text);
    assert_string_equal(text.at, "--check race: 3 findings in 1 kernel, 8 times\n"
                                 "--check sync: nothing found\n"
                                 "--check: 1 more finding is not shown (--check-show)");
    text_fini(&text);
    findings_fini(&findings);
}

static void noted_ones_are_counted_and_never_shown(void **state)
{
    (void)state;
    int shown = 0;
    struct findings findings = {.most = 1, .show = count_shown, .user = &shown};
    struct finding fault = finding_at(NULL), other = finding_at("a.cu:2");
    struct text text = {0};
    findings_note(&findings, &fault);
    findings_note(&findings, &fault);
    assert_int_equal(shown, 0);
    findings_add(&findings, &other);
    assert_int_equal(shown, 1);
    findings_summarize(&findings, 1u << CHECK_race, &text);
    assert_string_equal(text.at, "--check race: 2 findings in 1 kernel, 6 times");
    text_fini(&text);
    findings_fini(&findings);
}

static void lines_are_read_back(void **state)
{
    (void)state;
    int shown = 0;
    struct findings findings = {.show = count_shown, .user = &shown};
    struct finding a = finding_at(NULL), got;
    struct text text = {0};
    findings_add(&findings, &a);
    findings_write(&findings, &text);
    text.at[text.length - 1] = 0; /* the line's end */
    assert_null(strchr(text.at, '\n'));
    assert_true(finding_read(text.at, &got));
    assert_int_equal(got.check, a.check);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.launch, 3);
    assert_string_equal(got.first, "a.cu:1");
    assert_null(got.second);
    assert_string_equal(got.detail, "threads and lines");
    text_fini(&text);
    findings_fini(&findings);
}

static void damaged_lines_are_none(void **state)
{
    (void)state;
    struct finding got;
    const char *const lines[] = {"", "1", "1\t2\t3\ta\tb\tc\td", "9\t2\t3\ta\tb\tc\td\te",
                                 "1\t2\t3\ta\tb\tc\td\te\tf"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s", lines[i]);
        assert_false(finding_read(line, &got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_checks_are_read),
        cmocka_unit_test(equal_ones_are_counted_and_shown_once),
        cmocka_unit_test(noted_ones_are_counted_and_never_shown),
        cmocka_unit_test(lines_are_read_back),
        cmocka_unit_test(damaged_lines_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
