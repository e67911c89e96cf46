/* Managed memory that bounces between processors, and what the host's CPU does with it (paging/thrashing.h):
 * faults that wait, pages that are pinned at the host and let go again.
 *
 * The CPU takes no simulated time. What it would have taken is added up beside it (totals.cpu_ps), as pages
 * bounce by the sum of both, and the driver's sleep is as deep. */
#include "mem/uvm_parts.h"
#include "base/bits.h"
#include "base/mem.h"

static uint64_t time_of(const struct uvm *uvm, uint64_t now)
{
    return now + uvm->totals.cpu_ps + 1;
}

static uint64_t now_of(const struct uvm *uvm)
{
    return time_of(uvm, component_now(uvm_component(uvm)));
}

/* Pages that bounce are the preferred location's, or read-mostly ones, whatever happens. */
enum thrashing_hint uvm_ask_thrashing(struct uvm *uvm, const struct page *page, uint32_t gpu)
{
    struct area_advice advice = uvm_advice(uvm, page);
    if (advice.read_mostly || advice.preferred == gpu)
        return THRASHING_NONE;
    return thrashing_ask(&uvm->thrashing, page->at, gpu, now_of(uvm));
}

/* ---- faults that wait ---- */

/* Until its nap is over; a page is there once. */
static void park(struct uvm *uvm, const struct uvm_job *job, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[job->to];
    struct page_want want = uvm_want(job, number);
    for (size_t i = 0; i < worker->nap_count; i++)
        if (worker->naps[i].want.at == want.at) {
            worker->naps[i].want.right = max_u64(worker->naps[i].want.right, want.right);
            return;
        }
    uint64_t ends = thrashing_nap_end(&uvm->thrashing, want.at), now = now_of(uvm);
    uint64_t ps = 1 + (ends > now ? ends - now : 0);
    mem_grow(worker->naps, worker->nap_count, worker->nap_capacity);
    worker->naps[worker->nap_count++] =
        (struct uvm_nap){.want = want, .ends_at = component_now(uvm_component(uvm)) + ps};
    uvm->totals.count[job->to].throttled++;
    component_schedule(uvm_component(uvm), ps, UVM_NAPS_END, &job->to, sizeof job->to);
}

void uvm_end_naps(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    uint64_t now = component_now(uvm_component(uvm));
    size_t left = 0;
    for (size_t i = 0; i < worker->nap_count; i++) {
        if (worker->naps[i].ends_at > now)
            worker->naps[left++] = worker->naps[i];
        else
            uvm_fault(uvm, &worker->naps[i].want);
    }
    worker->nap_count = left;
}

bool uvm_calm(struct uvm *uvm, struct uvm_job *job, uint32_t number)
{
    const struct page *page = uvm_page(uvm, job, number);
    enum thrashing_hint hint = uvm_ask_thrashing(uvm, page, job->to);
    if (hint == THRASHING_NONE)
        return false;
    if (hint == THRASHING_THROTTLE) {
        park(uvm, job, number);
    } else if (uvm_is_at_host(page)) {
        job->maps |= UINT32_C(1) << number;
    } else {
        job->pins |= UINT32_C(1) << number;
        uvm_put_back(uvm, job, number); /* and it is mapped when it is there */
    }
    return true;
}

/* The program's own orders have no part in thrashing. */
void uvm_note_moves(struct uvm *uvm, const struct uvm_job *job)
{
    for (uint32_t left = job->moves; left; left &= left - 1) {
        const struct page *page = uvm_page(uvm, job, (uint32_t)__builtin_ctz(left));
        if (job->kind == JOB_PREFETCH || uvm_advice(uvm, page).read_mostly)
            thrashing_forget(&uvm->thrashing, page->at);
        else
            thrashing_moved(&uvm->thrashing, page->at, job->to, now_of(uvm));
    }
}

/* ---- pages that were pinned long enough ---- */

static uint64_t pin_ps(const struct uvm *uvm)
{
    return uvm->spec->thrashing_pin * uvm->spec->thrashing_lapse;
}

/* Whether nobody looks so soon; if so, somebody will. */
static bool is_to_look(struct uvm *uvm, uint64_t at)
{
    if (uvm->totals.unpins_at && uvm->totals.unpins_at <= at)
        return false;
    uvm->totals.unpins_at = at;
    return true;
}

static void look_after(struct uvm *uvm, uint32_t number, uint64_t ps)
{
    if (ps && is_to_look(uvm, component_now(uvm_component(uvm)) + ps))
        component_schedule(uvm_component(uvm), ps, UVM_UNPINS, &number, sizeof number);
}

void uvm_unpin_later(struct uvm *uvm, uint32_t number)
{
    look_after(uvm, number, pin_ps(uvm));
}

uint64_t uvm_take_unpins(struct uvm *uvm, struct uvm_worker *worker, uint32_t gpu)
{
    worker->is_to_unpin = false;
    for (size_t i = 0; i < thrashing_count(&uvm->thrashing); i++) {
        uint32_t pages = thrashing_unpin(&uvm->thrashing, i, now_of(uvm));
        if (!pages)
            continue;
        struct uvm_job *job = uvm_job_of(worker, thrashing_block_at(&uvm->thrashing, i));
        job->to = gpu;
        job->kind = JOB_UNPIN;
        job->wanted = pages;
    }
    if (thrashing_has_pins(&uvm->thrashing))
        uvm_unpin_later(uvm, gpu);
    return 0;
}

/* Pages on the move stay pinned for a lapse more. */
uint64_t uvm_decide_unpin(struct uvm *uvm, struct uvm_job *job)
{
    for (uint32_t left = job->wanted; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        const struct page *page = uvm_page(uvm, job, number);
        if (page->is_busy) {
            thrashing_pin(&uvm->thrashing, page->at, now_of(uvm) + uvm->spec->thrashing_lapse);
            look_after(uvm, job->to, uvm->spec->thrashing_lapse);
        } else if (uvm_is_at_host(page) && page->mappers & ~uvm_advice(uvm, page).accessed_by) {
            job->drops |= UINT32_C(1) << number;
        }
    }
    return uvm->spec->block;
}

/* ---- the host's CPU ---- */

void uvm_cpu_spends(struct uvm *uvm, uint64_t ps)
{
    uvm->totals.cpu_ahead_ps += ps;
}

void uvm_cpu_is_done(struct uvm *uvm)
{
    uvm->totals.cpu_ps += uvm->totals.cpu_ahead_ps;
    uvm->totals.cpu_ahead_ps = 0;
    uvm->totals.cpu_pages = 0;
}

/* The time of the CPU's fault for a page, by the rule for what moves (paging/subtree.h): of the pages of a
 * block in rising order, the first three, the fifth, the ninth and the seventeenth fault, and the others come
 * along. */
static uint64_t fault_ps(struct uvm *uvm, const struct page *page)
{
    uint64_t block = page->at / BLOCK_BYTES * BLOCK_BYTES;
    uvm->totals.cpu_pages = block == uvm->totals.cpu_block ? uvm->totals.cpu_pages : 0;
    uvm->totals.cpu_block = block;
    uint64_t before = uvm->totals.cpu_pages++;
    return uvm->spec->cpu_page + (before & (before - 1) ? 0 : uvm->spec->cpu_fault);
}

/* Gives what the driver thinks of it. */
static enum thrashing_hint note_cpu(struct uvm *uvm, const struct page *page, uint64_t now)
{
    uint64_t time = time_of(uvm, now);
    enum thrashing_hint hint = thrashing_ask(&uvm->thrashing, page->at, PAGE_HOST, time);
    if (hint == THRASHING_THROTTLE) { /* it waits */
        uvm->totals.cpu_ps += thrashing_nap_end(&uvm->thrashing, page->at) - time;
        hint = thrashing_ask(&uvm->thrashing, page->at, PAGE_HOST, time_of(uvm, now));
    }
    uvm->totals.cpu_ps += fault_ps(uvm, page);
    thrashing_moved(&uvm->thrashing, page->at, PAGE_HOST, time_of(uvm, now));
    return hint;
}

/* Between runs. */
static void post_look(struct uvm *uvm, uint64_t now)
{
    struct hostmem *host = iommu_host(uvm->iommu);
    static const uint32_t number = 0;
    if (pin_ps(uvm) && is_to_look(uvm, now + pin_ps(uvm)))
        engine_post(host->engine, host->component, now + pin_ps(uvm), UVM_UNPINS, &number, sizeof number);
}

void uvm_cpu_took(struct uvm *uvm, struct page *page, uint64_t now)
{
    uint64_t had = page->holders & ~(UINT64_C(1) << PAGE_HOST);
    bool is_pinned = !uvm_advice(uvm, page).read_mostly && note_cpu(uvm, page, now) == THRASHING_PIN;
    uvm_take_back(uvm, page);
    if (is_pinned) { /* who had it reaches it at the host from now on */
        page->mappers |= had;
        post_look(uvm, now);
    }
}
