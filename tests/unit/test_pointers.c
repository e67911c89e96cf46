#include "check.h"
#include "base/pointers.h"

static void what_was_set_is_found(void **state)
{
    (void)state;
    static char keys[1000], values[1000];
    struct pointers map = {0};
    assert_null(pointers_get(&map, keys));
    for (size_t i = 0; i < 1000; i++)
        pointers_set(&map, &keys[i], &values[i]);
    assert_int_equal(map.count, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_ptr_equal(pointers_get(&map, &keys[i]), &values[i]);
    assert_null(pointers_get(&map, values));
    assert_null(pointers_get(&map, NULL));
    pointers_fini(&map);
}

static void a_key_has_one_value(void **state)
{
    (void)state;
    char key = 0, values[2];
    struct pointers map = {0};
    pointers_set(&map, &key, &values[0]);
    pointers_set(&map, &key, &values[1]);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(pointers_get(&map, &key), &values[1]);
    pointers_fini(&map);
}

static void what_is_removed_hides_no_other(void **state)
{
    (void)state;
    static char keys[500];
    struct pointers map = {0};
    for (size_t i = 0; i < 500; i++)
        pointers_set(&map, &keys[i], &keys[i]);
    for (size_t i = 0; i < 500; i += 3)
        pointers_remove(&map, &keys[i]);
    pointers_remove(&map, &keys[0]); /* a second time */
    for (size_t i = 0; i < 500; i++)
        assert_ptr_equal(pointers_get(&map, &keys[i]), i % 3 ? &keys[i] : NULL);
    pointers_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_set_is_found),
        cmocka_unit_test(a_key_has_one_value),
        cmocka_unit_test(what_is_removed_hides_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
