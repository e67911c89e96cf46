/* What the driver of managed memory (mem/uvm.h) is made of. For its own files only. */
#ifndef MEM_UVM_PARTS_H
#define MEM_UVM_PARTS_H

#include "mem/iommu_parts.h"
#include "mem/uvm.h"
#include "paging/subtree.h"
#include "paging/tally.h"
#include "paging/thrashing.h"

#define PAGE_BYTES  (UINT64_C(1) << SUBTREE_PAGE_SHIFT)
#define BLOCK_BYTES (UINT64_C(1) << SUBTREE_BLOCK_SHIFT)

enum uvm_worker_state {
    WORKER_SLEEPS,
    WORKER_WAKES,  /* then it takes a batch of faults, or an order */
    WORKER_STARTS, /* with it, block by block */
    WORKER_SERVES, /* a block: it was decided what moves, and that is begun now */
    WORKER_MOVES,  /* what was begun is under way */
    WORKER_EVICTS, /* a block must leave first */
    WORKER_CLEARS, /* it is leaving */
};

enum uvm_job_kind {
    JOB_FAULTS,
    JOB_PREFETCH,
    JOB_COUNTED, /* pages that a GPU reached often where they are */
    JOB_UNPIN,   /* pages that were pinned long enough: nobody reaches them any more without a fault */
};

/* What is to be done in a block: pages are bits. */
struct uvm_job {
    uint64_t at;
    uint32_t wanted, written; /* written: of these, to be */
    uint32_t moves, maps;     /* what was decided: pages that come, and that are reached where they are */
    uint32_t pins, drops;     /* that go to the host, to be reached there; that are not reached any more */
    uint32_t copied;          /* of those that come: with bytes */
    uint32_t to;
    uint16_t counts[SUBTREE_PAGES]; /* by page: of faults, or of 4 KiB that are to be prefetched */
    uint32_t kind;                  /* enum uvm_job_kind */
};

/* A fault that waits, as its page bounces. */
struct uvm_nap {
    struct page_want want;
    uint64_t ends_at;
};

struct uvm_worker {
    uint32_t state, left;            /* left: moves under way */
    uint64_t slept_at, slept_cpu_ps; /* since then; and what the CPU had spent by then */
    struct page_want *faults;        /* the buffer, oldest first */
    size_t fault_count, fault_capacity;
    struct uvm_nap *naps;
    size_t nap_count, nap_capacity;
    struct uvm_job *jobs;
    size_t job_count, job_capacity, job_next;
    struct uvm_prefetch *orders;
    size_t order_count, order_capacity;
    uint64_t *notices; /* regions that were reached often, oldest first */
    size_t notice_count, notice_capacity, notices_taken;
    uint64_t evicted; /* the block that leaves */
    bool has_moved;   /* something of its order */
    bool is_to_unpin;
};

/* Blocks that a GPU has pages of; those that were given a page longest ago come first. */
struct uvm_blocks {
    uint64_t *list;
    size_t count, capacity;
};

struct uvm {
    struct iommu *iommu;
    const struct uvm_spec *spec;
    const struct areas *areas;
    struct directory *directory;
    uint32_t gpus;
    struct uvm_worker *workers; /* of faults, by GPU; then of prefetches, by GPU */
    struct uvm_blocks *blocks;  /* by GPU */
    struct tally tally;         /* of accesses to the host, if that is on */
    struct thrashing thrashing; /* of pages */
    struct uvm_totals {
        uint64_t cpu_ps;       /* that the host's CPU would have spent, while no simulated time passed */
        uint64_t cpu_ahead_ps; /* and since it used managed memory, if it did */
        uint64_t cpu_block, cpu_pages; /* the block that it took pages of last, and how many in a row */
        uint64_t unpins_at; /* when somebody looks for pages that were pinned long enough; 0: nobody */
        uint64_t bytes_here[PAGE_HOST]; /* that each GPU holds */
        struct uvm_counts {
            uint64_t faults, batches, bytes_in, bytes_out, evictions, counted, throttled, pinned;
        } count[PAGE_HOST]; /* by GPU */
    } totals;
};

static inline struct component *uvm_component(const struct uvm *uvm)
{
    return iommu_host(uvm->iommu)->component;
}

static inline struct page *uvm_page(const struct uvm *uvm, const struct uvm_job *job, uint32_t number)
{
    return directory_page(uvm->directory, job->at + number * PAGE_BYTES);
}

static inline bool uvm_is_at_host(const struct page *page)
{
    return page->holders == UINT64_C(1) << PAGE_HOST;
}

static inline enum page_right uvm_right(const struct page *page, uint32_t gpu)
{
    return page->mappers >> gpu & 1 ? PAGE_FAR : page_right(page, gpu);
}

/* The fault that a page of a job stands for. */
static inline struct page_want uvm_want(const struct uvm_job *job, uint32_t number)
{
    return (struct page_want){.at = job->at + number * PAGE_BYTES,
                              .gpu = job->to,
                              .right = job->written >> number & 1 ? PAGE_WRITE : PAGE_READ};
}

/* ---- uvm.c ---- */

struct uvm_job *uvm_job_of(struct uvm_worker *worker, uint64_t block); /* that it has, or a new one */
void uvm_put_back(struct uvm *uvm, const struct uvm_job *job, uint32_t number); /* to the faults */

/* ---- uvm_decide.c ---- */

struct area_advice uvm_advice(const struct uvm *uvm, const struct page *page);
struct page_plan uvm_plan(const struct uvm *uvm, const struct page *page, uint32_t to, bool writes);

/* Decides, and gives the time that takes. Pages are busy from now on. */
uint64_t uvm_decide(struct uvm *uvm, struct uvm_worker *worker, struct uvm_job *job);

/* ---- uvm_thrashing.c ---- */

enum thrashing_hint uvm_ask_thrashing(struct uvm *uvm, const struct page *page, uint32_t gpu);

/* A page that bounces waits, or goes to the host; false: it moves as any other. */
bool uvm_calm(struct uvm *uvm, struct uvm_job *job, uint32_t number);
void uvm_end_naps(struct uvm *uvm, uint32_t worker); /* faults that waited long enough are taken again */
void uvm_note_moves(struct uvm *uvm, const struct uvm_job *job); /* pages of a job are there */

/* Somebody looks for pages that are pinned no more, when the first of them can be; and does. */
void uvm_unpin_later(struct uvm *uvm, uint32_t worker);
uint64_t uvm_take_unpins(struct uvm *uvm, struct uvm_worker *worker, uint32_t gpu);
uint64_t uvm_decide_unpin(struct uvm *uvm, struct uvm_job *job);

/* ---- uvm_room.c ---- */

bool uvm_room_has(const struct uvm *uvm, const struct uvm_job *job);

/* The block that has to leave: its place in the list; or UVM_NO_BLOCK, as all are needed now. */
#define UVM_NO_BLOCK SIZE_MAX
size_t uvm_room_victim(struct uvm *uvm, const struct uvm_job *job);

/* All pages of a block that a GPU has go to the host; uvm_moved is called for each. */
void uvm_room_evict(struct uvm *uvm, uint32_t worker, uint32_t gpu, size_t block);

/* They have gone: who may reach them there does so without a fault. */
void uvm_room_map_evicted(struct uvm *uvm, uint32_t worker);

#endif
