/* Networks: routes from graphs, and messages in time. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/circles.h"
#include "net/network.h"

#include <stdio.h>

enum { NODES_MOST = 40, PAYLOAD = 24, MESSAGE_MOST = 150 };

/* ---- endpoints that send, and note what comes ---- */

struct letter {
    struct net_head head;
    uint64_t number; /* of those from one endpoint to another, from 0 */
    uint64_t sent_at;
};

struct storm {
    uint32_t endpoints, messages; /* of each to all others, in turn */
    uint32_t wire_bytes;
    bool mixed; /* shorter ones, too */
};

struct endpoint {
    uint64_t received, last_at, out_of_order;
    uint64_t next_to[NODES_MOST], next_from[NODES_MOST];
};

static void endpoint_start(struct component *self, void *state)
{
    (void)state;
    component_schedule(self, 0, 0, NULL, 0);
}

static void endpoint_event(struct component *self, void *at, const struct event *event)
{
    const struct storm *storm = component_spec(self);
    struct endpoint *state = at;
    struct port *port = component_port(self, 0);
    uint32_t own = 0;
    (void)event;
    sscanf(component_name(self), "node%u", &own);
    for (uint32_t i = 0; i < storm->messages; i++) {
        uint32_t to = (own + 1 + i % (storm->endpoints - 1)) % storm->endpoints;
        struct letter letter = {.head = {.to = (uint16_t)to}, .number = state->next_to[to]++};
        assert_true(
            port_send_sized(port, 1 - port_plug(port), 0, 1, &letter, sizeof letter, storm->wire_bytes));
    }
}

static void endpoint_arrive(struct component *self, void *at, struct port *port)
{
    struct endpoint *state = at;
    struct letter letter;
    memcpy(&letter, port_head(port)->payload, sizeof letter);
    state->received++;
    state->last_at = component_now(self);
    state->out_of_order += letter.number != state->next_from[letter.head.from]++;
    port_pop(port);
}

static const struct component_ops endpoint_ops = {
    .type = "endpoint", .start = endpoint_start, .event = endpoint_event, .arrive = endpoint_arrive};

/* ---- graphs ---- */

static void add_endpoints(struct net_graph *graph, uint32_t count, bool forwards)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "node%u", i);
        net_add_node(graph, &(struct net_node){.name = name, .is_endpoint = true, .forwards = forwards});
    }
}

static void join(struct net_graph *graph, uint32_t a, uint32_t b, const struct net_link *like)
{
    struct net_link link = *like;
    char name[32];
    snprintf(name, sizeof name, "%u-%u-%zu", a, b, graph->link_count);
    link.ends[0] = a, link.ends[1] = b, link.name = name;
    net_add_link(graph, &link);
}

/* Connected: each node behind the first has a link to one before it, and there are some more. */
static void random_graph(struct net_graph *graph, struct rng *rng, uint32_t *endpoints)
{
    uint32_t nodes = 2 + (uint32_t)rng_below(rng, 20);
    *endpoints = 2 + (uint32_t)rng_below(rng, nodes - 1);
    add_endpoints(graph, *endpoints, true);
    while (graph->node_count < nodes) {
        char name[16];
        snprintf(name, sizeof name, "switch%zu", graph->node_count);
        net_add_node(
            graph, &(struct net_node){.name = name, .forwards = true, .latency_ps = rng_below(rng, 3) * 100});
    }
    for (uint32_t i = 1; i < nodes + rng_below(rng, nodes); i++) {
        uint32_t a = i < nodes ? i : (uint32_t)rng_below(rng, nodes);
        uint32_t b = (uint32_t)rng_below(rng, i < nodes ? i : nodes);
        struct net_link like = {.latency_ps = 1 + rng_below(rng, 500),
                                .bytes_per_s = rng_below(rng, 3) * 10000000000,
                                .flit_bytes = 1 + (uint32_t)rng_below(rng, 32),
                                .overhead_bytes = (uint32_t)rng_below(rng, 20)};
        like.credits = 4 + 200 / like.flit_bytes; /* hardly more than one message */
        if (a != b)
            join(graph, a, b, &like);
    }
}

/* ---- routes ---- */

/* Follows a way; gives its channels. */
static uint32_t follow(const struct net_routes *routes, const struct net_graph *graph, uint32_t from,
                       uint32_t to, uint32_t *channels)
{
    uint32_t count = 0;
    for (uint32_t node = from; node != to;) {
        int link = net_out(routes, node, to);
        assert_int_not_equal(link, NET_NONE);
        channels[count++] = 2 * (uint32_t)link + (graph->links[link].ends[1] == node);
        node = net_other_end(&graph->links[link], node);
        assert_in_range(count, 1, graph->node_count);
    }
    return count;
}

/* Channels that nothing depends on are taken away until none is left; a circle would stay. */
static bool has_circle(const bool *depends, uint32_t channels)
{
    bool *gone = mem_alloc(channels, 1);
    uint32_t left = channels;
    for (bool some = true; some;) {
        some = false;
        for (uint32_t a = 0; a < channels; a++) {
            bool is_last = !gone[a];
            for (uint32_t b = 0; b < channels && is_last; b++)
                is_last = gone[b] || !depends[a * channels + b];
            if (is_last) {
                gone[a] = some = true;
                left--;
            }
        }
    }
    mem_free(gone);
    return left;
}

static void routes_of_any_graph_have_no_circles(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct rng rng;
        struct net_graph graph = {0};
        struct net_routes routes;
        struct err err;
        uint32_t endpoints, way[NODES_MOST];
        rng_init(&rng, seed, "graph");
        random_graph(&graph, &rng, &endpoints);
        assert_true(net_check(&graph, &err));
        assert_true(net_routes_find(&routes, &graph, &err));
        uint32_t channels = 2 * (uint32_t)graph.link_count;
        for (uint32_t layer = 0; layer < routes.layers; layer++) {
            bool *depends = mem_alloc((size_t)channels * channels, 1);
            for (uint32_t pair = 0; pair < endpoints * endpoints; pair++) {
                uint32_t from = pair / endpoints, to = pair % endpoints;
                if (routes.layer[from * routes.nodes + to] != layer)
                    continue;
                uint32_t count = follow(&routes, &graph, from, to, way);
                for (uint32_t i = 0; i + 1 < count; i++)
                    depends[way[i] * channels + way[i + 1]] = true;
            }
            assert_false(has_circle(depends, channels));
            mem_free(depends);
        }
        struct net_circle circle;
        assert_false(net_find_circle(&graph, &routes, 1, NULL, &circle));
        net_routes_fini(&routes);
        net_graph_fini(&graph);
    }
}

/* A ring whose ways are all in one layer. */
static void a_circle_of_ways_is_found(void **state)
{
    (void)state;
    struct net_graph graph = {0};
    struct net_routes routes;
    struct net_circle circle;
    struct text text = {0};
    struct err err;
    add_endpoints(&graph, 5, true);
    for (uint32_t i = 0; i < 5; i++)
        join(&graph, i, (i + 1) % 5, &(struct net_link){.latency_ps = 1});
    assert_true(net_routes_find(&routes, &graph, &err));
    assert_true(routes.layers > 1);
    assert_false(net_find_circle(&graph, &routes, 3, NULL, &circle));
    memset(routes.layer, 0, (size_t)routes.nodes * routes.nodes);
    routes.layers = 1;
    assert_true(net_find_circle(&graph, &routes, 3, NULL, &circle));
    assert_int_equal(circle.count, 5);
    for (size_t i = 0; i < circle.count; i++) { /* each begins where the one before it ends */
        const struct net_channel *one = &circle.channels[i], *next = &circle.channels[(i + 1) % 5];
        assert_int_equal(graph.links[one->link].ends[!one->back], graph.links[next->link].ends[next->back]);
        assert_int_equal(one->network, next->network);
    }
    net_print_circle(&graph, &circle, &text);
    assert_non_null(strstr(text.at, "node0 to node1 (layer 0, network 0), node1 to node2"));
    text_fini(&text);
    net_circle_fini(&circle);
    net_routes_fini(&routes);
    net_graph_fini(&graph);
}

/* Endpoints that wait before they take a message: for the same virtual network, for a later one, for each
 * other. */
static void a_circle_through_endpoints_is_found(void **state)
{
    (void)state;
    static const struct {
        uint32_t waits_for[3];
        bool has_circle;
    } cases[] = {{{0, 0, 0}, false}, {{6, 4, 0}, false}, {{6, 2, 0}, true},
                 {{2, 1, 0}, true},  {{2, 4, 1}, true},  {{0, 1, 3}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct net_graph graph = {0};
        struct net_link like = {.latency_ps = 1};
        struct engine *engine = engine_new(&(struct engine_spec){.payload_bytes = PAYLOAD});
        struct err err = {""};
        add_endpoints(&graph, 3, false);
        uint32_t hub = net_add_node(&graph, &(struct net_node){.name = "hub", .forwards = true});
        for (uint32_t k = 0; k < 3; k++)
            join(&graph, k, hub, &like);
        struct network *network = network_new(
            engine, &graph,
            &(struct network_spec){.payload_bytes = PAYLOAD, .networks = 3, .waits_for = cases[i].waits_for},
            &err);
        assert_int_equal(network == NULL, cases[i].has_circle);
        if (!network)
            assert_non_null(strstr(err.text, "fabric: messages could wait for each other for ever: node"));
        engine_free(engine);
        network_free(network);
        net_graph_fini(&graph);
    }
}

static void a_graph_in_pieces_is_refused(void **state)
{
    (void)state;
    struct net_graph graph = {0};
    struct net_routes routes;
    struct err err;
    add_endpoints(&graph, 3, true);
    join(&graph, 0, 1, &(struct net_link){.latency_ps = 1});
    assert_false(net_routes_find(&routes, &graph, &err));
    assert_string_equal(err.text, "fabric: there is no way from node0 to node2");
    net_graph_fini(&graph);
}

/* ---- in time ---- */

struct result {
    uint64_t received, out_of_order, last_at, digest;
    struct net_traffic first_link;
};

static struct result run_storm(const struct net_graph *graph, const struct storm *storm, unsigned threads)
{
    struct err err;
    struct engine *engine = engine_new(&(struct engine_spec){.payload_bytes = PAYLOAD});
    struct network *network =
        network_new(engine, graph, &(struct network_spec){.payload_bytes = MESSAGE_MOST}, &err);
    assert_non_null(network);
    struct component *endpoints[NODES_MOST];
    for (uint32_t i = 0; i < storm->endpoints; i++) {
        struct island *island = engine_island(engine, graph->nodes[i].name);
        endpoints[i] = engine_component(engine, island, graph->nodes[i].name, &endpoint_ops, storm,
                                        sizeof(struct endpoint), "fabric");
        assert_true(network_attach(network, i, island, component_port(endpoints[i], 0), &err));
    }
    assert_true(network_ready(network, &err));
    assert_true(engine_ready(engine, &err));
    engine_watch(engine);
    enum engine_outcome outcome =
        engine_run(engine, &(struct engine_run){.until = TIME_NEVER, .threads = threads}, &err);
    if (outcome != ENGINE_FINISHED)
        print_error("%s\n", err.text);
    assert_int_equal(outcome, ENGINE_FINISHED);
    struct result result = {.digest = engine_watch_digest(engine)};
    for (uint32_t i = 0; i < storm->endpoints; i++) {
        const struct endpoint *state = component_state(endpoints[i]);
        result.received += state->received;
        result.out_of_order += state->out_of_order;
        result.last_at = state->last_at > result.last_at ? state->last_at : result.last_at;
    }
    result.first_link = network_traffic(network, 0, false);
    engine_free(engine);
    network_free(network);
    return result;
}

static void storms_pass_any_network(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 60; seed++) {
        struct rng rng;
        struct net_graph graph = {0};
        struct storm storm = {.messages = 50, .wire_bytes = MESSAGE_MOST, .mixed = seed % 2};
        rng_init(&rng, seed, "storm");
        random_graph(&graph, &rng, &storm.endpoints);
        struct result one = run_storm(&graph, &storm, 1);
        assert_int_equal(one.received, storm.endpoints * storm.messages);
        assert_int_equal(one.out_of_order, 0);
        if (seed % 10 == 0)
            assert_int_equal(run_storm(&graph, &storm, 3).digest, one.digest);
        net_graph_fini(&graph);
    }
}

/* 100 messages of 100 bytes at a byte a picosecond, over a switch in between: the first byte takes the
 * latencies, and the last one comes 10,000 ps later, since the switch passes on what is still coming. */
static void a_way_has_latency_and_bandwidth(void **state)
{
    (void)state;
    struct net_graph graph = {0};
    struct net_link like = {.latency_ps = 500, .bytes_per_s = 1000000000000};
    add_endpoints(&graph, 2, false);
    uint32_t hub =
        net_add_node(&graph, &(struct net_node){.name = "hub", .forwards = true, .latency_ps = 200});
    join(&graph, 0, hub, &like);
    join(&graph, 1, hub, &like);
    struct storm storm = {.endpoints = 2, .messages = 100, .wire_bytes = 100};
    struct result result = run_storm(&graph, &storm, 1);
    assert_int_equal(result.last_at, 500 + 200 + 500 + 100 * 100);
    assert_int_equal(result.first_link.messages, 100);
    assert_int_equal(result.first_link.bytes, 10000);
    assert_int_equal(result.first_link.busy_ps, 10000);
    graph.links[0].bytes_per_s = 500000000000; /* half as fast: it takes twice as long, the latencies aside */
    assert_int_equal(run_storm(&graph, &storm, 1).last_at, 500 + 200 + 500 + 100 * 200);
    graph.links[0].flit_bytes = 64; /* and 128 bytes instead of 100 */
    assert_int_equal(run_storm(&graph, &storm, 1).last_at, 500 + 200 + 500 + 100 * 256);
    net_graph_fini(&graph);
}

/* Over a bus both ways take turns, over a link they do not. */
static void a_bus_does_one_thing_at_a_time(void **state)
{
    (void)state;
    struct net_link like = {.latency_ps = 500, .bytes_per_s = 1000000000000};
    struct storm storm = {.endpoints = 2, .messages = 100, .wire_bytes = 100};
    for (int is_bus = 0; is_bus < 2; is_bus++) {
        struct net_graph graph = {0};
        add_endpoints(&graph, 2, false);
        uint32_t bus =
            net_add_node(&graph, &(struct net_node){.name = "bus", .forwards = true, .is_bus = is_bus});
        join(&graph, 0, bus, &like);
        join(&graph, 1, bus, &like);
        uint64_t last = run_storm(&graph, &storm, 1).last_at;
        assert_in_range(last, 1000 + (1 + is_bus) * 10000 - 100, 1000 + (1 + is_bus) * 10000 + 100);
        net_graph_fini(&graph);
    }
}

/* Room for one message: the next one leaves when the credit is back. */
static void credits_bound_what_is_under_way(void **state)
{
    (void)state;
    struct net_graph graph = {0};
    struct net_link like = {.latency_ps = 500, .bytes_per_s = 1000000000000, .credits = MESSAGE_MOST};
    struct storm storm = {.endpoints = 2, .messages = 10, .wire_bytes = 100};
    add_endpoints(&graph, 2, false);
    join(&graph, 0, 1, &like);
    assert_int_equal(run_storm(&graph, &storm, 1).last_at, 9 * 1000 + 500 + 100);
    net_graph_fini(&graph);
}

/* ---- virtual networks ---- */

/* node0 sends; node1 has room for some messages of each virtual network, and is never done with those of
 * network 0. */
static void sender_event(struct component *self, void *at, const struct event *event)
{
    struct port *port = component_port(self, 0);
    (void)at, (void)event;
    for (uint32_t i = 0; i < 20; i++) {
        struct letter letter = {.head = {.to = 1, .network = (uint8_t)(i >= 10)}};
        assert_true(port_send_sized(port, 1 - port_plug(port), 0, 1, &letter, sizeof letter, 100));
    }
}

static void taker_arrive(struct component *self, void *at, struct port *port)
{
    uint64_t *received = at;
    struct letter letter;
    (void)self;
    memcpy(&letter, port_head(port)->payload, sizeof letter);
    received[letter.head.network]++;
    port_pop(port);
    if (letter.head.network)
        network_took(port, letter.head.network);
}

static const struct component_ops sender_ops = {
    .type = "sender", .start = endpoint_start, .event = sender_event, .arrive = taker_arrive};
static const struct component_ops taker_ops = {.type = "taker", .arrive = taker_arrive};

static void a_full_virtual_network_stops_no_other(void **state)
{
    (void)state;
    struct net_graph graph = {0};
    struct net_link like = {.latency_ps = 500, .bytes_per_s = 1000000000000, .credits = MESSAGE_MOST};
    struct err err = {""};
    struct component *ends[2];
    add_endpoints(&graph, 2, false);
    uint32_t hub = net_add_node(&graph, &(struct net_node){.name = "hub", .forwards = true});
    join(&graph, 0, hub, &like);
    join(&graph, hub, 1, &like);
    struct engine *engine = engine_new(&(struct engine_spec){.payload_bytes = PAYLOAD});
    struct network *network =
        network_new(engine, &graph,
                    &(struct network_spec){.payload_bytes = MESSAGE_MOST, .networks = 2, .room = 2}, &err);
    assert_non_null(network);
    for (uint32_t i = 0; i < 2; i++) {
        struct island *island = engine_island(engine, graph.nodes[i].name);
        ends[i] = engine_component(engine, island, graph.nodes[i].name, i ? &taker_ops : &sender_ops, NULL,
                                   2 * sizeof(uint64_t), "fabric");
        assert_true(network_attach(network, i, island, component_port(ends[i], 0), &err));
    }
    assert_true(network_ready(network, &err) && engine_ready(engine, &err));
    assert_int_equal(engine_run(engine, &(struct engine_run){.until = TIME_NEVER}, &err), ENGINE_FAILED);
    assert_non_null(strstr(err.text, "fabric.node0 waits for room for 6 messages")); /* and one at each hop */
    const uint64_t *received = component_state(ends[1]);
    assert_int_equal(received[0], 2);
    assert_int_equal(received[1], 10);
    engine_free(engine);
    network_free(network);
    net_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(routes_of_any_graph_have_no_circles),
                                       cmocka_unit_test(a_circle_of_ways_is_found),
                                       cmocka_unit_test(a_circle_through_endpoints_is_found),
                                       cmocka_unit_test(a_graph_in_pieces_is_refused),
                                       cmocka_unit_test(storms_pass_any_network),
                                       cmocka_unit_test(a_way_has_latency_and_bandwidth),
                                       cmocka_unit_test(a_bus_does_one_thing_at_a_time),
                                       cmocka_unit_test(credits_bound_what_is_under_way),
                                       cmocka_unit_test(a_full_virtual_network_stops_no_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
