/* What the driver of managed memory decides: which pages of a block move, and which are reached where they
 * are. */
#include "mem/uvm_parts.h"
#include "mem/left_out.h"

/* ---- pages ---- */

struct area_advice uvm_advice(const struct uvm *uvm, const struct page *page)
{
    const struct area *area = areas_find(uvm->areas, physical_offset(physical_unpack(page->at)));
    for (uint64_t at = page->at; !area && at < page->at + PAGE_BYTES; at += 4096) /* it begins in the page */
        area = areas_find(uvm->areas, physical_offset(physical_unpack(at)));
    return area ? area->advice : (struct area_advice){.preferred = AREA_NOWHERE};
}

/* Nobody wrote to it yet: what the program sets to zero alone counts as untouched, too. */
static bool is_untouched(const struct uvm *uvm, const struct page *page)
{
    if (page->granted)
        return false;
    const char *bytes = hostmem_managed_bytes(iommu_host(uvm->iommu), page->at);
    return !bytes || (!*bytes && !memcmp(bytes, bytes + 1, PAGE_BYTES - 1));
}

/* Whether a GPU uses a page where it is, at the host: by the program's advice, or as it is pinned. */
static bool stays(const struct uvm *uvm, const struct page *page, uint32_t gpu)
{
    struct area_advice advice = uvm_advice(uvm, page);
    return uvm_is_at_host(page) && !advice.read_mostly &&
           (advice.preferred == PAGE_HOST || (advice.accessed_by >> gpu & 1 && advice.preferred != gpu) ||
            thrashing_is_pinned(&uvm->thrashing, page->at));
}

struct page_plan uvm_plan(const struct uvm *uvm, const struct page *page, uint32_t to, bool writes)
{
    uint64_t own = UINT64_C(1) << to;
    bool copies = !writes && uvm_advice(uvm, page).read_mostly;
    struct page_plan plan = {.source = PAGE_NOBODY,
                             .drops = copies ? 0 : page->holders & ~own,
                             .right = copies ? PAGE_READ : PAGE_WRITE};
    if (left_out(LEFT_OUT_READERS) && uvm_advice(uvm, page).read_mostly)
        plan.drops = 0;
    if (!page_is_held(page, to) && (copies || !is_untouched(uvm, page)))
        plan.source = to == PAGE_HOST ? (uint32_t)__builtin_ctzll(page->holders) : page_next_holder(page, to);
    return plan;
}

/* ---- deciding ---- */

/* What becomes of a page that a GPU wants. */
static void decide_page(struct uvm *uvm, struct uvm_job *job, uint32_t number)
{
    struct page *page = uvm_page(uvm, job, number);
    enum page_right has = uvm_right(page, job->to);
    if (page->is_busy)
        uvm_put_back(uvm, job, number);
    else if (has >= (job->written >> number & 1 ? PAGE_WRITE : PAGE_READ))
        iommu_grant(uvm->iommu, job->to, page, has); /* it came since */
    else if (stays(uvm, page, job->to))
        job->maps |= UINT32_C(1) << number;
    else if (!uvm_calm(uvm, job, number))
        job->moves |= UINT32_C(1) << number;
}

/* Pages that the GPU has; and those that may come along with others: they are idle at the host. */
static void look_at_block(struct uvm *uvm, const struct uvm_job *job, uint32_t *there, uint32_t *may_come)
{
    *there = *may_come = 0;
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++) {
        struct page page = directory_look(uvm->directory, job->at + i * PAGE_BYTES);
        bool comes = uvm_is_at_host(&page) && !page.is_busy && !page.mappers && !stays(uvm, &page, job->to) &&
                     !thrashing_is_on(&uvm->thrashing, page.at);
        *there |= (uint32_t)page_is_held(&page, job->to) << i;
        *may_come |= (uint32_t)comes << i;
    }
}

static uint32_t existing(const struct uvm *uvm, const struct uvm_job *job)
{
    return areas_pages(uvm->areas, physical_offset(physical_unpack(job->at)), SUBTREE_PAGE_SHIFT);
}

/* Of these pages: the faults, or the 4 KiB that are to be prefetched. */
static uint64_t sum_of(const struct uvm_job *job, uint32_t pages)
{
    uint64_t sum = 0;
    for (; pages; pages &= pages - 1)
        sum += job->counts[__builtin_ctz(pages)];
    return sum;
}

/* The time it takes the driver. */
static uint64_t decide_faults(struct uvm *uvm, struct uvm_job *job)
{
    const struct uvm_spec *spec = uvm->spec;
    uint32_t there, may_come;
    uint64_t ps = spec->block;
    for (uint32_t left = job->wanted; left; left &= left - 1)
        decide_page(uvm, job, (uint32_t)__builtin_ctz(left));
    look_at_block(uvm, job, &there, &may_come);
    uint32_t wanted = job->moves;
    job->moves |= subtree_grow(existing(uvm, job), there & ~wanted, wanted) & may_come;
    if (job->moves && !there)
        ps += spec->block_first;
    return ps + sum_of(job, job->maps) * spec->map + (uint64_t)__builtin_popcount(wanted) * spec->page +
           (uint64_t)__builtin_popcount(job->moves & ~wanted) * spec->page_along;
}

static uint64_t decide_prefetch(struct uvm *uvm, struct uvm_job *job)
{
    const struct uvm_spec *spec = uvm->spec;
    for (uint32_t left = job->wanted & existing(uvm, job); left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        const struct page *page = uvm_page(uvm, job, number);
        if (!page->is_busy && !page_is_held(page, job->to))
            job->moves |= UINT32_C(1) << number;
    }
    return (job->moves ? spec->prefetch_block : spec->prefetch_there) +
           (job->to == PAGE_HOST ? sum_of(job, job->moves) * spec->prefetch_home : 0);
}

/* Pages that the GPU still reaches at the host, and that no advice keeps there, come. */
static uint64_t decide_counted(struct uvm *uvm, struct uvm_job *job)
{
    for (uint32_t left = job->wanted & existing(uvm, job); left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        const struct page *page = uvm_page(uvm, job, number);
        uint32_t preferred = uvm_advice(uvm, page).preferred;
        bool may = preferred == AREA_NOWHERE || preferred == job->to;
        if (may && uvm_is_at_host(page) && !page->is_busy && page->mappers >> job->to & 1 &&
            uvm_ask_thrashing(uvm, page, job->to) == THRASHING_NONE)
            job->moves |= UINT32_C(1) << number;
    }
    uint64_t pages = (uint64_t)__builtin_popcount(job->moves);
    uvm->totals.count[job->to].counted += pages;
    return uvm->spec->block + pages * uvm->spec->page;
}

static uint64_t decide_kind(struct uvm *uvm, struct uvm_job *job)
{
    switch ((enum uvm_job_kind)job->kind) {
    case JOB_FAULTS:
        return decide_faults(uvm, job);
    case JOB_PREFETCH:
        return decide_prefetch(uvm, job);
    case JOB_COUNTED:
        return decide_counted(uvm, job);
    default:
        return uvm_decide_unpin(uvm, job);
    }
}

static void make_busy(struct uvm *uvm, const struct uvm_job *job, uint32_t pages)
{
    for (; pages; pages &= pages - 1)
        uvm_page(uvm, job, (uint32_t)__builtin_ctz(pages))->is_busy = true;
}

/* Decides, and gives the time that takes. Pages are busy from now on. */
uint64_t uvm_decide(struct uvm *uvm, struct uvm_worker *worker, struct uvm_job *job)
{
    bool is_prefetch = job->kind == JOB_PREFETCH;
    uint64_t ps = decide_kind(uvm, job);
    make_busy(uvm, job, job->moves | job->maps | job->pins | job->drops);
    for (uint32_t left = job->moves; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        const struct page *page = uvm_page(uvm, job, number);
        if (uvm_plan(uvm, page, job->to, job->written >> number & 1).source != PAGE_NOBODY)
            job->copied |= UINT32_C(1) << number;
    }
    if (job->copied && !is_prefetch)
        ps += uvm->spec->block_copy + sum_of(job, job->copied & job->wanted) * uvm->spec->fault_copy;
    if (job->moves & ~job->copied && is_prefetch && worker->has_moved) /* else while it begins */
        ps += uvm->spec->prefetch_clear;
    if (job->moves && is_prefetch && !worker->has_moved)
        ps += job->to == PAGE_HOST ? uvm->spec->prefetch_first_home : uvm->spec->prefetch_first;
    worker->has_moved |= job->moves != 0;
    return ps;
}
