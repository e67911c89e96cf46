/* What the IOMMU is made of, and what the driver of managed memory (mem/uvm.h) has it do. For these files
 * only. */
#ifndef MEM_IOMMU_PARTS_H
#define MEM_IOMMU_PARTS_H

#include "mem/frames.h"
#include "mem/hostmem_parts.h"

struct move {
    uint64_t at, next; /* next: the line that the host sends next, where it has the page */
    struct page_plan plan;
    uint32_t to;     /* PAGE_HOST: the page leaves a GPU that has no room; PAGE_NOBODY: it is only dropped */
    uint32_t left;   /* answers or lines that are waited for */
    uint32_t worker; /* of managed memory's driver, which waits for it; NO_WORKER */
    uint8_t shift;
    bool is_used;
};
enum { NO_WORKER = UINT32_MAX };

struct iommu {
    struct hostmem *host;
    const struct paging_spec *spec;
    const struct page_policy_row *policy;
    struct directory *directory;
    struct uvm *uvm;           /* NULL: managed memory does not move */
    struct frames spilled;     /* bytes of pages that the host holds */
    struct page_want *waiting; /* in the order they came */
    size_t waiting_count, waiting_capacity;
    struct move *moves;
    size_t move_count, move_capacity;
    struct iommu_hold hold; /* what the host wants to hold still, while it does */
    bool is_holding;
    struct iommu_totals {
        uint64_t guests[PAGE_HOST];  /* bytes of others' pages that a GPU holds, or that come to it; */
        uint64_t leaving[PAGE_HOST]; /* and of these, that leave it */
        uint64_t grants;
    } totals;
};

/* ---- iommu_hold.c ---- */

bool iommu_is_meant(const struct iommu_hold *hold, const struct page *page);
directory_fn iommu_come_home; /* with the IOMMU: a page that is meant does, if it can */

/* ---- iommu.c ---- */

/* A page moves, or is only dropped (to: PAGE_NOBODY). uvm_moved is called with `worker` when that is over. */
void iommu_move(struct iommu *iommu, struct page *page, uint32_t to, const struct page_plan *plan,
                uint32_t worker);

/* A GPU may do this with a page from now on. */
void iommu_grant(struct iommu *iommu, uint32_t gpu, const struct page *page, enum page_right right);

struct hostmem *iommu_host(const struct iommu *iommu);

#endif
