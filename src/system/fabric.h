/* How GPUs are connected: the graph of a description. */
#ifndef SYSTEM_FABRIC_H
#define SYSTEM_FABRIC_H

#include "net/graph.h"
#include "system/system.h"

/* GPUs are the first nodes of the graph, by their numbers. Behind them may come the host, then switches. */
#define FABRIC_HOST "host"
bool fabric_graph(const struct system *system, struct net_graph *graph, struct err *err);

/* Whether all of it can be reached; before it is built. One GPU alone needs no fabric. */
bool fabric_check(const struct system *system, struct err *err);

#endif
