/* What happened before what (checks/past.h). */
#include "check.h"
#include "checks/past.h"

/* Lanes 0 to 3 of warp 1 of a block, up to a stamp. */
static struct past *node(struct past_pool *pool, uint64_t block, uint32_t stamp, struct past *first)
{
    return past_add(pool,
                    &(struct past){.block = block, .lanes = 15, .warp = 1, .stamp = stamp, .first = first});
}

static void nobody_knows_nothing(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    assert_false(past_has(pool, NULL, 0, 0, 0, 0, 0));
    past_pool_free(pool);
}

static void a_node_knows_its_lanes_up_to_its_stamp(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    struct past *past = node(pool, 7, 10, NULL);
    assert_true(past_has(pool, past, 0, 7, 1, 3, 9));
    assert_false(past_has(pool, past, 0, 7, 1, 3, 10)); /* too late */
    assert_false(past_has(pool, past, 0, 7, 1, 4, 9));  /* another lane, */
    assert_false(past_has(pool, past, 0, 7, 2, 3, 9));  /* warp, */
    assert_false(past_has(pool, past, 0, 8, 1, 3, 9));  /* block */
    past_pool_free(pool);
}

static void barriers_cover_a_warp_or_a_block(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    struct past *past = past_add(
        pool, &(struct past){.block = 7, .lanes = 1, .warp = 1, .stamp = 10, .warp_base = 8, .base = 5});
    assert_true(past_has(pool, past, 0, 7, 1, 31, 7));
    assert_false(past_has(pool, past, 0, 7, 1, 31, 8));
    assert_true(past_has(pool, past, 0, 7, 30, 31, 4));
    assert_false(past_has(pool, past, 0, 7, 30, 31, 5));
    past_pool_free(pool);
}

static void knowledge_is_passed_on(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    struct past *oldest = node(pool, 1, 10, NULL), *middle = node(pool, 2, 10, oldest);
    struct past *both = past_join(pool, node(pool, 3, 10, middle), node(pool, 4, 10, NULL));
    for (uint64_t block = 1; block <= 4; block++)
        assert_true(past_has(pool, both, 0, block, 1, 0, 9));
    assert_false(past_has(pool, both, 0, 5, 1, 0, 9));
    assert_true(oldest->is_shared && middle->is_shared && !both->is_shared);
    past_pool_free(pool);
}

static void a_join_of_the_same_is_that(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    struct past *a = node(pool, 1, 10, NULL), *b = node(pool, 2, 10, a);
    assert_ptr_equal(past_join(pool, a, NULL), a);
    assert_ptr_equal(past_join(pool, NULL, a), a);
    assert_ptr_equal(past_join(pool, a, a), a);
    assert_ptr_equal(past_join(pool, b, a), b); /* it leads there already */
    assert_ptr_equal(past_join(pool, a, b), b);
    past_pool_free(pool);
}

static void a_narrow_node_is_for_its_block(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    struct past *past = past_add(pool, &(struct past){.block = 7, .lanes = 1, .stamp = 10, .narrow = true});
    assert_true(past_has(pool, past, 7, 7, 0, 0, 9));
    assert_false(past_has(pool, past, 8, 7, 0, 0, 9));
    past_pool_free(pool);
}

static void a_search_that_takes_too_long_gives_no_alarm(void **state)
{
    (void)state;
    struct past_pool *pool = past_pool_new();
    struct past *past = NULL;
    for (uint64_t i = 0; i < 4000; i++)
        past = node(pool, i, 10, past);
    assert_false(past_has(pool, past, 0, 9999, 1, 0, 9));
    for (uint64_t i = 0; i < 4000; i++)
        past = node(pool, i, 10, past);
    assert_true(past_has(pool, past, 0, 9999, 1, 0, 9));
    past_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_knows_nothing),
        cmocka_unit_test(a_node_knows_its_lanes_up_to_its_stamp),
        cmocka_unit_test(barriers_cover_a_warp_or_a_block),
        cmocka_unit_test(knowledge_is_passed_on),
        cmocka_unit_test(a_join_of_the_same_is_that),
        cmocka_unit_test(a_narrow_node_is_for_its_block),
        cmocka_unit_test(a_search_that_takes_too_long_gives_no_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
