#include "mem/uvm.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/iommu_parts.h"
#include "paging/subtree.h"

#define PAGE_BYTES  (UINT64_C(1) << SUBTREE_PAGE_SHIFT)
#define BLOCK_BYTES (UINT64_C(1) << SUBTREE_BLOCK_SHIFT)

enum worker_state {
    WORKER_SLEEPS,
    WORKER_WAKES,  /* then it takes a batch of faults, or an order */
    WORKER_STARTS, /* with it, block by block */
    WORKER_SERVES, /* a block: it was decided what moves, and that is begun now */
    WORKER_MOVES,  /* what was begun is under way */
    WORKER_EVICTS, /* a block must leave first */
    WORKER_CLEARS, /* it is leaving */
};

/* What is to be done in a block: pages are bits. */
struct job {
    uint64_t at;
    uint32_t wanted, written; /* written: of these, to be */
    uint32_t moves, maps;     /* what was decided: pages that come, and that are reached where they are */
    uint32_t copied;          /* of those that come: with bytes */
    uint32_t to;
    uint16_t faults_of[SUBTREE_PAGES]; /* by page */
    uint8_t is_prefetch, unused[3];
};

struct worker {
    uint32_t state, left; /* left: moves under way */
    uint64_t slept_at;
    struct page_want *faults; /* the buffer, oldest first */
    size_t fault_count, fault_capacity;
    struct job *jobs;
    size_t job_count, job_capacity, job_next;
    struct uvm_prefetch *orders;
    size_t order_count, order_capacity;
    bool has_moved; /* something of its order */
};

/* Blocks that a GPU has pages of; those that were given a page longest ago come first. */
struct blocks {
    uint64_t *list;
    size_t count, capacity;
};

struct uvm {
    struct iommu *iommu;
    const struct uvm_spec *spec;
    const struct areas *areas;
    struct directory *directory;
    uint32_t gpus;
    struct worker *workers; /* of faults, by GPU; then of prefetches, by GPU */
    struct blocks *blocks;  /* by GPU */
    struct uvm_totals {
        uint64_t bytes_here[PAGE_HOST]; /* that each GPU holds */
        struct uvm_counts {
            uint64_t faults, batches, bytes_in, bytes_out, evictions;
        } count[PAGE_HOST]; /* by GPU */
    } totals;
};

struct uvm *uvm_new(struct iommu *iommu, const struct uvm_spec *spec, const struct areas *areas)
{
    struct uvm *uvm = mem_alloc(1, sizeof *uvm);
    uint32_t gpus = iommu_host(iommu)->gpus;
    *uvm = (struct uvm){.iommu = iommu, .spec = spec, .areas = areas, .gpus = gpus};
    uvm->directory = directory_new(SUBTREE_PAGE_SHIFT, SUBTREE_PAGE_SHIFT);
    uvm->workers = mem_alloc(2 * (size_t)gpus, sizeof *uvm->workers);
    uvm->blocks = mem_alloc(gpus, sizeof *uvm->blocks);
    return uvm;
}

void uvm_free(struct uvm *uvm)
{
    if (!uvm)
        return;
    for (uint32_t i = 0; i < 2 * uvm->gpus; i++) {
        mem_free(uvm->workers[i].faults);
        mem_free(uvm->workers[i].jobs);
        mem_free(uvm->workers[i].orders);
    }
    for (uint32_t i = 0; i < uvm->gpus; i++)
        mem_free(uvm->blocks[i].list);
    directory_free(uvm->directory);
    mem_free(uvm->workers);
    mem_free(uvm->blocks);
    mem_free(uvm);
}

struct directory *uvm_directory(struct uvm *uvm)
{
    return uvm->directory;
}

/* ---- time ---- */

static struct component *component_of(const struct uvm *uvm)
{
    return iommu_host(uvm->iommu)->component;
}

static void go_on_after(struct uvm *uvm, uint32_t number, enum worker_state state, uint64_t ps)
{
    uvm->workers[number].state = state;
    component_schedule(component_of(uvm), ps, UVM_WORKS, &number, sizeof number);
}

/* The longer the host's CPU was idle, the deeper it sleeps. */
static uint64_t wake_time(const struct uvm *uvm, const struct worker *worker)
{
    uint64_t idle = component_now(component_of(uvm)) - worker->slept_at;
    uint64_t deeper = (uint64_t)((double)idle * uvm->spec->sleep);
    return idle < uvm->spec->linger ? 0 : uvm->spec->wake + min_u64(deeper, uvm->spec->sleep_most);
}

static void wake(struct uvm *uvm, uint32_t number)
{
    const struct worker *worker = &uvm->workers[number];
    if (worker->state == WORKER_SLEEPS)
        go_on_after(uvm, number, WORKER_WAKES, number < uvm->gpus ? wake_time(uvm, worker) : 0);
}

/* ---- pages ---- */

static struct page *page_of(const struct uvm *uvm, const struct job *job, uint32_t number)
{
    return directory_page(uvm->directory, job->at + number * PAGE_BYTES);
}

static struct area_advice advice_of(const struct uvm *uvm, const struct page *page)
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

/* Whether a GPU uses a page where it is, by the program's advice: at the host. */
static bool stays(const struct uvm *uvm, const struct page *page, uint32_t gpu)
{
    struct area_advice advice = advice_of(uvm, page);
    return page->holders == UINT64_C(1) << PAGE_HOST && !advice.read_mostly &&
           (advice.preferred == PAGE_HOST || (advice.accessed_by >> gpu & 1 && advice.preferred != gpu));
}

static struct page_plan plan_of(const struct uvm *uvm, const struct page *page, uint32_t to, bool writes)
{
    uint64_t own = UINT64_C(1) << to;
    bool copies = !writes && advice_of(uvm, page).read_mostly;
    struct page_plan plan = {.source = PAGE_NOBODY,
                             .drops = copies ? 0 : page->holders & ~own,
                             .right = copies ? PAGE_READ : PAGE_WRITE};
    if (!page_is_held(page, to) && (copies || !is_untouched(uvm, page)))
        plan.source = to == PAGE_HOST ? (uint32_t)__builtin_ctzll(page->holders) : page_next_holder(page, to);
    return plan;
}

/* ---- room ---- */

static bool holds_some(const struct uvm *uvm, uint64_t block, uint32_t gpu, bool idle)
{
    for (uint64_t at = block; at < block + BLOCK_BYTES; at += PAGE_BYTES) {
        struct page page = directory_look(uvm->directory, at);
        if (page_is_held(&page, gpu) && !(idle && page.is_busy))
            return true;
    }
    return false;
}

static void forget_block(struct blocks *blocks, size_t place)
{
    blocks->count--;
    memmove(blocks->list + place, blocks->list + place + 1, (blocks->count - place) * sizeof *blocks->list);
}

static void touch_block(struct blocks *blocks, uint64_t block)
{
    for (size_t i = blocks->count; i-- > 0;)
        if (blocks->list[i] == block) {
            forget_block(blocks, i);
            break;
        }
    mem_grow(blocks->list, blocks->count, blocks->capacity);
    blocks->list[blocks->count++] = block;
}

void uvm_count(struct uvm *uvm, const struct page *page, uint32_t holder, bool comes)
{
    if (holder >= PAGE_HOST)
        return;
    if (!comes) {
        uvm->totals.bytes_here[holder] -= PAGE_BYTES;
        return;
    }
    uvm->totals.bytes_here[holder] += PAGE_BYTES;
    touch_block(&uvm->blocks[holder], page->at / BLOCK_BYTES * BLOCK_BYTES);
}

static bool has_room(const struct uvm *uvm, const struct job *job)
{
    uint64_t room = job->to < PAGE_HOST ? uvm->areas->rooms[job->to] : 0;
    return !room ||
           uvm->totals.bytes_here[job->to] + (uint64_t)__builtin_popcount(job->moves) * PAGE_BYTES <= room;
}

/* The block that has to leave: its place in the list; or none, as all are needed now. */
static size_t find_victim(struct uvm *uvm, const struct job *job)
{
    struct blocks *blocks = &uvm->blocks[job->to];
    for (size_t i = 0; i < blocks->count;) {
        if (!holds_some(uvm, blocks->list[i], job->to, false))
            forget_block(blocks, i);
        else if (blocks->list[i] != job->at && holds_some(uvm, blocks->list[i], job->to, true))
            return i;
        else
            i++;
    }
    return SIZE_MAX;
}

/* All pages of a block that the GPU has go to the host, unless somebody else has them, too. */
static void evict(struct uvm *uvm, uint32_t number, uint32_t gpu, uint64_t block)
{
    uint64_t own = UINT64_C(1) << gpu;
    for (uint64_t at = block; at < block + BLOCK_BYTES; at += PAGE_BYTES) {
        struct page *page = directory_page(uvm->directory, at);
        if (!page_is_held(page, gpu) || page->is_busy)
            continue;
        bool is_only = page->holders == own;
        struct page_plan plan = {
            .source = is_only ? gpu : (uint32_t)PAGE_NOBODY, .drops = own, .right = PAGE_WRITE};
        uvm->totals.count[gpu].bytes_out += is_only ? PAGE_BYTES : 0;
        uvm->workers[number].left++;
        iommu_move(uvm->iommu, page, is_only ? PAGE_HOST : PAGE_NOBODY, &plan, number);
    }
}

/* ---- deciding ---- */

static void put_back(struct uvm *uvm, const struct job *job, uint32_t number)
{
    struct worker *worker = &uvm->workers[job->to];
    mem_grow(worker->faults, worker->fault_count, worker->fault_capacity);
    worker->faults[worker->fault_count++] =
        (struct page_want){.at = job->at + number * PAGE_BYTES,
                           .gpu = job->to,
                           .right = job->written >> number & 1 ? PAGE_WRITE : PAGE_READ};
}

static enum page_right right_of(const struct page *page, uint32_t gpu)
{
    return page->mappers >> gpu & 1 ? PAGE_FAR : page_right(page, gpu);
}

/* What becomes of a page that a GPU wants. */
static void decide_page(struct uvm *uvm, struct job *job, uint32_t number)
{
    struct page *page = page_of(uvm, job, number);
    enum page_right has = right_of(page, job->to);
    if (page->is_busy)
        put_back(uvm, job, number);
    else if (has >= (job->written >> number & 1 ? PAGE_WRITE : PAGE_READ))
        iommu_grant(uvm->iommu, job->to, page, has); /* it came since */
    else if (stays(uvm, page, job->to))
        job->maps |= UINT32_C(1) << number;
    else
        job->moves |= UINT32_C(1) << number;
}

/* Pages that the GPU has; and those that may come along with others: they are idle at the host. */
static void look_at_block(struct uvm *uvm, const struct job *job, uint32_t *there, uint32_t *may_come)
{
    *there = *may_come = 0;
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++) {
        struct page page = directory_look(uvm->directory, job->at + i * PAGE_BYTES);
        bool at_host = page.holders == UINT64_C(1) << PAGE_HOST;
        *there |= (uint32_t)page_is_held(&page, job->to) << i;
        *may_come |= (uint32_t)(at_host && !page.is_busy && !page.mappers && !stays(uvm, &page, job->to))
                     << i;
    }
}

static uint32_t existing(const struct uvm *uvm, const struct job *job)
{
    return areas_pages(uvm->areas, physical_offset(physical_unpack(job->at)), SUBTREE_PAGE_SHIFT);
}

/* The time it takes the driver. */
static uint64_t decide_faults(struct uvm *uvm, struct job *job)
{
    const struct uvm_spec *spec = uvm->spec;
    uint32_t there, may_come;
    uint64_t ps = spec->block;
    for (uint32_t left = job->wanted; left; left &= left - 1)
        decide_page(uvm, job, (uint32_t)__builtin_ctz(left));
    look_at_block(uvm, job, &there, &may_come);
    uint32_t wanted = job->moves;
    job->moves |= subtree_grow(existing(uvm, job), there & ~wanted, wanted) & may_come;
    for (uint32_t left = job->maps; left; left &= left - 1)
        ps += job->faults_of[__builtin_ctz(left)] * spec->map;
    if (job->moves && !there)
        ps += spec->block_first;
    return ps + (uint64_t)__builtin_popcount(wanted) * spec->page +
           (uint64_t)__builtin_popcount(job->moves & ~wanted) * spec->page_along;
}

static uint64_t decide_prefetch(struct uvm *uvm, struct job *job)
{
    const struct uvm_spec *spec = uvm->spec;
    for (uint32_t left = job->wanted & existing(uvm, job); left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        const struct page *page = page_of(uvm, job, number);
        if (!page->is_busy && !page_is_held(page, job->to))
            job->moves |= UINT32_C(1) << number;
    }
    uint64_t pages = (uint64_t)__builtin_popcount(job->moves);
    return (pages ? spec->prefetch_block : spec->prefetch_there) +
           (job->to == PAGE_HOST ? pages * spec->prefetch_home : 0);
}

/* Decides, and gives the time that takes. Pages are busy from now on. */
static uint64_t decide(struct uvm *uvm, struct worker *worker, struct job *job)
{
    uint64_t ps = job->is_prefetch ? decide_prefetch(uvm, job) : decide_faults(uvm, job);
    for (uint32_t left = job->moves; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        struct page *page = page_of(uvm, job, number);
        page->is_busy = true;
        if (plan_of(uvm, page, job->to, job->written >> number & 1).source != PAGE_NOBODY)
            job->copied |= UINT32_C(1) << number;
    }
    for (uint32_t left = job->maps; left; left &= left - 1)
        page_of(uvm, job, (uint32_t)__builtin_ctz(left))->is_busy = true;
    if (job->copied && !job->is_prefetch)
        ps += uvm->spec->block_copy;
    if (job->moves & ~job->copied && job->is_prefetch && worker->has_moved) /* else while it begins */
        ps += uvm->spec->prefetch_clear;
    if (job->moves && job->is_prefetch && !worker->has_moved)
        ps += uvm->spec->prefetch_first;
    worker->has_moved |= job->moves != 0;
    return ps;
}

/* ---- doing ---- */

static void map_pages(struct uvm *uvm, const struct job *job)
{
    for (uint32_t left = job->maps; left; left &= left - 1) {
        struct page *page = page_of(uvm, job, (uint32_t)__builtin_ctz(left));
        page->is_busy = false;
        page->mappers |= UINT64_C(1) << job->to;
        iommu_grant(uvm->iommu, job->to, page, PAGE_FAR);
    }
}

static void move_pages(struct uvm *uvm, uint32_t worker, const struct job *job)
{
    for (uint32_t left = job->moves; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        struct page *page = page_of(uvm, job, number);
        struct page_plan plan = plan_of(uvm, page, job->to, job->written >> number & 1);
        if (plan.source < PAGE_HOST)
            uvm->totals.count[plan.source].bytes_out += PAGE_BYTES;
        if (plan.source <= PAGE_HOST && job->to < PAGE_HOST)
            uvm->totals.count[job->to].bytes_in += PAGE_BYTES;
        iommu_move(uvm->iommu, page, job->to, &plan, worker);
    }
}

static void serve(struct uvm *uvm, uint32_t number)
{
    struct worker *worker = &uvm->workers[number];
    struct job job = worker->jobs[worker->job_next];
    if (!has_room(uvm, &job) && find_victim(uvm, &job) != SIZE_MAX) {
        go_on_after(uvm, number, WORKER_EVICTS, uvm->spec->evict);
        return;
    }
    map_pages(uvm, &job);
    worker->job_next++;
    worker->state = WORKER_MOVES;
    worker->left = 1 + (uint32_t)__builtin_popcount(job.moves); /* one until all are begun */
    move_pages(uvm, number, &job);
    uvm_moved(uvm, number);
}

static void clear(struct uvm *uvm, uint32_t number)
{
    struct worker *worker = &uvm->workers[number];
    const struct job job = worker->jobs[worker->job_next];
    size_t victim = find_victim(uvm, &job);
    if (victim == SIZE_MAX) { /* somebody else moved it meanwhile */
        go_on_after(uvm, number, WORKER_SERVES, 0);
        return;
    }
    uint64_t block = uvm->blocks[job.to].list[victim];
    forget_block(&uvm->blocks[job.to], victim);
    uvm->totals.count[job.to].evictions++;
    worker->state = WORKER_CLEARS;
    worker->left = 1; /* until all are begun */
    evict(uvm, number, job.to, block);
    uvm_moved(uvm, number);
}

/* Whether pages of a block are on the move. */
static bool is_busy(const struct uvm *uvm, const struct job *job)
{
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++)
        if (directory_look(uvm->directory, job->at + i * PAGE_BYTES).is_busy)
            return true;
    return false;
}

static void decide_next(struct uvm *uvm, uint32_t number)
{
    struct worker *worker = &uvm->workers[number];
    struct job *job = &worker->jobs[worker->job_next];
    if (job->is_prefetch && is_busy(uvm, job)) {
        go_on_after(uvm, number, WORKER_STARTS, uvm->spec->prefetch_block + 1); /* looks again */
        return;
    }
    go_on_after(uvm, number, WORKER_SERVES, decide(uvm, worker, job));
}

/* ---- batches and orders ---- */

static struct job *job_of(struct worker *worker, uint64_t block)
{
    for (size_t i = worker->job_count; i-- > 0;)
        if (worker->jobs[i].at == block)
            return &worker->jobs[i];
    mem_grow(worker->jobs, worker->job_count, worker->job_capacity);
    size_t place = worker->job_count++;
    for (; place > 0 && worker->jobs[place - 1].at > block; place--) /* the driver sorts them */
        worker->jobs[place] = worker->jobs[place - 1];
    worker->jobs[place] = (struct job){.at = block};
    return &worker->jobs[place];
}

/* Its page came with another: the driver flushes such faults, and the GPU's replay finds it. */
static bool is_stale(struct uvm *uvm, const struct page_want *fault)
{
    struct page page = directory_look(uvm->directory, fault->at);
    enum page_right has = right_of(&page, fault->gpu);
    if (page.is_busy || has < fault->right)
        return false;
    iommu_grant(uvm->iommu, fault->gpu, &page, has);
    return true;
}

/* Gives the time that the batch takes by itself. */
static uint64_t take_batch(struct uvm *uvm, struct worker *worker, uint32_t gpu)
{
    size_t next = 0, count = 0;
    while (next < worker->fault_count && count < uvm->spec->batch_faults) {
        const struct page_want *fault = &worker->faults[next++];
        if (is_stale(uvm, fault))
            continue;
        count++;
        struct job *job = job_of(worker, fault->at / BLOCK_BYTES * BLOCK_BYTES);
        uint32_t page = (uint32_t)((fault->at - job->at) / PAGE_BYTES);
        job->to = gpu;
        job->faults_of[page]++;
        job->wanted |= UINT32_C(1) << page;
        job->written |= (uint32_t)(fault->right == PAGE_WRITE) << page;
    }
    worker->fault_count -= next;
    memmove(worker->faults, worker->faults + next, worker->fault_count * sizeof *worker->faults);
    uint64_t stale_ps = (next - count) * uvm->spec->stale;
    if (!count)
        return stale_ps;
    uvm->totals.count[gpu].faults += count;
    uvm->totals.count[gpu].batches++;
    return uvm->spec->batch + count * uvm->spec->fault + stale_ps;
}

static uint64_t take_order(const struct uvm *uvm, struct worker *worker)
{
    const struct uvm_prefetch *order = &worker->orders[0];
    uint64_t last = order->at + order->bytes - 1;
    worker->has_moved = false;
    for (uint64_t at = order->at / BLOCK_BYTES * BLOCK_BYTES; at <= last; at += BLOCK_BYTES) {
        mem_grow(worker->jobs, worker->job_count, worker->job_capacity);
        struct job *job = &worker->jobs[worker->job_count++];
        *job = (struct job){.at = at, .to = order->to, .is_prefetch = true};
        for (uint32_t i = 0; i < SUBTREE_PAGES; i++) {
            uint64_t page = at + i * PAGE_BYTES;
            job->wanted |= (uint32_t)(page + PAGE_BYTES > order->at && page <= last) << i;
        }
    }
    return uvm->spec->prefetch;
}

/* The next thing to do; or it sleeps. */
static void begin(struct uvm *uvm, uint32_t number)
{
    struct worker *worker = &uvm->workers[number];
    worker->job_count = worker->job_next = 0;
    if (number < uvm->gpus && worker->fault_count) {
        go_on_after(uvm, number, WORKER_STARTS, take_batch(uvm, worker, number));
    } else if (worker->order_count) {
        go_on_after(uvm, number, WORKER_STARTS, take_order(uvm, worker));
    } else {
        worker->state = WORKER_SLEEPS;
        worker->slept_at = component_now(component_of(uvm));
    }
}

static void end_order(struct worker *worker)
{
    worker->order_count--;
    memmove(worker->orders, worker->orders + 1, worker->order_count * sizeof *worker->orders);
}

static void go_on(struct uvm *uvm, uint32_t number)
{
    struct worker *worker = &uvm->workers[number];
    if (worker->job_next < worker->job_count) {
        decide_next(uvm, number);
        return;
    }
    if (number >= uvm->gpus)
        end_order(worker);
    begin(uvm, number);
}

void uvm_moved(struct uvm *uvm, uint32_t number)
{
    struct worker *worker = &uvm->workers[number];
    if (--worker->left)
        return;
    if (worker->state == WORKER_CLEARS)
        go_on_after(uvm, number, WORKER_SERVES, 0);
    else
        go_on(uvm, number);
}

void uvm_event(struct uvm *uvm, const struct event *event)
{
    uint32_t number;
    if (event->kind == UVM_PREFETCHES) {
        struct uvm_prefetch order;
        memcpy(&order, event->payload, sizeof order);
        wake(uvm, uvm->gpus + order.gpu);
        return;
    }
    memcpy(&number, event->payload, sizeof number);
    switch ((enum worker_state)uvm->workers[number].state) {
    case WORKER_WAKES:
        begin(uvm, number);
        break;
    case WORKER_STARTS:
        go_on(uvm, number);
        break;
    case WORKER_SERVES:
        serve(uvm, number);
        break;
    case WORKER_EVICTS:
        clear(uvm, number);
        break;
    default:
        BUG("a worker of managed memory was woken while it waits");
    }
}

void uvm_fault(struct uvm *uvm, const struct page_want *want)
{
    struct worker *worker = &uvm->workers[want->gpu];
    mem_grow(worker->faults, worker->fault_count, worker->fault_capacity);
    worker->faults[worker->fault_count++] = *want;
    wake(uvm, want->gpu);
}

/* ---- between runs ---- */

void uvm_post_prefetch(struct uvm *uvm, const struct uvm_prefetch *order, uint64_t time)
{
    struct worker *worker = &uvm->workers[uvm->gpus + order->gpu];
    struct hostmem *host = iommu_host(uvm->iommu);
    mem_grow(worker->orders, worker->order_count, worker->order_capacity);
    worker->orders[worker->order_count++] = *order;
    engine_post(host->engine, host->component, time, UVM_PREFETCHES, order, sizeof *order);
}

uint64_t uvm_prefetch_left(const struct uvm *uvm, uint32_t gpu)
{
    const struct worker *worker = &uvm->workers[uvm->gpus + gpu];
    if (!worker->order_count)
        return 0;
    return worker->state == WORKER_SLEEPS ? worker->orders[0].bytes
                                          : max_u64(1, (worker->job_count - worker->job_next) * BLOCK_BYTES);
}

bool uvm_is_used(const struct uvm *uvm)
{
    for (uint32_t i = 0; i < uvm->gpus; i++)
        if (uvm->totals.bytes_here[i])
            return true;
    return false;
}

void uvm_take_back(struct uvm *uvm, struct page *page)
{
    for (uint64_t left = page->holders; left; left &= left - 1)
        uvm_count(uvm, page, (uint32_t)__builtin_ctzll(left), false);
    page->holders = UINT64_C(1) << PAGE_HOST;
    page->is_exclusive = true;
    page->mappers = advice_of(uvm, page).accessed_by;
}

struct forgetting {
    struct uvm *uvm;
    uint64_t first, last;
};

static void forget_page(void *user, struct page *page)
{
    const struct forgetting *what = user;
    if (page->at + PAGE_BYTES - 1 < what->first || page->at > what->last)
        return;
    uvm_take_back(what->uvm, page);
    page->mappers = 0;
    page->granted = 0;
}

void uvm_forget(struct uvm *uvm, uint64_t at, uint64_t bytes)
{
    struct forgetting what = {uvm, at, at + (bytes - 1)};
    directory_each(uvm->directory, forget_page, &what);
}

void uvm_add_counts(const struct uvm *uvm, uint32_t gpu, struct memsys_counters *counters)
{
    const struct uvm_counts *count = &uvm->totals.count[gpu];
    counters->managed_faults = count->faults;
    counters->managed_batches = count->batches;
    counters->managed_bytes_in = count->bytes_in;
    counters->managed_bytes_out = count->bytes_out;
    counters->managed_evictions = count->evictions;
}

/* ---- checkpoints ---- */

static bool worker_fits(const struct uvm *uvm, const struct worker *worker)
{
    bool good = worker->state <= WORKER_CLEARS && worker->job_next <= worker->job_count;
    for (size_t i = 0; i < worker->fault_count; i++)
        good &= worker->faults[i].gpu < uvm->gpus;
    for (size_t i = 0; i < worker->job_count; i++)
        good &= worker->jobs[i].to < uvm->gpus || worker->jobs[i].to == PAGE_HOST;
    for (size_t i = 0; i < worker->order_count; i++)
        good &= worker->orders[i].to < uvm->gpus || worker->orders[i].to == PAGE_HOST;
    return good;
}

void uvm_archive(struct uvm *uvm, struct archive *archive)
{
    directory_archive(uvm->directory, archive);
    ARCHIVE_VALUE(archive, uvm->totals);
    for (uint32_t i = 0; i < uvm->gpus; i++)
        ARCHIVE_LIST(archive, uvm->blocks[i].list, uvm->blocks[i].count, uvm->blocks[i].capacity);
    for (uint32_t i = 0; i < 2 * uvm->gpus && archive->good; i++) {
        struct worker *worker = &uvm->workers[i];
        ARCHIVE_VALUE(archive, worker->state);
        ARCHIVE_VALUE(archive, worker->left);
        ARCHIVE_VALUE(archive, worker->slept_at);
        ARCHIVE_VALUE(archive, worker->job_next);
        ARCHIVE_VALUE(archive, worker->has_moved);
        ARCHIVE_LIST(archive, worker->faults, worker->fault_count, worker->fault_capacity);
        ARCHIVE_LIST(archive, worker->jobs, worker->job_count, worker->job_capacity);
        ARCHIVE_LIST(archive, worker->orders, worker->order_count, worker->order_capacity);
        archive_check(archive, worker_fits(uvm, worker));
    }
}
