/* The queue gives events in the order of (time, order), however wide its slots are. */
#include "check.h"
#include "base/rng.h"
#include "engine/queue.h"

struct reference {
    struct event events[4096];
    size_t count;
};

static size_t first_of(const struct reference *reference)
{
    size_t first = 0;
    for (size_t i = 1; i < reference->count; i++) {
        if (queue_before(&reference->events[i], &reference->events[first]))
            first = i;
    }
    return first;
}

/* Puts in and takes out at random, beside a plain array; times go up to `reach` ahead, rounded so that ties
 * are common. */
static void behaves_like_an_array(uint64_t window_ps, uint64_t reach, uint64_t grain, uint64_t seed)
{
    struct queue queue;
    struct pool pool;
    struct rng rng;
    static struct reference reference;
    uint64_t now = 0, order = 0;
    char name[80];
    snprintf(name, sizeof name, "%llu %llu", (unsigned long long)window_ps, (unsigned long long)reach);
    queue_init(&queue, window_ps);
    pool_init(&pool, 0);
    rng_init(&rng, seed, name);
    reference.count = 0;
    for (int step = 0; step < 20000; step++) {
        if (reference.count < 1000 && rng_below(&rng, 100) < 52) {
            uint64_t ahead =
                rng_below(&rng, 8) ? rng_below(&rng, reach + 1) : rng_below(&rng, 200 * reach + 1);
            struct event event = {.time = now + ahead / grain * grain, .order = order++ * 7919 % 5003};
            struct pooled *pooled = pool_take(&pool);
            pooled->event = event;
            queue_push(&queue, pooled);
            reference.events[reference.count++] = event;
        } else if (reference.count) {
            size_t first = first_of(&reference);
            uint64_t time = reference.events[first].time, wanted = reference.events[first].order;
            assert_int_equal(queue_next_time(&queue), time);
            assert_true(queue_quiet_until(&queue) <= time);
            assert_null(queue_pop(&queue, time)); /* the limit itself is not reached */
            struct pooled *pooled = queue_pop(&queue, time + 1 + rng_below(&rng, reach + 1));
            assert_non_null(pooled);
            assert_int_equal(pooled->event.time, time);
            assert_int_equal(pooled->event.order, wanted);
            now = time;
            reference.events[first] = reference.events[--reference.count];
            pool_give(&pool, pooled);
        }
        if (step % 1000 == 0)
            assert_int_equal(queue_count(&queue), reference.count);
    }
    queue_fini(&queue);
    pool_fini(&pool);
}

static void order_does_not_depend_on_slots(void **state)
{
    (void)state;
    const uint64_t windows[] = {1, 2, 7, 100, 1000, 50505, 1000000, TIME_NEVER};
    const uint64_t reaches[] = {0, 3, 100, 60000, 3000000};
    for (size_t i = 0; i < COUNT_OF(windows); i++) {
        for (size_t k = 0; k < COUNT_OF(reaches); k++) {
            behaves_like_an_array(windows[i], reaches[k], 1, 1);
            behaves_like_an_array(windows[i], reaches[k], 505, 2);
        }
    }
}

static void an_empty_queue_has_nothing(void **state)
{
    (void)state;
    struct queue queue;
    queue_init(&queue, 1000);
    assert_null(queue_pop(&queue, TIME_NEVER));
    assert_int_equal(queue_next_time(&queue), TIME_NEVER);
    assert_int_equal(queue_count(&queue), 0);
    queue_fini(&queue);
}

static void the_list_is_in_order(void **state)
{
    (void)state;
    struct queue queue;
    struct pool pool;
    queue_init(&queue, 1000);
    pool_init(&pool, 0);
    const uint64_t times[] = {5, 900, 5, 100000000, 64000, 0};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct pooled *pooled = pool_take(&pool);
        pooled->event = (struct event){.time = times[i], .order = 10 - i};
        queue_push(&queue, pooled);
    }
    const struct pooled *list[COUNT_OF(times)];
    queue_list(&queue, list);
    const uint64_t sorted[] = {0, 5, 5, 900, 64000, 100000000};
    for (size_t i = 0; i < COUNT_OF(times); i++)
        assert_int_equal(list[i]->event.time, sorted[i]);
    assert_true(list[1]->event.order < list[2]->event.order);
    queue_fini(&queue);
    pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_does_not_depend_on_slots),
        cmocka_unit_test(an_empty_queue_has_nothing),
        cmocka_unit_test(the_list_is_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
