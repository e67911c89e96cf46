/* A fabric as sections say: [fabric.switch.NAME], [fabric.link.NAME]. For this room only. */
#ifndef SYSTEM_FABRIC_SECTIONS_H
#define SYSTEM_FABRIC_SECTIONS_H

#include "base/config.h"
#include "net/graph.h"

/* The graph has the GPUs already. */
bool fabric_from_sections(const struct config *config, uint32_t gpus, struct net_graph *graph,
                          struct err *err);

#endif
