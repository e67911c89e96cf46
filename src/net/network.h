/* A network in time: a router for each node of a graph, on links of the engine.
 *
 *   struct network *net = network_new(engine, &graph, payload_bytes, err);
 *   network_attach(net, 0, island_of_gpu_0, its_port, err);     ... each endpoint
 *   network_ready(net, err);                                    before engine_ready
 *
 * An endpoint sends messages to the only other plug of its port's link, and gets those that are for it from
 * there. The first bytes of a message are a struct net_head. Its size on the wire is that of port_send_sized;
 * each link adds its overhead and rounds it up to whole flits.
 *
 * A router forwards a message when its link is free and the other end has room for all of it; the message's
 * end may still be on its way (cut-through). Room is counted in flits, for each layer of routes
 * (net/routes.h), and comes back as credits. Endpoints take what arrives at once. Of several messages for a
 * link, those of different inputs take turns. */
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

#include "engine/engine.h"
#include "net/message.h"
#include "net/routes.h"

struct network;

/* The graph is copied. False: there cannot be such a network. */
struct network *network_new(struct engine *engine, const struct net_graph *graph, uint32_t payload_bytes,
                            struct err *err);
void network_free(struct network *network); /* after the engine */

/* `island` is where the endpoint's component is. */
bool network_attach(struct network *network, uint32_t node, struct island *island, struct port *port,
                    struct err *err);
bool network_ready(struct network *network, struct err *err);

const struct net_graph *network_graph(const struct network *network);
const struct net_routes *network_routes(const struct network *network);

/* What passed over a link so far, from its first end to the other, and back. */
struct net_traffic {
    uint64_t messages, bytes, busy_ps; /* bytes with overhead */
};
struct net_traffic network_traffic(const struct network *network, uint32_t link, bool back);

#endif
