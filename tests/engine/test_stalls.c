/* Runs that cannot go on end with a report, the same for any number of threads. */
#include "pair.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_nobody_takes_are_told),
        cmocka_unit_test(time_that_stands_still_is_told),
        cmocka_unit_test(the_earliest_failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
