#include "net/routes.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* Of links with the same latency, the faster one is shorter: the time of a line counts, too. */
enum { LINE_BYTES = 128 };

static uint64_t link_cost(const struct net_link *link)
{
    uint64_t bytes = net_wire_bytes(link, LINE_BYTES);
    uint64_t takes =
        link->bytes_per_s ? (uint64_t)((unsigned __int128)bytes * 1000000000000 / link->bytes_per_s) : 0;
    return link->latency_ps + takes;
}

/* Of the nodes that are not settled, the nearest; NET_NONE when the rest is out of reach. */
static int nearest(const uint64_t *distance, const bool *settled, uint32_t nodes)
{
    int best = NET_NONE;
    for (uint32_t i = 0; i < nodes; i++)
        if (!settled[i] && distance[i] != UINT64_MAX &&
            (best == NET_NONE || distance[i] < distance[(uint32_t)best]))
            best = (int)i;
    return best;
}

/* The shortest ways of all nodes to one (Dijkstra). Of ways of the same length, nodes take different ones. */
static void find_ways_to(struct net_routes *routes, const struct net_graph *graph, uint32_t to,
                         uint64_t *distance, bool *settled)
{
    uint32_t nodes = routes->nodes;
    for (uint32_t i = 0; i < nodes; i++) {
        distance[i] = UINT64_MAX;
        settled[i] = false;
        routes->out[(size_t)i * nodes + to] = NET_NONE;
    }
    distance[to] = 0;
    for (int at; (at = nearest(distance, settled, nodes)) != NET_NONE;) {
        uint32_t node = (uint32_t)at;
        settled[node] = true;
        if (node != to && !graph->nodes[node].forwards)
            continue; /* nothing goes through it */
        for (size_t i = 0; i < graph->link_count; i++) {
            const struct net_link *link = &graph->links[i];
            if (link->ends[0] != node && link->ends[1] != node)
                continue;
            uint32_t before = net_other_end(link, node);
            uint64_t through = node == to ? 0 : graph->nodes[node].latency_ps;
            uint64_t length = distance[node] + through + link_cost(link);
            bool as_short = length == distance[before] && !settled[before] && (i + before + to) % 2;
            if (length < distance[before] || as_short) {
                distance[before] = length;
                routes->out[(size_t)before * nodes + to] = (int)i;
            }
        }
    }
}

/* ---- layers ---- */

/* A link one way is a channel. depends[a * channels + b]: a way of the layer goes from a on to b. */
struct dependencies {
    uint32_t channels;
    bool *on[NET_LAYERS_MOST];
};

static uint32_t channel(const struct net_graph *graph, int link, uint32_t from)
{
    return 2 * (uint32_t)link + (graph->links[link].ends[1] == from);
}

/* Whether `goal` can be reached from a channel. */
static bool reaches(const struct dependencies *all, uint32_t layer, uint32_t from, uint32_t goal, bool *seen)
{
    if (from == goal)
        return true;
    seen[from] = true;
    for (uint32_t next = 0; next < all->channels; next++)
        if (all->on[layer][(size_t)from * all->channels + next] && !seen[next] &&
            reaches(all, layer, next, goal, seen))
            return true;
    return false;
}

/* The way of a pair, one dependency after the other: the number of links on it. */
static uint32_t way_of(const struct net_routes *routes, const struct net_graph *graph, uint32_t from,
                       uint32_t to, uint32_t *channels)
{
    uint32_t count = 0;
    for (uint32_t node = from; node != to;) {
        int link = net_out(routes, node, to);
        channels[count++] = channel(graph, link, node);
        node = net_other_end(&graph->links[link], node);
    }
    return count;
}

/* Adds the way to a layer, unless that closes a circle. */
static bool fits(struct dependencies *all, uint32_t layer, const uint32_t *way, uint32_t count, bool *seen)
{
    if (!all->on[layer])
        all->on[layer] = mem_alloc((size_t)all->channels * all->channels, sizeof(bool));
    for (uint32_t i = 0; i + 1 < count; i++) {
        bool *depends = &all->on[layer][(size_t)way[i] * all->channels + way[i + 1]];
        if (*depends)
            continue;
        memset(seen, 0, all->channels);
        if (reaches(all, layer, way[i + 1], way[i], seen)) {
            return false; /* what was added of this way does no harm: it has no circle */
        }
        *depends = true;
    }
    return true;
}

static bool find_layers(struct net_routes *routes, const struct net_graph *graph, struct err *err)
{
    struct dependencies all = {.channels = 2 * (uint32_t)graph->link_count};
    uint32_t *way = mem_alloc(routes->nodes + 1, sizeof *way);
    bool *seen = mem_alloc(all.channels + 1, sizeof *seen), good = true;
    routes->layers = 1;
    for (uint32_t pair = 0; pair < routes->nodes * routes->nodes && good; pair++) {
        uint32_t from = pair / routes->nodes, to = pair % routes->nodes, layer = 0;
        if (from == to || !graph->nodes[from].is_endpoint || !graph->nodes[to].is_endpoint)
            continue;
        uint32_t count = way_of(routes, graph, from, to, way);
        while (layer < NET_LAYERS_MOST && !fits(&all, layer, way, count, seen))
            layer++;
        good =
            layer < NET_LAYERS_MOST ||
            err_set(err, "fabric: the ways of its messages need more than %d layers to be free of deadlock",
                    NET_LAYERS_MOST);
        routes->layer[pair] = (uint8_t)layer;
        routes->layers = (uint32_t)max_u64(routes->layers, layer + 1);
    }
    for (uint32_t i = 0; i < NET_LAYERS_MOST; i++)
        mem_free(all.on[i]);
    mem_free(way);
    mem_free(seen);
    return good;
}

static bool check_reach(const struct net_routes *routes, const struct net_graph *graph, struct err *err)
{
    for (uint32_t from = 0; from < routes->nodes; from++)
        for (uint32_t to = 0; to < routes->nodes; to++)
            if (from != to && graph->nodes[from].is_endpoint && graph->nodes[to].is_endpoint &&
                net_out(routes, from, to) == NET_NONE)
                return err_set(err, "fabric: there is no way from %s to %s", graph->nodes[from].name,
                               graph->nodes[to].name);
    return true;
}

bool net_routes_find(struct net_routes *routes, const struct net_graph *graph, struct err *err)
{
    size_t nodes = graph->node_count;
    *routes = (struct net_routes){.nodes = (uint32_t)nodes,
                                  .out = mem_alloc(nodes * nodes + 1, sizeof *routes->out),
                                  .layer = mem_alloc(nodes * nodes + 1, sizeof *routes->layer)};
    uint64_t *distance = mem_alloc(nodes + 1, sizeof *distance);
    bool *settled = mem_alloc(nodes + 1, sizeof *settled);
    for (uint32_t to = 0; to < nodes; to++)
        find_ways_to(routes, graph, to, distance, settled);
    mem_free(distance);
    mem_free(settled);
    if (check_reach(routes, graph, err) && find_layers(routes, graph, err))
        return true;
    net_routes_fini(routes);
    return false;
}

void net_routes_fini(struct net_routes *routes)
{
    mem_free(routes->out);
    mem_free(routes->layer);
    *routes = (struct net_routes){0};
}

uint64_t net_way_latency(const struct net_routes *routes, const struct net_graph *graph, uint32_t from,
                         uint32_t to)
{
    uint64_t sum = 0;
    for (uint32_t node = from; node != to;) {
        const struct net_link *link = &graph->links[net_out(routes, node, to)];
        sum += link->latency_ps;
        node = net_other_end(link, node);
        sum += node == to ? 0 : graph->nodes[node].latency_ps;
    }
    return sum;
}

static uint64_t link_bandwidth(const struct net_link *link, uint32_t payload_bytes)
{
    if (!payload_bytes)
        return link->bytes_per_s;
    return (uint64_t)((unsigned __int128)link->bytes_per_s * payload_bytes /
                      net_wire_bytes(link, payload_bytes));
}

uint64_t net_way_bandwidth(const struct net_routes *routes, const struct net_graph *graph, uint32_t from,
                           uint32_t to, uint32_t payload_bytes)
{
    uint64_t least = 0;
    for (uint32_t node = from; node != to;) {
        const struct net_link *link = &graph->links[net_out(routes, node, to)];
        uint64_t bandwidth = link_bandwidth(link, payload_bytes);
        if (bandwidth && (!least || bandwidth < least))
            least = bandwidth;
        node = net_other_end(link, node);
    }
    return least;
}
