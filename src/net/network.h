/* A network in time: a router for each node of a graph, on links of the engine.
 *
 *   struct network *net = network_new(engine, &graph, &(struct network_spec){payload_bytes}, err);
 *   network_attach(net, 0, island_of_gpu_0, its_port, err);     ... each endpoint
 *   network_ready(net, err);                                    before engine_ready
 *
 * An endpoint sends messages to the only other plug of its port's link, and gets those that are for it from
 * there. The first bytes of a message are a struct net_head. Its size on the wire is that of port_send_sized;
 * each link adds its overhead and rounds it up to whole flits.
 *
 * A router forwards a message when its link is free and the other end has room for all of it; the message's
 * end may still be on its way (cut-through). Room is counted in flits, for each layer of routes
 * (net/routes.h) and virtual network, and comes back as credits. Endpoints take what arrives at once, or have
 * room for some messages of each virtual network. Of several messages for a link, those of different inputs,
 * layers and virtual networks take turns. */
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

#include "base/probe.h"
#include "engine/engine.h"
#include "net/message.h"
#include "net/routes.h"

struct network;

struct network_spec {
    uint32_t payload_bytes; /* of the longest message */
    uint32_t networks;      /* virtual networks: a full one stops no other; 0: one */
    uint32_t room; /* messages of each virtual network that an endpoint has room for; 0: any number */
    /* Bits, by virtual network: before an endpoint takes a message of this one, it may wait for messages that
     * travel on those. NULL: it waits for none. */
    const uint32_t *waits_for;
    const struct probe *probe; /* who is told of messages on links; NULL: nobody */
};

enum { NETWORK_VIRTUAL_MOST = 16 };

/* The graph is copied. NULL: there cannot be such a network. One is that messages could wait for each other
 * in a circle (net/circles.h); err names the circle. */
struct network *network_new(struct engine *engine, const struct net_graph *graph,
                            const struct network_spec *spec, struct err *err);
void network_free(struct network *network); /* after the engine */

/* `island` is where the endpoint's component is. */
bool network_attach(struct network *network, uint32_t node, struct island *island, struct port *port,
                    struct err *err);
bool network_ready(struct network *network, struct err *err);

/* Where there are ranks: which one each switch is on, by node; before network_ready. */
void network_place(struct network *network, const uint32_t *ranks);

/* An endpoint with bounded room says at its port that the room of a message is free again. */
void network_took(struct port *port, uint32_t virtual_network);

const struct net_graph *network_graph(const struct network *network);
const struct net_routes *network_routes(const struct network *network);

/* What passed over a link so far, from its first end to the other, and back. */
struct net_traffic {
    uint64_t messages, bytes, busy_ps; /* bytes with overhead */
};
struct net_traffic network_traffic(const struct network *network, uint32_t link, bool back);

#endif
