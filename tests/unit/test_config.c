#include "check.h"
#include "base/config.h"
#include "report/json.h"

#define LOOM_PARAMS(P, S)                                                                                    \
    P(S, count, shafts, "4", "2..32", "frames that lift threads")                                            \
    P(S, size, memory, "256KiB", "1KiB..", "for patterns")                                                   \
    P(S, time, beat, "50ns", "", "between two wefts")                                                        \
    P(S, rate, speed, "1GB/s", "", "of the shuttle")                                                         \
    P(S, freq, clock, "1980MHz", "..2GHz", "of the motor")                                                   \
    P(S, real, tension, "0.25", "0..1", "of the warp")                                                       \
    P(S, flag, lit, "yes", "", "whether the lamp is on")                                                     \
    P(S, choice, weave, "plain", "plain|twill|satin", "how threads cross")                                   \
    P(S, text, owner, "", "", "who it belongs to")

struct loom_spec {
    LOOM_PARAMS(PARAM_FIELD, loom_spec)
};

#define LINK_PARAMS(P, S)                                                                                    \
    P(S, text, ends, "", "", "what it connects")                                                             \
    P(S, time, latency, "10ns", "", "of the link")

struct link_params_spec {
    LINK_PARAMS(PARAM_FIELD, link_params_spec)
};

PARAM_GROUP(test_loom, "mill.loom", "a loom", loom_spec, LOOM_PARAMS);
PARAM_GROUP(test_link, "link.*", "a link", link_params_spec, LINK_PARAMS);

static const struct param_group *const groups[] = {&test_loom, &test_link, NULL};

static int setup(void **state)
{
    static struct config config;
    config_init(&config, groups);
    *state = &config;
    return 0;
}

static int teardown(void **state)
{
    config_fini(*state);
    return 0;
}

static void check_set(struct config *config, const char *assignment)
{
    struct err err;
    if (!config_set(config, assignment, &err))
        fail_msg("'%s' was refused: %s", assignment, err.text);
}

static void check_set_refused(struct config *config, const char *assignment, const char *says)
{
    struct err err;
    if (config_set(config, assignment, &err))
        fail_msg("'%s' was taken", assignment);
    check_says(&err, says);
}

static void check_read(struct config *config, const char *text)
{
    struct err err;
    if (!config_read_text(config, "t.ini", text, strlen(text), &err))
        fail_msg("refused: %s", err.text);
}

static void check_read_refused(struct config *config, const char *text, const char *says)
{
    struct err err;
    if (config_read_text(config, "t.ini", text, strlen(text), &err))
        fail_msg("this was taken:\n%s", text);
    check_says(&err, says);
}

static struct loom_spec loom_of(const struct config *config)
{
    struct loom_spec spec;
    config_fill(config, &test_loom, "mill.loom", &spec);
    return spec;
}

static struct link_params_spec link_of(const struct config *config, const char *path)
{
    struct link_params_spec spec;
    config_fill(config, &test_link, path, &spec);
    return spec;
}

/* ---- values ---- */

static void without_settings_all_are_defaults(void **state)
{
    struct loom_spec loom = loom_of(*state);
    assert_int_equal(loom.shafts, 4);
    assert_int_equal(loom.memory, 256 << 10);
    assert_int_equal(loom.beat, 50000);
    assert_int_equal(loom.speed, 1000000000);
    assert_int_equal(loom.clock, 1980000000);
    assert_true(loom.tension == 0.25);
    assert_true(loom.lit);
    assert_int_equal(loom.weave, 0);
    assert_string_equal(loom.owner, "");
}

static void every_type_can_be_set(void **state)
{
    check_read(*state, "[mill.loom]\nshafts = 8\nmemory = 1MiB\nbeat = 1us\nspeed = 2GB/s\nclock = 1GHz\n"
                       "tension = 1e-3\nlit = no\nweave = satin\nowner = Ada and Joseph\n");
    struct loom_spec loom = loom_of(*state);
    assert_int_equal(loom.shafts, 8);
    assert_int_equal(loom.memory, 1 << 20);
    assert_int_equal(loom.beat, 1000000);
    assert_int_equal(loom.speed, 2000000000);
    assert_int_equal(loom.clock, 1000000000);
    assert_true(loom.tension == 1e-3);
    assert_false(loom.lit);
    assert_int_equal(loom.weave, 2);
    assert_string_equal(loom.owner, "Ada and Joseph");
}

static void a_flag_has_four_words_for_each(void **state)
{
    static const char *const yes[] = {"yes", "true", "on", "1"}, *const no[] = {"no", "false", "off", "0"};
    struct err err;
    for (int i = 0; i < 4; i++) {
        assert_true(config_set_key(*state, "mill.loom", "lit", yes[i], "test", &err));
        assert_true(loom_of(*state).lit);
        assert_true(config_set_key(*state, "mill.loom", "lit", no[i], "test", &err));
        assert_false(loom_of(*state).lit);
    }
}

static void both_ends_of_a_range_are_inside(void **state)
{
    check_set(*state, "mill.loom.shafts=2");
    check_set(*state, "mill.loom.shafts=32");
    check_set_refused(*state, "mill.loom.shafts=1", "--set: mill.loom.shafts: expected 2..32, not 1");
    check_set_refused(*state, "mill.loom.shafts=33", "expected 2..32, not 33");
}

static void a_range_may_be_open_on_one_side(void **state)
{
    check_set(*state, "mill.loom.memory=18446744073709551615B");
    check_set_refused(*state, "mill.loom.memory=1023B", "expected 1KiB.., not 1023B");
    check_set(*state, "mill.loom.clock=0");
    check_set_refused(*state, "mill.loom.clock=2000000001Hz", "expected ..2GHz, not 2000000001Hz");
}

static void a_real_has_its_range(void **state)
{
    check_set(*state, "mill.loom.tension=1");
    check_set_refused(*state, "mill.loom.tension=1.0000001", "expected 0..1, not 1.0000001");
    check_set_refused(*state, "mill.loom.tension=-1e-9", "expected 0..1");
}

static void what_is_no_decimal_number_is_no_real(void **state)
{
    static const char *const broken[] = {"nan", "inf",  "-inf", "1e999", "0x1p-1",
                                         "1,5", "half", "1 ",   " 1",    "0.5x"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "mill.loom.tension=%s", broken[i]);
        check_set_refused(*state, assignment, "expected a number, such as 0.25, not '");
    }
}

static void an_unknown_choice_names_the_words(void **state)
{
    check_set_refused(*state, "mill.loom.weave=twil", "expected one of plain|twill|satin, not 'twil'");
    check_set_refused(*state, "mill.loom.weave=plain|twill", "expected one of");
}

static void an_unknown_flag_names_the_words(void **state)
{
    check_set_refused(*state, "mill.loom.lit=maybe", "expected yes or no, not 'maybe'");
}

static void a_wrong_unit_is_told_with_its_place(void **state)
{
    check_read_refused(*state, "[mill.loom]\n\nbeat = 5\n",
                       "t.ini:3: mill.loom.beat: expected a time with its unit, such as 50ns, not '5'");
}

/* Such a text could not stand in a description, and a dump with it would read as something else. */
static void a_text_that_no_description_can_hold_is_refused(void **state)
{
    static const char *const broken[] = {"a\n[link.x]", "#1", "a #b", "a ;b", " a", "a ", "a\t"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "mill.loom.owner=%s", broken[i]);
        check_set_refused(*state, assignment, "mill.loom.owner: expected one line of text");
    }
    check_read_refused(*state, "[mill.loom]\nowner =#1\n",
                       "t.ini:2: mill.loom.owner: expected one line of text");
}

static void a_text_has_3072_bytes_at_most(void **state)
{
    char assignment[4000];
    snprintf(assignment, sizeof assignment, "mill.loom.owner=%03072d", 0);
    check_set(*state, assignment);
    snprintf(assignment, sizeof assignment, "mill.loom.owner=%03073d", 0);
    check_set_refused(*state, assignment, "expected at most 3072 bytes of text, not 3073");
}

/* ---- names ---- */

static void a_wrong_key_suggests_the_nearest(void **state)
{
    check_read_refused(*state, "[mill.loom]\nshfats = 3\n",
                       "t.ini:2: [mill.loom] has no key 'shfats'; did you mean shafts?");
}

static void a_key_far_from_all_points_to_the_list(void **state)
{
    check_read_refused(*state, "[mill.loom]\nxyzzy = 3\n",
                       "t.ini:2: [mill.loom] has no key 'xyzzy' (`heddle params mill.loom` lists them)");
}

static void a_wrong_section_suggests_the_nearest(void **state)
{
    check_read_refused(*state, "[mill.lom]\n",
                       "t.ini:1: there is no section [mill.lom]; did you mean [mill.loom]?");
    check_read_refused(*state, "[lnk.a]\n", "did you mean [link.*]?");
}

static void a_section_far_from_all_tells_those_there_are(void **state)
{
    check_read_refused(*state, "[windmill]\n", "t.ini:1: there is no section [windmill]; expected [");
}

static void a_key_before_all_sections_is_refused(void **state)
{
    check_read_refused(*state, "shafts = 3\n", "t.ini:1: expected [section] before the key 'shafts'");
}

static void a_family_needs_a_name_without_dots(void **state)
{
    check_read_refused(*state, "[link.]\n", "there is no section [link.]");
    check_read_refused(*state, "[link.a.b]\n", "there is no section [link.a.b]");
}

static void set_needs_path_key_and_value(void **state)
{
    static const char *const broken[] = {
        "", "=", "x", "x=1", ".x=1", "a.=1", "mill.loom.shafts", "mill.loom.shafts=", "shafts=1.5"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        check_set_refused(*state, broken[i],
                          "--set: expected path.key=value (`heddle params` lists what there is), not '");
}

static void set_takes_dots_and_equals_signs_in_the_value(void **state)
{
    check_set(*state, "mill.loom.owner=a.b=c");
    assert_string_equal(loom_of(*state).owner, "a.b=c");
}

static void set_takes_no_section_that_a_description_cannot_have(void **state)
{
    check_set_refused(*state, "link.a b.latency=1ns",
                      "--set: expected a section name of letters, digits and . _ - [ ], not 'link.a b'");
    check_set_refused(*state, "link.a\n.latency=1ns", "expected a section name");
}

/* ---- several settings ---- */

static void later_settings_win(void **state)
{
    check_read(*state, "[mill.loom]\nshafts = 8\nbeat = 1ns\n");
    check_read(*state, "[mill.loom]\nshafts = 16\n");
    assert_int_equal(loom_of(*state).shafts, 16);
    check_set(*state, "mill.loom.shafts=24");
    assert_int_equal(loom_of(*state).shafts, 24);
    assert_int_equal(loom_of(*state).beat, 1000);
}

static void a_refused_setting_changes_nothing(void **state)
{
    check_set(*state, "mill.loom.shafts=8");
    check_set_refused(*state, "mill.loom.shafts=99", "expected");
    assert_int_equal(loom_of(*state).shafts, 8);
}

static void a_file_refines_what_it_includes(void **state)
{
    struct folder folder;
    struct err err;
    folder_make(&folder);
    folder_write(&folder, "base.ini", "[mill.loom]\nshafts = 8\nbeat = 1ns\n");
    const char *top = folder_write(&folder, "top.ini", "include = base.ini\n[mill.loom]\nshafts = 16\n");
    assert_true(config_read(*state, top, &err));
    assert_int_equal(loom_of(*state).shafts, 16);
    assert_int_equal(loom_of(*state).beat, 1000);
    folder_remove(&folder, LIST("base.ini", "top.ini"));
}

static void the_sections_of_a_family_are_apart(void **state)
{
    check_read(*state, "[link.a]\nlatency = 1ns\n[link.b]\nlatency = 2ns\n");
    check_set(*state, "link.b.ends=x y");
    assert_int_equal(link_of(*state, "link.a").latency, 1000);
    assert_string_equal(link_of(*state, "link.a").ends, "");
    assert_int_equal(link_of(*state, "link.b").latency, 2000);
    assert_string_equal(link_of(*state, "link.b").ends, "x y");
}

static void the_sections_of_a_family_come_in_the_order_of_their_first_setting(void **state)
{
    check_set(*state, "link.z.latency=1ns");
    check_set(*state, "mill.loom.shafts=8");
    check_set(*state, "link.a.latency=1ns");
    check_set(*state, "link.z.latency=2ns");
    assert_string_equal(config_next(*state, &test_link, NULL), "link.z");
    assert_string_equal(config_next(*state, &test_link, "link.z"), "link.a");
    assert_null(config_next(*state, &test_link, "link.a"));
}

static void a_section_without_settings_is_there_with_its_defaults(void **state)
{
    check_read(*state, "[link.a]\n");
    assert_string_equal(config_next(*state, &test_link, NULL), "link.a");
    assert_int_equal(link_of(*state, "link.a").latency, 10000);
}

/* Were the work to grow with the cube of the sections, this would not end in time. */
static void thousands_of_sections_are_taken(void **state)
{
    enum { LINKS = 5000 };
    char assignment[64];
    for (int i = 0; i < LINKS; i++) {
        snprintf(assignment, sizeof assignment, "link.l%d.latency=%dps", i, i);
        check_set(*state, assignment);
    }
    struct text text = {0};
    config_dump(*state, &text);
    assert_non_null(strstr(text.at, "[link.l4999]\nlatency = 4999ps\n"));
    text_fini(&text);
}

/* ---- the dump ---- */

static void check_dump(const struct config *config, const char *expected)
{
    struct text text = {0};
    config_dump(config, &text);
    assert_string_equal(text.at, expected);
    text_fini(&text);
}

static void the_dump_has_every_parameter(void **state)
{
    check_set(*state, "link.a.ends=x y");
    check_dump(*state,
               "[mill.loom]\nshafts = 4\nmemory = 256KiB\nbeat = 50ns\nspeed = 1GB/s\nclock = 1980MHz\n"
               "tension = 0.25\nlit = yes\nweave = plain\n"
               "[link.a]\nends = x y\nlatency = 10ns\n");
}

static void check_same_after_reread(const struct config *config)
{
    struct text first = {0};
    struct config again;
    config_dump(config, &first);
    config_init(&again, groups);
    check_read(&again, first.at);
    check_dump(&again, first.at);
    config_fini(&again);
    text_fini(&first);
}

static void the_dump_reads_again_to_the_same(void **state)
{
    check_same_after_reread(*state);
    check_read(*state, "[link.z]\n[link.a[0]]\nends = p.q, r.s\nlatency = 18446744.073709551615s\n"
                       "[mill.loom]\ntension = 0.1\nweave = twill\nlit = 0\nowner = \"A#1;2\"\n");
    check_same_after_reread(*state);
}

static void the_dump_holds_reals_to_the_last_bit(void **state)
{
    check_set(*state, "mill.loom.tension=0.30000000000000004");
    check_same_after_reread(*state);
    assert_true(loom_of(*state).tension == 0.30000000000000004);
}

static void json_has_numbers_flags_and_texts(void **state)
{
    char *bytes;
    size_t length;
    struct json_writer json;
    check_set(*state, "link.a.ends=say \"hi\"");
    json_begin(&json, open_memstream(&bytes, &length));
    json_open_object(&json, NULL);
    json_put_config(&json, *state);
    json_close(&json);
    fclose(json.stream);
    assert_string_equal(bytes, "{\n"
                               "  \"mill.loom\": {\n"
                               "    \"shafts\": 4,\n"
                               "    \"memory\": \"256KiB\",\n"
                               "    \"beat\": \"50ns\",\n"
                               "    \"speed\": \"1GB/s\",\n"
                               "    \"clock\": \"1980MHz\",\n"
                               "    \"tension\": 0.25,\n"
                               "    \"lit\": true,\n"
                               "    \"weave\": \"plain\",\n"
                               "    \"owner\": \"\"\n"
                               "  },\n"
                               "  \"link.a\": {\n"
                               "    \"ends\": \"say \\\"hi\\\"\",\n"
                               "    \"latency\": \"10ns\"\n"
                               "  }\n"
                               "}\n");
    free(bytes);
}

/* Another default is used and shown, is not what somebody set, and yields to that. */
static void another_default_yields_to_what_is_set(void **state)
{
    struct config *config = *state;
    struct loom_spec spec;
    struct text dump = {0};
    config_set_default(config, "mill.loom", "shafts", "8");
    config_set_default(config, "mill.loom", "shafts", "16");
    config_fill(config, &test_loom, "mill.loom", &spec);
    assert_int_equal(spec.shafts, 16);
    assert_false(config_is_set(config, "mill.loom", &test_loom.rows[0]));
    config_dump_marked(config, "by itself", &dump);
    assert_non_null(strstr(dump.at, "shafts = 16 ; by itself"));
    text_fini(&dump);
    check_set(config, "mill.loom.shafts=5");
    config_set_default(config, "mill.loom", "shafts", "12");
    config_fill(config, &test_loom, "mill.loom", &spec);
    assert_int_equal(spec.shafts, 5);
}

/* ... until there is none any more. */
static void without_another_default_it_is_the_rows(void **state)
{
    struct config *config = *state;
    struct loom_spec spec;
    config_set_default(config, "mill.loom", "shafts", "8");
    config_set_default(config, "mill.loom", "shafts", NULL);
    config_fill(config, &test_loom, "mill.loom", &spec);
    assert_int_equal(spec.shafts, 4);
}

#define CONFIG_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(without_settings_all_are_defaults),
        CONFIG_TEST(every_type_can_be_set),
        CONFIG_TEST(a_flag_has_four_words_for_each),
        CONFIG_TEST(both_ends_of_a_range_are_inside),
        CONFIG_TEST(a_range_may_be_open_on_one_side),
        CONFIG_TEST(a_real_has_its_range),
        CONFIG_TEST(what_is_no_decimal_number_is_no_real),
        CONFIG_TEST(an_unknown_choice_names_the_words),
        CONFIG_TEST(an_unknown_flag_names_the_words),
        CONFIG_TEST(a_wrong_unit_is_told_with_its_place),
        CONFIG_TEST(a_text_that_no_description_can_hold_is_refused),
        CONFIG_TEST(a_text_has_3072_bytes_at_most),
        CONFIG_TEST(a_wrong_key_suggests_the_nearest),
        CONFIG_TEST(a_key_far_from_all_points_to_the_list),
        CONFIG_TEST(a_wrong_section_suggests_the_nearest),
        CONFIG_TEST(a_section_far_from_all_tells_those_there_are),
        CONFIG_TEST(a_key_before_all_sections_is_refused),
        CONFIG_TEST(a_family_needs_a_name_without_dots),
        CONFIG_TEST(set_needs_path_key_and_value),
        CONFIG_TEST(set_takes_dots_and_equals_signs_in_the_value),
        CONFIG_TEST(set_takes_no_section_that_a_description_cannot_have),
        CONFIG_TEST(later_settings_win),
        CONFIG_TEST(a_refused_setting_changes_nothing),
        CONFIG_TEST(a_file_refines_what_it_includes),
        CONFIG_TEST(the_sections_of_a_family_are_apart),
        CONFIG_TEST(the_sections_of_a_family_come_in_the_order_of_their_first_setting),
        CONFIG_TEST(a_section_without_settings_is_there_with_its_defaults),
        CONFIG_TEST(thousands_of_sections_are_taken),
        CONFIG_TEST(the_dump_has_every_parameter),
        CONFIG_TEST(the_dump_reads_again_to_the_same),
        CONFIG_TEST(the_dump_holds_reals_to_the_last_bit),
        CONFIG_TEST(json_has_numbers_flags_and_texts),
        CONFIG_TEST(another_default_yields_to_what_is_set),
        CONFIG_TEST(without_another_default_it_is_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
