/* The page migration controller of a GPU: asks the IOMMU (mem/iommu.h) for pages that its slices want, sends
 * pages that the IOMMU recalls, and takes those that come.
 *
 *   slices -- want --> pager -- want --> IOMMU -- recall --> the holder's pager -- recall --> its slices
 *   slices <-- grant -- pager <-- lines of the page -- the holder's pager <-- dropped, lines -- its slices
 *                         |--- granted --> IOMMU
 *
 * With the slices, all TLBs of the GPU drop a page that leaves (mem/tlb.h).
 *
 * Lines are read and written over the crossbar, around the L2, and cross the fabric in long messages. */
#ifndef MEM_PAGER_H
#define MEM_PAGER_H

#include "engine/engine.h"

struct memsys;
struct pager;

enum pager_port { PAGER_REQUESTS, PAGER_REPLIES, PAGER_HOST, PAGER_TRANSLATIONS };

struct pager *pager_new(struct engine *engine, const char *path, const struct memsys *mem);
void pager_free(struct pager *pager); /* after the engine */
struct port *pager_port(const struct pager *pager, enum pager_port port);

struct memsys_counters;
void pager_count(const struct pager *pager, struct memsys_counters *counters);

#endif
