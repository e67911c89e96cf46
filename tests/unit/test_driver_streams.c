/* Streams and events: what runs when. Functions of the host stand for kernels. */
#include "driver_check.h"
#include "capture_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- what is put into streams ---- */

/* Notes its number in a list. */
struct trail {
    pthread_mutex_t lock;
    int at[64];
    int count;
};

struct step {
    struct trail *trail;
    int number;
};

static void take_step(void *user, enum result result)
{
    struct step *step = user;
    (void)result;
    pthread_mutex_lock(&step->trail->lock);
    step->trail->at[step->trail->count++] = step->number;
    pthread_mutex_unlock(&step->trail->lock);
}

#define STEP_OF(trail, stream, steps, n)                                                                     \
    do {                                                                                                     \
        (steps)[n] = (struct step){trail, n};                                                                \
        CHECK(stream_host(stream, take_step, &(steps)[n], false));                                           \
    } while (0)
#define STEP(stream, steps, n) STEP_OF(&trail, stream, steps, n)

static void check_trail(struct trail *trail, const int *expected, int count)
{
    assert_int_equal(trail->count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(trail->at[i], expected[i]);
}

/* Holds a stream until it is opened. */
struct gate {
    _Atomic bool open, reached;
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void hold(void *user, enum result result)
{
    struct gate *gate = user;
    (void)result;
    gate->reached = true;
    while (!gate->open)
        nap();
}

static void wait_until(_Atomic bool *flag)
{
    while (!*flag)
        nap();
}

static void set_flag(void *user, enum result result)
{
    (void)result;
    *(_Atomic bool *)user = true;
}

/* ---- order ---- */

static void a_stream_keeps_its_order(void **state)
{
    (void)state;
    struct under_test t;
    struct trail trail = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct step steps[40];
    struct stream *stream;
    int expected[40];
    start(&t);
    CHECK(stream_new(t.device, 0, 0, &stream));
    for (int i = 0; i < 40; i++) {
        expected[i] = i;
        STEP(stream, steps, i);
    }
    CHECK(stream_synchronize(stream));
    check_trail(&trail, expected, 40);
    stop(&t);
}

static void the_default_stream_waits_for_others_and_they_for_it(void **state)
{
    (void)state;
    struct under_test t;
    struct trail trail = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct step steps[8];
    struct gate gate = {0};
    struct stream *a, *b;
    start(&t);
    CHECK(stream_new(t.device, 0, 0, &a));
    CHECK(stream_new(t.device, 0, 0, &b));
    CHECK(stream_host(a, hold, &gate, false));
    STEP(a, steps, 0);
    STEP(t.first, steps, 1); /* behind a's */
    STEP(b, steps, 2);       /* behind the default's */
    assert_int_equal(stream_query(b), RESULT_NOT_READY);
    assert_int_equal(stream_query(t.first), RESULT_NOT_READY);
    assert_int_equal(trail.count, 0);
    gate.open = true;
    CHECK(stream_synchronize(b));
    check_trail(&trail, (const int[]){0, 1, 2}, 3);
    stop(&t);
}

static void a_non_blocking_stream_stands_apart(void **state)
{
    (void)state;
    struct under_test t;
    struct gate gate = {0};
    _Atomic bool done = false;
    struct stream *apart;
    start(&t);
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &apart));
    CHECK(stream_host(t.first, hold, &gate, false));
    CHECK(stream_host(apart, set_flag, &done, false));
    CHECK(stream_synchronize(apart));
    assert_true(done);
    assert_int_equal(stream_query(t.first), RESULT_NOT_READY);
    gate.open = true;
    CHECK(device_synchronize(t.device));
    CHECK(stream_query(t.first));
    stop(&t);
}

static void the_default_stream_is_busy_while_others_are(void **state)
{
    (void)state;
    struct under_test t;
    struct gate gate = {0};
    struct stream *stream;
    start(&t);
    CHECK(stream_new(t.device, 0, 0, &stream));
    CHECK(stream_host(stream, hold, &gate, false));
    assert_int_equal(stream_query(t.first), RESULT_NOT_READY);
    gate.open = true;
    CHECK(stream_synchronize(t.first));
    CHECK(stream_query(stream));
    stop(&t);
}

static void streams_run_side_by_side(void **state)
{
    (void)state;
    enum { STREAMS = 12 };
    struct under_test t;
    struct gate gates[STREAMS] = {0};
    struct stream *streams[STREAMS];
    start(&t);
    for (int i = 0; i < STREAMS; i++) {
        CHECK(stream_new(t.device, 0, 0, &streams[i]));
        CHECK(stream_host(streams[i], hold, &gates[i], false));
    }
    for (int i = STREAMS; i-- > 0;)
        wait_until(&gates[i].reached); /* all of them, though none has ended */
    for (int i = 0; i < STREAMS; i++)
        gates[i].open = true;
    CHECK(device_synchronize(t.device));
    stop(&t);
}

static void work_is_done_though_nobody_waits(void **state)
{
    (void)state;
    struct under_test t;
    start(&t);
    for (int i = 0; i < 20; i++) {
        _Atomic bool done = false;
        CHECK(stream_host(t.first, set_flag, &done, false));
        wait_until(&done);
    }
    stop(&t);
}

static void a_destroyed_stream_does_what_it_has(void **state)
{
    (void)state;
    struct under_test t;
    struct gate gate = {0};
    _Atomic bool done = false;
    struct stream *stream, *other;
    start(&t);
    CHECK(stream_new(t.device, 0, 0, &stream));
    CHECK(stream_host(stream, hold, &gate, false));
    CHECK(stream_host(stream, set_flag, &done, false));
    CHECK(stream_free(stream));
    assert_int_equal(stream_free(stream), RESULT_INVALID_HANDLE);
    assert_int_equal(stream_host(stream, set_flag, &done, false), RESULT_INVALID_HANDLE);
    CHECK(stream_new(t.device, 0, 0, &other));
    assert_ptr_not_equal(stream, other);
    gate.open = true;
    CHECK(device_synchronize(t.device));
    assert_true(done);
    stop(&t);
}

static void *use_own_stream(void *user)
{
    struct under_test *t = user;
    _Atomic bool done = false;
    struct stream *own = device_thread_stream(t->device);
    assert_ptr_not_equal(own, t->first);
    assert_ptr_equal(own, device_thread_stream(t->device));
    CHECK(stream_host(own, set_flag, &done, false));
    CHECK(stream_synchronize(own));
    assert_true(done);
    return own;
}

static void each_thread_has_a_stream_of_its_own(void **state)
{
    (void)state;
    struct under_test t;
    pthread_t thread;
    void *own;
    start(&t);
    pthread_create(&thread, NULL, use_own_stream, &t);
    pthread_join(thread, &own);
    assert_int_equal(stream_free(own), RESULT_INVALID_HANDLE); /* it ended with its thread */
    assert_ptr_equal(use_own_stream(&t), own);                 /* and is used again */
    CHECK(device_reset(t.device));
    struct stream *other;
    CHECK(stream_new(t.device, 0, 0, &other)); /* takes the place of the thread's, which the reset ended */
    assert_ptr_not_equal(use_own_stream(&t), other);
    stop(&t);
}

/* ---- events ---- */

static void a_stream_waits_for_an_event(void **state)
{
    (void)state;
    struct under_test t;
    struct trail trail = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct step steps[4];
    struct gate gate = {0};
    struct stream *a, *b;
    struct stream_event *event;
    start(&t);
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &a));
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &b));
    CHECK(event_new(t.device, 0, &event));
    CHECK(stream_host(a, hold, &gate, false));
    STEP(a, steps, 0);
    CHECK(event_record(event, a));
    CHECK(stream_wait_event(b, event));
    STEP(b, steps, 1);
    assert_int_equal(event_query(event), RESULT_NOT_READY);
    CHECK(event_free(event)); /* both its record and the wait for it go on */
    gate.open = true;
    CHECK(stream_synchronize(b));
    check_trail(&trail, (const int[]){0, 1}, 2);
    stop(&t);
}

static void a_wait_is_for_the_record_before_it(void **state)
{
    (void)state;
    struct under_test t;
    struct gate gate = {0};
    _Atomic bool done = false;
    struct stream *a, *b;
    struct stream_event *event;
    start(&t);
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &a));
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &b));
    CHECK(event_new(t.device, 0, &event));
    CHECK(event_record(event, a));
    CHECK(stream_wait_event(b, event));
    CHECK(stream_host(b, set_flag, &done, false));
    CHECK(stream_host(a, hold, &gate, false));
    CHECK(event_record(event, a)); /* later: b does not wait for it */
    CHECK(stream_synchronize(b));
    assert_true(done);
    assert_int_equal(event_query(event), RESULT_NOT_READY);
    gate.open = true;
    CHECK(event_synchronize(event));
    stop(&t);
}

static void events_tell_the_time_between_them(void **state)
{
    (void)state;
    struct under_test t;
    struct gate gate = {0};
    struct stream_event *from, *to, *timeless;
    float ms = -1;
    start(&t);
    CHECK(event_new(t.device, 0, &from));
    CHECK(event_new(t.device, 0, &to));
    CHECK(event_new(t.device, EVENT_NO_TIMING, &timeless));
    CHECK(event_query(from)); /* never recorded: nothing to wait for */
    CHECK(event_synchronize(from));
    assert_int_equal(event_elapsed(from, to, &ms), RESULT_INVALID_HANDLE);
    CHECK(event_record(from, t.first));
    CHECK(stream_host(t.first, hold, &gate, false));
    CHECK(event_record(to, t.first));
    CHECK(event_record(timeless, t.first));
    assert_int_equal(event_elapsed(from, to, &ms), RESULT_NOT_READY);
    gate.open = true;
    CHECK(event_synchronize(to));
    CHECK(event_elapsed(from, to, &ms));
    assert_true(ms >= 0);
    CHECK(device_synchronize(t.device));
    assert_int_equal(event_elapsed(from, timeless, &ms), RESULT_INVALID_HANDLE);
    stop(&t);
}

static void values_are_waited_for_and_written(void **state)
{
    (void)state;
    struct under_test t;
    struct stream *a, *b;
    void *memory;
    start(&t);
    CHECK(memory_host_alloc(t.driver, 16, 0, &memory));
    uint64_t at = address_of(memory);
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &a));
    CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &b));
    CHECK(stream_wait_value(a, at, 5, 4, STREAM_GEQ));
    CHECK(stream_write_value(a, at + 8, 77, 8));
    CHECK(stream_write_value(b, at, 4, 4));
    CHECK(stream_synchronize(b));
    assert_int_equal(stream_query(a), RESULT_NOT_READY);
    CHECK(stream_write_value(b, at, 5, 4));
    CHECK(stream_synchronize(a));
    assert_int_equal(((uint64_t *)memory)[1], 77);
    assert_int_equal(stream_wait_value(a, at + 1, 5, 4, STREAM_GEQ), RESULT_INVALID_VALUE);
    assert_int_equal(stream_write_value(a, at + 16, 5, 4), RESULT_INVALID_VALUE);
    stop(&t);
}

/* ---- captures ---- */

/* a captures; b joins it, and is joined back: work 0, 1 (in b), 2. */
static void capture_fork(struct stream *a, struct stream *b, struct trail *trail, struct step *steps,
                         struct stream_event *events[2])
{
    STEP_OF(trail, a, steps, 0);
    CHECK(event_record(events[0], a));
    CHECK(stream_wait_event(b, events[0]));
    STEP_OF(trail, b, steps, 1);
    CHECK(event_record(events[1], b));
    CHECK(stream_wait_event(a, events[1]));
    STEP_OF(trail, a, steps, 2);
}

static void note_nothing(void *user, enum result result)
{
    (void)user, (void)result;
}

struct captured_test {
    struct under_test t;
    struct trail trail;
    struct step steps[8];
    struct stream *a, *b;
    struct stream_event *events[2];
    struct play *play;
    void *graph;
};

static void start_captured(struct captured_test *c)
{
    start(&c->t);
    c->trail = (struct trail){.lock = PTHREAD_MUTEX_INITIALIZER};
    CHECK(stream_new(c->t.device, 0, 0, &c->a));
    CHECK(stream_new(c->t.device, 0, 0, &c->b));
    for (int i = 0; i < 2; i++)
        CHECK(event_new(c->t.device, 0, &c->events[i]));
    CHECK(capture_into(c->a, &c->play));
}

static void what_is_captured_is_done_when_it_is_played(void **state)
{
    (void)state;
    struct captured_test c;
    start_captured(&c);
    capture_fork(c.a, c.b, &c.trail, c.steps, c.events);
    assert_true(stream_is_captured(c.b));
    CHECK(capture_end(c.a, &c.graph));
    assert_ptr_equal(c.graph, c.play);
    assert_false(stream_is_captured(c.b));
    assert_int_equal(play_step(c.play, 2)->after_count, 2);
    assert_int_equal(c.trail.count, 0);
    CHECK(stream_play(c.b, c.play, false));
    CHECK(stream_play(c.a, c.play, false)); /* after the other one */
    CHECK(stream_synchronize(c.a));
    check_trail(&c.trail, (const int[]){0, 1, 2, 0, 1, 2}, 6);
    play_free(c.play);
    stop(&c.t);
}

static void a_wait_makes_a_capture_invalid(void **state)
{
    (void)state;
    struct captured_test c;
    start_captured(&c);
    capture_fork(c.a, c.b, &c.trail, c.steps, c.events);
    assert_int_equal(stream_synchronize(c.a), RESULT_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(event_query(c.events[1]), RESULT_CAPTURED_EVENT);
    assert_int_equal(capture_end(c.b, &c.graph), RESULT_STREAM_CAPTURE_UNMATCHED);
    assert_null(c.graph);
    assert_int_equal(capture_end(c.a, &c.graph), RESULT_STREAM_CAPTURE_INVALIDATED);
    assert_false(stream_is_captured(c.b));
    CHECK(stream_synchronize(c.a));
    play_free(c.play);
    stop(&c.t);
}

static void a_capture_has_to_be_joined_back(void **state)
{
    (void)state;
    struct captured_test c;
    start_captured(&c);
    capture_fork(c.a, c.b, &c.trail, c.steps, c.events);
    CHECK(event_record(c.events[0], c.a));
    CHECK(stream_wait_event(c.b, c.events[0]));
    CHECK(stream_host(c.b, note_nothing, NULL, false));
    assert_int_equal(capture_end(c.a, &c.graph), RESULT_STREAM_CAPTURE_UNJOINED);
    CHECK(stream_synchronize(c.b));
    play_free(c.play);
    stop(&c.t);
}

static void the_default_stream_is_not_captured(void **state)
{
    (void)state;
    struct captured_test c;
    struct play *play;
    start_captured(&c);
    assert_int_equal(capture_into(c.t.first, &play), RESULT_STREAM_CAPTURE_UNSUPPORTED);
    play_free(play);
    assert_int_equal(capture_end(c.t.first, &c.graph), RESULT_ILLEGAL_STATE);
    assert_null(c.graph);
    assert_int_equal(stream_host(c.t.first, note_nothing, NULL, false), RESULT_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(capture_end(c.a, &c.graph), RESULT_STREAM_CAPTURE_INVALIDATED);
    play_free(c.play);
    stop(&c.t);
}

/* ---- many threads ---- */

enum { THREADS = 6, ROUNDS = 300 };

struct crowd {
    struct under_test *t;
    _Atomic int ran;
};

static void count_run(void *user, enum result result)
{
    (void)result;
    ((struct crowd *)user)->ran++;
}

static void *one_of_many(void *user)
{
    struct crowd *crowd = user;
    struct device *device = crowd->t->device;
    struct stream *stream;
    struct stream_event *event;
    CHECK(stream_new(device, 0, 0, &stream));
    CHECK(event_new(device, 0, &event));
    for (int i = 0; i < ROUNDS; i++) {
        struct stream *to = i % 7 == 0 ? crowd->t->first : stream;
        CHECK(stream_host(to, count_run, crowd, false));
        CHECK(event_record(event, to));
        CHECK(stream_wait_event(stream, event));
        if (i % 11 == 0)
            CHECK(event_synchronize(event));
        if (i % 50 == 0)
            CHECK(device_synchronize(device));
    }
    CHECK(stream_synchronize(stream));
    CHECK(event_free(event));
    CHECK(stream_free(stream));
    return NULL;
}

static void many_threads_use_one_device(void **state)
{
    (void)state;
    struct under_test t;
    pthread_t threads[THREADS];
    start(&t);
    struct crowd crowd = {.t = &t};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, one_of_many, &crowd);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(device_synchronize(t.device));
    assert_int_equal(crowd.ran, THREADS * ROUNDS);
    stop(&t);
}

static void a_driver_can_end_with_work_left(void **state)
{
    (void)state;
    struct under_test t;
    struct gate gate = {0};
    _Atomic bool done = false;
    struct stream_event *event;
    start(&t);
    CHECK(event_new(t.device, 0, &event));
    CHECK(stream_host(t.first, hold, &gate, false));
    wait_until(&gate.reached);
    CHECK(stream_host(t.first, set_flag, &done, false));
    CHECK(event_record(event, t.first));
    gate.open = true;
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_keeps_its_order),
        cmocka_unit_test(the_default_stream_waits_for_others_and_they_for_it),
        cmocka_unit_test(a_non_blocking_stream_stands_apart),
        cmocka_unit_test(the_default_stream_is_busy_while_others_are),
        cmocka_unit_test(streams_run_side_by_side),
        cmocka_unit_test(work_is_done_though_nobody_waits),
        cmocka_unit_test(a_destroyed_stream_does_what_it_has),
        cmocka_unit_test(each_thread_has_a_stream_of_its_own),
        cmocka_unit_test(a_stream_waits_for_an_event),
        cmocka_unit_test(a_wait_is_for_the_record_before_it),
        cmocka_unit_test(events_tell_the_time_between_them),
        cmocka_unit_test(values_are_waited_for_and_written),
        cmocka_unit_test(what_is_captured_is_done_when_it_is_played),
        cmocka_unit_test(a_wait_makes_a_capture_invalid),
        cmocka_unit_test(a_capture_has_to_be_joined_back),
        cmocka_unit_test(the_default_stream_is_not_captured),
        cmocka_unit_test(many_threads_use_one_device),
        cmocka_unit_test(a_driver_can_end_with_work_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
