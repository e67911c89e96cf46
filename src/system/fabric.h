/* How GPUs are connected: the graph of a description. */
#ifndef SYSTEM_FABRIC_H
#define SYSTEM_FABRIC_H

#include "net/graph.h"
#include "system/system.h"

/* GPUs are the first nodes of the graph, by their numbers. Behind them may come the host, then switches. */
#define FABRIC_HOST "host"
bool fabric_graph(const struct system *system, struct net_graph *graph, struct err *err);

/* Link `number` as it was described: the two halves of a half-duplex one, with its bus between, are one.
 * False: it is the second half, which the first one has told of. */
struct fabric_link {
    uint32_t ends[2];
    uint64_t latency_ps, bytes_per_s;
    bool is_half_duplex;
};
bool fabric_described_link(const struct net_graph *graph, size_t number, struct fabric_link *link);

/* Whether all of it can be reached; before it is built. One GPU alone needs no fabric. */
bool fabric_check(const struct system *system, struct err *err);

#endif
