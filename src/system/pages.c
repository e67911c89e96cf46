#include "system/pages.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/iommu.h"
#include "ranks/ranks.h"
#include "system/copies.h"
#include "system/over_ranks.h"

/* ---- copying home ---- */

static const char *host_of(const struct local_machine *machine, uint64_t at)
{
    return memsys_host(machine_home_mem(machine, directory_home(at)), physical_offset(physical_unpack(at)));
}

/* What is done to pages that have some of these addresses. */
struct gather {
    struct local_machine *machine;
    struct iommu *iommu;
    struct page_range range;
};

/* Who has the newest bytes of a page. Of one on the move the directory does not know it yet: that is who may
 * use it already, or else who sends it. */
static uint32_t newest_holder(const struct gather *gather, const struct page *page)
{
    if (!page->is_busy)
        return (uint32_t)__builtin_ctzll(page->holders);
    uint32_t holder = iommu_source(gather->iommu, page->at), homes = machine_homes(gather->machine);
    uint64_t most = PAGE_NONE, *rights = mem_alloc(homes, sizeof *rights);
    for (uint32_t home = 0; home < homes; home++)
        rights[home] = memsys_page_right(machine_home_mem(gather->machine, home), page->at);
    ranks_most(gather->machine->options.ranks, rights, homes);
    for (uint32_t home = 0; home < homes; home++)
        if (rights[home] > most) {
            most = rights[home];
            holder = home;
        }
    mem_free(rights);
    return holder;
}

static void read_line(void *user, uint32_t holder, uint64_t line, unsigned char *bytes)
{
    const struct gather *gather = user;
    struct memsys *home = machine_home_mem(gather->machine, directory_home(line));
    if (holder == PAGE_HOST)
        memcpy(bytes, iommu_line(gather->iommu, line), memsys_line_bytes(home));
    else
        memsys_read_line(machine_home_mem(gather->machine, holder), line, bytes);
}

/* Bytes that the host has on loan are newer at home than where their page is. */
static void leave_lent(const struct gather *gather, uint64_t line, uint32_t count, unsigned char *bytes)
{
    const struct page_ranges *lent = &gather->machine->lent;
    for (size_t i = 0; i < lent->count; i++) {
        uint64_t from = max_u64(lent->list[i].from, line),
                 last = min_u64(lent->list[i].last, line + count - 1);
        if (from <= last)
            memcpy(bytes + (from - line), host_of(gather->machine, from), last - from + 1);
    }
}

static void write_line(void *user, uint64_t line, unsigned char *bytes)
{
    const struct gather *gather = user;
    struct memsys *home = machine_home_mem(gather->machine, directory_home(line));
    leave_lent(gather, line, memsys_line_bytes(home), bytes);
    memsys_write_line(home, line, bytes);
}

static void gather_page(void *user, struct page *page)
{
    struct gather *gather = user;
    uint32_t home = directory_home(page->at);
    if (!page_has_some_of(page, &gather->range) || (!page->is_busy && page_is_held(page, home)))
        return;
    uint32_t holder = newest_holder(gather, page);
    if (holder != home)
        machine_move_lines(gather->machine, page, holder, read_line, write_line, gather);
}

static void gather(struct local_machine *machine, uint64_t from, uint64_t last)
{
    struct gather what = {machine, hostmem_iommu(machine->host), {from, last}};
    if (what.iommu)
        iommu_each_page(what.iommu, gather_page, &what);
}

void machine_gather_pages(struct local_machine *machine, struct physical_address from, uint64_t bytes)
{
    if (bytes)
        gather(machine, from.packed, from.packed + (bytes - 1));
}

void machine_gather_all_pages(struct local_machine *machine)
{
    gather(machine, 0, UINT64_MAX);
}

/* ---- holding still ---- */

/* Time passes until pages hold still. They do until more time passes. */
static void hold_still(struct local_machine *machine, const struct iommu_hold *pages)
{
    struct iommu *iommu = hostmem_iommu(machine->host);
    enum { STEP_PS = 200000 };
    if (iommu_holds_still(iommu, pages))
        return;
    iommu_hold(iommu, pages, machine->now);
    for (enum engine_outcome outcome = ENGINE_UNTIL; !iommu_holds_still(iommu, pages);) {
        if (outcome == ENGINE_FAILED)
            break;
        if (outcome == ENGINE_FINISHED)
            BUG("nothing goes on, and pages that the host wants to change are on the move");
        outcome = machine_let_pass(machine, machine->now + STEP_PS);
    }
    iommu_let_go(iommu, machine->now);
}

static void add_range(void *user, struct physical_address from, uint64_t bytes)
{
    struct page_ranges *ranges = user;
    mem_grow(ranges->list, ranges->count, ranges->capacity);
    ranges->list[ranges->count++] = (struct page_range){from.packed, from.packed + (bytes - 1)};
}

void machine_call_pages_home(struct local_machine *machine, uint64_t at, uint64_t bytes)
{
    struct page_ranges ranges = {0};
    if (!hostmem_iommu(machine->host))
        return;
    homes_each_home(&machine->memory, at, bytes, add_range, &ranges);
    hold_still(machine, &(struct iommu_hold){.ranges = ranges.list,
                                             .count = ranges.count,
                                             .come_home = machine->running || copies_run(machine)});
    mem_free(ranges.list);
}

/* ---- forgetting ---- */

static void forget_page(void *user, struct page *page)
{
    const struct gather *what = user;
    if (page->is_busy || !page_has_some_of(page, &what->range)) /* busy: the machine was stopped meanwhile */
        return;
    for (uint32_t home = 0; home < machine_homes(what->machine); home++)
        memsys_forget_pages(machine_home_mem(what->machine, home), page->at, page_bytes(page));
    iommu_send_home(what->iommu, page);
}

void machine_forget_pages(struct local_machine *machine, struct physical_address from, uint64_t bytes)
{
    struct gather what = {machine, hostmem_iommu(machine->host), {from.packed, from.packed + (bytes - 1)}};
    if (what.iommu && bytes)
        iommu_each_page(what.iommu, forget_page, &what);
}

/* ---- lending ---- */

static void drop_lent(void *user, struct physical_address from, uint64_t bytes)
{
    struct page_ranges *lent = user;
    size_t left = 0;
    for (size_t i = 0; i < lent->count; i++)
        if (lent->list[i].from > from.packed + (bytes - 1) || lent->list[i].last < from.packed)
            lent->list[left++] = lent->list[i];
    lent->count = left;
}

void machine_note_lent(struct local_machine *machine, uint64_t at, uint64_t bytes, bool is_lent)
{
    homes_each_home(&machine->memory, at, bytes, drop_lent, &machine->lent);
    if (is_lent)
        homes_each_home(&machine->memory, at, bytes, add_range, &machine->lent);
}

struct noting {
    const struct local_machine *machine;
    struct page_places *places;
};

static void note_page(void *user, struct page *page)
{
    const struct noting *noting = user;
    struct page_places *places = noting->places;
    if (page->holders == UINT64_C(1) << directory_home(page->at))
        return;
    mem_grow(places->list, places->count, places->capacity);
    places->list[places->count++] =
        (struct page_place){page->at, page_bytes(page), host_of(noting->machine, page->at)};
}

struct page_places machine_note_pages(struct local_machine *machine)
{
    struct page_places places = {0};
    struct iommu *iommu = hostmem_iommu(machine->host);
    static const struct page_range all = {.last = UINT64_MAX};
    if (!iommu)
        return places;
    hold_still(machine, &(struct iommu_hold){.ranges = &all, .count = 1});
    machine_gather_all_pages(machine);
    iommu_each_page(iommu, note_page, &(struct noting){machine, &places});
    return places;
}

void machine_forget_replaced_pages(struct local_machine *machine, struct page_places *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct page_place *one = &before->list[i];
        if (host_of(machine, one->at) != one->host)
            machine_forget_pages(machine, physical_unpack(one->at), one->bytes);
    }
    mem_free(before->list);
    *before = (struct page_places){0};
}

/* ---- finding ---- */

struct machine_page_place machine_find_page(const struct local_machine *machine, uint64_t at)
{
    const struct iommu *iommu = hostmem_iommu(machine->host);
    uint32_t home = physical_home(physical_unpack(at));
    if (!iommu || home == HOME_HOST)
        return (struct machine_page_place){home, UINT64_MAX};
    struct page page = iommu_page(iommu, at);
    bool is_home = page_is_held(&page, home) || page_is_held(&page, PAGE_HOST);
    return (struct machine_page_place){is_home ? home : (uint32_t)__builtin_ctzll(page.holders),
                                       page.at + page_bytes(&page) - at};
}
