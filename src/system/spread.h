/* Which rank has which part of a machine (ranks/ranks.h). With no more ranks than GPUs (or members of unified
 * ones), each rank has whole ones: those of a node of a cluster stay together, and within a node they are
 * dealt out in turn. With more ranks, each GPU has several, or all that are on its host: its SMs and the
 * islands of its memory are spread evenly, and what there is one of (dispatcher, gateway, DMA engine) is on
 * the first. A switch is where GPUs are that it connects. The host's memory is on rank 0, where the program
 * is.

 *
 * Where the load of a run is known (loads.h), whole GPUs, ranks of a GPU, and its SMs and memory islands are
 * dealt out so that ranks have about the same, and a switch is where most of its traffic comes from. Pure. */
#ifndef SYSTEM_SPREAD_H
#define SYSTEM_SPREAD_H

#include "mem/memsys.h"
#include "net/graph.h"
#include "system/loads.h"
#include "system/system.h"

struct spread {
    uint32_t ranks, homes, nodes;
    struct memsys_ranks *home; /* by home: its ranks */
    uint32_t *node;            /* by node of the fabric */
    const uint32_t *hosts;     /* while it is made */
    uint64_t *load;            /* by rank: what is known of it; NULL: nothing is */
};

/* The graph may be NULL: there is no fabric. hosts: a number for each rank's host, or NULL: there is one. The
 * load may be NULL: it is not known. */
bool spread_make(struct spread *spread, const struct system *system, const struct net_graph *graph,
                 const uint32_t *hosts, uint32_t ranks, const struct loads *load, struct err *err);
void spread_fini(struct spread *spread);

#endif
