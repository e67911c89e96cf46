/* Data beside memory: pages, and a bit for each byte (checks/shadow.h). */
#include "check.h"
#include "base/rng.h"
#include "checks/shadow.h"

static void pages_are_made_once(void **state)
{
    (void)state;
    struct shadow shadow;
    shadow_init(&shadow, sizeof(uint64_t));
    assert_null(shadow_find(&shadow, 5, false));
    for (uint64_t i = 0; i < 1000; i++)
        *(uint64_t *)shadow_find(&shadow, i * 7 * SHADOW_PAGE + i, true) = i + 1;
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(*(uint64_t *)shadow_find(&shadow, i * 7 * SHADOW_PAGE, false), i + 1);
    assert_null(shadow_find(&shadow, SHADOW_PAGE, false));
    assert_int_equal(shadow.count, 1000);
    shadow_fini(&shadow, NULL);
}

static void memory_that_nobody_named_is_written(void **state)
{
    (void)state;
    struct shadow bits;
    shadow_init(&bits, sizeof(struct shadow_bits));
    assert_true(shadow_is_set(&bits, 12345, 100000));
    shadow_clear(&bits, 10000, 10);
    assert_true(shadow_is_set(&bits, 9000, 1000));
    assert_false(shadow_is_set(&bits, 9000, 1001));
    assert_true(shadow_is_set(&bits, 10010, 10000));
    assert_int_equal(shadow_first_clear(&bits, 9990, 100), 10);
    assert_int_equal(shadow_first_clear(&bits, 10010, 100), 100);
    shadow_fini(&bits, NULL);
}

static void bits_are_as_an_array(void **state)
{
    (void)state;
    enum { BYTES = 3 * SHADOW_PAGE };
    static bool there[BYTES];
    struct shadow bits;
    struct rng rng;
    rng_init(&rng, 1, "shadow");
    shadow_init(&bits, sizeof(struct shadow_bits));
    shadow_clear(&bits, 0, BYTES);
    for (int round = 0; round < 2000; round++) {
        uint64_t at = rng_below(&rng, BYTES), bytes = rng_below(&rng, round % 5 ? 40 : BYTES - at), all = 1;
        bytes = bytes < BYTES - at ? bytes : BYTES - at;
        bool sets = rng_below(&rng, 2);
        for (uint64_t i = at; i < at + bytes; i++)
            all &= there[i];
        assert_int_equal(shadow_is_set(&bits, at, bytes), all);
        (sets ? shadow_set : shadow_clear)(&bits, at, bytes);
        for (uint64_t i = at; i < at + bytes; i++)
            there[i] = sets;
    }
    shadow_fini(&bits, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_made_once),
        cmocka_unit_test(memory_that_nobody_named_is_written),
        cmocka_unit_test(bits_are_as_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
