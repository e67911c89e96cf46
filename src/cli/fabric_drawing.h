/* The fabric of a system as a drawing. */
#ifndef CLI_FABRIC_DRAWING_H
#define CLI_FABRIC_DRAWING_H

#include "net/graph.h"
#include "report/svg.h"

bool drawing_of_fabric(const struct net_graph *graph, const char *path, struct err *err);

#endif
