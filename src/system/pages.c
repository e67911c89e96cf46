#include "system/pages.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/iommu.h"

/* ---- copying home ---- */

/* What is done to pages that have some of these addresses. */
struct gather {
    struct local_machine *machine;
    struct iommu *iommu;
    uint64_t from, last;
};

/* A line of a page, from who holds it. */
static void read_line(const struct gather *gather, const struct page *page, uint64_t line,
                      unsigned char *bytes)
{
    uint32_t holder = (uint32_t)__builtin_ctzll(page->holders);
    struct memsys *home = machine_home_mem(gather->machine, directory_home(page->at));
    if (holder == PAGE_HOST)
        memcpy(bytes, iommu_line(gather->iommu, line), memsys_line_bytes(home));
    else
        memsys_read_line(machine_home_mem(gather->machine, holder), line, bytes);
}

static void gather_page(void *user, struct page *page)
{
    const struct gather *gather = user;
    uint32_t home = directory_home(page->at);
    uint64_t last = page->at + (page_bytes(page) - 1);
    if (page_is_held(page, home) || last < gather->from || page->at > gather->last)
        return;
    struct memsys *mem = machine_home_mem(gather->machine, home);
    unsigned char bytes[MEM_LINE_MOST];
    for (uint64_t line = page->at; line < last; line += memsys_line_bytes(mem)) {
        read_line(gather, page, line, bytes);
        memsys_write_line(mem, line, bytes);
    }
}

static void gather(struct local_machine *machine, uint64_t from, uint64_t last)
{
    struct gather what = {machine, hostmem_iommu(machine->host), from, last};
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

/* ---- forgetting ---- */

/* A page on the move stays: a kernel uses it, so the host has no business there. */
static void forget_page(void *user, struct page *page)
{
    const struct gather *what = user;
    uint64_t last = page->at + (page_bytes(page) - 1);
    if (page->is_busy || last < what->from || page->at > what->last)
        return;
    for (uint32_t home = 0; home < machine_homes(what->machine); home++)
        memsys_forget_pages(machine_home_mem(what->machine, home), page->at, page_bytes(page));
    iommu_send_home(what->iommu, page);
}

void machine_forget_pages(struct local_machine *machine, struct physical_address from, uint64_t bytes)
{
    struct gather what = {machine, hostmem_iommu(machine->host), from.packed, from.packed + (bytes - 1)};
    if (what.iommu && bytes)
        iommu_each_page(what.iommu, forget_page, &what);
}

static const char *host_of(const struct local_machine *machine, uint64_t at)
{
    return memsys_host(machine_home_mem(machine, directory_home(at)), physical_offset(physical_unpack(at)));
}

struct noting {
    const struct local_machine *machine;
    struct page_places *places;
};

static void note_page(void *user, struct page *page)
{
    const struct noting *noting = user;
    struct page_places *places = noting->places;
    if (page->is_busy || page->holders == UINT64_C(1) << directory_home(page->at))
        return;
    mem_grow(places->list, places->count, places->capacity);
    places->list[places->count++] =
        (struct page_place){page->at, page_bytes(page), host_of(noting->machine, page->at)};
}

struct page_places machine_note_pages(struct local_machine *machine)
{
    struct page_places places = {0};
    struct iommu *iommu = hostmem_iommu(machine->host);
    machine_gather_all_pages(machine);
    if (iommu)
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
