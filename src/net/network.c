#include "net/router.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/circles.h"

struct network {
    struct engine *engine;
    struct net_graph graph;
    struct net_routes routes;
    struct network_spec spec;
    struct router **routers; /* by node */
};

static void copy_graph(struct net_graph *to, const struct net_graph *from)
{
    for (size_t i = 0; i < from->node_count; i++)
        net_add_node(to, &from->nodes[i]);
    for (size_t i = 0; i < from->link_count; i++)
        net_add_link(to, &from->links[i]);
}

static void router_free(struct router *router)
{
    if (!router)
        return;
    mem_free(router->links);
    mem_free(router->out_of_link);
    mem_free(router->store);
    mem_free(router);
}

void network_free(struct network *network)
{
    if (!network)
        return;
    for (size_t i = 0; i < network->graph.node_count; i++)
        router_free(network->routers[i]);
    mem_free(network->routers);
    net_routes_fini(&network->routes);
    net_graph_fini(&network->graph);
    mem_free(network);
}

/* Of the latency of a node that passes messages on, each of its links has one half. */
static uint64_t latency_of(const struct network *network, const struct net_link *link)
{
    uint64_t sum = link->latency_ps;
    for (int end = 0; end < 2; end++) {
        const struct net_node *node = &network->graph.nodes[link->ends[end]];
        sum += node->forwards ? node->latency_ps / 2 : 0;
    }
    return sum;
}

/* Of the longest message. */
static uint32_t flits_most(const struct network *network, const struct net_link *link)
{
    return net_wire_bytes(link, network->spec.payload_bytes) / (link->flit_bytes ? link->flit_bytes : 1);
}

static bool check_credits(const struct network *network, struct err *err)
{
    for (size_t i = 0; i < network->graph.link_count; i++) {
        const struct net_link *link = &network->graph.links[i];
        if (net_credits(link, latency_of(network, link)) < flits_most(network, link))
            return err_set(err, "%s: the link '%s' has %u credits, and a message may have %u flits",
                           link->where ? link->where : "fabric", link->name, link->credits,
                           flits_most(network, link));
    }
    return true;
}

static bool check_circles(const struct network *network, struct err *err)
{
    struct net_circle circle = {0};
    struct text text = {0};
    if (!net_find_circle(&network->graph, &network->routes, network->spec.networks, network->spec.waits_for,
                         &circle))
        return true;
    net_print_circle(&network->graph, &circle, &text);
    err_set(err, "fabric: messages could wait for each other for ever: %s", text.at);
    text_fini(&text);
    net_circle_fini(&circle);
    return false;
}

struct network *network_new(struct engine *engine, const struct net_graph *graph,
                            const struct network_spec *spec, struct err *err)
{
    struct network *network = mem_alloc(1, sizeof *network);
    network->engine = engine;
    network->spec = *spec;
    network->spec.networks = spec->networks ? spec->networks : 1;
    network->spec.probe = spec->probe ? spec->probe : &probe_of_nobody;
    REQUIRE(network->spec.networks <= NETWORK_VIRTUAL_MOST);
    copy_graph(&network->graph, graph);
    network->routers = mem_alloc(graph->node_count, sizeof *network->routers);
    if (net_check(graph, err) && net_routes_find(&network->routes, graph, err) &&
        check_credits(network, err) && check_circles(network, err))
        return network;
    network_free(network);
    return NULL;
}

static void add_links(struct router *router, const struct network *network)
{
    const struct net_graph *graph = &network->graph;
    uint32_t degree = net_degree(graph, router->node);
    router->links = mem_alloc(degree + 1, sizeof *router->links);
    router->out_of_link = mem_alloc(graph->link_count + 1, 1);
    for (uint32_t i = 0; i < graph->link_count; i++) {
        const struct net_link *link = &graph->links[i];
        if (link->ends[0] != router->node && link->ends[1] != router->node)
            continue;
        uint32_t credits = net_credits(link, latency_of(network, link));
        router->out_of_link[i] = (uint8_t)router->link_count;
        router->links[router->link_count++] =
            (struct router_link){.link = i,
                                 .byte_fs = link->bytes_per_s ? 1000 * PS_PER_SECOND / link->bytes_per_s : 0,
                                 .credits = credits,
                                 .owes = (uint32_t)min_u64(credits / 4, credits - flits_most(network, link)),
                                 .flit_bytes = link->flit_bytes ? link->flit_bytes : 1};
    }
    if (graph->nodes[router->node].is_endpoint)
        router->links[router->link_count++] =
            (struct router_link){.is_local = true, .credits = network->spec.room, .flit_bytes = 1};
}

static struct router *router_new(struct network *network, uint32_t node, struct island *island)
{
    struct router *router = mem_alloc(1, sizeof *router);
    *router = (struct router){.self = router,
                              .network = network,
                              .probe = network->spec.probe,
                              .node = node,
                              .layers = network->routes.layers,
                              .channels = network->routes.layers * network->spec.networks,
                              .is_bus = network->graph.nodes[node].is_bus,
                              .waiting_bytes =
                                  (sizeof(struct net_waiting) + network->spec.payload_bytes + 7) / 8 * 8};
    add_links(router, network);
    struct text name = {0}, ports = {0};
    text_add(&name, "fabric.%s", network->graph.nodes[node].name);
    for (uint32_t i = 0; i < router->link_count; i++)
        text_add(&ports, "%slink%u", i ? "," : "", i);
    if (!island)
        island = engine_island(network->engine, name.at);
    router->component = engine_component(network->engine, island, name.at, &router_ops, &router->self,
                                         router_state_bytes(router), ports.at);
    router_start(router);
    text_fini(&name);
    text_fini(&ports);
    return network->routers[node] = router;
}

bool network_attach(struct network *network, uint32_t node, struct island *island, struct port *port,
                    struct err *err)
{
    struct router *router = router_new(network, node, island);
    struct text name = {0};
    text_add(&name, "fabric.%s.local", network->graph.nodes[node].name);
    struct link *link = engine_link(network->engine, name.at, &(struct link_spec){0});
    text_fini(&name);
    return link_plug(link, port, err) &&
           link_plug(link, component_port(router->component, router->link_count - 1), err);
}

static bool plug(const struct network *network, struct link *link, uint32_t node, uint32_t number,
                 struct err *err)
{
    const struct router *router = network->routers[node];
    return link_plug(link, component_port(router->component, router->out_of_link[number]), err);
}

static bool connect(struct network *network, uint32_t number, struct err *err)
{
    const struct net_link *link = &network->graph.links[number];
    struct text name = {0};
    text_add(&name, "fabric.link.%s", link->name);
    struct link *wires =
        engine_link(network->engine, name.at,
                    &(struct link_spec){.latency_ps = latency_of(network, link), .where = link->where});
    text_fini(&name);
    return plug(network, wires, link->ends[0], number, err) &&
           plug(network, wires, link->ends[1], number, err);
}

bool network_ready(struct network *network, struct err *err)
{
    for (uint32_t i = 0; i < network->graph.node_count; i++)
        if (!network->routers[i])
            router_new(network, i, NULL);
    for (uint32_t i = 0; i < network->graph.link_count; i++)
        if (!connect(network, i, err))
            return false;
    return true;
}

void network_place(struct network *network, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < network->graph.node_count; i++)
        if (!network->routers[i]) {
            engine_rank(network->engine, ranks[i]);
            router_new(network, i, NULL);
        }
    engine_rank(network->engine, 0);
}

const struct net_graph *network_graph(const struct network *network)
{
    return &network->graph;
}

const struct net_routes *network_routes(const struct network *network)
{
    return &network->routes;
}

struct net_traffic network_traffic(const struct network *network, uint32_t link, bool back)
{
    const struct router *router = network->routers[network->graph.links[link].ends[back]];
    return router_out(router, router->out_of_link[link])->traffic;
}
