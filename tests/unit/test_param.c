/* Every row of every group that a benchmark can be configured by keeps the promises that base/param.h makes
 * of rows. */
#include "check.h"
#include "base/config.h"
#include "base/mem.h"
#include "bench/bench.h"

static void for_each_group(void (*check)(const struct param_group *))
{
    for (size_t i = 0; benches[i]; i++) {
        const struct param_group **groups = bench_groups(benches[i]);
        for (size_t j = 0; groups[j]; j++)
            check(groups[j]);
        mem_free(groups);
    }
}

static void check_defaults(const struct param_group *group)
{
    struct err err;
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        if (!param_parse(row, row->fallback, NULL, &err))
            fail_msg("the default of %s.%s: %s", group->path, row->name, err.text);
    }
}

static void every_default_is_inside_its_range(void **state)
{
    (void)state;
    for_each_group(check_defaults);
}

static void check_help(const struct param_group *group)
{
    if (!group->help || !*group->help)
        fail_msg("[%s] has no help text", group->path);
    for (size_t i = 0; i < group->row_count; i++) {
        if (!group->rows[i].help || !*group->rows[i].help)
            fail_msg("%s.%s has no help text", group->path, group->rows[i].name);
    }
}

static void every_row_has_a_help_text(void **state)
{
    (void)state;
    for_each_group(check_help);
}

static void check_names(const struct param_group *group)
{
    for (size_t i = 0; i < group->row_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!strcmp(group->rows[i].name, group->rows[j].name))
                fail_msg("[%s] has two rows called %s", group->path, group->rows[i].name);
        }
    }
}

static void no_two_rows_of_a_group_share_a_name(void **state)
{
    (void)state;
    for_each_group(check_names);
}

static void no_two_groups_of_a_benchmark_share_a_section(void **state)
{
    (void)state;
    for (size_t b = 0; benches[b]; b++) {
        const struct param_group **groups = bench_groups(benches[b]);
        for (size_t i = 0; groups[i]; i++) {
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(groups[i]->path, groups[j]->path);
        }
        mem_free(groups);
    }
}

static void check_printed_default(const struct param_group *group)
{
    char *spec = mem_alloc(2, group->spec_bytes);
    for (size_t i = 0; i < group->row_count; i++) {
        const struct param_row *row = &group->rows[i];
        void *field = spec + row->offset, *again = spec + group->spec_bytes + row->offset;
        struct text printed = {0}, reprinted = {0};
        struct err err;
        assert_true(param_parse(row, row->fallback, field, &err));
        param_print(row, field, &printed);
        if (!param_parse(row, printed.at, again, &err))
            fail_msg("%s.%s prints its default as '%s': %s", group->path, row->name, printed.at, err.text);
        param_print(row, again, &reprinted);
        assert_string_equal(printed.at, reprinted.at);
        text_fini(&printed);
        text_fini(&reprinted);
    }
    mem_free(spec);
}

static void every_default_is_printed_so_that_it_reads_again(void **state)
{
    (void)state;
    for_each_group(check_printed_default);
}

static void every_benchmark_has_a_name_of_its_own_and_is_found_by_it(void **state)
{
    (void)state;
    for (size_t i = 0; benches[i]; i++)
        assert_ptr_equal(bench_find(benches[i]->name), benches[i]);
    assert_null(bench_find("no such benchmark"));
}

static void the_default_configuration_of_every_benchmark_reads_again(void **state)
{
    (void)state;
    for (size_t i = 0; benches[i]; i++) {
        const struct param_group **groups = bench_groups(benches[i]);
        struct config config, again;
        struct text first = {0}, second = {0};
        struct err err;
        config_init(&config, groups);
        config_init(&again, groups);
        config_dump(&config, &first);
        if (!config_read_text(&again, "dump", first.at, first.length, &err))
            fail_msg("%s: %s", benches[i]->name, err.text);
        config_dump(&again, &second);
        assert_string_equal(first.at, second.at);
        text_fini(&first);
        text_fini(&second);
        config_fini(&config);
        config_fini(&again);
        mem_free(groups);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_inside_its_range),
        cmocka_unit_test(every_row_has_a_help_text),
        cmocka_unit_test(no_two_rows_of_a_group_share_a_name),
        cmocka_unit_test(no_two_groups_of_a_benchmark_share_a_section),
        cmocka_unit_test(every_default_is_printed_so_that_it_reads_again),
        cmocka_unit_test(every_benchmark_has_a_name_of_its_own_and_is_found_by_it),
        cmocka_unit_test(the_default_configuration_of_every_benchmark_reads_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
