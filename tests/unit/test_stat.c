#include "check.h"
#include "report/json.h"
#include "base/stat.h"

#define LOOM_STATS(X, S)                                                                                     \
    X(S, threads, "threads", "threads woven")                                                                \
    X(S, breaks, "events", "threads that broke")

struct loom {
    uint64_t before; /* counters need not come first */
    LOOM_STATS(STAT_FIELD, loom)
    uint64_t after;
};

STAT_TABLE(loom_stats, loom, LOOM_STATS);

static const struct loom loom = {.before = 1, .threads = INT64_MAX, .breaks = 3, .after = 4};

static void a_row_makes_name_unit_and_help(void **state)
{
    (void)state;
    assert_int_equal(loom_stats.count, 2);
    assert_string_equal(loom_stats.rows[1].name, "breaks");
    assert_string_equal(loom_stats.rows[1].unit, "events");
    assert_string_equal(loom_stats.rows[1].help, "threads that broke");
}

static void counters_are_written_as_members(void **state)
{
    (void)state;
    char *bytes;
    size_t length;
    struct json_writer json;
    json_begin(&json, open_memstream(&bytes, &length));
    json_open_object(&json, NULL);
    json_put_stats(&json, &loom_stats, &loom);
    json_close(&json);
    fclose(json.stream);
    assert_string_equal(bytes, "{\n  \"threads\": 9223372036854775807,\n  \"breaks\": 3\n}\n");
    free(bytes);
}

static void counters_add_up(void **state)
{
    (void)state;
    struct loom other = {.threads = 5, .breaks = 7};
    uint64_t sums[2] = {10, 100};
    stat_add(&loom_stats, &other, sums);
    stat_add(&loom_stats, &other, sums);
    assert_int_equal(sums[0], 20);
    assert_int_equal(sums[1], 114);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_makes_name_unit_and_help),
        cmocka_unit_test(counters_are_written_as_members),
        cmocka_unit_test(counters_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
