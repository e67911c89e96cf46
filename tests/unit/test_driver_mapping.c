/* Memory that programs map themselves. What CUDA answers to mistakes is in tests/programs/mapping.cu. */
#include "driver_check.h"
#include "exec/image.h"

#include <unistd.h>

enum { UNIT = 2 << 20 };

static void mappings_side_by_side_are_one_to_copies(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at, handles[2];
    char source[64], copy[64] = {0};
    start(&t);
    CHECK(mapping_reserve(t.driver, 2 * UNIT, 0, &at));
    for (int i = 0; i < 2; i++) {
        CHECK(mapping_physical_new(t.device, UNIT, i, &handles[i]));
        CHECK(mapping_add(t.driver, at + (uint64_t)i * UNIT, UNIT, handles[i]));
    }
    memset(source, 3, sizeof source);
    uint64_t edge = at + UNIT - 32;
    assert_int_equal(stream_copy_bytes(t.first, edge, address_of(source), 64, true), RESULT_INVALID_VALUE);
    CHECK(mapping_set_access(t.device, at, 2 * UNIT, MAPPING_READ_WRITE));
    CHECK(stream_copy_bytes(t.first, edge, address_of(source), 64, true));
    CHECK(stream_copy_bytes(t.first, address_of(copy), edge, 64, true));
    assert_memory_equal(source, copy, sizeof copy);
    stop(&t); /* ends what the program left */
}

static void a_device_sees_what_it_was_given(void **state)
{
    (void)state;
    struct under_test t;
    struct range range;
    uint64_t at, handle;
    start_with(&t, (struct driver_options){.settings = (const char *const[]){"system.gpus=2", NULL}});
    struct device *other = driver_device(t.driver, 1);
    CHECK(mapping_reserve(t.driver, UNIT, 0, &at));
    CHECK(mapping_physical_new(t.device, UNIT, false, &handle));
    CHECK(mapping_add(t.driver, at, UNIT, handle));
    assert_false(image_find(device_image(t.device), at, &range));
    CHECK(mapping_set_access(other, at, UNIT, MAPPING_READ));
    assert_false(image_find(device_image(t.device), at, &range));
    assert_true(image_find(device_image(other), at, &range));
    assert_true(range.read_only && range.bytes == UNIT);
    CHECK(mapping_set_access(other, at, UNIT, MAPPING_READ_WRITE));
    assert_true(image_find(device_image(other), at, &range));
    assert_false(range.read_only);
    CHECK(mapping_remove(t.driver, at, UNIT));
    assert_false(image_find(device_image(other), at, &range));
    stop(&t);
}

static void memory_reads_as_zero_when_it_is_made_again(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at, handle;
    start(&t);
    CHECK(mapping_reserve(t.driver, UNIT, 0, &at));
    for (int i = 0; i < 3; i++) {
        CHECK(mapping_physical_new(t.device, UNIT, false, &handle));
        CHECK(mapping_add(t.driver, at, UNIT, handle));
        assert_int_equal(*(char *)(uintptr_t)at, 0);
        *(char *)(uintptr_t)at = 1;
        CHECK(mapping_physical_release(t.driver, handle));
        assert_int_equal(mapping_physical_release(t.driver, handle), RESULT_INVALID_VALUE);
        CHECK(mapping_remove(t.driver, at, UNIT));
    }
    stop(&t);
}

static void a_file_descriptor_is_the_same_memory(void **state)
{
    (void)state;
    struct under_test t;
    struct mapping_physical_facts facts;
    uint64_t at, handle, imported;
    int file, strange[2];
    start(&t);
    CHECK(mapping_reserve(t.driver, 2 * UNIT, 0, &at));
    CHECK(mapping_physical_new(t.device, UNIT, true, &handle));
    CHECK(mapping_physical_export(t.driver, handle, &file));
    CHECK(mapping_add(t.driver, at, UNIT, handle));
    *(char *)(uintptr_t)at = 5;
    CHECK(mapping_remove(t.driver, at, UNIT));
    CHECK(mapping_physical_release(t.driver, handle));
    CHECK(mapping_physical_import(t.driver, file, &imported)); /* which nobody else has now */
    close(file);
    CHECK(mapping_physical_find(t.driver, imported, &facts));
    assert_true(facts.device == t.device && facts.bytes == UNIT);
    CHECK(mapping_add(t.driver, at + UNIT, UNIT, imported));
    assert_int_equal(*(char *)(uintptr_t)(at + UNIT), 5);
    assert_int_equal(pipe(strange), 0);
    assert_int_equal(mapping_physical_import(t.driver, strange[0], &imported), RESULT_INVALID_VALUE);
    close(strange[0]);
    close(strange[1]);
    stop(&t);
}

static void a_reset_frees_all(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at, handle, free_bytes, total;
    start(&t);
    CHECK(mapping_reserve(t.driver, UNIT, 0, &at));
    CHECK(mapping_physical_new(t.device, UNIT, false, &handle));
    CHECK(mapping_add(t.driver, at, UNIT, handle));
    CHECK(memory_info(t.device, &free_bytes, &total));
    assert_int_equal(total - free_bytes, UNIT);
    CHECK(device_reset(t.device));
    CHECK(memory_info(t.device, &free_bytes, &total));
    assert_int_equal(free_bytes, total);
    assert_int_equal(mapping_add(t.driver, at, UNIT, handle), RESULT_INVALID_VALUE);
    CHECK(mapping_unreserve(t.driver, at, UNIT));
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_side_by_side_are_one_to_copies),
        cmocka_unit_test(a_device_sees_what_it_was_given),
        cmocka_unit_test(memory_reads_as_zero_when_it_is_made_again),
        cmocka_unit_test(a_file_descriptor_is_the_same_memory),
        cmocka_unit_test(a_reset_frees_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
