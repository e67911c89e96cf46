/* Systems of several nodes: GPUs of a node are consecutive, and share a switch and a host; nodes are joined
 * by a network. The graph of topology = nodes, and what messages between processes take. */
#ifndef SYSTEM_CLUSTER_H
#define SYSTEM_CLUSTER_H

#include "system/system.h"

struct net_graph;

/* Every GPU has a link to the switch of its node and a network card, as [fabric] and [cluster] say. */
bool cluster_graph(const struct system *system, struct net_graph *graph, struct err *err);

bool cluster_check(const struct system *system, struct err *err);

/* The node of this rank of so many: nodes have blocks of consecutive ranks, or of one each. */
uint32_t cluster_node_of_rank(const struct system *system, uint32_t rank, uint32_t ranks);

/* What messages of these bytes together take the process that waits for them. is_far: some of them come from
 * another node. `steps`: so many of them follow each other. */
uint64_t cluster_message_ps(const struct system *system, bool is_far, uint64_t bytes, uint32_t steps);

#endif
