/* The order of what happens at one moment, and wake-ups. */
#include "check.h"

enum { MOST_STEPS = 64 };

struct trace_state {
    uint64_t count;
    uint64_t times[MOST_STEPS];
    char what[MOST_STEPS]; /* 'w' for a wake-up, or the kind of an event or message */
    char from[MOST_STEPS];
};

static void step(struct component *self, struct trace_state *trace, char what, uint32_t from)
{
    assert_true(trace->count < MOST_STEPS);
    trace->times[trace->count] = component_now(self);
    trace->what[trace->count] = what;
    trace->from[trace->count] = (char)('0' + from);
    trace->count++;
}

static void trace_event(struct component *self, void *state, const struct event *event)
{
    step(self, state, (char)event->kind, 9);
}

static void trace_wake(struct component *self, void *state)
{
    step(self, state, 'w', 9);
}

static void trace_arrive(struct component *self, void *state, struct port *port)
{
    step(self, state, (char)port_head(port)->kind, port_head(port)->from);
    port_pop(port);
}

/* The collector is island 1; the others send to it so that all arrives at 100. */
static void talker_start(struct component *self, void *state)
{
    (void)state;
    struct port *port = component_port(self, 0);
    port_send(port, 1, 0, 'b', "", 0);
    port_send(port, 1, 0, 'c', "", 0);
}

static void collector_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 100);
    component_schedule(self, 100, 'x', "", 0);
    component_schedule(self, 100, 'y', "", 0);
    component_schedule(self, 99, 'a', "", 0);
}

static const struct component_ops talker_ops = {.type = "talker", .start = talker_start};
static const struct component_ops collector_ops = {.type = "collector",
                                                   .start = collector_start,
                                                   .event = trace_event,
                                                   .wake = trace_wake,
                                                   .arrive = trace_arrive};

static void events_of_one_time_go_by_island_and_sequence_then_wakes(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct link *link = engine_link(engine, "l", &(struct link_spec){.latency_ps = 100});
        struct component *collector = NULL;
        for (int i = 0; i < 3; i++) {
            const char *const names[] = {"zero", "one", "two"};
            struct component *component = engine_component(engine, engine_island(engine, names[i]), names[i],
                                                           i == 1 ? &collector_ops : &talker_ops, NULL,
                                                           sizeof(struct trace_state), "p");
            must(link_plug(link, component_port(component, 0), err));
            collector = i == 1 ? component : collector;
        }
        must(engine_ready(engine, err));
        must(run_to(engine, TIME_NEVER, threads, err) == ENGINE_FINISHED);
        const struct trace_state *trace = component_state(collector);
        assert_int_equal(trace->count, 8);
        assert_memory_equal(trace->what, "abcxybcw", 8);
        assert_memory_equal(trace->from, "90099229", 8);
        engine_free(engine);
    }
}

/* ---- wake-ups ---- */

static void sleeper_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 500);
    component_wake(self, 300);
    component_wake(self, 400); /* later than one already asked for: does not count */
}

static void sleeper_wake(struct component *self, void *state)
{
    step(self, state, 'w', 9);
    if (component_now(self) == 300)
        component_wake(self, 500); /* the old entry for 500 must not wake it twice */
}

static const struct component_ops sleeper_ops = {
    .type = "sleeper", .start = sleeper_start, .wake = sleeper_wake};

static void the_earliest_wake_up_counts(void **state)
{
    (void)state;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct component *sleeper = engine_component(engine, engine_island(engine, "i"), "s", &sleeper_ops, NULL,
                                                 sizeof(struct trace_state), "");
    must(engine_ready(engine, err));
    must(run_to(engine, TIME_NEVER, 1, err) == ENGINE_FINISHED);
    const struct trace_state *trace = component_state(sleeper);
    assert_int_equal(trace->count, 2);
    assert_int_equal(trace->times[0], 300);
    assert_int_equal(trace->times[1], 500);
    assert_int_equal(engine_events(engine), 2);
    engine_free(engine);
}

/* ---- the horizon ---- */

struct runner {
    uint64_t cycles;
};

static int calls;

/* Counts a cycle of 10 ps each, as many in one call as the horizon allows. */
static void runner_wake(struct component *self, void *state)
{
    struct runner *runner = state;
    uint64_t time = component_now(self), horizon = component_horizon(self);
    calls++;
    do {
        runner->cycles++;
        time += 10;
    } while (time < horizon && runner->cycles < 1000);
    if (runner->cycles < 1000)
        component_wake(self, time);
}

static void runner_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 0);
    component_schedule(self, 5005, 0, "", 0);
}

static void runner_event(struct component *self, void *state, const struct event *event)
{
    (void)event;
    assert_int_equal(component_now(self), 5005);
    assert_int_equal(((struct runner *)state)->cycles, 501); /* those of 0, 10, ... 5000 */
}

static const struct component_ops runner_ops = {
    .type = "runner", .start = runner_start, .wake = runner_wake, .event = runner_event, .runs_ahead = true};

static void a_component_may_run_ahead_to_its_horizon(void **state)
{
    (void)state;
    uint64_t whole_digest = 0, whole_events = 0;
    const uint64_t cuts[] = {TIME_NEVER, 7777, 333, 11}; /* how a run is cut is no part of its result */
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct component *runner = engine_component(engine, engine_island(engine, "i"), "r", &runner_ops,
                                                    NULL, sizeof(struct runner), "");
        must(engine_ready(engine, err));
        engine_watch(engine);
        calls = 0;
        struct err why;
        for (uint64_t until = cuts[i]; run_to(engine, until, 1, &why) == ENGINE_UNTIL; until += cuts[i])
            ;
        const struct runner *done = component_state(runner);
        assert_int_equal(done->cycles, 1000);
        if (i == 0) {
            assert_true(calls < 10); /* not one for each cycle */
            whole_digest = engine_watch_digest(engine);
            whole_events = engine_events(engine);
        }
        assert_int_equal(engine_watch_digest(engine), whole_digest);
        assert_int_equal(engine_events(engine), whole_events);
        engine_free(engine);
    }
}

static void eager_wake(struct component *self, void *state)
{
    (void)state;
    component_schedule(self, 5, 0, "", 0);
    assert_true(component_horizon(self) >
                component_now(self)); /* though the slot of that event began before */
}

static void eager_event(struct component *self, void *state, const struct event *event)
{
    (void)self, (void)state, (void)event;
}

static void eager_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 100003);
}

static const struct component_ops eager_ops = {
    .type = "eager", .start = eager_start, .wake = eager_wake, .event = eager_event, .runs_ahead = true};

static void the_horizon_is_always_ahead(void **state)
{
    (void)state;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    engine_component(engine, engine_island(engine, "i"), "e", &eager_ops, NULL, 0, "");
    must(engine_ready(engine, err));
    must(run_to(engine, TIME_NEVER, 1, err) == ENGINE_FINISHED);
    engine_free(engine);
}

/* ---- many components on one island, each with a deadline far away that it moves with each wake-up ---- */

enum { MINDERS = 9, ROUNDS = 20000 };

struct minder {
    uint64_t wakes, wrong;
};

static void minder_wake(struct component *self, void *state)
{
    struct minder *minder = state;
    uint64_t step = 3 + component_name(self)[0] % 7;
    minder->wrong += component_now(self) != minder->wakes * step;
    if (++minder->wakes == ROUNDS)
        return;
    component_wake(self, component_now(self) + 1000000);
    component_wake(self, component_now(self) + step);
}

static void minder_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 0);
}

static const struct component_ops minder_ops = {.type = "minder", .start = minder_start, .wake = minder_wake};

static void wake_ups_that_are_brought_forward_leave_nothing_behind(void **state)
{
    (void)state;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1, .same_time_limit = 100});
    struct island *island = engine_island(engine, "i");
    struct component *minders[MINDERS];
    for (int i = 0; i < MINDERS; i++) {
        char name[2] = {(char)('a' + i), 0};
        minders[i] = engine_component(engine, island, name, &minder_ops, NULL, sizeof(struct minder), "");
    }
    must(engine_ready(engine, err));
    must(run_to(engine, TIME_NEVER, 1, err) == ENGINE_FINISHED);
    for (int i = 0; i < MINDERS; i++) {
        const struct minder *minder = component_state(minders[i]);
        assert_int_equal(minder->wakes, ROUNDS);
        assert_int_equal(minder->wrong, 0);
    }
    assert_int_equal(engine_events(engine), MINDERS * ROUNDS);
    assert_int_equal(engine_time(engine), (ROUNDS - 1) * 9); /* the slowest step; not the deadlines */
    engine_free(engine);
}

/* ---- from outside ---- */

static void events_can_be_posted_between_runs(void **state)
{
    (void)state;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct component *target = engine_component(engine, engine_island(engine, "i"), "t", &collector_ops, NULL,
                                                sizeof(struct trace_state), "");
    must(engine_ready(engine, err));
    must(run_to(engine, 1000, 2, err) == ENGINE_FINISHED);
    const struct trace_state *trace = component_state(target);
    uint64_t before = trace->count;
    engine_post(engine, target, 5000, 'p', "", 0);
    engine_post(engine, target, 5000, 'q', "", 0);
    must(run_to(engine, TIME_NEVER, 3, err) == ENGINE_FINISHED);
    assert_int_equal(trace->count, before + 2);
    assert_memory_equal(trace->what + before, "pq", 2);
    assert_int_equal(trace->times[before], 5000);
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_one_time_go_by_island_and_sequence_then_wakes),
        cmocka_unit_test(the_earliest_wake_up_counts),
        cmocka_unit_test(a_component_may_run_ahead_to_its_horizon),
        cmocka_unit_test(the_horizon_is_always_ahead),
        cmocka_unit_test(wake_ups_that_are_brought_forward_leave_nothing_behind),
        cmocka_unit_test(events_can_be_posted_between_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
