/* Circles of channels that could wait for each other for ever. Pure.
 *
 * A channel is a link one way, in a layer of routes and a virtual network: messages there share room. A
 * message waits in its channel for room in the next one of its way; and at the end of its way, an endpoint
 * may take it only when messages of other virtual networks have come or gone. Without a circle of such waits,
 * what waits comes to an end. net/routes.h chooses layers such that ways alone make none; this looks at what
 * came out, endpoints included. */
#ifndef NET_CIRCLES_H
#define NET_CIRCLES_H

#include "net/routes.h"

struct text;

struct net_channel {
    uint32_t link, layer, network;
    bool back; /* from the link's second end to its first */
};

struct net_circle {
    struct net_channel *channels; /* each waits for the next one, and the last for the first */
    size_t count;
};

/* Whether there is a circle; then one is given, until net_circle_fini. `waits_for` is by virtual network:
 * bits of those that endpoints may wait for before they take a message of this one; NULL: endpoints take all.
 */
bool net_find_circle(const struct net_graph *graph, const struct net_routes *routes, uint32_t networks,
                     const uint32_t *waits_for, struct net_circle *circle);
void net_circle_fini(struct net_circle *circle);

/* In one line; only the first ones of a long circle. */
void net_print_circle(const struct net_graph *graph, const struct net_circle *circle, struct text *text);

#endif
