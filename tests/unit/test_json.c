#include "check.h"
#include "report/json.h"

#include <math.h>
#include <string.h>

/* A JSON writer into memory; check_wrote ends it. */
struct memory {
    struct json_writer json;
    char *bytes;
    size_t length;
};

static void memory_init(struct memory *memory)
{
    FILE *stream = open_memstream(&memory->bytes, &memory->length);
    assert_non_null(stream);
    json_begin(&memory->json, stream);
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
    json_open_object(&memory.json, NULL);
    json_close(&memory.json);
    check_wrote(&memory, "{}\n");
}

static void members_come_in_the_order_of_the_calls(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_object(&memory.json, NULL);
    json_put_count(&memory.json, "z", 1);
    json_put_bool(&memory.json, "a", true);
    json_put_bool(&memory.json, "b", false);
    json_close(&memory.json);
    check_wrote(&memory, "{\n  \"z\": 1,\n  \"a\": true,\n  \"b\": false\n}\n");
}

static void objects_and_arrays_nest(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_object(&memory.json, NULL);
    json_open_list(&memory.json, "list");
    json_put_count(&memory.json, NULL, 1);
    json_open_object(&memory.json, NULL);
    json_close(&memory.json);
    json_close(&memory.json);
    json_put_count(&memory.json, "after", 2);
    json_close(&memory.json);
    check_wrote(&memory, "{\n  \"list\": [\n    1,\n    {}\n  ],\n  \"after\": 2\n}\n");
}

static void a_second_list_starts_empty_again(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_list(&memory.json, NULL);
    for (int i = 0; i < 2; i++) {
        json_open_list(&memory.json, NULL);
        json_close(&memory.json);
    }
    json_close(&memory.json);
    check_wrote(&memory, "[\n  [],\n  []\n]\n");
}

static void counters_keep_63_bits_and_are_decimal_numbers_beyond(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_list(&memory.json, NULL);
    json_put_count(&memory.json, NULL, INT64_MAX);
    json_put_count(&memory.json, NULL, UINT64_C(1) << 63);
    json_close(&memory.json);
    check_wrote(&memory, "[\n  9223372036854775807,\n  9.2233720368547758e18\n]\n");
}

static void text_is_escaped(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_put_text(&memory.json, NULL, "a\"b\\c\nd\x01");
    check_wrote(&memory, "\"a\\\"b\\\\c\\nd\\u0001\"");
}

static void names_are_escaped_too(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_object(&memory.json, NULL);
    json_put_count(&memory.json, "a\"b", 1);
    json_close(&memory.json);
    check_wrote(&memory, "{\n  \"a\\\"b\": 1\n}\n");
}

static void letters_beyond_ascii_stay_as_they_are(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_put_text(&memory.json, NULL, "\xc3\xa4");
    check_wrote(&memory, "\"\xc3\xa4\"");
}

static void bytes_that_are_no_letters_are_replaced(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_object(&memory.json, NULL);
    json_open_object(&memory.json, "inner");
    json_put_text(&memory.json, "a\xff",
                  "\xe4x\xc3\xa4\xed\xa0\x80\xc3"); /* Latin, UTF-8, a lone surrogate, a cut one */
    json_close(&memory.json);
    json_close(&memory.json);
    check_wrote(&memory,
                "{\n  \"inner\": {\n    \"a\xef\xbf\xbd\": \"\xef\xbf\xbdx\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd"
                "\xef\xbf\xbd\xef\xbf\xbd\"\n  }\n}\n");
}

/* Elements of a list in the outermost object, one by one: what came before the one that is open is written.
 */
static void lists_are_written_while_they_grow(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_object(&memory.json, NULL);
    json_open_list(&memory.json, "launches");
    for (int i = 0; i < 2; i++) {
        json_open_object(&memory.json, NULL);
        json_put_count(&memory.json, "launch", (uint64_t)i);
        json_close(&memory.json);
        fflush(memory.json.stream);
        assert_non_null(strstr(memory.bytes, i ? "\"launch\": 1" : "\"launch\": 0"));
    }
    json_close(&memory.json);
    json_open_list(&memory.json, "none");
    json_close(&memory.json);
    json_close(&memory.json);
    check_wrote(&memory,
                "{\n  \"launches\": [\n    {\n      \"launch\": 0\n    },\n    {\n      \"launch\": 1\n"
                "    }\n  ],\n  \"none\": []\n}\n");
}

static void a_real_reads_back_as_the_same(void **state)
{
    (void)state;
    static const double values[] = {0.1, 1.0 / 3, 1e300, 5e-324, -2.5};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct memory memory;
        memory_init(&memory);
        json_put_real(&memory.json, NULL, values[i]);
        fclose(memory.json.stream);
        assert_true(strtod(memory.bytes, NULL) == values[i]);
        free(memory.bytes);
    }
}

static void whole_values_have_no_point(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_list(&memory.json, NULL);
    json_put_real(&memory.json, NULL, 2097152);
    json_put_real(&memory.json, NULL, -3);
    json_put_real(&memory.json, NULL, 0.5);
    json_put_real(&memory.json, NULL, 0x1p60);
    json_close(&memory.json);
    check_wrote(&memory, "[\n  2097152,\n  -3,\n  0.5,\n  1.152921504606847e18\n]\n");
}

static void what_is_no_number_is_null(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    json_open_list(&memory.json, NULL);
    json_put_real(&memory.json, NULL, NAN);
    json_put_real(&memory.json, NULL, -INFINITY);
    json_close(&memory.json);
    check_wrote(&memory, "[\n  null,\n  null\n]\n");
}

static void lists_may_be_63_deep(void **state)
{
    (void)state;
    struct memory memory;
    memory_init(&memory);
    for (int i = 0; i < 63; i++)
        json_open_list(&memory.json, NULL);
    for (int i = 0; i < 63; i++)
        json_close(&memory.json);
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
        cmocka_unit_test(counters_keep_63_bits_and_are_decimal_numbers_beyond),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(names_are_escaped_too),
        cmocka_unit_test(letters_beyond_ascii_stay_as_they_are),
        cmocka_unit_test(bytes_that_are_no_letters_are_replaced),
        cmocka_unit_test(lists_are_written_while_they_grow),
        cmocka_unit_test(a_real_reads_back_as_the_same),
        cmocka_unit_test(whole_values_have_no_point),
        cmocka_unit_test(what_is_no_number_is_null),
        cmocka_unit_test(lists_may_be_63_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
