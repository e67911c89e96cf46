/* The IOMMU of the host, as far as pages move between GPUs: it has the directory (paging/directory.h), asks
 * the policy (paging/policy.h) what becomes of a page that a GPU's pager wants, and sees to it, one move of a
 * page at a time.
 *
 * A move: all holders that must, drop the page, but for the one that has to send it; when all have said so,
 * that one is told to send it to who wants it (or, if that one has it already, it is granted). When it is
 * granted there, the directory changes, and who waits for the page may have it next. */
#ifndef MEM_IOMMU_H
#define MEM_IOMMU_H

#include "mem/hostmem.h"
#include "paging/policy.h"

struct iommu;

struct iommu *iommu_new(struct hostmem *host, const struct paging_spec *spec);
void iommu_free(struct iommu *iommu);

/* Managed memory moves, too (mem/uvm.h): before any GPU is made. */
struct areas;
struct uvm;
void iommu_drive_managed(struct iommu *iommu, const struct uvm_spec *spec, const struct areas *areas);
struct uvm *iommu_uvm(const struct iommu *iommu);          /* or NULL */
void iommu_set_lines(struct iommu *iommu, uint32_t bytes); /* how long they are */

/* What a GPU's pager sends. */
void iommu_take(struct iommu *iommu, uint32_t gpu, uint8_t kind, const unsigned char *payload);

/* A GPU read or wrote managed memory at the host. */
void iommu_reached(struct iommu *iommu, uint32_t gpu, uint64_t at);

/* The own events of the host's component, by their kind. */
enum iommu_event {
    HOST_COPIES,
    IOMMU_DECIDES,
    IOMMU_SENDS,
    IOMMU_WALKED,
    IOMMU_GOES_ON,
    UVM_WORKS,
    UVM_PREFETCHES,
    UVM_UNPINS,
    UVM_NAPS_END,
    HOST_LATE /* an answer that caches of CPUs held up */
};
void iommu_event(struct iommu *iommu, const struct event *event);
void iommu_archive(struct iommu *iommu, struct archive *archive);

/* Who holds the page of an address. */
struct page iommu_page(const struct iommu *iommu, uint64_t at);

/* Between runs: all pages that were ever wanted; and its home alone holds one again. */
void iommu_each_page(const struct iommu *iommu, directory_fn *call, void *user);
void iommu_send_home(struct iommu *iommu, struct page *page);

/* The host is about to change these bytes, or where they are kept, while kernels may use them: until it lets
 * go, no page of theirs begins to move, but those that have to come home. Between runs; time has to pass
 * until they hold still: all are home, or, where they need not be, none is on the move. */
struct iommu_hold {
    const struct page_range *ranges; /* the caller's, until it lets go */
    size_t count;
    bool come_home;
};
void iommu_hold(struct iommu *iommu, const struct iommu_hold *pages, uint64_t time);
bool iommu_holds_still(const struct iommu *iommu, const struct iommu_hold *pages);
void iommu_let_go(struct iommu *iommu, uint64_t time);

/* The holder that a page on the move comes from; PAGE_NOBODY: who gets it has it already. */
uint32_t iommu_source(const struct iommu *iommu, uint64_t at);
uint32_t iommu_target(const struct iommu *iommu, uint64_t at); /* and who gets it; PAGE_NOBODY */
bool iommu_has_moves(const struct iommu *iommu);

/* A line of a page that the host holds. */
unsigned char *iommu_line(struct iommu *iommu, uint64_t line);

#endif
