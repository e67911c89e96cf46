/* Which thread goes on: by simulated time alone. */
#include "check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cpu/runs/sched.h"

enum { SLICE = 1000, WAKE = 50 };

static struct sched *started(uint32_t cores, uint32_t count)
{
    struct sched *threads = mem_alloc(1, sizeof *threads);
    sched_start(threads, cores, SLICE, WAKE);
    for (uint32_t i = 0; i < count; i++)
        sched_add(threads, i, 0);
    return threads;
}

/* The thread that goes on runs for so long. */
static uint32_t runs(struct sched *threads, uint64_t ps)
{
    uint32_t next = sched_next(threads);
    assert_int_not_equal(next, SCHED_NONE);
    threads->core_ps[threads->at[next].core] += ps;
    return next;
}

static void least_time_goes_first(void **state)
{
    struct sched *threads = started(2, 2);
    (void)state;
    assert_int_equal(runs(threads, 100), 0);
    assert_int_equal(runs(threads, 30), 1);
    assert_int_equal(runs(threads, 30), 1);
    assert_int_equal(runs(threads, 60), 1);
    assert_int_equal(runs(threads, 10), 0);
    mem_free(threads);
}

static void more_threads_than_cores_take_turns(void **state)
{
    struct sched *threads = started(1, 2);
    (void)state;
    assert_int_equal(runs(threads, SLICE - 1), 0);
    assert_int_equal(runs(threads, 1), 0);
    assert_int_equal(runs(threads, SLICE), 1);
    assert_int_equal(runs(threads, 1), 0);
    mem_free(threads);
}

static void sleepers_wake_in_the_order_they_came(void **state)
{
    struct sched *threads = started(3, 3);
    (void)state;
    runs(threads, 100);
    runs(threads, 200);
    runs(threads, 300);
    sched_sleep(threads, 2, 0x1000, 300, TIME_NEVER);
    sched_sleep(threads, 1, 0x1000, 200, TIME_NEVER);
    sched_wake(threads, 0x2000, 1, 100); /* another futex */
    assert_int_equal(threads->at[2].state, SCHED_ASLEEP);
    sched_wake(threads, 0x1000, 1, 400);
    assert_int_equal(threads->at[2].state, SCHED_READY);
    assert_int_equal(threads->at[2].ready_ps, 400 + WAKE);
    assert_int_equal(threads->at[1].state, SCHED_ASLEEP);
    mem_free(threads);
}

static void deadlines_pass(void **state)
{
    struct sched *threads = started(2, 2);
    (void)state;
    assert_int_equal(sched_next(threads), 0);
    sched_sleep(threads, 0, 0x1000, 0, 500);
    assert_int_equal(runs(threads, 499), 1);
    assert_int_equal(runs(threads, 2), 1);
    assert_int_equal(sched_next(threads), 0);
    assert_true(threads->at[0].timed_out);
    assert_int_equal(threads->core_ps[threads->at[0].core], 500);
    mem_free(threads);
}

static void nobody_can_run(void **state)
{
    struct sched *threads = started(1, 1);
    (void)state;
    assert_int_equal(sched_next(threads), 0);
    sched_go_away(threads, 0);
    assert_int_equal(sched_next(threads), SCHED_NONE);
    sched_come_back(threads, 0);
    assert_int_equal(sched_next(threads), 0);
    mem_free(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_time_goes_first),
        cmocka_unit_test(more_threads_than_cores_take_turns),
        cmocka_unit_test(sleepers_wake_in_the_order_they_came),
        cmocka_unit_test(deadlines_pass),
        cmocka_unit_test(nobody_can_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
