#include "check.h"
#include "base/file.h"
#include "base/mem.h"

static void check_content(const char *path, const char *expected)
{
    struct text content = {0};
    struct err err;
    if (!file_read(path, 1000, &content, &err))
        fail_msg("%s", err.text);
    assert_string_equal(content.at, expected);
    text_fini(&content);
}

static void check_unreadable(const char *path, size_t limit, const char *says)
{
    struct text content = {0};
    struct err err;
    assert_false(file_read(path, limit, &content, &err));
    check_says(&err, says);
    text_fini(&content);
}

static void check_not_opened(const char *path, const char *says)
{
    struct file_writer writer;
    struct err err;
    assert_false(file_open(&writer, path, &err));
    check_says(&err, says);
}

static void check_written(const char *path, const char *content)
{
    struct file_writer writer;
    struct err err;
    if (!file_open(&writer, path, &err))
        fail_msg("%s", err.text);
    fputs(content, writer.stream);
    if (!file_close(&writer, &err))
        fail_msg("%s", err.text);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *path = folder_file(&folder, "a");
    check_written(path, "hello\n");
    check_content(path, "hello\n");
    folder_remove(&folder, LIST("a"));
}

static void an_empty_file_is_an_empty_string(void **state)
{
    (void)state;
    check_content("/dev/null", "");
}

static void reading_adds_to_what_is_there(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *path = folder_write(&folder, "a", "two");
    struct text content = {0};
    struct err err;
    text_add(&content, "one ");
    assert_true(file_read(path, 3, &content, &err));
    assert_string_equal(content.at, "one two");
    text_fini(&content);
    folder_remove(&folder, LIST("a"));
}

static void a_file_may_be_as_large_as_the_limit(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *path = folder_write(&folder, "a", "12345");
    struct text content = {0};
    struct err err;
    assert_true(file_read(path, 5, &content, &err));
    text_fini(&content);
    check_unreadable(path, 4, "a is too large: at most 4 bytes are expected");
    folder_remove(&folder, LIST("a"));
}

static void an_endless_file_is_too_large(void **state)
{
    (void)state;
    check_unreadable("/dev/zero", 100000, "/dev/zero is too large");
}

static void a_missing_file_is_told(void **state)
{
    (void)state;
    check_unreadable("/there/is/none", 10, "cannot read /there/is/none: No such file or directory");
}

static void a_folder_cannot_be_read(void **state)
{
    (void)state;
    check_unreadable("/tmp", 10, "cannot read /tmp: Is a directory");
}

static void a_forbidden_file_cannot_be_read(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *path = folder_write(&folder, "a", "secret");
    assert_int_equal(chmod(path, 0), 0);
    bool root = geteuid() == 0; /* root may read everything: be somebody else for a moment */
    assert_true(!root || (chmod(folder.path, 0755) == 0 && seteuid(65534) == 0));
    check_unreadable(path, 10, "Permission denied");
    assert_true(!root || seteuid(0) == 0);
    folder_remove(&folder, LIST("a"));
}

static void until_it_is_closed_the_old_content_stays(void **state)
{
    (void)state;
    struct folder folder;
    struct file_writer writer;
    struct err err;
    folder_make(&folder);
    const char *path = folder_write(&folder, "a", "old");
    assert_true(file_open(&writer, path, &err));
    fputs("new", writer.stream);
    fflush(writer.stream);
    check_content(path, "old");
    assert_true(file_close(&writer, &err));
    check_content(path, "new");
    folder_remove(&folder, LIST("a")); /* and no part is left */
}

/* Another run that writes the same file has another part. */
static void what_a_killed_run_left_does_no_harm(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    folder_write(&folder, "a.1.part", "what a killed run left, longer than the new content");
    const char *path = folder_file(&folder, "a");
    check_written(path, "new");
    check_content(path, "new");
    folder_remove(&folder, LIST("a", "a.1.part"));
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct file_writer writer;
    struct err err;
    assert_true(file_open(&writer, "/dev/full", &err));
    fputs("x", writer.stream);
    assert_false(file_close(&writer, &err));
    assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
}

/* The write that failed was long ago, and its reason is lost. */
static void an_early_failure_is_told_at_the_end(void **state)
{
    (void)state;
    struct file_writer writer;
    struct err err;
    assert_true(file_open(&writer, "/dev/full", &err));
    setvbuf(writer.stream, NULL, _IONBF, 0);
    fputs("x", writer.stream);
    assert_false(file_close(&writer, &err));
    check_says(&err, "cannot write /dev/full: ");
}

static void a_device_is_written_straight(void **state)
{
    (void)state;
    struct file_writer writer;
    struct err err;
    assert_true(file_open(&writer, "/dev/null", &err));
    assert_null(writer.part);
    assert_true(file_close(&writer, &err));
}

/* What cannot take its name in the end leaves nothing behind. */
static void a_part_that_cannot_be_renamed_is_removed(void **state)
{
    (void)state;
    struct folder folder;
    struct file_writer writer;
    struct err err;
    folder_make(&folder);
    const char *path = folder_file(&folder, "a");
    assert_true(file_open(&writer, path, &err));
    assert_int_equal(mkdir(path, 0700), 0); /* a folder took the name meanwhile */
    assert_false(file_close(&writer, &err));
    check_says(&err, "/a: Is a directory");
    assert_int_equal(rmdir(path), 0);
    folder_remove(&folder, (const char *const[]){NULL});
}

static void a_missing_folder_is_told_when_opened(void **state)
{
    (void)state;
    check_not_opened("/there/is/none", "cannot write /there/is/none: No such file or directory");
}

static void a_folder_cannot_be_written(void **state)
{
    (void)state;
    check_not_opened("/tmp", "cannot write /tmp: Is a directory");
}

static void what_a_link_stands_for_is_replaced(void **state)
{
    (void)state;
    struct folder folder;
    folder_make(&folder);
    const char *target = mem_text(folder_file(&folder, "target")), *name = folder_file(&folder, "link");
    check_written(target, "old");
    assert_int_equal(symlink("target", name), 0);
    check_written(name, "new");
    check_content(target, "new");
    char stands_for[16] = "";
    assert_int_equal(readlink(name, stands_for, sizeof stands_for), 6);
    mem_free((char *)(uintptr_t)target);
    folder_remove(&folder, LIST("target", "link"));
}

static void trying_out_leaves_the_file_alone(void **state)
{
    (void)state;
    struct folder folder;
    struct err err;
    folder_make(&folder);
    const char *path = folder_file(&folder, "a");
    check_written(path, "old");
    assert_true(file_check(path, &err));
    check_content(path, "old");
    assert_false(file_check("/there/is/none", &err));
    check_says(&err, "cannot write /there/is/none");
    folder_remove(&folder, LIST("a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(an_empty_file_is_an_empty_string),
        cmocka_unit_test(reading_adds_to_what_is_there),
        cmocka_unit_test(a_file_may_be_as_large_as_the_limit),
        cmocka_unit_test(an_endless_file_is_too_large),
        cmocka_unit_test(a_missing_file_is_told),
        cmocka_unit_test(a_folder_cannot_be_read),
        cmocka_unit_test(a_forbidden_file_cannot_be_read),
        cmocka_unit_test(until_it_is_closed_the_old_content_stays),
        cmocka_unit_test(what_a_killed_run_left_does_no_harm),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(an_early_failure_is_told_at_the_end),
        cmocka_unit_test(a_device_is_written_straight),
        cmocka_unit_test(a_part_that_cannot_be_renamed_is_removed),
        cmocka_unit_test(a_missing_folder_is_told_when_opened),
        cmocka_unit_test(a_folder_cannot_be_written),
        cmocka_unit_test(what_a_link_stands_for_is_replaced),
        cmocka_unit_test(trying_out_leaves_the_file_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
