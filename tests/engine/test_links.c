/* Links: when a message arrives, to the picosecond. */
#include "pair.h"

static void latency_is_the_whole_delay(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_send(&pair, 0, 8);
    pair_send(&pair, 123, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 1000});
    const struct receiver *receiver = pair_run(&pair);
    assert_int_equal(receiver->count, 2);
    assert_int_equal(receiver->times[0], 1000);
    assert_int_equal(receiver->times[1], 1123);
    assert_int_equal(receiver->values[1], 1);
    assert_int_equal(receiver->kinds[0], 1);
    engine_free(pair.engine);
}

static void bandwidth_spaces_messages(void **state)
{
    (void)state;
    struct pair pair = {0};
    for (int i = 0; i < 4; i++)
        pair_send(&pair, 0, 8);
    pair_send(&pair, 1000, 8); /* the link is free again by then */
    /* a byte a picosecond: 8 bytes and 8 beside them take 16 */
    pair_init(&pair, &(struct link_spec){.latency_ps = 5, .bytes_per_s = 1000000000000, .overhead_bytes = 8});
    const struct receiver *receiver = pair_run(&pair);
    for (int i = 0; i < 4; i++)
        assert_int_equal(receiver->times[i], (i + 1) * 16 + 5);
    assert_int_equal(receiver->times[4], 1000 + 16 + 5);
    engine_free(pair.engine);
}

static void fractions_of_a_picosecond_are_kept(void **state)
{
    (void)state;
    struct pair pair = {0};
    for (int i = 0; i < 60; i++)
        pair_send(&pair, 0, 8);
    /* 3 bytes a picosecond: 8 bytes take 2 2/3 ps, so 60 messages take 160 ps, not 60 * 2 or 60 * 3 */
    pair_init(&pair, &(struct link_spec){.latency_ps = 1, .bytes_per_s = 3000000000000});
    const struct receiver *receiver = pair_run(&pair);
    assert_int_equal(receiver->times[0], 2 + 1);
    assert_in_range(receiver->times[59], 159 + 1,
                    160 + 1); /* a third is not exact in binary: the last may be cut off */
    engine_free(pair.engine);
}

static void bandwidth_may_be_felt_on_one_side_only(void **state)
{
    (void)state;
    for (int only_in = 0; only_in < 2; only_in++) {
        struct pair pair = {0};
        for (int i = 0; i < 4; i++)
            pair_send(&pair, 0, 8);
        pair_init(&pair, &(struct link_spec){.latency_ps = 100,
                                             .bytes_per_s = 1000000000000,
                                             .limits = only_in ? LINK_IN : LINK_OUT});
        const struct receiver *receiver = pair_run(&pair);
        for (int i = 0; i < 4; i++) /* all are at the door at once and enter in turn, or leave in turn */
            assert_int_equal(receiver->times[i], only_in ? 100 + i * 8 : 100 + (i + 1) * 8);
        engine_free(pair.engine);
    }
}

static void credits_bound_what_is_under_way(void **state)
{
    (void)state;
    struct pair pair = {0};
    for (int i = 0; i < 3; i++)
        pair_send(&pair, 0, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 100, .credits = 2});
    const struct receiver *receiver = pair_run(&pair);
    assert_int_equal(receiver->times[0], 100);
    assert_int_equal(receiver->times[1], 100);
    /* the first credit is back at 200, and the third message leaves then */
    assert_int_equal(receiver->times[2], 300);
    assert_int_equal(((struct sender *)component_state(pair.sender))->refused, 1);
    engine_free(pair.engine);
}

static void a_slow_receiver_holds_the_sender_back(void **state)
{
    (void)state;
    struct pair pair = {.takes = {.take_every = 1000}};
    for (int i = 0; i < 4; i++)
        pair_send(&pair, 0, 8);
    pair_init(&pair, &(struct link_spec){.latency_ps = 10, .credits = 1});
    const struct receiver *receiver = pair_run(&pair);
    /* arrives at 10, taken at 1010, credit back at 1020, next arrives at 1030 ... */
    for (int i = 0; i < 4; i++)
        assert_int_equal(receiver->times[i], 10 + i * 1020);
    engine_free(pair.engine);
}

/* Three senders to one receiver over one crossbar. */
static void what_enters_a_crossbar_port_takes_turns(void **state)
{
    (void)state;
    struct sender_spec sends = {.count = 2};
    struct receiver_spec takes = {0};
    for (int i = 0; i < 2; i++) {
        sends.messages[i].at = 0;
        sends.messages[i].to = 3;
        sends.messages[i].bytes = 8;
    }
    struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
    struct link *crossbar =
        engine_link(engine, "crossbar", &(struct link_spec){.latency_ps = 100, .bytes_per_s = 1000000000000});
    const char *const names[] = {"a", "b", "c", "receiver"};
    struct component *last = NULL;
    for (int i = 0; i < 4; i++) {
        last = engine_component(engine, engine_island(engine, names[i]), names[i],
                                i < 3 ? &sender_ops : &receiver_ops, i < 3 ? (const void *)&sends : &takes,
                                i < 3 ? sizeof(struct sender) : sizeof(struct receiver), "p");
        must(link_plug(crossbar, component_port(last, 0), err));
    }
    must(engine_ready(engine, err));
    must(run_to(engine, TIME_NEVER, 1, err) == ENGINE_FINISHED);
    const struct receiver *receiver = component_state(last);
    assert_int_equal(receiver->count, 6);
    /* 8 ps each: all three first messages are there at 108, but enter one after the other */
    const uint64_t from[] = {0, 1, 2, 0, 1, 2};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(receiver->times[i], 108 + 8 * i);
        assert_int_equal(receiver->from[i], from[i]);
    }
    engine_free(engine);
}

/* ---- large payloads, and sizes on the wire that are not the payload's ---- */

enum { DATA_BYTES = 160 };

struct data_user {
    uint64_t got, wrong, time;
};

static void data_start(struct component *self, void *state)
{
    (void)state;
    unsigned char data[DATA_BYTES];
    for (unsigned bytes = 0; bytes <= DATA_BYTES; bytes++) {
        memset(data, (int)bytes, bytes);
        assert_true(port_send_sized(component_port(self, 0), 1, 0, 0, data, (uint16_t)bytes, 1000));
    }
}

static void data_arrive(struct component *self, void *state, struct port *port)
{
    struct data_user *user = state;
    const struct event *head = port_head(port);
    user->wrong += head->bytes != user->got;
    for (unsigned i = 0; i < head->bytes; i++)
        user->wrong += head->payload[i] != (unsigned char)user->got;
    user->got++;
    user->time = component_now(self);
    port_pop(port);
}

static const struct component_ops data_source_ops = {.type = "source", .start = data_start};
static const struct component_ops data_sink_ops = {.type = "sink", .arrive = data_arrive};

static void payloads_of_all_sizes_arrive_whole(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1, .payload_bytes = DATA_BYTES});
        struct island *here = engine_island(engine, "here"),
                      *there = apart ? engine_island(engine, "there") : here;
        struct component *source = engine_component(engine, here, "source", &data_source_ops, NULL, 0, "p");
        struct component *sink =
            engine_component(engine, there, "sink", &data_sink_ops, NULL, sizeof(struct data_user), "p");
        struct link *link =
            engine_link(engine, "l", &(struct link_spec){.latency_ps = 7, .bytes_per_s = 1000000000000});
        must(link_plug(link, component_port(source, 0), err));
        must(link_plug(link, component_port(sink, 0), err));
        must(engine_ready(engine, err));
        must(run_to(engine, TIME_NEVER, 2, err) == ENGINE_FINISHED);
        const struct data_user *user = component_state(sink);
        assert_int_equal(user->got, DATA_BYTES + 1);
        assert_int_equal(user->wrong, 0);
        assert_int_equal(user->time, 1000 * (DATA_BYTES + 1) + 7);
        engine_free(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_is_the_whole_delay),
        cmocka_unit_test(bandwidth_spaces_messages),
        cmocka_unit_test(fractions_of_a_picosecond_are_kept),
        cmocka_unit_test(bandwidth_may_be_felt_on_one_side_only),
        cmocka_unit_test(credits_bound_what_is_under_way),
        cmocka_unit_test(a_slow_receiver_holds_the_sender_back),
        cmocka_unit_test(what_enters_a_crossbar_port_takes_turns),
        cmocka_unit_test(payloads_of_all_sizes_arrive_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
