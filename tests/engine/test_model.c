/* Models that cannot work are refused with their names. */
#include "pair.h"

static void a_port_connected_twice_is_refused(void **state)
{
    (void)state;
    struct err why;
    struct pair pair = {0};
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct component *a = engine_component(engine, engine_island(engine, "i"), "a", &receiver_ops,
                                           &pair.takes, sizeof(struct receiver), "x,y");
    struct link *first = engine_link(engine, "first", &(struct link_spec){.latency_ps = 1});
    struct link *second = engine_link(engine, "second", &(struct link_spec){.latency_ps = 1});
    must(link_plug(first, component_port(a, 1), err));
    assert_false(link_plug(second, component_port(a, 1), &why));
    assert_string_equal(why.text, "port a.y is connected twice: to link first and to link second");
    engine_free(engine);
}

static void latency_zero_is_refused_between_islands_only(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct err why;
        struct sender_spec sends = {.count = 1, .messages = {{.at = 5, .to = 1, .bytes = 8}}};
        struct receiver_spec takes = {0};
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct island *here = engine_island(engine, "here");
        struct island *there = apart ? engine_island(engine, "there") : here;
        struct component *a =
            engine_component(engine, here, "a", &sender_ops, &sends, sizeof(struct sender), "p");
        struct component *b =
            engine_component(engine, there, "b", &receiver_ops, &takes, sizeof(struct receiver), "p");
        struct link *link = engine_link(engine, "short", &(struct link_spec){.latency_ps = 0});
        must(link_plug(link, component_port(a, 0), err));
        must(link_plug(link, component_port(b, 0), err));
        assert_int_equal(engine_ready(engine, &why), !apart);
        if (apart) {
            assert_says(why, "link short has latency 0 between the islands here and there");
        } else {
            must(run_to(engine, TIME_NEVER, 2, err) == ENGINE_FINISHED);
            assert_int_equal(((struct receiver *)component_state(b))->times[0], 5);
        }
        engine_free(engine);
    }
}

static void a_link_needs_two_ports(void **state)
{
    (void)state;
    struct err why;
    struct receiver_spec takes = {0};
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct component *a = engine_component(engine, engine_island(engine, "i"), "a", &receiver_ops, &takes,
                                           sizeof(struct receiver), "x");
    must(link_plug(engine_link(engine, "loose", &(struct link_spec){.latency_ps = 1}), component_port(a, 0),
                   err));
    assert_false(engine_ready(engine, &why));
    assert_says(why, "link loose has 1 of the two ports");
    engine_free(engine);
}

static void an_empty_model_is_refused(void **state)
{
    (void)state;
    struct err why;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    assert_false(engine_ready(engine, &why));
    assert_says(why, "nothing to simulate");
    engine_free(engine);
}

static void a_component_without_events_ends_at_once(void **state)
{
    (void)state;
    struct receiver_spec takes = {0};
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    engine_component(engine, engine_island(engine, "i"), "a", &receiver_ops, &takes, sizeof(struct receiver),
                     "");
    must(engine_ready(engine, err));
    must(run_to(engine, TIME_NEVER, 3, err) == ENGINE_FINISHED);
    assert_int_equal(engine_events(engine), 0);
    engine_free(engine);
}

static void two_components_of_one_name_are_refused(void **state)
{
    (void)state;
    struct err why;
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    const char *const names[] = {"b", "a", "c", "a"};
    for (int i = 0; i < 4; i++)
        engine_component(engine, engine_island(engine, "i"), names[i], &receiver_ops, NULL, 8, "");
    assert_false(engine_ready(engine, &why));
    assert_string_equal(why.text, "two components have the name a");
    engine_free(engine);
}

static void a_link_too_slow_to_count_is_refused(void **state)
{
    (void)state;
    struct err why;
    struct receiver_spec takes = {0};
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct link *link = engine_link(engine, "drip", &(struct link_spec){.latency_ps = 1, .bytes_per_s = 100});
    for (int i = 0; i < 2; i++) {
        const char *const names[] = {"a", "b"};
        struct component *component = engine_component(engine, engine_island(engine, names[i]), names[i],
                                                       &receiver_ops, &takes, sizeof(struct receiver), "x");
        must(link_plug(link, component_port(component, 0), err));
    }
    assert_false(engine_ready(engine, &why));
    assert_says(why, "link drip has a bandwidth of 100 B/s");
    engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_connected_twice_is_refused),
        cmocka_unit_test(latency_zero_is_refused_between_islands_only),
        cmocka_unit_test(a_link_needs_two_ports),
        cmocka_unit_test(an_empty_model_is_refused),
        cmocka_unit_test(a_component_without_events_ends_at_once),
        cmocka_unit_test(two_components_of_one_name_are_refused),
        cmocka_unit_test(a_link_too_slow_to_count_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
