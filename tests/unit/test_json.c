#include "check.h"
#include "base/json.h"

#include <math.h>

/* A JSON writer into memory; check_wrote ends it. */
struct memory {
    struct json json;
    char *bytes;
    size_t length;
};

static void memory_init(struct memory *memory)
{
    FILE *stream = open_memstream(&memory->bytes, &memory->length);
    assert_non_null(stream);
    json_init(&memory->json, stream);
}

static void check_wrote(struct memory *memory, const char *expected)
{
    fclose(memory->json.stream);
    assert_string_equal(memory->bytes, expected);
    free(memory->bytes);
}

static void an_empty_object_is_one_line(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_object(&memory.json, NULL);
    json_end(&memory.json);
    check_wrote(&memory, "{}\n");
}

static void members_come_in_the_order_of_the_calls(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_object(&memory.json, NULL);
    json_u64(&memory.json, "z", 1);
    json_bool(&memory.json, "a", true);
    json_bool(&memory.json, "b", false);
    json_end(&memory.json);
    check_wrote(&memory, "{\n  \"z\": 1,\n  \"a\": true,\n  \"b\": false\n}\n");
}

static void objects_and_arrays_nest(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_object(&memory.json, NULL);
    json_array(&memory.json, "list");
    json_u64(&memory.json, NULL, 1);
    json_object(&memory.json, NULL);
    json_end(&memory.json);
    json_end(&memory.json);
    json_u64(&memory.json, "after", 2);
    json_end(&memory.json);
    check_wrote(&memory, "{\n  \"list\": [\n    1,\n    {}\n  ],\n  \"after\": 2\n}\n");
}

static void a_second_list_starts_empty_again(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_array(&memory.json, NULL);
    for (int i = 0; i < 2; i++) {
        json_array(&memory.json, NULL);
        json_end(&memory.json);
    }
    json_end(&memory.json);
    check_wrote(&memory, "[\n  [],\n  []\n]\n");
}

static void counters_keep_all_64_bits(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_u64(&memory.json, NULL, UINT64_MAX);
    check_wrote(&memory, "18446744073709551615");
}

static void text_is_escaped(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_text(&memory.json, NULL, "a\"b\\c\nd\x01");
    check_wrote(&memory, "\"a\\\"b\\\\c\\u000ad\\u0001\"");
}

static void names_are_escaped_too(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_object(&memory.json, NULL);
    json_u64(&memory.json, "a\"b", 1);
    json_end(&memory.json);
    check_wrote(&memory, "{\n  \"a\\\"b\": 1\n}\n");
}

static void letters_beyond_ascii_stay_as_they_are(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_text(&memory.json, NULL, "\xc3\xa4");
    check_wrote(&memory, "\"\xc3\xa4\"");
}

static void a_real_reads_back_as_the_same(void **state)
{
    (void)state;
    static const double values[] = {0.1, 1.0 / 3, 1e300, 5e-324, -2.5};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct memory memory;
        memory_init(&memory);
        json_real(&memory.json, NULL, values[i]);
        fclose(memory.json.stream);
        assert_true(strtod(memory.bytes, NULL) == values[i]);
        free(memory.bytes);
    }
}

static void what_is_no_number_is_null(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_array(&memory.json, NULL);
    json_real(&memory.json, NULL, NAN);
    json_real(&memory.json, NULL, -INFINITY);
    json_end(&memory.json);
    check_wrote(&memory, "[\n  null,\n  null\n]\n");
}

static void lists_may_be_63_deep(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    for (int i = 0; i < 63; i++)
        json_array(&memory.json, NULL);
    for (int i = 0; i < 63; i++)
        json_end(&memory.json);
    fclose(memory.json.stream);
    size_t opened = 0, closed = 0;
    for (const char *at = memory.bytes; *at; at++) {
        opened += *at == '[';
        closed += *at == ']';
    }
    assert_int_equal(opened, 63);
    assert_int_equal(closed, 63);
    free(memory.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_object_is_one_line),
        cmocka_unit_test(members_come_in_the_order_of_the_calls),
        cmocka_unit_test(objects_and_arrays_nest),
        cmocka_unit_test(a_second_list_starts_empty_again),
        cmocka_unit_test(counters_keep_all_64_bits),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(names_are_escaped_too),
        cmocka_unit_test(letters_beyond_ascii_stay_as_they_are),
        cmocka_unit_test(a_real_reads_back_as_the_same),
        cmocka_unit_test(what_is_no_number_is_null),
        cmocka_unit_test(lists_may_be_63_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
