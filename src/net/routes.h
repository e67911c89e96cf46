/* Ways through a network, found from its graph: the shortest ones in time. Pure.
 *
 * They are free of deadlock. A message holds room on one link while it waits for room on the next one, so
 * links depend on each other; a circle of such dependencies could stop for ever. Each pair of endpoints gets
 * a layer, with room of its own on every link, such that the ways of a layer make no circle. */
#ifndef NET_ROUTES_H
#define NET_ROUTES_H

#include "net/graph.h"

struct net_routes {
    uint32_t nodes, layers;
    int *out;       /* [node * nodes + to]: the link by which messages for `to` leave, or NET_NONE */
    uint8_t *layer; /* [from * nodes + to] */
};

enum { NET_LAYERS_MOST = 16 };

/* False: some endpoint cannot be reached from another one, and err names both. */
bool net_routes_find(struct net_routes *routes, const struct net_graph *graph, struct err *err);
void net_routes_fini(struct net_routes *routes);

static inline int net_out(const struct net_routes *routes, uint32_t node, uint32_t to)
{
    return routes->out[(size_t)node * routes->nodes + to];
}

/* The latency of the whole way, without waiting; and the least bandwidth on it (0: no limit), for the payload
 * of messages that have so much of it each, or, without payload, for all bytes. */
uint64_t net_way_latency(const struct net_routes *routes, const struct net_graph *graph, uint32_t from,
                         uint32_t to);
uint64_t net_way_bandwidth(const struct net_routes *routes, const struct net_graph *graph, uint32_t from,
                           uint32_t to, uint32_t payload_bytes);

#endif
