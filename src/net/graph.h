/* A network as a graph: endpoints, switches, and links between two of them. Pure: no clock. */
#ifndef NET_GRAPH_H
#define NET_GRAPH_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct net_node {
    const char *name;
    bool is_endpoint;    /* messages begin and end there; else it is a switch */
    bool forwards;       /* passes on messages for others; switches do */
    bool is_bus;         /* one message at a time, whichever way */
    uint32_t ports;      /* of a switch: links that it can have; 0: any number */
    uint64_t latency_ps; /* from a link's end to the beginning of another */
    const char *where;   /* "file:line" of its description, or NULL */
};

struct net_link {
    uint32_t ends[2]; /* nodes */
    uint64_t latency_ps;
    uint64_t bytes_per_s;    /* each way; 0: no limit */
    uint32_t overhead_bytes; /* of each message */
    uint32_t flit_bytes;     /* messages are whole flits */
    uint32_t credits; /* flits that the other end has room for, of each layer; 0: as many as it needs */
    const char *name;
    const char *where;
};

struct net_graph {
    struct net_node *nodes;
    size_t node_count, node_capacity;
    struct net_link *links;
    size_t link_count, link_capacity;
};

enum { NET_NONE = -1, NET_NODES_MOST = 1024, NET_PORTS_MOST = 256 };

/* Names and places are copied. Gives the number. */
uint32_t net_add_node(struct net_graph *graph, const struct net_node *node);
uint32_t net_add_link(struct net_graph *graph, const struct net_link *link);
void net_graph_fini(struct net_graph *graph);

int net_find(const struct net_graph *graph, const char *name); /* or NET_NONE */
uint32_t net_degree(const struct net_graph *graph, uint32_t node);

static inline uint32_t net_other_end(const struct net_link *link, uint32_t node)
{
    return link->ends[link->ends[0] == node];
}

/* Bytes that a message of so many has on a link. */
static inline uint32_t net_wire_bytes(const struct net_link *link, uint32_t bytes)
{
    uint32_t flit = link->flit_bytes ? link->flit_bytes : 1;
    return (bytes + link->overhead_bytes + flit - 1) / flit * flit;
}

/* Room that lets a link be busy all the time: what is under way until the first credit is back. */
uint32_t net_credits(const struct net_link *link, uint64_t latency_ps);

/* Every link has a latency and joins two nodes, and no switch more links than it has ports. */
bool net_check(const struct net_graph *graph, struct err *err);

#endif
