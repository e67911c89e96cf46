/* All of a GPU's memory, as make.c builds it and memsys.c offers it. For this folder only. */
#ifndef MEM_MEMSYS_PARTS_H
#define MEM_MEMSYS_PARTS_H

#include "mem/dma.h"
#include "mem/dram.h"
#include "mem/gateway.h"
#include "mem/hostmem.h"
#include "mem/pager.h"
#include "mem/tlb.h"

struct memsys {
    struct engine *engine;
    char *path;
    struct memsys_shape shape;
    struct dram_spec dram;
    struct link *requests, *replies, *host_link;
    struct hostmem *hostmem;
    struct port *host;       /* at the other end of its link */
    struct gateway *gateway; /* NULL: there are no other GPUs */
    bool keeps_peers;        /* lines of theirs, there */
    struct dma *dma;
    struct pager *pager; /* NULL: pages do not move */
    uint32_t clients;    /* that others attach; behind them come the gateway, the DMA engine and the pager */
    struct cache_blocks blocks; /* of all slices */
    struct link *translations;  /* NULL: they take no time */
    struct component *walks;
    struct translator *translator;
    uint32_t attached;
    uint32_t islands;
    uint32_t *island_of; /* by slice of a side */
    struct partition_spec *specs;
    struct component **components;
    struct memsys_pushes pushes; /* what all ranks know of them */
};

/* Fills all but engine and path. */
bool memsys_init(struct memsys *mem, const struct memsys_config *config, struct err *err);
void memsys_fini(struct memsys *mem);

/* The GPU's own translation (walk.c): a component and the link to it. */
void translator_make(struct memsys *mem, const struct tlb_spec *spec, uint64_t sm_clock);
void translator_free(struct translator *translator);
struct port *translator_host_port(const struct memsys *mem); /* to the IOMMU; or NULL */

/* Of the slices of a side, the first on an island. */
uint32_t memsys_first_pair(const struct memsys *mem, uint32_t island);

/* The partition of the L2 that a client is near to. */
uint32_t memsys_side(const struct memsys_shape *shape, uint32_t client);

#endif
