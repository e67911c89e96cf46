#include "check.h"
#include "base/ini.h"

/* Notes every call as a line "section|key|value|where". */
static bool note(void *user, const char *section, const char *key, const char *value, const char *where,
                 struct err *err)
{
    (void)err;
    text_add(user, "%s|%s|%s|%s\n", section, key, value, where);
    return true;
}

static void check_reads(const char *text, const char *expected)
{
    struct text notes = {0};
    struct err err;
    text_add_bytes(&notes, "", 0);
    if (!ini_read_text("t.ini", text, strlen(text), note, &notes, &err))
        fail_msg("refused: %s", err.text);
    assert_string_equal(notes.at, expected);
    text_fini(&notes);
}

static void check_refuses_bytes(const char *text, size_t bytes, const char *says)
{
    struct text notes = {0};
    struct err err;
    if (ini_read_text("t.ini", text, bytes, note, &notes, &err))
        fail_msg("this was taken:\n%s", text);
    check_says(&err, says);
    text_fini(&notes);
}

static void check_refuses(const char *text, const char *says)
{
    check_refuses_bytes(text, strlen(text), says);
}

static void check_file_reads(const char *path, const char *const *keys_in_order)
{
    struct text notes = {0};
    struct err err;
    if (!ini_read_file(path, NULL, note, &notes, &err))
        fail_msg("refused: %s", err.text);
    const char *at = notes.at;
    for (; *keys_in_order; keys_in_order++) {
        at = strstr(at, *keys_in_order);
        if (!at)
            fail_msg("'%s' is missing or comes too early in\n%s", *keys_in_order, notes.at);
        at++;
    }
    text_fini(&notes);
}

static void check_file_refused(const char *path, const char *says)
{
    struct text notes = {0};
    struct err err;
    assert_false(ini_read_file(path, NULL, note, &notes, &err));
    check_says(&err, says);
    text_fini(&notes);
}

static void a_setting_comes_with_section_and_place(void **state)
{
    (void)state;
    check_reads("[a]\nkey = value\n", "a|||t.ini:1\na|key|value|t.ini:2\n");
}

static void an_empty_text_has_no_settings(void **state)
{
    (void)state;
    check_reads("", "");
    check_reads("\n\n  \n", "");
}

static void a_section_without_settings_is_told(void **state)
{
    (void)state;
    check_reads("[node.b]\n", "node.b|||t.ini:1\n");
}

static void blanks_around_everything_are_cut(void **state)
{
    (void)state;
    check_reads("  [ a ]  \n\t key\t=  two words  \n", "a|||t.ini:1\na|key|two words|t.ini:2\n");
}

static void lines_may_end_as_on_windows(void **state)
{
    (void)state;
    check_reads("[a]\r\nk = v\r\n", "a|||t.ini:1\na|k|v|t.ini:2\n");
}

static void the_last_line_needs_no_newline(void **state)
{
    (void)state;
    check_reads("[a]\nk=v", "a|||t.ini:1\na|k|v|t.ini:2\n");
}

static void comments_start_a_line_or_follow_a_blank(void **state)
{
    (void)state;
    check_reads("# one\n; two\n[a] # three\nk = v ; four\n", "a|||t.ini:3\na|k|v|t.ini:4\n");
}

static void a_hash_inside_a_word_is_no_comment(void **state)
{
    (void)state;
    check_reads("[a]\nk = v#1;2\n", "a|||t.ini:1\na|k|v#1;2|t.ini:2\n");
}

static void a_value_may_have_equals_signs(void **state)
{
    (void)state;
    check_reads("[a]\nk = x=y\n", "a|||t.ini:1\na|k|x=y|t.ini:2\n");
}

static void names_may_have_dots_and_brackets(void **state)
{
    (void)state;
    check_reads("[gpu[0].l2-a_b]\n", "gpu[0].l2-a_b|||t.ini:1\n");
}

static void a_line_that_is_nothing_is_refused(void **state)
{
    (void)state;
    check_refuses("[a]\n\nhello\n", "t.ini:3: expected [section] or key = value, not 'hello'");
}

static void an_open_bracket_is_refused(void **state)
{
    (void)state;
    check_refuses("[a\n", "t.ini:1: expected ']' at the end of '[a'");
    check_refuses("[", "t.ini:1: expected ']'");
}

static void a_broken_section_name_is_refused(void **state)
{
    (void)state;
    check_refuses("[a b]\n", "t.ini:1: expected a section name of letters, digits and . _ - [ ], not 'a b'");
    check_refuses("[]\n", "not ''");
}

static void a_section_name_may_have_255_letters(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, "[%0255d]", 0);
    struct text notes = {0};
    struct err err;
    assert_true(ini_read_text("t.ini", text, strlen(text), note, &notes, &err));
    text_fini(&notes);
    snprintf(text, sizeof text, "[%0256d]", 0);
    check_refuses(text, "expected a section name");
}

static void a_broken_key_is_refused(void **state)
{
    (void)state;
    check_refuses("[a]\ntwo words = 1\n",
                  "t.ini:2: expected a key of letters, digits and . _ - before '=', not 'two words'");
    check_refuses("[a]\n= 1\n", "t.ini:2: expected a key");
}

static void a_key_without_a_value_is_refused(void **state)
{
    (void)state;
    check_refuses("[a]\nk =\n", "t.ini:2: expected a value after '=' for 'k'");
    check_refuses("[a]\nk = # only a comment\n", "expected a value");
}

static void a_key_twice_is_refused(void **state)
{
    (void)state;
    check_refuses("[a]\nk = 1\n[b]\nk = 1\n[c]\nk = 1\nk = 2\n",
                  "t.ini:7: this file sets the key twice: 'k'");
}

static void a_section_twice_is_refused(void **state)
{
    (void)state;
    check_refuses("[a]\nk = 1\n[b]\n[a]\n", "t.ini:4: this file has the section twice: 'a'");
}

static void a_zero_byte_is_refused(void **state)
{
    (void)state;
    static const char text[] = "[a]\nk = 1\0 2\n";
    check_refuses_bytes(text, sizeof text - 1, "t.ini:2: expected text, found a zero byte");
}

static void check_line_of(size_t length, bool good)
{
    char line[4200];
    snprintf(line, sizeof line, "[a]\nk=%0*d", (int)length - 2, 0);
    struct text notes = {0};
    struct err err;
    assert_int_equal(ini_read_text("t.ini", line, strlen(line), note, &notes, &err), good);
    if (!good)
        check_says(&err, "t.ini:2: this line is too long");
    text_fini(&notes);
}

static void a_line_may_have_4095_bytes(void **state)
{
    (void)state;
    check_line_of(4095, true);
    check_line_of(4096, false);
}

static bool refuse(void *user, const char *section, const char *key, const char *value, const char *where,
                   struct err *err)
{
    (void)user, (void)section, (void)value;
    return !*key || err_set(err, "%s: not %s", where, key);
}

static void the_receiver_can_stop_the_reading(void **state)
{
    (void)state;
    struct err err;
    static const char text[] = "[a]\nx = 1\nbroken\n";
    assert_false(ini_read_text("t.ini", text, sizeof text - 1, refuse, NULL, &err));
    assert_string_equal(err.text, "t.ini:2: not x");
}

static void a_missing_file_is_told(void **state)
{
    (void)state;
    check_file_refused("/there/is/no.ini", "cannot read /there/is/no.ini: No such file or directory");
}

static void a_folder_is_no_description(void **state)
{
    (void)state;
    check_file_refused("/tmp", "cannot read /tmp: Is a directory");
}

/* The included settings come first, so that those of the including file win. */
static void an_included_file_comes_first(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "base.ini", "[a]\nk = 1\nkept = 5\n");
    const char *top = folder_write(&folder, "top.ini", "include = base.ini\n[a]\nk = 2\n");
    check_file_reads(top, LIST("a|k|1|", "a|kept|5|", "a|k|2|"));
    folder_remove(&folder, LIST("base.ini", "top.ini"));
}

static void several_includes_come_in_their_order(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "one.ini", "[a]\nk = 1\n");
    folder_write(&folder, "two.ini", "include = one.ini\n[a]\nk = 2\n");
    const char *top = folder_write(&folder, "top.ini", "include = two.ini\ninclude = one.ini\n[a]\nk = 3\n");
    check_file_reads(top, LIST("a|k|1|", "a|k|2|", "a|k|1|", "a|k|3|"));
    folder_remove(&folder, LIST("one.ini", "two.ini", "top.ini"));
}

/* The working folder of the test is another one. */
static void an_include_is_relative_to_its_file(void **state)
{
    (void)state;
    struct folder folder, inner;
    folder_make(&folder);
    snprintf(inner.path, sizeof inner.path, "%.40s/in", folder.path);
    assert_int_equal(mkdir(inner.path, 0700), 0);
    folder_write(&folder, "beside.ini", "[a]\nk = 1\n");
    folder_write(&inner, "inner.ini", "include = ../beside.ini\n");
    const char *top = folder_write(&folder, "top.ini", "include = in/inner.ini\n");
    check_file_reads(top, LIST("a|k|1|"));
    folder_remove(&inner, LIST("inner.ini"));
    folder_remove(&folder, LIST("beside.ini", "top.ini"));
}

static void an_include_may_be_an_absolute_path(void **state)
{
    (void)state;
    struct folder folder, other;
    char content[256];
    folder_make(&folder);
    folder_make(&other);
    snprintf(content, sizeof content, "include = %s\n", folder_write(&other, "base.ini", "[a]\nk = 1\n"));
    check_file_reads(folder_write(&folder, "top.ini", content), LIST("a|k|1|"));
    folder_remove(&other, LIST("base.ini"));
    folder_remove(&folder, LIST("top.ini"));
}

static void a_missing_include_names_the_line_that_wants_it(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *top = folder_write(&folder, "top.ini", "\ninclude = none.ini\n");
    check_file_refused(top, "top.ini:2: cannot read ");
    check_file_refused(top, "none.ini: No such file or directory");
    folder_remove(&folder, LIST("top.ini"));
}

static void a_mistake_in_an_included_file_names_that_file(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "base.ini", "[a]\nhello\n");
    const char *top = folder_write(&folder, "top.ini", "include = base.ini\n");
    check_file_refused(top, "/base.ini:2: expected [section]");
    folder_remove(&folder, LIST("base.ini", "top.ini"));
}

static void an_include_of_a_folder_is_refused(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    check_file_refused(folder_write(&folder, "top.ini", "include = .\n"), "Is a directory");
    folder_remove(&folder, LIST("top.ini"));
}

static void a_file_that_includes_itself_is_refused(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *top = folder_write(&folder, "top.ini", "include = ./top.ini\n");
    check_file_refused(top, "top.ini:1: this include goes round in a circle: './top.ini'");
    folder_remove(&folder, LIST("top.ini"));
}

static void a_circle_of_files_is_refused(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "one.ini", "include = two.ini\n");
    folder_write(&folder, "two.ini", "include = three.ini\n");
    const char *top = folder_write(&folder, "three.ini", "include = one.ini\n");
    check_file_refused(top, "two.ini:1: this include goes round in a circle: 'three.ini'");
    folder_remove(&folder, LIST("one.ini", "two.ini", "three.ini"));
}

static void write_chain(struct folder *folder, int length)
{
    char name[32], content[64];
    for (int i = 0; i < length; i++) {
        snprintf(name, sizeof name, "%d.ini", i);
        snprintf(content, sizeof content, i + 1 < length ? "include = %d.ini\n" : "[a]\nk = %d\n", i + 1);
        folder_write(folder, name, content);
    }
}

static void remove_chain(struct folder *folder, int length)
{
    char name[32];
    for (int i = 0; i < length; i++) {
        snprintf(name, sizeof name, "%d.ini", i);
        assert_int_equal(unlink(folder_file(folder, name)), 0);
    }
    assert_int_equal(rmdir(folder->path), 0);
}

static void includes_may_go_16_deep(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    write_chain(&folder, 17);
    check_file_reads(folder_file(&folder, "0.ini"), LIST("a|k|17|"));
    remove_chain(&folder, 17);
}

static void includes_17_deep_are_refused_but_not_as_a_circle(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    write_chain(&folder, 18);
    check_file_refused(folder_file(&folder, "0.ini"),
                       "16.ini:1: files that include files go too deep at '17.ini'");
    remove_chain(&folder, 18);
}

static void inside_a_section_include_is_a_plain_key(void **state)
{
    (void)state;
    check_reads("[a]\ninclude = x\n", "a|||t.ini:1\na|include|x|t.ini:2\n");
}

static void section_names_are_those_that_can_be_read(void **state)
{
    (void)state;
    assert_true(ini_section_name("gpu[0].l2"));
    assert_false(ini_section_name(""));
    assert_false(ini_section_name("a b"));
    assert_false(ini_section_name("a\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_setting_comes_with_section_and_place),
        cmocka_unit_test(an_empty_text_has_no_settings),
        cmocka_unit_test(a_section_without_settings_is_told),
        cmocka_unit_test(blanks_around_everything_are_cut),
        cmocka_unit_test(lines_may_end_as_on_windows),
        cmocka_unit_test(the_last_line_needs_no_newline),
        cmocka_unit_test(comments_start_a_line_or_follow_a_blank),
        cmocka_unit_test(a_hash_inside_a_word_is_no_comment),
        cmocka_unit_test(a_value_may_have_equals_signs),
        cmocka_unit_test(names_may_have_dots_and_brackets),
        cmocka_unit_test(a_line_that_is_nothing_is_refused),
        cmocka_unit_test(an_open_bracket_is_refused),
        cmocka_unit_test(a_broken_section_name_is_refused),
        cmocka_unit_test(a_section_name_may_have_255_letters),
        cmocka_unit_test(a_broken_key_is_refused),
        cmocka_unit_test(a_key_without_a_value_is_refused),
        cmocka_unit_test(a_key_twice_is_refused),
        cmocka_unit_test(a_section_twice_is_refused),
        cmocka_unit_test(a_zero_byte_is_refused),
        cmocka_unit_test(a_line_may_have_4095_bytes),
        cmocka_unit_test(the_receiver_can_stop_the_reading),
        cmocka_unit_test(a_missing_file_is_told),
        cmocka_unit_test(a_folder_is_no_description),
        cmocka_unit_test(an_included_file_comes_first),
        cmocka_unit_test(several_includes_come_in_their_order),
        cmocka_unit_test(an_include_is_relative_to_its_file),
        cmocka_unit_test(an_include_may_be_an_absolute_path),
        cmocka_unit_test(a_missing_include_names_the_line_that_wants_it),
        cmocka_unit_test(a_mistake_in_an_included_file_names_that_file),
        cmocka_unit_test(an_include_of_a_folder_is_refused),
        cmocka_unit_test(a_file_that_includes_itself_is_refused),
        cmocka_unit_test(a_circle_of_files_is_refused),
        cmocka_unit_test(includes_may_go_16_deep),
        cmocka_unit_test(includes_17_deep_are_refused_but_not_as_a_circle),
        cmocka_unit_test(inside_a_section_include_is_a_plain_key),
        cmocka_unit_test(section_names_are_those_that_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
