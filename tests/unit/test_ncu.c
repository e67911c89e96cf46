/* What ncu's CSV becomes: values in base units; its names of kernels beside ours. (Bad files:
 * tests/cli/report.sh.) */
#include "check.h"
#include "report/ncu/ncu.h"

static double value_of(const char *unit, const char *text)
{
    struct ncu_table table;
    struct text csv = {0};
    struct err err;
    double value = -1;
    text_add(
        &csv,
        "\"ID\",\"Kernel Name\",\"a__b.sum\",\"c__d.sum\"\n\"\",\"\",\"%s\",\"\"\n\"0\",\"k\",\"%s\",\"1\"\n",
        unit, text);
    assert_true(ncu_read_text(&table, "test.csv", csv.at, csv.length, &err));
    assert_int_equal(table.count, 1);
    ncu_find(&table, &table.launches[0], "a__b.sum", &value);
    ncu_fini(&table);
    text_fini(&csv);
    return value;
}

static void values_are_in_base_units(void **state)
{
    (void)state;
    assert_true(value_of("us", "1,234.5") == 1234500);
    assert_true(value_of("msecond", "2") == 2e6);
    assert_true(value_of("nsecond", "2") == 2);
    assert_true(value_of("Kbyte", "3") == 3000);
    assert_true(value_of("Gbyte/second", "3") == 3e9);
    assert_true(value_of("Gbyte/s", "3") == 3e9);
    assert_true(value_of("byte/block", "1,024") == 1024);
    assert_true(value_of("Kbyte/block", "1") == 1000);
    assert_true(value_of("cycle/nsecond", "1.98") == 1.98e9);
    assert_true(value_of("Mhz", "1,980") == 1.98e9);
    assert_true(value_of("inst", "12,345,678") == 12345678);
    assert_true(value_of("%", "45.5") == 45.5);
}

static void what_is_no_number_is_left_out(void **state)
{
    (void)state;
    assert_true(value_of("", "n/a") == -1);
    assert_true(value_of("", "CachePreferNone") == -1);
    assert_true(value_of("", "") == -1);
    assert_true(value_of("", "1e999") == -1);
}

static void kernels_are_found_by_their_names(void **state)
{
    (void)state;
    assert_true(ncu_same_kernel("saxpy(int, float, float *, const float *)", "saxpy", "_Z5saxpyifPKfPf"));
    assert_true(ncu_same_kernel("_Z5saxpyifPKfPf", "saxpy", "_Z5saxpyifPKfPf"));
    assert_true(ncu_same_kernel("void kernel<(int)48>(float *, const float *, int)", "kernel<48>", "x"));
    assert_true(ncu_same_kernel("void ns::kernel<8, float>(T1 *)", "ns::kernel<8, float>", "x"));
    assert_true(ncu_same_kernel("kernel", "ns::kernel<8, float>", "x")); /* --kernel-name-base function */
    assert_false(ncu_same_kernel("void kernel<(int)47>(float *)", "kernel<48>", "x"));
    assert_false(ncu_same_kernel("kernels(int)", "kernel", "x"));
    assert_false(ncu_same_kernel("", "kernel", "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_in_base_units),
        cmocka_unit_test(what_is_no_number_is_left_out),
        cmocka_unit_test(kernels_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
