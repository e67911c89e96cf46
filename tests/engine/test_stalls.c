/* Runs that cannot go on end with a report, the same for any number of threads. */
#include "pair.h"
#include "base/text.h"

/* Takes nothing. */
static void deaf_arrive(struct component *self, void *state, struct port *port)
{
    (void)self, (void)state, (void)port;
}

static const struct component_ops deaf_ops = {.type = "deaf", .arrive = deaf_arrive};

static void messages_that_nobody_takes_are_told(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct err why;
        struct sender_spec sends = {.count = 3};
        for (int i = 0; i < 3; i++) {
            sends.messages[i].at = 10;
            sends.messages[i].to = 1;
        }
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct link *link = engine_link(engine, "l", &(struct link_spec){.latency_ps = 5, .credits = 2});
        struct component *a = engine_component(engine, engine_island(engine, "x"), "a", &sender_ops, &sends,
                                               sizeof(struct sender), "out");
        struct component *b =
            engine_component(engine, engine_island(engine, "y"), "b", &deaf_ops, NULL, 8, "in");
        must(link_plug(link, component_port(a, 0), err));
        must(link_plug(link, component_port(b, 0), err));
        must(engine_ready(engine, err));
        assert_int_equal(run_to(engine, TIME_NEVER, threads, &why), ENGINE_FAILED);
        assert_string_equal(why.text,
                            "the simulation is stuck at 15 ps: no event is left, but 2 ports still wait\n"
                            "  a.out waits for room at b.in, which holds 2 messages (2 from here fill it)\n"
                            "  b.in holds 2 messages that b does not take");
        engine_free(engine);
    }
}

/* ---- time that stands still ---- */

static void restless_start(struct component *self, void *state)
{
    (void)state;
    component_schedule(self, 1000, 1, "", 0);
}

static void restless_event(struct component *self, void *state, const struct event *event)
{
    (void)state, (void)event;
    component_schedule(self, 0, 3, "", 0);
}

static const struct component_ops restless_ops = {
    .type = "restless", .start = restless_start, .event = restless_event};

static void time_that_stands_still_is_told(void **state)
{
    (void)state;
    struct err why;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1, .same_time_limit = 1000});
    engine_component(engine, engine_island(engine, "isle"), "busy", &restless_ops, NULL, 8, "");
    must(engine_ready(engine, err));
    assert_int_equal(run_to(engine, TIME_NEVER, 1, &why), ENGINE_FAILED);
    assert_says(why, "time stands still at 1000 ps: island isle has handled 1001 events");
    assert_says(why, "the last one for busy (event kind 3)");
    engine_free(engine);
}

/* ---- failures of a component ---- */

struct failing_spec {
    uint64_t at;
};

static void failing_start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, ((const struct failing_spec *)component_spec(self))->at);
}

static void failing_wake(struct component *self, void *state)
{
    (void)state;
    component_fail(self, "%s gives up", component_name(self));
}

static const struct component_ops failing_ops = {
    .type = "failing", .start = failing_start, .wake = failing_wake};

static void the_earliest_failure_is_told(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct err why;
        const struct failing_spec specs[] = {{900}, {500}, {500}, {700}};
        const char *const names[] = {"a", "b", "c", "d"};
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct link *link = engine_link(engine, "l", &(struct link_spec){.latency_ps = 10000});
        for (int i = 0; i < 4; i++) {
            struct component *component = engine_component(engine, engine_island(engine, names[i]), names[i],
                                                           &failing_ops, &specs[i], 8, "p");
            must(link_plug(link, component_port(component, 0), err));
        }
        must(engine_ready(engine, err));
        assert_int_equal(run_to(engine, TIME_NEVER, threads, &why), ENGINE_FAILED);
        assert_string_equal(why.text, "b gives up");
        engine_free(engine);
    }
}

/* One fails early but sees only short windows, the other late but in its first long window: the early one is
 * told however the run is cut. */
static void cuts_do_not_change_which_failure_is_told(void **state)
{
    (void)state;
    const uint64_t cuts[] = {TIME_NEVER, 200000, 50000, 7000000};
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        struct err why;
        const struct failing_spec specs[] = {{100000}, {9000000}, {8000000}};
        const char *const names[] = {"early", "late", "other"};
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct link *near = engine_link(engine, "near", &(struct link_spec){.latency_ps = 1000});
        struct link *far = engine_link(engine, "far", &(struct link_spec){.latency_ps = 100000000});
        for (int k = 0; k < 3; k++) {
            struct component *component = engine_component(engine, engine_island(engine, names[k]), names[k],
                                                           &failing_ops, &specs[k], 8, "p,q");
            must(link_plug(k ? far : near, component_port(component, 0), err));
            if (k == 2)
                must(link_plug(near, component_port(component, 1), err));
        }
        must(engine_ready(engine, err));
        enum engine_outcome how = ENGINE_UNTIL;
        for (uint64_t until = cuts[i]; how == ENGINE_UNTIL; until += cuts[i])
            how = run_to(engine, until, 1 + (unsigned)i, &why);
        assert_int_equal(how, ENGINE_FAILED);
        assert_string_equal(why.text, "early gives up");
        assert_int_equal(engine_time(engine), 100000);
        engine_free(engine);
    }
}

static void start_that_fails(struct component *self, void *state)
{
    (void)state;
    component_fail(self, "nothing to start with");
}

static const struct component_ops stillborn_ops = {.type = "stillborn", .start = start_that_fails};

static void a_failed_engine_neither_runs_on_nor_is_saved(void **state)
{
    (void)state;
    struct err why;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1, .same_time_limit = 1000000});
    engine_component(engine, engine_island(engine, "x"), "a", &restless_ops, NULL, 8, "");
    engine_component(engine, engine_island(engine, "y"), "b", &stillborn_ops, NULL, 8, "");
    must(engine_ready(engine, err));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_to(engine, TIME_NEVER, 1, &why), ENGINE_FAILED);
        assert_string_equal(why.text, "nothing to start with");
        assert_int_equal(engine_events(engine), 0);
    }
    assert_false(engine_save(engine, "/dev/null", "", &why));
    assert_says(why, "the simulation has failed");
    engine_free(engine);
}

static void an_interrupt_does_not_change_which_failure_is_told(void **state)
{
    (void)state;
    struct err why;
    _Atomic int interrupt = 1; /* from the start: heard at the first meeting */
    const struct failing_spec specs[] = {{700000}, {200000}, {300000}};
    const char *const names[] = {"late", "early", "other"};
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct link *near = engine_link(engine, "near", &(struct link_spec){.latency_ps = 1000});
    struct link *far = engine_link(engine, "far", &(struct link_spec){.latency_ps = 10000000});
    for (int i = 0; i < 3; i++) {
        struct component *component = engine_component(engine, engine_island(engine, names[i]), names[i],
                                                       &failing_ops, &specs[i], 8, "p,q");
        must(link_plug(i ? near : far, component_port(component, 0), err));
        if (i == 2)
            must(link_plug(far, component_port(component, 1), err));
    }
    must(engine_ready(engine, err));
    assert_int_equal(
        engine_run(engine, &(struct engine_run){.until = TIME_NEVER, .interrupt = &interrupt}, &why),
        ENGINE_FAILED);
    assert_string_equal(why.text, "early gives up");
    engine_free(engine);
}

/* ---- a component that says what it waits for ---- */

static bool waiter_waits(const struct component *self, const void *state, struct text *text)
{
    (void)self, (void)state;
    text_add(text, "a reply that was lost");
    return true;
}

static const struct component_ops waiter_ops = {.type = "waiter", .waits = waiter_waits};

static void what_a_component_waits_for_is_told(void **state)
{
    (void)state;
    struct err why;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    engine_component(engine, engine_island(engine, "x"), "a", &waiter_ops, NULL, 8, "");
    must(engine_ready(engine, err));
    assert_int_equal(run_to(engine, TIME_NEVER, 1, &why), ENGINE_FAILED);
    assert_string_equal(why.text,
                        "the simulation is stuck at 0 ps: no event is left, but 1 component still waits\n"
                        "  a waits for a reply that was lost");
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_nobody_takes_are_told),
        cmocka_unit_test(time_that_stands_still_is_told),
        cmocka_unit_test(the_earliest_failure_is_told),
        cmocka_unit_test(cuts_do_not_change_which_failure_is_told),
        cmocka_unit_test(an_interrupt_does_not_change_which_failure_is_told),
        cmocka_unit_test(a_failed_engine_neither_runs_on_nor_is_saved),
        cmocka_unit_test(what_a_component_waits_for_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
