/* Phasers: no thread is more than an epoch ahead of the slowest; as barriers, none is. And the turn of an
 * epoch is called once, in order, before a thread needs it. */
#include "check.h"
#include "base/rng.h"
#include "relaxed/phaser.h"

#include <pthread.h>

enum { SPINS = 2000, THREADS_MOST = 6, EPOCHS = 400, FIRST = 7 };

static struct relaxed_phaser phaser;
static struct {
    _Alignas(CACHE_LINE) _Atomic uint64_t ended;
} clocks[THREADS_MOST];
static _Atomic uint64_t turned;
static unsigned threads;
static _Atomic uint32_t too_far, not_turned, bad_turns;

static void turn(void *user, uint64_t epochs_over)
{
    (void)user;
    bad_turns += epochs_over != turned + 1;
    turned = epochs_over;
    for (unsigned i = 0; i < threads; i++)
        bad_turns += clocks[i].ended < epochs_over;
}

/* Epochs that the thread has to do differ: some leave early. */
static void *walk(void *user)
{
    unsigned self = (unsigned)(uintptr_t)user;
    uint64_t last = FIRST + EPOCHS - self * 20;
    struct rng rng;
    rng_init(&rng, self, "phaser");
    for (uint64_t epoch = FIRST; epoch < last; epoch++) {
        relaxed_phaser_wait(&phaser, epoch);
        for (unsigned i = 0; i < threads; i++) /* others have ended so many at least */
            too_far += clocks[i].ended + phaser.ahead < epoch;
        not_turned += turned + phaser.ahead < epoch;
        for (uint64_t spin = rng_below(&rng, 200); spin; spin--)
            atomic_signal_fence(memory_order_seq_cst);
        clocks[self].ended = epoch + 1;
        relaxed_phaser_signal(&phaser, self, epoch);
    }
    clocks[self].ended = UINT64_MAX / 2; /* it is far ahead of all */
    relaxed_phaser_leave(&phaser, self);
    return NULL;
}

static void walk_together(unsigned count, unsigned ahead)
{
    pthread_t handles[THREADS_MOST];
    threads = count;
    too_far = not_turned = bad_turns = 0;
    turned = FIRST;
    relaxed_phaser_init(&phaser, count, ahead, SPINS, turn, NULL);
    relaxed_phaser_start(&phaser, FIRST);
    for (unsigned i = 0; i < count; i++)
        clocks[i].ended = FIRST;
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&handles[i], NULL, walk, (void *)(uintptr_t)i), 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(handles[i], NULL);
    assert_int_equal(too_far, 0);
    assert_int_equal(not_turned, 0);
    assert_int_equal(bad_turns, 0);
    assert_true(turned + 1 >= FIRST + EPOCHS); /* of the one that walked longest, all but the last */
    relaxed_phaser_fini(&phaser);
}

static void no_thread_is_more_than_an_epoch_ahead(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= THREADS_MOST; count++)
        walk_together(count, 1);
}

static void no_thread_is_more_than_some_steps_ahead(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= THREADS_MOST; count++)
        walk_together(count, 7);
}

static void as_a_barrier_none_is_ahead(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= THREADS_MOST; count++)
        walk_together(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_thread_is_more_than_an_epoch_ahead),
        cmocka_unit_test(no_thread_is_more_than_some_steps_ahead),
        cmocka_unit_test(as_a_barrier_none_is_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
