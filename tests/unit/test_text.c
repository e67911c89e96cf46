#include "check.h"
#include "base/bits.h"

static void added_pieces_stand_in_a_row(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "%s-%d", "a", 7);
    text_add_bytes(&text, "xyz", 2);
    assert_string_equal(text.at, "a-7xy");
    assert_int_equal(text.length, 5);
    text_fini(&text);
}

static void a_text_grows_as_needed(void **state)
{
    (void)state;
    struct text text = {0};
    for (int i = 0; i < 10000; i++)
        text_add(&text, "%d", i % 10);
    assert_int_equal(text.length, 10000);
    assert_int_equal(text.at[9999], '9');
    assert_int_equal(text.at[10000], 0);
    text_fini(&text);
}

static void one_addition_may_be_longer_than_the_doubled_buffer(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "%05000d", 0);
    assert_int_equal(strlen(text.at), 5000);
    text_fini(&text);
}

static void no_bytes_make_an_empty_string(void **state)
{
    (void)state;
    struct text text = {0};
    text_add_bytes(&text, "", 0);
    assert_string_equal(text.at, "");
    text_fini(&text);
}

static void bytes_may_be_zero(void **state)
{
    (void)state;
    struct text text = {0};
    text_add_bytes(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.at, "a\0b", 4);
    text_fini(&text);
}

static void after_fini_a_text_is_as_new(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "old");
    text_fini(&text);
    text_add(&text, "new");
    assert_string_equal(text.at, "new");
    text_fini(&text);
}

static void trim_cuts_blanks_at_both_ends_only(void **state)
{
    (void)state;
    char both[] = " \t two words \r\n", none[] = "x", all[] = " \t ", empty[] = "";
    assert_string_equal(text_trim(both), "two words");
    assert_string_equal(text_trim(none), "x");
    assert_string_equal(text_trim(all), "");
    assert_string_equal(text_trim(empty), "");
}

static void distance_counts_each_sort_of_change_as_one(void **state)
{
    (void)state;
    assert_int_equal(text_distance("latency", "latency"), 0);
    assert_int_equal(text_distance("latency", "latencyy"), 1); /* put */
    assert_int_equal(text_distance("latency", "latncy"), 1);   /* taken */
    assert_int_equal(text_distance("latency", "lateney"), 1);  /* changed */
    assert_int_equal(text_distance("latency", "latecny"), 1);  /* swapped */
    assert_int_equal(text_distance("kitten", "sitting"), 3);
}

static void distance_from_nothing_is_the_length(void **state)
{
    (void)state;
    assert_int_equal(text_distance("", ""), 0);
    assert_int_equal(text_distance("", "abc"), 3);
    assert_int_equal(text_distance("abc", ""), 3);
}

static void distance_is_the_same_both_ways(void **state)
{
    (void)state;
    static const char *const words[] = {"",       "a",         "ba",        "credits",
                                        "cerdit", "bandwidth", "band with", "latency"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        for (size_t j = 0; j < COUNT_OF(words); j++)
            assert_int_equal(text_distance(words[i], words[j]), text_distance(words[j], words[i]));
    }
}

static void distance_of_very_long_names_is_far(void **state)
{
    (void)state;
    char name[201];
    memset(name, 'a', 200);
    name[200] = 0;
    assert_int_equal(text_distance(name, "a"), 200);
    assert_int_equal(text_distance("a", name), 200);
}

static const char *nearest_of(const char *wanted, const char *const *names)
{
    struct nearest nearest;
    nearest_init(&nearest, wanted);
    for (; *names; names++)
        nearest_try(&nearest, *names);
    return nearest.best;
}

static void the_nearest_name_is_kept(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("latancy", LIST("credits", "latency", "lately")), "latency");
}

static void of_equally_near_names_the_first_is_kept(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("hopx", LIST("hops", "hopy")), "hops");
}

static void a_far_name_is_not_suggested(void **state)
{
    (void)state;
    assert_null(nearest_of("latency", LIST("ends", "bandwidth")));
    assert_null(nearest_of("xy", LIST("ab", "seed")));
}

static void visible_text_has_no_control_characters(void **state)
{
    (void)state;
    struct text text = {0};
    text_add_visible(&text, "a\x1b[1m\n\x7f\xc2\x9b\xc3\xa9\xc2");
    assert_string_equal(text.at, "a\\x1b[1m\n\\x7f\\xc2\\x9b\xc3\xa9\xc2");
    text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_pieces_stand_in_a_row),
        cmocka_unit_test(a_text_grows_as_needed),
        cmocka_unit_test(one_addition_may_be_longer_than_the_doubled_buffer),
        cmocka_unit_test(no_bytes_make_an_empty_string),
        cmocka_unit_test(bytes_may_be_zero),
        cmocka_unit_test(after_fini_a_text_is_as_new),
        cmocka_unit_test(trim_cuts_blanks_at_both_ends_only),
        cmocka_unit_test(visible_text_has_no_control_characters),
        cmocka_unit_test(distance_counts_each_sort_of_change_as_one),
        cmocka_unit_test(distance_from_nothing_is_the_length),
        cmocka_unit_test(distance_is_the_same_both_ways),
        cmocka_unit_test(distance_of_very_long_names_is_far),
        cmocka_unit_test(the_nearest_name_is_kept),
        cmocka_unit_test(of_equally_near_names_the_first_is_kept),
        cmocka_unit_test(a_far_name_is_not_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
