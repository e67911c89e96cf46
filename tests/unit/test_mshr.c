#include "check.h"
#include "base/rng.h"
#include "cache/mshr.h"

static void waiters_come_in_order(void **state)
{
    (void)state;
    struct mshr *file = mshr_new(&(struct mshr_spec){.entries = 2, .waiters = 4});
    uint32_t a = mshr_add(file, 10), b = mshr_add(file, 20);
    assert_int_equal(mshr_add(file, 30), MSHR_NONE);
    assert_int_equal(mshr_find(file, 10), a);
    assert_int_equal(mshr_find(file, 20), b);
    assert_int_equal(mshr_find(file, 30), MSHR_NONE);
    assert_true(mshr_wait(file, a, 1) && mshr_wait(file, b, 2) && mshr_wait(file, a, 3) &&
                mshr_wait(file, a, 4));
    assert_false(mshr_wait(file, b, 5));
    uint32_t w = mshr_at(file, a)->first;
    for (const uint32_t *who = (const uint32_t[]){1, 3, 4, 0}; *who; who++, w = mshr_waiter(file, w)->next)
        assert_int_equal(mshr_waiter(file, w)->who, *who);
    assert_int_equal(w, MSHR_NONE);
    assert_int_equal(mshr_next(file, a), 1);
    assert_int_equal(mshr_next(file, a), 3);
    mshr_remove(file, a);
    assert_int_equal(mshr_find(file, 10), MSHR_NONE);
    assert_int_equal(file->waiting, 1);
    assert_true(mshr_wait(file, b, 5));
    assert_int_not_equal(mshr_add(file, 30), MSHR_NONE);
    mshr_free(file);
}

/* Added and removed at random, against an array of flags. */
static void many_come_and_go(void **state)
{
    (void)state;
    struct mshr *file = mshr_new(&(struct mshr_spec){.entries = 37, .waiters = 0});
    bool there[100] = {false};
    struct rng rng;
    rng_init(&rng, 1, "mshr");
    for (unsigned i = 0; i < 50000; i++) {
        uint64_t n = rng_below(&rng, 100);
        uint32_t entry = mshr_find(file, n << 32);
        assert_true((entry != MSHR_NONE) == there[n]);
        if (there[n])
            mshr_remove(file, entry);
        else if (file->used < 37)
            assert_int_not_equal(mshr_add(file, n << 32), MSHR_NONE);
        else
            continue;
        there[n] = !there[n];
    }
    mshr_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiters_come_in_order),
        cmocka_unit_test(many_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
