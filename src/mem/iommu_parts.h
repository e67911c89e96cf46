/* What the driver of managed memory (mem/uvm.h) has the IOMMU do. For these two files only. */
#ifndef MEM_IOMMU_PARTS_H
#define MEM_IOMMU_PARTS_H

#include "mem/hostmem_parts.h"

/* A page moves, or is only dropped (to: PAGE_NOBODY). uvm_moved is called with `worker` when that is over. */
void iommu_move(struct iommu *iommu, struct page *page, uint32_t to, const struct page_plan *plan,
                uint32_t worker);

/* A GPU may do this with a page from now on. */
void iommu_grant(struct iommu *iommu, uint32_t gpu, const struct page *page, enum page_right right);

struct hostmem *iommu_host(const struct iommu *iommu);

#endif
