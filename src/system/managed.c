#include "system/managed.h"
#include "system/managed_apart.h"
#include "system/over_ranks.h"
#include "system/copies.h"
#include "system/journal.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/iommu.h"
#include "mem/left_out.h"
#include "mem/uvm.h"
#include "paging/subtree.h"

#include <string.h>

#define PAGE_BYTES (UINT64_C(1) << SUBTREE_PAGE_SHIFT)
#define NO_SUM     UINT64_C(0)

static struct uvm *uvm_of(const struct local_machine *machine)
{
    const struct iommu *iommu = hostmem_iommu(machine->host);
    return iommu ? iommu_uvm(iommu) : NULL;
}

void machine_managed_fini(struct local_machine *machine)
{
    machine_apart_fini(machine);
    mem_free(machine->sums.list);
    index_fini(&machine->sums.pages);
    areas_fini(&machine->areas);
}

/* ---- what the program changed ---- */

static uint64_t sum_of(const char *bytes)
{
    uint64_t lanes[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < PAGE_BYTES; i += sizeof lanes) {
        uint64_t words[4];
        memcpy(words, bytes + i, sizeof words);
        for (int lane = 0; lane < 4; lane++) {
            lanes[lane] = (lanes[lane] ^ words[lane]) * UINT64_C(0x9e3779b97f4a7c15);
            lanes[lane] ^= lanes[lane] >> 29;
        }
    }
    uint64_t sum = lanes[0] + 3 * lanes[1] + 5 * lanes[2] + 7 * lanes[3];
    return sum == NO_SUM ? 1 : sum;
}

static char *bytes_of(const struct local_machine *machine, uint64_t at)
{
    return hostmem_managed_bytes(machine->host, at);
}

static bool is_on_gpu(const struct page *page)
{
    return page->holders & ~(UINT64_C(1) << PAGE_HOST);
}

/* The checksum that a page had before. */
static uint64_t *sum_before(struct managed_sums *sums, uint64_t at)
{
    uint32_t number = index_find(&sums->pages, at);
    if (number == INDEX_NONE) {
        number = index_add(&sums->pages, at);
        size_t count = number;
        mem_grow(sums->list, count, sums->capacity);
        sums->list[number] = NO_SUM;
    }
    return &sums->list[number];
}

/* No GPU has them any more: the CPU took them, or a copy changed them. */
static void take_back(struct local_machine *machine, const struct managed_pages *pages, bool by_cpu)
{
    struct uvm *uvm = uvm_of(machine);
    for (size_t i = 0; i < pages->count && !left_out(LEFT_OUT_TAKEN_BACK); i++)
        for (uint32_t home = 0; home < machine_homes(machine); home++)
            memsys_forget_pages(machine_home_mem(machine, home), pages->list[i], PAGE_BYTES);
    if (pages->count)
        machine_apart_fetch(machine);
    for (size_t i = 0; i < pages->count; i++) {
        struct page *page = directory_page(uvm_directory(uvm), pages->list[i]);
        if (by_cpu)
            uvm_cpu_took(uvm, page, machine->now);
        else
            uvm_take_back(uvm, page);
        for (uint64_t left = page->mappers; left; left &= left - 1)
            memsys_map_page(machine_home_mem(machine, (uint32_t)__builtin_ctzll(left)), page->at,
                            page->shift);
    }
}

static void add_page(struct managed_pages *pages, uint64_t at)
{
    mem_grow(pages->list, pages->count, pages->capacity);
    pages->list[pages->count++] = at;
}

static bool was_written(const struct local_machine *machine, uint64_t at)
{
    bool was = machine_apart_wrote(machine, at);
    for (uint32_t home = 0; home < machine_homes(machine) && !was; home++)
        was = memsys_wrote_managed(machine_home_mem(machine, home), at);
    return was;
}

struct comparison {
    struct local_machine *machine;
    bool may_write; /* since then, GPUs may have written to pages */
    struct managed_pages changed;
};

/* Compares a page with what it was. */
static void compare(void *user, struct page *page)
{
    struct comparison *all = user;
    struct local_machine *machine = all->machine;
    const char *bytes = is_on_gpu(page) && !page->is_busy ? bytes_of(machine, page->at) : NULL;
    uint64_t *before = sum_before(&machine->sums, page->at), sum = bytes ? sum_of(bytes) : NO_SUM;
    bool changed = bytes && *before != NO_SUM && *before != sum;
    *before = sum;
    if (changed && !(all->may_write && was_written(machine, page->at)))
        add_page(&all->changed, page->at);
}

/* The program took what it changed. It is where the program is that is looked. */
static void compare_all(struct local_machine *machine, bool may_write)
{
    struct comparison all = {.machine = machine, .may_write = may_write};
    if (machine_leads(machine))
        directory_each(uvm_directory(uvm_of(machine)), compare, &all);
    machine_apart_agree(machine, &all.changed);
    take_back(machine, &all.changed, true);
    mem_free(all.changed.list);
}

/* For the journal of a checkpoint: all that GPUs may have written is as if they had done so there. */
static void note_page(void *user, struct page *page)
{
    struct local_machine *machine = user;
    char *bytes = page->granted ? bytes_of(machine, page->at) : NULL;
    if (bytes)
        hostmem_note(machine->host, bytes, PAGE_BYTES);
}

void machine_managed_note_writes(struct local_machine *machine)
{
    struct uvm *uvm = uvm_of(machine);
    if (uvm && machine->journal)
        directory_each(uvm_directory(uvm), note_page, machine);
}

void machine_managed_archive(struct local_machine *machine, struct archive *archive)
{
    struct managed_sums *sums = &machine->sums;
    if (!uvm_of(machine))
        return;
    index_archive(&sums->pages, archive);
    if (archive->reading && archive->good) {
        mem_free(sums->list);
        sums->capacity = sums->pages.count + 1;
        sums->list = mem_alloc(sums->capacity, sizeof *sums->list);
    }
    if (archive->good && sums->pages.count)
        archive_sparse(archive, sums->list, sums->pages.count * sizeof *sums->list);
    machine_apart_archive(machine, archive);
}

void machine_managed_leave(struct local_machine *machine)
{
    machine_apart_fetch(machine);
    machine_apart_empty(machine);
}

/* Kernels see what the program wrote. Pages stay where they are. */
static void refresh(struct local_machine *machine)
{
    machine_apart_give(machine);
    for (uint32_t home = 0; home < machine_homes(machine) && !left_out(LEFT_OUT_TAKEN_BACK); home++)
        memsys_refresh_managed(machine_home_mem(machine, home));
}

/* What kernels wrote becomes visible. */
static void sync_managed(struct local_machine *machine)
{
    for (uint32_t home = 0; home < machine_homes(machine); home++)
        memsys_sync_managed(machine_home_mem(machine, home));
    machine_apart_fetch(machine);
}

void machine_managed_settle(struct local_machine *machine)
{
    struct uvm *uvm = uvm_of(machine);
    if (!uvm || !uvm_is_used(uvm))
        return;
    if (!left_out(LEFT_OUT_SETTLED))
        sync_managed(machine);
    machine_managed_note_writes(machine);
    if (machine->running)
        return;
    compare_all(machine, true);
    refresh(machine); /* pages that both have written to */
    for (uint32_t home = 0; home < machine_homes(machine); home++)
        memsys_forget_writes(machine_home_mem(machine, home));
    machine_apart_forget_writes(machine);
}

void machine_managed_take_back(struct local_machine *machine)
{
    struct uvm *uvm = uvm_of(machine);
    bool is_used = uvm && uvm_is_used(uvm);
    if (is_used && machine->running) /* who knows who changed it? */
        sync_managed(machine);
    else if (is_used)
        compare_all(machine, false);
    if (is_used)
        refresh(machine); /* also pages that were on the move */
    else
        machine_apart_give(machine); /* to GPUs that get their first pages now */
    if (uvm)
        uvm_cpu_is_done(uvm);
}

void machine_managed_changed(struct local_machine *machine, const struct task *task)
{
    struct homes_piece piece = homes_find(&machine->memory, task->to.at);
    if (!uvm_of(machine) || !piece.bytes || !physical_is_managed(piece.to.packed))
        return;
    uint64_t bytes = (task->depth - 1) * task->to.slice + (task->height - 1) * task->to.pitch + task->width;
    uint64_t first = piece.to.packed / PAGE_BYTES * PAGE_BYTES;
    struct managed_pages changed = {0};
    for (uint64_t at = first; at < piece.to.packed + bytes; at += PAGE_BYTES) {
        const struct page *page = directory_page(uvm_directory(uvm_of(machine)), at);
        if (is_on_gpu(page) && !page->is_busy)
            add_page(&changed, at);
    }
    take_back(machine, &changed, false);
    mem_free(changed.list);
    refresh(machine); /* also pages that are on the move */
}

/* Time of the host's CPU, which is not simulated. While a GPU is at work, it passes beside that. */
static void spend(struct local_machine *machine, uint64_t ps)
{
    struct uvm *uvm = uvm_of(machine);
    if (uvm && !machine->running && !copies_run(machine))
        uvm_cpu_spends(uvm, ps);
}

void machine_managed_turn(struct local_machine *machine)
{
    spend(machine, machine->system->uvm.cpu_turn);
}

/* ---- what the program said ---- */

static void advise(struct area_advice *advice, const struct managed_order *order)
{
    uint64_t bit = order->place < PAGE_HOST ? UINT64_C(1) << order->place : 0;
    switch (order->kind) {
    case MANAGED_READ_MOSTLY:
        advice->read_mostly = order->on;
        break;
    case MANAGED_PREFERRED:
        advice->preferred = order->on ? (uint8_t)order->place : (uint8_t)AREA_NOWHERE;
        break;
    default:
        advice->accessed_by = order->on ? advice->accessed_by | bit : advice->accessed_by & ~bit;
    }
}

/* Who is said to access memory reaches it at the host from now on, without a fault. */
static void map_pages(struct local_machine *machine, struct uvm *uvm, const struct managed_order *order)
{
    uint64_t first = order->at.packed / PAGE_BYTES * PAGE_BYTES;
    for (uint64_t at = first; at < order->at.packed + order->bytes; at += PAGE_BYTES) {
        struct page *page = directory_page(uvm_directory(uvm), at);
        if (page->holders != UINT64_C(1) << PAGE_HOST || page->is_busy)
            continue;
        page->mappers |= UINT64_C(1) << order->place;
        memsys_map_page(machine_home_mem(machine, order->place), at, SUBTREE_PAGE_SHIFT);
    }
}

/* The pages that hold them are as new: nobody else has bytes there. */
static void forget(struct local_machine *machine, struct uvm *uvm, const struct managed_order *order)
{
    for (uint32_t home = 0; home < machine_homes(machine); home++)
        memsys_forget_pages(machine_home_mem(machine, home), order->at.packed, order->bytes);
    machine_apart_fetch(machine);
    uvm_forget(uvm, order->at.packed, order->bytes);
    machine_apart_clear(machine, order->at.packed, order->bytes);
}

void machine_managed_order(struct local_machine *machine, const struct managed_order *order)
{
    struct uvm *uvm = uvm_of(machine);
    bool replays = machine->journal && journal_is_replaying(machine->journal);
    uint64_t offset = physical_offset(order->at);
    if (!uvm)
        return;
    switch (order->kind) {
    case MANAGED_LOOKED_AT:
    case MANAGED_CALLED:
        if (replays || !machine->running)
            return;
        if (!uvm_is_used(uvm)) {
            machine_apart_give(machine);
            return;
        }
        if (order->kind == MANAGED_LOOKED_AT)
            sync_managed(machine);
        refresh(machine);
        return;
    case MANAGED_ROOM:
        machine->areas.rooms[order->place] = order->bytes;
        return;
    case MANAGED_NEW:
        areas_add(&machine->areas, offset, order->bytes);
        spend(machine, machine->system->uvm.cpu_alloc);
        return;
    case MANAGED_GONE:
        areas_remove(&machine->areas, offset, order->bytes);
        spend(machine, machine->system->uvm.cpu_alloc);
        if (!replays)
            forget(machine, uvm, order);
        return;
    default:
        break;
    }
    struct areas_span span = areas_cut(&machine->areas, offset, order->bytes);
    for (size_t i = 0; i < span.count; i++)
        advise(&span.first[i].advice, order);
    if (order->kind == MANAGED_ACCESSED_BY && order->on && order->place < PAGE_HOST && !replays)
        map_pages(machine, uvm, order);
}

/* ---- prefetches ---- */

void machine_managed_begin_prefetch(struct local_machine *machine, struct task *task)
{
    struct homes_piece piece = homes_find(&machine->memory, task->to.at);
    uint32_t gpu = machine_first_home(machine, task->gpu);
    struct uvm_prefetch order = {.at = piece.to.packed,
                                 .bytes = min_u64(piece.bytes, task->width),
                                 .gpu = gpu,
                                 .to = task->to.is_host ? (uint32_t)PAGE_HOST : gpu};
    task->end_ps = machine->now;
    machine_managed_take_back(machine);
    if (uvm_of(machine) && order.bytes && physical_is_managed(order.at)) /* else it is gone already */
        uvm_post_prefetch(uvm_of(machine), &order, machine->now);
}

bool machine_managed_has_prefetched(struct local_machine *machine, struct task *task)
{
    enum { FASTEST = 1000 }; /* bytes that move in a nanosecond, at most; so nobody asks too late */
    struct uvm *uvm = uvm_of(machine);
    uint64_t left = uvm ? uvm_prefetch_left(uvm, machine_first_home(machine, task->gpu)) : 0;
    task->end_ps = machine->now + max_u64(COPY_LATE_PS, left / FASTEST * 1000);
    return !left;
}
