/* Archives: what is written is what is read, and what does not fit is noticed. */
#include "check.h"
#include "base/archive.h"
#include "base/mem.h"
#include "base/rng.h"

#include <unistd.h>

static const struct archive_kind kind = {.magic = "ARCHIVE", .name = "test file", .version = {3, 1}};
static const char file[] = "test_archive.bin";

struct thing {
    uint32_t number;
    uint64_t word;
    unsigned char data[1000];
    struct text text;
};

static void thing_archive(struct thing *thing, struct archive *archive)
{
    archive_expect(archive, sizeof *thing);
    ARCHIVE_VALUE(archive, thing->word);
    thing->number = (uint32_t)archive_number(archive, thing->number, 99);
    archive_sparse(archive, thing->data, sizeof thing->data);
    archive_text(archive, &thing->text);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rng rng;
        rng_init(&rng, seed, "archive");
        struct thing first = {.number = (uint32_t)seed % 100, .word = seed << 40}, second = {.number = 5};
        for (uint64_t i = 0; i < seed % 20; i++)
            first.data[rng_below(&rng, sizeof first.data)] = (unsigned char)(i + 1);
        if (seed == 7)
            memset(first.data, 1, sizeof first.data);
        memset(second.data, 3, sizeof second.data); /* is overwritten, zeroes included */
        text_add(&first.text, "%*s", (int)(seed % 3), "");
        text_add(&second.text, "old");
        struct archive out = archive_writer();
        thing_archive(&first, &out);
        struct archive in = archive_reader(out.text.at, out.text.length);
        thing_archive(&second, &in);
        assert_true(archive_at_end(&in));
        assert_int_equal(first.number, second.number);
        assert_int_equal(first.word, second.word);
        assert_memory_equal(first.data, second.data, sizeof first.data);
        assert_string_equal(first.text.at ? first.text.at : "", second.text.at);
        for (size_t length = 0; length < out.text.length; length++) { /* cut short at any place */
            struct archive cut = archive_reader(out.text.at, length);
            thing_archive(&second, &cut);
            assert_false(cut.good);
        }
        text_fini(&out.text);
        text_fini(&first.text);
        text_fini(&second.text);
    }
}

static void any_bytes_can_be_read(void **state)
{
    (void)state;
    struct thing thing = {0};
    struct rng rng;
    rng_init(&rng, 1, "bytes");
    for (int i = 0; i < 5000; i++) {
        unsigned char bytes[300];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = rng_below(&rng, 3) ? 0 : (unsigned char)rng_below(&rng, 256);
        uint64_t size = sizeof thing, number = 7;
        memcpy(bytes, &size, sizeof size);
        memcpy(bytes + 16, &number, sizeof number);
        struct archive archive = archive_reader(bytes, rng_below(&rng, sizeof bytes));
        thing_archive(&thing, &archive);
        assert_true(thing.number <= 99);
    }
    text_fini(&thing.text);
}

static void large_files_are_whole_or_refused(void **state)
{
    (void)state;
    enum { BYTES = 5 << 20 };
    struct archive archive;
    struct err err;
    struct text note = {0}, content = {0};
    unsigned char *data = mem_alloc(BYTES, 1), *again = mem_alloc(BYTES, 1);
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * i >> 7);
    assert_true(archive_create(&archive, file, &kind, "a note", &err));
    archive_bytes(&archive, data, BYTES);
    assert_true(archive_commit(&archive, &err));
    assert_true(archive_open(&archive, file, &kind, &note, &err));
    archive_bytes(&archive, again, BYTES);
    assert_true(archive_at_end(&archive));
    archive_close(&archive);
    assert_string_equal(note.at, "a note");
    assert_memory_equal(data, again, BYTES);
    struct archive_kind other = kind;
    other.version[1]++;
    assert_false(archive_open(&archive, file, &other, NULL, &err));
    assert_non_null(strstr(err.text, "another version"));
    other.magic[0]++;
    assert_false(archive_open(&archive, file, &other, NULL, &err));
    assert_non_null(strstr(err.text, "is no test file"));
    assert_false(truncate(file, BYTES / 2));
    assert_false(archive_open(&archive, file, &kind, NULL, &err));
    assert_non_null(strstr(err.text, "damaged or cut short"));
    text_fini(&note);
    text_fini(&content);
    mem_free(data);
    mem_free(again);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(any_bytes_can_be_read),
        cmocka_unit_test(large_files_are_whole_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
