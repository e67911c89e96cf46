/* The router of a node, in time. For this room only. */
#ifndef NET_ROUTER_H
#define NET_ROUTER_H

#include "net/network.h"

/* What a router has at each link; constant. The endpoint's own link, if there is one, is `local`: only the
 * endpoint's room limits it. */
struct router_link {
    uint32_t link;    /* of the graph */
    uint64_t byte_fs; /* time of a byte */
    uint32_t credits; /* flits of room at the other end, of each channel; local: messages, or 0: any number */
    uint32_t owes;    /* here, so many may be free before that end is told: a message still fits the rest */
    uint32_t flit_bytes;
    bool is_local;
};

/* A message that waits: its payload follows. */
struct net_waiting {
    uint64_t there_fs;   /* when its last byte is here */
    uint32_t next;       /* in its queue, or of the free ones; plus 1 */
    uint32_t wire_bytes; /* without overhead */
    uint16_t bytes;
    uint8_t kind, out; /* the link that it leaves by: its place among the router's */
    unsigned char payload[];
};

struct router {
    struct router *self; /* what the component's spec points to: what waits is reached through it */
    const struct network *network;
    struct component *component;
    const struct probe *probe;
    uint32_t node, link_count;
    uint32_t layers, channels; /* of a link: so many layers in each virtual network */
    bool is_bus;
    struct router_link *links;
    uint8_t *out_of_link; /* by link of the graph: its place among the router's */
    char *store;          /* of struct net_waiting, each so long: */
    size_t waiting_bytes, store_count;
};

/* The component's state. A queue is an input's messages of a channel, in order. A channel is a layer in a
 * virtual network. */
struct router_out {
    uint64_t free_fs; /* when the link is free again; a bus has one, of its first link */
    uint64_t turn;    /* the queue that was served last */
    struct net_traffic traffic;
};
struct router_queue {
    uint32_t first, last; /* plus 1; 0: none */
    uint32_t credits;     /* room at the other end of the link, in this channel */
    uint32_t owed;        /* flits of messages that came by this link and left: credits to be given back */
};
struct router_state {
    uint64_t free_waiting; /* plus 1 */
    uint64_t waiting_now;
    struct router_out outs[]; /* by link; behind them, a struct router_queue for each link and channel */
};

extern const struct component_ops router_ops;
size_t router_state_bytes(const struct router *router);
const struct router_out *router_out(const struct router *router, uint32_t place);
void router_start(struct router *router); /* room at the other ends, before the first run */

#endif
