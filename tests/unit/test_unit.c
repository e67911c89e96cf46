#include "check.h"
#include "base/bits.h"
#include "base/unit.h"

static void check_parses(enum unit_kind kind, const char *text, uint64_t expected)
{
    uint64_t value = 0;
    struct err err;
    if (!unit_parse(kind, text, &value, &err))
        fail_msg("'%s' was refused: %s", text, err.text);
    assert_int_equal(value, expected);
}

static void check_refuses(enum unit_kind kind, const char *text, const char *says)
{
    uint64_t value;
    struct err err;
    if (unit_parse(kind, text, &value, &err))
        fail_msg("'%s' was taken", text);
    check_says(&err, says);
}

static void check_prints(enum unit_kind kind, uint64_t value, const char *expected)
{
    struct text text = {0};
    unit_print(kind, value, &text);
    assert_string_equal(text.at, expected);
    text_fini(&text);
}

static void takes_every_unit(void **state)
{
    (void)state;
    static const struct {
        enum unit_kind kind;
        const char *text;
        uint64_t value;
    } rows[] = {
        {UNIT_count, "3", 3},
        {UNIT_size, "3B", 3},
        {UNIT_size, "3KB", 3000},
        {UNIT_size, "3kB", 3000},
        {UNIT_size, "3MB", 3000000},
        {UNIT_size, "3GB", 3000000000},
        {UNIT_size, "3TB", 3000000000000},
        {UNIT_size, "3KiB", UINT64_C(3) << 10},
        {UNIT_size, "3MiB", UINT64_C(3) << 20},
        {UNIT_size, "3GiB", UINT64_C(3) << 30},
        {UNIT_size, "3TiB", UINT64_C(3) << 40},
        {UNIT_time, "3ps", 3},
        {UNIT_time, "3ns", 3000},
        {UNIT_time, "3us", 3000000},
        {UNIT_time, "3ms", 3000000000},
        {UNIT_time, "3s", 3000000000000},
        {UNIT_rate, "3B/s", 3},
        {UNIT_rate, "3KB/s", 3000},
        {UNIT_rate, "3MB/s", 3000000},
        {UNIT_rate, "3GB/s", 3000000000},
        {UNIT_rate, "3TB/s", 3000000000000},
        {UNIT_rate, "3KiB/s", UINT64_C(3) << 10},
        {UNIT_rate, "3MiB/s", UINT64_C(3) << 20},
        {UNIT_rate, "3GiB/s", UINT64_C(3) << 30},
        {UNIT_rate, "3TiB/s", UINT64_C(3) << 40},
        {UNIT_freq, "3Hz", 3},
        {UNIT_freq, "3kHz", 3000},
        {UNIT_freq, "3MHz", 3000000},
        {UNIT_freq, "3GHz", 3000000000},
        {UNIT_freq, "3THz", 3000000000000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_parses(rows[i].kind, rows[i].text, rows[i].value);
}

static void a_fraction_is_exact(void **state)
{
    (void)state;
    check_parses(UNIT_freq, "1.98GHz", 1980000000);
    check_parses(UNIT_time, "0.001ns", 1);
    check_parses(UNIT_time, "0.1s", 100000000000); /* 0.1 is no double, and yet exact here */
    check_parses(UNIT_size, "0.5KiB", 512);
    check_parses(UNIT_size, ".5KiB", 512);
    check_parses(UNIT_count, "2.0", 2);
    check_parses(UNIT_count, "1.5M", 1500000);
    check_parses(UNIT_count, "10k", 10000);
    check_parses(UNIT_rate, "4800.000000001GB/s", UINT64_C(4800000000001));
}

static void zero_needs_no_unit(void **state)
{
    (void)state;
    for (enum unit_kind kind = UNIT_count; kind <= UNIT_freq; kind++) {
        check_parses(kind, "0", 0);
        check_parses(kind, "0.0", 0);
    }
    check_parses(UNIT_time, "0ns", 0);
}

static void blanks_may_stand_before_the_unit(void **state)
{
    (void)state;
    check_parses(UNIT_time, "50 ns", 50000);
}

static void the_largest_number_is_taken(void **state)
{
    (void)state;
    check_parses(UNIT_count, "18446744073709551615", UINT64_MAX);
    check_parses(UNIT_size, "18446744073709551615B", UINT64_MAX);
    check_parses(UNIT_time, "18446744.073709551615s", UINT64_MAX);
    check_parses(UNIT_size, "16777215TiB", UINT64_MAX - (UINT64_C(1) << 40) + 1);
}

static void one_more_than_the_largest_is_too_large(void **state)
{
    (void)state;
    check_refuses(UNIT_count, "18446744073709551616", "'18446744073709551616' is too large");
    check_refuses(UNIT_size, "16777216TiB", "'16777216TiB' is too large");
    check_refuses(UNIT_time, "18446744.073709551616s", "is too large");
}

static void too_many_digits_are_told_as_such(void **state)
{
    (void)state;
    check_refuses(UNIT_count, "1000000000000000000000000", "has more digits than Heddle counts");
    check_refuses(UNIT_time, "0.0000000000000001s", "has more digits than Heddle counts");
}

static void what_is_finer_than_the_base_unit_is_refused(void **state)
{
    (void)state;
    check_refuses(UNIT_time, "0.5ps", "'0.5ps' is finer than Heddle counts");
    check_refuses(UNIT_time, "1.0005ns", "finer");
    check_refuses(UNIT_count, "1.5", "finer");
    check_refuses(UNIT_size, "0.1KiB", "finer");
    check_refuses(UNIT_freq, "0.0000001MHz", "finer");
}

static void an_error_says_what_was_expected_with_an_example(void **state)
{
    (void)state;
    check_refuses(UNIT_count, "many", "expected a whole number, such as 132, not 'many'");
    check_refuses(UNIT_size, "5ns", "expected a size with its unit, such as 256KiB, not '5ns'");
    check_refuses(UNIT_time, "5", "expected a time with its unit, such as 50ns, not '5'");
    check_refuses(UNIT_rate, "5GB", "expected a rate with its unit, such as 4800GB/s, not '5GB'");
    check_refuses(UNIT_freq, "5ghz", "expected a frequency with its unit, such as 1980MHz, not '5ghz'");
}

static void broken_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {"",      " ",   ".",    "5.",  "-5", "+5",
                                         "1.2.3", "1e3", "0x10", "5 5", " 5", "5\n"};
    for (size_t i = 0; i < COUNT_OF(broken); i++)
        check_refuses(UNIT_count, broken[i], "expected a whole number");
}

static void prints_the_unit_that_leaves_a_whole_number(void **state)
{
    (void)state;
    check_prints(UNIT_count, 132, "132");
    check_prints(UNIT_size, 256 << 10, "256KiB");
    check_prints(UNIT_size, 1000, "1KB");
    check_prints(UNIT_size, 1001, "1001B");
    check_prints(UNIT_time, 50000, "50ns");
    check_prints(UNIT_time, 1500000, "1500ns");
    check_prints(UNIT_rate, UINT64_C(4800000000000), "4800GB/s");
    check_prints(UNIT_freq, 1980000000, "1980MHz");
}

static void zero_is_printed_in_the_base_unit(void **state)
{
    (void)state;
    check_prints(UNIT_count, 0, "0");
    check_prints(UNIT_size, 0, "0B");
    check_prints(UNIT_time, 0, "0ps");
}

static void check_printed_and_reparsed(enum unit_kind kind, uint64_t value)
{
    struct text text = {0};
    unit_print(kind, value, &text);
    check_parses(kind, text.at, value);
    text_fini(&text);
}

/* Around the powers of 2 and of 10 every unit comes up, and with the largest numbers the longest texts. */
static void what_is_printed_is_parsed_to_the_same(void **state)
{
    (void)state;
    for (enum unit_kind kind = UNIT_count; kind <= UNIT_freq; kind++) {
        for (int shift = 0; shift < 64; shift++) {
            for (int off = -1; off <= 1; off++)
                check_printed_and_reparsed(kind, (UINT64_C(1) << shift) + (uint64_t)off);
        }
        for (uint64_t power = 1; power <= UINT64_C(1000000000000000000); power *= 10) {
            for (uint64_t times = 1; times <= 18; times++)
                check_printed_and_reparsed(kind, power * times);
        }
        check_printed_and_reparsed(kind, UINT64_MAX);
    }
}

static void each_kind_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(unit_called(UNIT_size), "a size with its unit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_every_unit),
        cmocka_unit_test(a_fraction_is_exact),
        cmocka_unit_test(zero_needs_no_unit),
        cmocka_unit_test(blanks_may_stand_before_the_unit),
        cmocka_unit_test(the_largest_number_is_taken),
        cmocka_unit_test(one_more_than_the_largest_is_too_large),
        cmocka_unit_test(too_many_digits_are_told_as_such),
        cmocka_unit_test(what_is_finer_than_the_base_unit_is_refused),
        cmocka_unit_test(an_error_says_what_was_expected_with_an_example),
        cmocka_unit_test(broken_numbers_are_refused),
        cmocka_unit_test(prints_the_unit_that_leaves_a_whole_number),
        cmocka_unit_test(zero_is_printed_in_the_base_unit),
        cmocka_unit_test(what_is_printed_is_parsed_to_the_same),
        cmocka_unit_test(each_kind_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
