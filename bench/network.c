/* Any network, from a description: nodes that send, pass on and take messages, and links between them. It
 * exercises all that links can do, and is what the engine's tests make random systems of.
 *
 *   [node.a]
 *   sends = 100                 # messages that start here
 *   [link.ab]
 *   ends = a.right b.left       # ports NODE.NAME, two or more
 *   latency = 5ns
 *   credits = 4
 */
#include "bench/models.h"
#include "base/mem.h"
#include "base/rng.h"

#define NODE_PARAMS(P, S)                                                                                    \
    P(S, text, island, "", "", "the island it is on; not given: one of its own")                             \
    P(S, count, sends, "0", "0..1000000000", "messages that start here")                                     \
    P(S, time, interval, "10ns", "1ps..1s", "between two of them, on average")                               \
    P(S, count, hops, "0", "0..1000", "how often such a message is passed on at random")                     \
    P(S, count, payload, "8", "8..24", "bytes of it")                                                        \
    P(S, time, service, "0", "0..1s", "time to take one message or pass it on")                              \
    P(S, flag, takes, "yes", "", "no: messages are left in the ports (to see the report of a stall)")

struct node_spec {
    NODE_PARAMS(PARAM_FIELD, node_spec)
};

#define LINK_PARAMS(P, S)                                                                                    \
    P(S, text, ends, "", "", "the ports it connects, NODE.PORT, separated by blanks")                        \
    P(S, time, latency, "10ns", "0..1s", "above 0 between islands")                                          \
    P(S, rate, bandwidth, "0", "", "of each plug; 0: no limit")                                              \
    P(S, count, overhead, "0", "0..65536", "bytes that travel with each message")                            \
    P(S, count, credits, "0", "0..65535",                                                                    \
      "messages a plug may have under way or queued at another; 0: no limit")

struct network_link_spec {
    LINK_PARAMS(PARAM_FIELD, network_link_spec)
};

#define NETWORK_PARAMS(P, S) P(S, time, time, "1s", "1ps..1000s", "the longest that is simulated")

struct network_spec {
    NETWORK_PARAMS(PARAM_FIELD, network_spec)
};

PARAM_GROUP(network_params, "network", "the network benchmark", network_spec, NETWORK_PARAMS);
PARAM_GROUP(node_params, "node.*", "a node of the network", node_spec, NODE_PARAMS);
PARAM_GROUP(link_params, "link.*", "a link of the network", network_link_spec, LINK_PARAMS);

#define NODE_STATS(X, S)                                                                                     \
    X(S, sent, "messages", "messages that started here")                                                     \
    X(S, passed, "messages", "messages passed on")                                                           \
    X(S, taken, "messages", "messages that ended here")                                                      \
    X(S, refused, "attempts", "sends that found no credit")

enum { MOST_PORTS = 64 };

struct node {
    NODE_STATS(STAT_FIELD, node)
    struct rng rng;
    uint64_t busy_until;
    uint64_t hops_left;                      /* of the message that waits to start here */
    uint32_t start_port, start_to, starting; /* where it goes; whether there is one */
    struct {
        uint32_t chosen, port, to; /* where the first message of this input goes, once it was drawn */
    } next[MOST_PORTS];
    uint32_t ports, spare;
};

STAT_TABLE(node_stats, node, NODE_STATS);

enum { EVENT_START = 1 };

struct parcel {
    uint64_t hops_left;
    uint64_t more[2];
};

static void draw_target(struct component *self, struct node *node, uint32_t *port, uint32_t *to)
{
    *port = (uint32_t)rng_below(&node->rng, node->ports);
    struct port *through = component_port(self, *port);
    *to = (uint32_t)rng_below(&node->rng, port_plugs(through) - 1);
    *to += *to >= port_plug(through);
}

static bool send_parcel(struct component *self, struct node *node, uint32_t port, uint32_t to,
                        uint64_t hops_left)
{
    const struct node_spec *spec = component_spec(self);
    struct parcel parcel = {.hops_left = hops_left, .more = {component_now(self), node->sent}};
    if (port_send(component_port(self, port), to, 0, 0, &parcel, (uint16_t)spec->payload))
        return true;
    node->refused++;
    return false;
}

static void schedule_start(struct component *self, struct node *node)
{
    const struct node_spec *spec = component_spec(self);
    if (node->sent < spec->sends && node->ports)
        component_schedule(self, 1 + rng_exponential(&node->rng, spec->interval), EVENT_START, "", 0);
}

static void try_to_start(struct component *self, struct node *node)
{
    if (!node->starting || !send_parcel(self, node, node->start_port, node->start_to, node->hops_left))
        return;
    node->starting = 0;
    node->sent++;
    schedule_start(self, node);
}

/* Takes the first message of an input or passes it on; false when it has to stay. */
static bool take_one(struct component *self, struct node *node, uint32_t input)
{
    const struct node_spec *spec = component_spec(self);
    struct port *port = component_port(self, input);
    const struct event *head = port_head(port);
    if (!head || !spec->takes)
        return false;
    if (component_now(self) < node->busy_until) {
        component_wake(self, node->busy_until);
        return false;
    }
    uint64_t hops_left;
    memcpy(&hops_left, head->payload, sizeof hops_left);
    if (hops_left) {
        if (!node->next[input].chosen) {
            draw_target(self, node, &node->next[input].port, &node->next[input].to);
            node->next[input].chosen = 1;
        }
        if (!send_parcel(self, node, node->next[input].port, node->next[input].to, hops_left - 1))
            return false;
        node->next[input].chosen = 0;
        node->passed++;
    } else {
        node->taken++;
    }
    port_pop(port);
    node->busy_until = component_now(self) + spec->service;
    return true;
}

static void go_on(struct component *self, struct node *node)
{
    try_to_start(self, node);
    for (uint32_t i = 0; i < node->ports; i++) {
        while (take_one(self, node, i))
            ;
    }
}

static void node_start(struct component *self, void *state)
{
    struct node *node = state;
    rng_init(&node->rng, component_seed(self), component_name(self));
    schedule_start(self, node);
}

static void node_event(struct component *self, void *state, const struct event *event)
{
    struct node *node = state;
    (void)event;
    draw_target(self, node, &node->start_port, &node->start_to);
    node->hops_left = ((const struct node_spec *)component_spec(self))->hops;
    node->starting = 1;
    try_to_start(self, node);
}

static void node_arrive(struct component *self, void *state, struct port *port)
{
    while (take_one(self, state, port_number(port)))
        ;
}

static void node_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    (void)port, (void)plug;
    go_on(self, state);
}

static void node_wake(struct component *self, void *state)
{
    go_on(self, state);
}

static const struct component_ops node_ops = {.type = "node",
                                              .start = node_start,
                                              .event = node_event,
                                              .arrive = node_arrive,
                                              .ready = node_ready,
                                              .wake = node_wake,
                                              .stats = &node_stats};

/* ---- from the description ---- */

enum { NAME_BYTES = 4096 }; /* no line of a description is longer */

struct built_node {
    const char *name; /* behind "node." */
    struct component *component;
    struct text ports; /* "left,right" */
};

struct builder {
    struct bench_model *model;
    const struct config *config;
    struct built_node *nodes;
    size_t count;
};

static const char *name_behind(const char *section)
{
    return strchr(section, '.') + 1;
}

/* Splits the next NODE.PORT off `ends`; false at the end of the list. */
static bool next_end(const char **ends, char node[NAME_BYTES], char port[NAME_BYTES])
{
    const char *at = *ends + strspn(*ends, " \t,");
    size_t length = strcspn(at, " \t,");
    *ends = at + length;
    const char *dot = memchr(at, '.', length);
    node[0] = port[0] = 0;
    if (!length)
        return false;
    snprintf(node, NAME_BYTES, "%.*s", (int)(dot ? dot - at : (long)length), at);
    if (dot)
        snprintf(port, NAME_BYTES, "%.*s", (int)(at + length - dot - 1), dot + 1);
    return true;
}

static struct built_node *find_node(struct builder *b, const char *link, const char *node, const char *port,
                                    struct err *err)
{
    if (!*port) {
        err_set(err, "%s: expected NODE.PORT in ends, not '%s'", link, node);
        return NULL;
    }
    for (size_t i = 0; i < b->count; i++) {
        if (strcmp(b->nodes[i].name, node) == 0)
            return &b->nodes[i];
    }
    err_set(err, "%s: ends names '%s.%s', but there is no [node.%s]", link, node, port, node);
    return NULL;
}

/* The number of this port among the node's, or -1. */
static int port_index(const struct built_node *node, const char *port)
{
    int index = 0;
    for (const char *at = node->ports.at; at && *at; index++) {
        size_t length = strcspn(at, ",");
        if (strlen(port) == length && !memcmp(at, port, length))
            return index;
        at += length + (at[length] == ',');
    }
    return -1;
}

static bool collect_ports(struct builder *b, struct err *err)
{
    const char *section;
    for (size_t i = 0; (section = config_section(b->config, &link_params, i)); i++) {
        struct network_link_spec spec;
        char node_name[NAME_BYTES], port[NAME_BYTES];
        config_fill(b->config, &link_params, section, &spec);
        for (const char *ends = spec.ends; next_end(&ends, node_name, port);) {
            struct built_node *node = find_node(b, section, node_name, port, err);
            if (!node)
                return false;
            if (port_index(node, port) < 0)
                text_add(&node->ports, "%s%s", node->ports.length ? "," : "", port);
        }
    }
    return true;
}

static struct island *island_of(struct builder *b, struct island **islands, struct node_spec *specs,
                                size_t index)
{
    const char *wanted = *specs[index].island ? specs[index].island : b->nodes[index].name;
    for (size_t i = 0; i < index; i++) {
        const char *other = *specs[i].island ? specs[i].island : b->nodes[i].name;
        if (strcmp(wanted, other) == 0)
            return islands[i];
    }
    return engine_island(b->model->engine, wanted);
}

static bool make_nodes(struct builder *b, struct err *err)
{
    struct node_spec *specs = b->model->specs = mem_alloc(b->count, sizeof *specs);
    struct island **islands = mem_alloc(b->count, sizeof *islands);
    bool good = true;
    for (size_t i = 0; good && i < b->count; i++) {
        struct built_node *node = &b->nodes[i];
        config_fill(b->config, &node_params, config_section(b->config, &node_params, i), &specs[i]);
        islands[i] = island_of(b, islands, specs, i);
        const char *ports = node->ports.length ? node->ports.at : "";
        node->component = engine_component(b->model->engine, islands[i], node->name, &node_ops, &specs[i],
                                           sizeof(struct node), ports);
        struct node *state = component_state(node->component);
        state->ports = *ports != 0;
        for (const char *at = ports; *at; at++)
            state->ports += *at == ',';
        if (!state->ports && specs[i].sends)
            good = err_set(err, "node %s sends messages, but no link has a port of it", node->name);
        if (state->ports > MOST_PORTS)
            good = err_set(err, "node %s has %u ports: at most %d are possible", node->name, state->ports,
                           MOST_PORTS);
    }
    mem_free(islands);
    return good;
}

static bool make_link(struct builder *b, const char *section, struct err *err)
{
    struct network_link_spec spec;
    char node_name[NAME_BYTES], port[NAME_BYTES];
    config_fill(b->config, &link_params, section, &spec);
    struct link *link = engine_link(b->model->engine, name_behind(section),
                                    &(struct link_spec){.latency_ps = spec.latency,
                                                        .bytes_per_s = spec.bandwidth,
                                                        .overhead_bytes = (uint32_t)spec.overhead,
                                                        .credits = (uint32_t)spec.credits});
    for (const char *ends = spec.ends; next_end(&ends, node_name, port);) {
        struct built_node *node = find_node(b, section, node_name, port, err);
        if (!link_plug(link, component_port(node->component, (uint32_t)port_index(node, port)), err))
            return false;
    }
    return true;
}

static bool network_build(struct bench_model *model, const struct config *config, struct err *err)
{
    struct builder b = {.model = model, .config = config};
    struct network_spec spec;
    config_fill(config, &network_params, "network", &spec);
    model->until = spec.time;
    while (config_section(config, &node_params, b.count))
        b.count++;
    b.nodes = mem_alloc(b.count, sizeof *b.nodes);
    for (size_t i = 0; i < b.count; i++)
        b.nodes[i].name = name_behind(config_section(config, &node_params, i));
    bool good = collect_ports(&b, err) && make_nodes(&b, err);
    const char *section;
    for (size_t i = 0; good && (section = config_section(config, &link_params, i)); i++)
        good = make_link(&b, section, err);
    for (size_t i = 0; i < b.count; i++)
        text_fini(&b.nodes[i].ports);
    mem_free(b.nodes);
    return good;
}

static const struct param_group *const groups[] = {&network_params, &node_params, &link_params, NULL};
static const struct component_ops *const types[] = {&node_ops, NULL};

const struct bench network_bench = {.name = "network",
                                    .help = "any network of nodes and links, from a description",
                                    .groups = groups,
                                    .types = types,
                                    .build = network_build,
                                    .described = true};
