/* The fabric of a system as a drawing. */
#ifndef CLI_SYSTEM_DRAWING_H
#define CLI_SYSTEM_DRAWING_H

#include "net/graph.h"
#include "report/svg.h"

bool system_draw(const struct net_graph *graph, const char *path, struct err *err);

#endif
