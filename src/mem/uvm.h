/* Managed memory that moves on demand: what NVIDIA's driver (its module nvidia-uvm) does on the host, in
 * time. docs/managed-memory-h200.md has what was measured, and what is left out.
 *
 * Each GPU has two workers here. One handles faults: wants of the GPU's pager gather in a buffer; the worker
 * wakes up, takes a batch of them, and serves one block of 2 MiB after the other. It decides which pages of
 * 64 KiB move (paging/subtree.h, and the program's advice, paging/areas.h), makes room by evicting blocks,
 * and has the IOMMU move them. The other worker does the same for prefetches, block by block. What GPUs often
 * reach at the host comes to them if access counters are on (paging/tally.h), and what bounces between
 * processors is slowed down or stays at the host (paging/thrashing.h).
 *
 * Managed bytes are at one place, whoever holds their page: the address where the program has them. So what
 * moves is the right to use them, and the time that takes. */
#ifndef MEM_UVM_H
#define MEM_UVM_H

#include "mem/hostmem.h"
#include "paging/areas.h"
#include "paging/policy.h"

struct event;
struct iommu;
struct uvm;

struct uvm *uvm_new(struct iommu *iommu, const struct uvm_spec *spec, const struct areas *areas);
void uvm_free(struct uvm *uvm);
struct directory *uvm_directory(struct uvm *uvm);

/* ---- for the IOMMU ---- */

void uvm_fault(struct uvm *uvm, const struct page_want *want);
void uvm_event(struct uvm *uvm, const struct event *event);
void uvm_archive(struct uvm *uvm, struct archive *archive);

/* A GPU reached memory where it is, at the host. */
void uvm_reached(struct uvm *uvm, uint32_t gpu, uint64_t at);

/* A move that a worker began is over; and somebody holds a page from now on, or no more. */
void uvm_moved(struct uvm *uvm, uint32_t worker);
void uvm_count(struct uvm *uvm, const struct page *page, uint32_t holder, bool comes);

/* ---- between runs ---- */

/* Pages of these addresses are to move to a GPU, or PAGE_HOST; `gpu` has the worker that does it, one such
 * order at a time. */
struct uvm_prefetch {
    uint64_t at, bytes;
    uint32_t gpu, to;
};
void uvm_post_prefetch(struct uvm *uvm, const struct uvm_prefetch *order, uint64_t time);
uint64_t uvm_prefetch_left(const struct uvm *uvm, uint32_t gpu); /* bytes; 0: it is done */

/* Whether some GPU holds pages. */
bool uvm_is_used(const struct uvm *uvm);

/* The host alone has these pages again: as its CPU used them; as a copy changed them; or as new ones, which
 * nobody touched. */
void uvm_cpu_took(struct uvm *uvm, struct page *page, uint64_t now);
void uvm_take_back(struct uvm *uvm, struct page *page);
void uvm_forget(struct uvm *uvm, uint64_t at, uint64_t bytes);

/* The host's CPU spends time that is not simulated, on calls. Nobody knows when it uses managed memory
 * between them: it is taken to do so first, which is known when a kernel or a prefetch begins. Then it is
 * done. */
void uvm_cpu_spends(struct uvm *uvm, uint64_t ps);
void uvm_cpu_is_done(struct uvm *uvm);

/* What was done for a GPU. */
struct memsys_counters;
void uvm_add_counts(const struct uvm *uvm, uint32_t gpu, struct memsys_counters *counters);

#endif
