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
#include "base/names.h"
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
    const char *section;
    struct component *component;
    struct names ports;
};

struct builder {
    struct bench_model *model;
    const struct config *config;
    struct built_node *nodes;
    struct names names, islands; /* the names of the nodes, by the same number; of the islands */
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
    int node_length = (int)(dot ? dot - at : (long)length);
    snprintf(node, NAME_BYTES, "%.*s", node_length, at);
    snprintf(port, NAME_BYTES, "%.*s", dot ? (int)length - node_length - 1 : 0, dot ? dot + 1 : "");
    return length > 0;
}

/* The node that an end of this link names. */
static struct built_node *find_node(struct builder *b, const char *link, const char *node, const char *port,
                                    struct err *err)
{
    const char *where = config_where(b->config, link);
    size_t number = names_find(&b->names, node);
    if (!*node || !*port || strchr(port, '.'))
        err_set(err, "%s: [%s]: expected NODE.PORT in ends, not '%.120s%s%.120s'", where, link, node,
                *port ? "." : "", port);
    else if (number == NO_NAME)
        err_set(err, "%s: [%s]: ends names %.120s.%.120s, but there is no [node.%.120s]", where, link, node,
                port, node);
    else
        return &b->nodes[number];
    return NULL;
}

static bool collect_ports(struct builder *b, struct err *err)
{
    const char *section = NULL;
    while ((section = config_next(b->config, &link_params, section))) {
        struct network_link_spec spec;
        char node_name[NAME_BYTES], port[NAME_BYTES];
        config_fill(b->config, &link_params, section, &spec);
        for (const char *ends = spec.ends; next_end(&ends, node_name, port);) {
            struct built_node *node = find_node(b, section, node_name, port, err);
            if (!node)
                return false;
            names_add(&node->ports, port);
        }
    }
    return true;
}

/* "left,right" */
static void list_ports(const struct built_node *node, struct text *list)
{
    text_add_bytes(list, "", 0);
    for (size_t i = 0; i < node->ports.count; i++)
        text_add(list, "%s%s", i ? "," : "", node->ports.at[i]);
}

static bool make_node(struct builder *b, struct built_node *node, struct node_spec *spec,
                      struct island **islands, struct err *err)
{
    const char *name = name_behind(node->section), *where = config_where(b->config, node->section);
    config_fill(b->config, &node_params, node->section, spec);
    size_t known = b->islands.count, island = names_add(&b->islands, *spec->island ? spec->island : name);
    if (island == known)
        islands[island] = engine_island(b->model->engine, b->islands.at[island]);
    struct text ports = {0};
    list_ports(node, &ports);
    node->component = engine_component(b->model->engine, islands[island], name, &node_ops, spec,
                                       sizeof(struct node), ports.at);
    text_fini(&ports);
    struct node *state = component_state(node->component);
    state->ports = (uint32_t)node->ports.count;
    if (!state->ports && spec->sends)
        return err_set(err, "%s: node %s sends messages, but no link has a port of it", where, name);
    if (state->ports > MOST_PORTS)
        return err_set(err, "%s: node %s has %u ports: at most %d are possible", where, name, state->ports,
                       MOST_PORTS);
    return true;
}

static bool make_nodes(struct builder *b, struct err *err)
{
    struct node_spec *specs = b->model->specs = mem_alloc(b->names.count, sizeof *specs);
    struct island **islands = mem_alloc(b->names.count, sizeof *islands);
    bool good = true;
    for (size_t i = 0; good && i < b->names.count; i++)
        good = make_node(b, &b->nodes[i], &specs[i], islands, err);
    mem_free(islands);
    return good;
}

static bool make_link(struct builder *b, const char *section, struct err *err)
{
    struct network_link_spec spec;
    struct err why;
    char node_name[NAME_BYTES], port[NAME_BYTES];
    config_fill(b->config, &link_params, section, &spec);
    struct link *link = engine_link(b->model->engine, name_behind(section),
                                    &(struct link_spec){.latency_ps = spec.latency,
                                                        .bytes_per_s = spec.bandwidth,
                                                        .overhead_bytes = (uint32_t)spec.overhead,
                                                        .credits = (uint32_t)spec.credits,
                                                        .where = config_where(b->config, section)});
    for (const char *ends = spec.ends; next_end(&ends, node_name, port);) {
        struct built_node *node = find_node(b, section, node_name, port, &why);
        size_t number = names_find(&node->ports, port);
        if (!link_plug(link, component_port(node->component, (uint32_t)number), err))
            return false;
    }
    return true;
}

static bool network_build(struct bench_model *model, const struct config *config, struct err *err)
{
    struct builder b = {.model = model, .config = config};
    struct network_spec spec;
    const char *section = NULL;
    config_fill(config, &network_params, "network", &spec);
    model->until = spec.time;
    while ((section = config_next(config, &node_params, section)))
        names_add(&b.names, name_behind(section));
    b.nodes = mem_alloc(b.names.count, sizeof *b.nodes);
    for (size_t i = 0; (section = config_next(config, &node_params, section)); i++)
        b.nodes[i].section = section;
    bool good = collect_ports(&b, err) && make_nodes(&b, err);
    while (good && (section = config_next(config, &link_params, section)))
        good = make_link(&b, section, err);
    for (size_t i = 0; i < b.names.count; i++)
        names_fini(&b.nodes[i].ports);
    names_fini(&b.names);
    names_fini(&b.islands);
    mem_free(b.nodes);
    return good;
}

static const struct param_group *const groups[] = {&network_params, &node_params, &link_params, NULL};
static const struct component_ops *const types[] = {&node_ops, NULL};

const struct bench bench_network = {.name = "network",
                                    .help = "any network of nodes and links, from a description",
                                    .groups = groups,
                                    .types = types,
                                    .build = network_build,
                                    .described = true};
