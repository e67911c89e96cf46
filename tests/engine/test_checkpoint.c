/* Checkpoints: damaged ones and those of another model are refused; a whole one is the same whoever wrote it.
 */
#include "random_system.h"
#include "base/file.h"

#include <unistd.h>

static const char file[] = "test_checkpoint.hcp", damaged[] = "test_checkpoint_damaged.hcp";

static void save_in_the_middle(uint64_t seed, unsigned threads, struct text *content)
{
    struct text text = {0};
    struct system system;
    struct err why;
    describe_random_system(&text, seed);
    system_init(&system, &text);
    run_to(system.model.engine, 200000, threads, &why);
    must(engine_save(system.model.engine, file, "a note", err));
    system_fini(&system);
    text_fini(&text);
    must(file_read(file, 1 << 24, content, err));
}

static void write_bytes(const char *bytes, size_t count)
{
    FILE *stream = fopen(damaged, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

/* The error of loading the damaged file into a model of this seed. */
static void refusal(uint64_t seed, struct err *why)
{
    struct text text = {0};
    struct system system;
    describe_random_system(&text, seed);
    system_init(&system, &text);
    assert_false(engine_load(system.model.engine, damaged, why));
    system_fini(&system);
    text_fini(&text);
}

static void the_file_does_not_depend_on_threads(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct text one = {0}, five = {0};
        save_in_the_middle(seed, 1, &one);
        save_in_the_middle(seed, 5, &five);
        assert_int_equal(one.length, five.length);
        assert_memory_equal(one.at, five.at, one.length);
        text_fini(&one);
        text_fini(&five);
    }
}

static void the_note_comes_back(void **state)
{
    (void)state;
    struct text content = {0}, note = {0};
    save_in_the_middle(1, 1, &content);
    must(engine_read_note(file, &note, err));
    assert_string_equal(note.at, "a note");
    text_fini(&content);
    text_fini(&note);
}

static void files_cut_short_are_refused(void **state)
{
    (void)state;
    struct text content = {0};
    struct err why;
    save_in_the_middle(3, 1, &content);
    for (size_t length = 0; length < content.length; length += length < 200 ? 1 : 97) {
        write_bytes(content.at, length);
        refusal(3, &why);
        assert_says(why, damaged);
    }
    text_fini(&content);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    struct text content = {0};
    struct err why;
    save_in_the_middle(3, 1, &content);
    for (size_t i = 0; i < content.length; i += i < 200 ? 1 : 61) {
        content.at[i] ^= 16;
        write_bytes(content.at, content.length);
        content.at[i] ^= 16;
        refusal(3, &why);
        assert_says(why, damaged);
    }
    text_fini(&content);
}

static void another_model_is_refused(void **state)
{
    (void)state;
    struct text content = {0};
    struct err why;
    save_in_the_middle(3, 1, &content);
    write_bytes(content.at, content.length);
    refusal(4, &why);
    assert_says(why, "was saved from another model");
    text_fini(&content);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct text text = {0};
    struct system system;
    struct err why;
    describe_random_system(&text, 1);
    system_init(&system, &text);
    assert_false(engine_save(system.model.engine, "/dev/full", "", &why));
    assert_says(why, "cannot write /dev/full: No space left on device");
    system_fini(&system);
    text_fini(&text);
}

static int remove_files(void **state)
{
    (void)state;
    unlink(file);
    unlink(damaged);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_does_not_depend_on_threads),
        cmocka_unit_test(the_note_comes_back),
        cmocka_unit_test(files_cut_short_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
