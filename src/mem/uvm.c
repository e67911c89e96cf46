#include "mem/uvm_parts.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/left_out.h"

static struct thrashing_rule rule_of(const struct uvm_spec *spec)
{
    return (struct thrashing_rule){.on = spec->thrashing,
                                   .events = (uint32_t)spec->thrashing_threshold,
                                   .throttles = (uint32_t)spec->thrashing_pin_threshold,
                                   .lapse = spec->thrashing_lapse,
                                   .nap = spec->thrashing_nap * spec->thrashing_lapse,
                                   .epoch = spec->thrashing_epoch * spec->thrashing_lapse,
                                   .pin = spec->thrashing_pin * spec->thrashing_lapse,
                                   .resets = (uint32_t)spec->thrashing_max_resets};
}

struct uvm *uvm_new(struct iommu *iommu, const struct uvm_spec *spec, const struct areas *areas)
{
    struct uvm *uvm = mem_alloc(1, sizeof *uvm);
    uint32_t gpus = iommu_host(iommu)->gpus;
    *uvm = (struct uvm){.iommu = iommu, .spec = spec, .areas = areas, .gpus = gpus};
    uvm->directory = directory_new(SUBTREE_PAGE_SHIFT, SUBTREE_PAGE_SHIFT);
    uvm->workers = mem_alloc(2 * (size_t)gpus, sizeof *uvm->workers);
    uvm->blocks = mem_alloc(gpus, sizeof *uvm->blocks);
    static const uint32_t region_shifts[] = {16, 21, 24}; /* as counter_granularity names them */
    tally_init(&uvm->tally, region_shifts[spec->counter_granularity], (uint32_t)spec->counter_threshold);
    struct thrashing_rule rule = rule_of(spec);
    thrashing_init(&uvm->thrashing, &rule);
    return uvm;
}

void uvm_free(struct uvm *uvm)
{
    if (!uvm)
        return;
    for (uint32_t i = 0; i < 2 * uvm->gpus; i++) {
        mem_free(uvm->workers[i].faults);
        mem_free(uvm->workers[i].naps);
        mem_free(uvm->workers[i].jobs);
        mem_free(uvm->workers[i].orders);
        mem_free(uvm->workers[i].notices);
    }
    for (uint32_t i = 0; i < uvm->gpus; i++)
        mem_free(uvm->blocks[i].list);
    tally_fini(&uvm->tally);
    thrashing_fini(&uvm->thrashing);
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

static void go_on_after(struct uvm *uvm, uint32_t number, enum uvm_worker_state state, uint64_t ps)
{
    uvm->workers[number].state = state;
    component_schedule(uvm_component(uvm), ps, UVM_WORKS, &number, sizeof number);
}

/* The longer the host's CPU was idle, the deeper it sleeps. */
static uint64_t wake_time(const struct uvm *uvm, const struct uvm_worker *worker)
{
    uint64_t idle =
        component_now(uvm_component(uvm)) - worker->slept_at + uvm->totals.cpu_ps - worker->slept_cpu_ps;
    uint64_t deeper = (uint64_t)((double)idle * uvm->spec->sleep);
    return idle < uvm->spec->linger ? 0 : uvm->spec->wake + min_u64(deeper, uvm->spec->sleep_most);
}

static void wake(struct uvm *uvm, uint32_t number)
{
    const struct uvm_worker *worker = &uvm->workers[number];
    if (worker->state == WORKER_SLEEPS)
        go_on_after(uvm, number, WORKER_WAKES, number < uvm->gpus ? wake_time(uvm, worker) : 0);
}

void uvm_put_back(struct uvm *uvm, const struct uvm_job *job, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[job->to];
    mem_grow(worker->faults, worker->fault_count, worker->fault_capacity);
    worker->faults[worker->fault_count++] = uvm_want(job, number);
}

/* ---- doing ---- */

static void map_pages(struct uvm *uvm, const struct uvm_job *job)
{
    for (uint32_t left = job->maps; left; left &= left - 1) {
        struct page *page = uvm_page(uvm, job, (uint32_t)__builtin_ctz(left));
        page->is_busy = false;
        page->mappers |= UINT64_C(1) << job->to;
        iommu_grant(uvm->iommu, job->to, page, PAGE_FAR);
        if (thrashing_is_pinned(&uvm->thrashing, page->at))
            uvm_unpin_later(uvm, job->to);
    }
}

static void move_pages(struct uvm *uvm, uint32_t worker, const struct uvm_job *job)
{
    for (uint32_t left = job->moves; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctz(left);
        struct page *page = uvm_page(uvm, job, number);
        struct page_plan plan = uvm_plan(uvm, page, job->to, job->written >> number & 1);
        if (plan.source < PAGE_HOST)
            uvm->totals.count[plan.source].bytes_out += PAGE_BYTES;
        if (plan.source <= PAGE_HOST && job->to < PAGE_HOST)
            uvm->totals.count[job->to].bytes_in += PAGE_BYTES;
        iommu_move(uvm->iommu, page, job->to, &plan, worker);
    }
}

/* From whoever holds it to the host; unless it went there since that was decided, as its memory was freed. */
static void pin_pages(struct uvm *uvm, uint32_t worker, const struct uvm_job *job)
{
    for (uint32_t left = job->pins; left; left &= left - 1) {
        struct page *page = uvm_page(uvm, job, (uint32_t)__builtin_ctz(left));
        if (uvm_is_at_host(page)) {
            page->is_busy = false;
            uvm->workers[worker].left--; /* it is not the last: serve counts one more */
            continue;
        }
        uint32_t source = (uint32_t)__builtin_ctzll(page->holders);
        struct page_plan plan = {.source = source, .drops = page->holders, .right = PAGE_WRITE};
        uvm->totals.count[source].bytes_out += PAGE_BYTES;
        uvm->totals.count[job->to].pinned++;
        iommu_move(uvm->iommu, page, PAGE_HOST, &plan, worker);
    }
}

/* Whoever reaches them does not any more. */
static void drop_pages(struct uvm *uvm, uint32_t worker, const struct uvm_job *job)
{
    static const struct page_plan plan = {.source = PAGE_NOBODY, .right = PAGE_WRITE};
    for (uint32_t left = job->drops; left; left &= left - 1)
        iommu_move(uvm->iommu, uvm_page(uvm, job, (uint32_t)__builtin_ctz(left)), PAGE_NOBODY, &plan, worker);
}

static void serve(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    struct uvm_job job = worker->jobs[worker->job_next];
    if (!uvm_room_has(uvm, &job) && uvm_room_victim(uvm, &job) != UVM_NO_BLOCK) {
        go_on_after(uvm, number, WORKER_EVICTS, uvm->spec->evict);
        return;
    }
    map_pages(uvm, &job);
    worker->job_next++;
    worker->state = WORKER_MOVES;
    worker->left =
        1 + (uint32_t)__builtin_popcount(job.moves | job.pins | job.drops); /* one until all are begun */
    move_pages(uvm, number, &job);
    pin_pages(uvm, number, &job);
    drop_pages(uvm, number, &job);
    uvm_moved(uvm, number);
}

static void clear(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    const struct uvm_job job = worker->jobs[worker->job_next];
    size_t victim = uvm_room_victim(uvm, &job);
    if (victim == UVM_NO_BLOCK) { /* somebody else moved it meanwhile */
        go_on_after(uvm, number, WORKER_SERVES, 0);
        return;
    }
    worker->state = WORKER_CLEARS;
    worker->left = 1; /* until all are begun */
    uvm_room_evict(uvm, number, job.to, victim);
    uvm_moved(uvm, number);
}

/* Whether pages of a block are on the move. */
static bool is_busy(const struct uvm *uvm, const struct uvm_job *job)
{
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++)
        if (directory_look(uvm->directory, job->at + i * PAGE_BYTES).is_busy)
            return true;
    return false;
}

static void decide_next(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    struct uvm_job *job = &worker->jobs[worker->job_next];
    if (job->kind == JOB_PREFETCH && is_busy(uvm, job)) {
        go_on_after(uvm, number, WORKER_STARTS, uvm->spec->prefetch_block + 1); /* looks again */
        return;
    }
    go_on_after(uvm, number, WORKER_SERVES, uvm_decide(uvm, worker, job));
}

/* ---- batches and orders ---- */

struct uvm_job *uvm_job_of(struct uvm_worker *worker, uint64_t block)
{
    for (size_t i = worker->job_count; i-- > 0;)
        if (worker->jobs[i].at == block)
            return &worker->jobs[i];
    mem_grow(worker->jobs, worker->job_count, worker->job_capacity);
    size_t place = worker->job_count++;
    for (; place > 0 && worker->jobs[place - 1].at > block; place--) /* the driver sorts them */
        worker->jobs[place] = worker->jobs[place - 1];
    worker->jobs[place] = (struct uvm_job){.at = block};
    return &worker->jobs[place];
}

/* Its page came with another: the driver flushes such faults, and the GPU's replay finds it. */
static bool is_stale(struct uvm *uvm, const struct page_want *fault)
{
    struct page page = directory_look(uvm->directory, fault->at);
    enum page_right has = uvm_right(&page, fault->gpu);
    if (page.is_busy || has < fault->right)
        return false;
    iommu_grant(uvm->iommu, fault->gpu, &page, has);
    return true;
}

/* Gives the time that the batch takes by itself. */
static uint64_t take_batch(struct uvm *uvm, struct uvm_worker *worker, uint32_t gpu)
{
    size_t next = 0, count = 0;
    while (next < worker->fault_count && count < uvm->spec->batch_faults) {
        const struct page_want *fault = &worker->faults[next++];
        if (is_stale(uvm, fault))
            continue;
        count++;
        struct uvm_job *job = uvm_job_of(worker, fault->at / BLOCK_BYTES * BLOCK_BYTES);
        uint32_t page = (uint32_t)((fault->at - job->at) / PAGE_BYTES);
        job->to = gpu;
        job->counts[page]++;
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

/* Pages of the parts of a region that a GPU reached. */
static void take_notice(const struct uvm *uvm, struct uvm_worker *worker, uint64_t region, uint32_t gpu)
{
    uint64_t part = tally_part_bytes(&uvm->tally), step = min_u64(part, PAGE_BYTES);
    for (uint32_t left = tally_parts(&uvm->tally, gpu, region); left; left &= left - 1) {
        uint64_t first = region + (uint64_t)__builtin_ctz(left) * part;
        for (uint64_t at = first; at < first + part; at += step) {
            struct uvm_job *job = uvm_job_of(worker, at / BLOCK_BYTES * BLOCK_BYTES);
            job->to = gpu;
            job->kind = JOB_COUNTED;
            job->wanted |= UINT32_C(1) << (at - job->at) / PAGE_BYTES;
        }
    }
}

static uint64_t take_notices(const struct uvm *uvm, struct uvm_worker *worker, uint32_t gpu)
{
    worker->notices_taken = min_u64(worker->notice_count, uvm->spec->counter_batch);
    for (size_t i = 0; i < worker->notices_taken; i++)
        take_notice(uvm, worker, worker->notices[i], gpu);
    return uvm->spec->batch + worker->notices_taken * uvm->spec->fault;
}

/* Their counters begin again. */
static void end_notices(struct uvm *uvm, struct uvm_worker *worker, uint32_t gpu)
{
    if (!worker->notices_taken)
        return;
    for (size_t i = 0; i < worker->notices_taken; i++)
        tally_clear(&uvm->tally, gpu, worker->notices[i]);
    worker->notice_count -= worker->notices_taken;
    memmove(worker->notices, worker->notices + worker->notices_taken,
            worker->notice_count * sizeof *worker->notices);
    worker->notices_taken = 0;
}

static uint64_t take_order(const struct uvm *uvm, struct uvm_worker *worker)
{
    const struct uvm_prefetch *order = &worker->orders[0];
    uint64_t last = order->at + order->bytes - 1;
    worker->has_moved = false;
    for (uint64_t at = order->at / BLOCK_BYTES * BLOCK_BYTES; at <= last; at += BLOCK_BYTES) {
        mem_grow(worker->jobs, worker->job_count, worker->job_capacity);
        struct uvm_job *job = &worker->jobs[worker->job_count++];
        *job = (struct uvm_job){.at = at, .to = order->to, .kind = JOB_PREFETCH};
        for (uint32_t i = 0; i < SUBTREE_PAGES; i++) {
            uint64_t from = max_u64(at + i * PAGE_BYTES, order->at) / 4096;
            uint64_t to = min_u64(at + (i + 1) * PAGE_BYTES - 1, last) / 4096;
            job->counts[i] = (uint16_t)(from <= to ? to - from + 1 : 0);
            job->wanted |= (uint32_t)(job->counts[i] > 0) << i;
        }
    }
    return uvm->spec->prefetch;
}

/* The next thing to do; or it sleeps. */
static void begin(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    worker->job_count = worker->job_next = 0;
    if (number < uvm->gpus && worker->fault_count) {
        go_on_after(uvm, number, WORKER_STARTS, take_batch(uvm, worker, number));
    } else if (worker->notice_count) {
        go_on_after(uvm, number, WORKER_STARTS, take_notices(uvm, worker, number));
    } else if (worker->is_to_unpin) {
        go_on_after(uvm, number, WORKER_STARTS, uvm_take_unpins(uvm, worker, number));
    } else if (worker->order_count) {
        go_on_after(uvm, number, WORKER_STARTS, take_order(uvm, worker));
    } else {
        worker->state = WORKER_SLEEPS;
        worker->slept_at = component_now(uvm_component(uvm));
        worker->slept_cpu_ps = uvm->totals.cpu_ps;
    }
}

static void end_order(struct uvm_worker *worker)
{
    worker->order_count--;
    memmove(worker->orders, worker->orders + 1, worker->order_count * sizeof *worker->orders);
}

static void go_on(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    if (worker->job_next < worker->job_count) {
        decide_next(uvm, number);
        return;
    }
    if (number >= uvm->gpus)
        end_order(worker);
    else
        end_notices(uvm, worker, number);
    begin(uvm, number);
}

void uvm_moved(struct uvm *uvm, uint32_t number)
{
    struct uvm_worker *worker = &uvm->workers[number];
    if (--worker->left)
        return;
    if (worker->state == WORKER_CLEARS) {
        uvm_room_map_evicted(uvm, number);
        go_on_after(uvm, number, WORKER_SERVES, 0);
    } else {
        uvm_note_moves(uvm, &worker->jobs[worker->job_next - 1]);
        go_on(uvm, number);
    }
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
    if (event->kind == UVM_NAPS_END) {
        uvm_end_naps(uvm, number);
        return;
    }
    if (event->kind == UVM_UNPINS) {
        uvm->totals.unpins_at = 0;
        uvm->workers[number].is_to_unpin = true;
        wake(uvm, number);
        return;
    }
    switch ((enum uvm_worker_state)uvm->workers[number].state) {
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
    struct uvm_worker *worker = &uvm->workers[want->gpu];
    mem_grow(worker->faults, worker->fault_count, worker->fault_capacity);
    worker->faults[worker->fault_count++] = *want;
    wake(uvm, want->gpu);
}

void uvm_reached(struct uvm *uvm, uint32_t gpu, uint64_t at)
{
    if (!uvm->spec->access_counters || !tally_add(&uvm->tally, gpu, at))
        return;
    struct uvm_worker *worker = &uvm->workers[gpu];
    mem_grow(worker->notices, worker->notice_count, worker->notice_capacity);
    worker->notices[worker->notice_count++] = tally_region(&uvm->tally, at);
    wake(uvm, gpu);
}

/* ---- between runs ---- */

void uvm_post_prefetch(struct uvm *uvm, const struct uvm_prefetch *order, uint64_t time)
{
    struct uvm_worker *worker = &uvm->workers[uvm->gpus + order->gpu];
    struct hostmem *host = iommu_host(uvm->iommu);
    mem_grow(worker->orders, worker->order_count, worker->order_capacity);
    worker->orders[worker->order_count++] = *order;
    engine_post(host->engine, host->component, time, UVM_PREFETCHES, order, sizeof *order);
}

uint64_t uvm_prefetch_left(const struct uvm *uvm, uint32_t gpu)
{
    const struct uvm_worker *worker = &uvm->workers[uvm->gpus + gpu];
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
    page->mappers = uvm_advice(uvm, page).accessed_by;
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
    thrashing_forget(&what->uvm->thrashing, page->at);
    if (page->is_busy) /* a worker has it: what was decided, or is under way, ends first */
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
    counters->managed_counted = count->counted;
    counters->managed_throttled = count->throttled;
    counters->managed_pinned = count->pinned;
}

/* ---- checkpoints ---- */

/* Whether the worker has the job that its state says it is at. */
static bool job_fits(const struct uvm_worker *worker)
{
    switch ((enum uvm_worker_state)worker->state) {
    case WORKER_SERVES:
    case WORKER_EVICTS:
    case WORKER_CLEARS:
        return worker->job_next < worker->job_count;
    case WORKER_MOVES:
        return worker->job_next > 0 && worker->job_next <= worker->job_count;
    default:
        return worker->job_next <= worker->job_count;
    }
}

static bool worker_fits(const struct uvm *uvm, const struct uvm_worker *worker)
{
    bool good =
        worker->state <= WORKER_CLEARS && job_fits(worker) && worker->notices_taken <= worker->notice_count;
    for (size_t i = 0; i < worker->fault_count; i++)
        good &= worker->faults[i].gpu < uvm->gpus;
    for (size_t i = 0; i < worker->nap_count; i++)
        good &= worker->naps[i].want.gpu < uvm->gpus;
    for (size_t i = 0; i < worker->job_count; i++)
        good &= worker->jobs[i].kind <= JOB_UNPIN &&
                (worker->jobs[i].to < uvm->gpus ||
                 (worker->jobs[i].to == PAGE_HOST && worker->jobs[i].kind == JOB_PREFETCH));
    for (size_t i = 0; i < worker->order_count; i++)
        good &= worker->orders[i].gpu < uvm->gpus &&
                (worker->orders[i].to < uvm->gpus || worker->orders[i].to == PAGE_HOST);
    return good;
}

void uvm_archive(struct uvm *uvm, struct archive *archive)
{
    directory_archive(uvm->directory, archive);
    ARCHIVE_VALUE(archive, uvm->totals);
    tally_archive(&uvm->tally, archive);
    thrashing_archive(&uvm->thrashing, archive);
    for (uint32_t i = 0; i < uvm->gpus; i++)
        ARCHIVE_LIST(archive, uvm->blocks[i].list, uvm->blocks[i].count, uvm->blocks[i].capacity);
    for (uint32_t i = 0; i < 2 * uvm->gpus && archive->good; i++) {
        struct uvm_worker *worker = &uvm->workers[i];
        ARCHIVE_VALUE(archive, worker->state);
        ARCHIVE_VALUE(archive, worker->left);
        ARCHIVE_VALUE(archive, worker->slept_at);
        ARCHIVE_VALUE(archive, worker->slept_cpu_ps);
        ARCHIVE_VALUE(archive, worker->job_next);
        ARCHIVE_VALUE(archive, worker->has_moved);
        ARCHIVE_VALUE(archive, worker->is_to_unpin);
        ARCHIVE_VALUE(archive, worker->notices_taken);
        ARCHIVE_VALUE(archive, worker->evicted);
        ARCHIVE_LIST(archive, worker->notices, worker->notice_count, worker->notice_capacity);
        ARCHIVE_LIST(archive, worker->faults, worker->fault_count, worker->fault_capacity);
        ARCHIVE_LIST(archive, worker->naps, worker->nap_count, worker->nap_capacity);
        ARCHIVE_LIST(archive, worker->jobs, worker->job_count, worker->job_capacity);
        ARCHIVE_LIST(archive, worker->orders, worker->order_count, worker->order_capacity);
        archive_check(archive, worker_fits(uvm, worker));
    }
}
