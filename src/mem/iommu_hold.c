/* Pages that the host wants to hold still. */
#include "mem/iommu_parts.h"

bool iommu_is_meant(const struct iommu_hold *hold, const struct page *page)
{
    for (size_t i = 0; i < hold->count; i++)
        if (page_has_some_of(page, &hold->ranges[i]))
            return true;
    return false;
}

static bool is_home(const struct page *page)
{
    return page->holders == UINT64_C(1) << directory_home(page->at) && page->is_exclusive;
}

void iommu_come_home(void *user, struct page *page)
{
    struct iommu *iommu = user;
    if (page->is_busy || is_home(page) || !iommu_is_meant(&iommu->hold, page))
        return;
    uint32_t home = directory_home(page->at);
    bool is_there = page_is_held(page, home); /* with others */
    struct page_plan plan = {.source =
                                 is_there ? (uint32_t)PAGE_NOBODY : (uint32_t)__builtin_ctzll(page->holders),
                             .drops = page->holders & ~(UINT64_C(1) << home),
                             .right = PAGE_WRITE};
    iommu_move(iommu, page, home, &plan, NO_WORKER);
}

void iommu_hold(struct iommu *iommu, const struct iommu_hold *pages, uint64_t time)
{
    iommu->hold = *pages;
    iommu->is_holding = true;
    engine_post(iommu->host->engine, iommu->host->component, time, IOMMU_GOES_ON, NULL, 0);
}

void iommu_let_go(struct iommu *iommu, uint64_t time)
{
    iommu->is_holding = false;
    engine_post(iommu->host->engine, iommu->host->component, time, IOMMU_GOES_ON, NULL, 0);
}

struct stillness {
    const struct iommu_hold *pages;
    bool is_still;
};

static void look_for_moves(void *user, struct page *page)
{
    struct stillness *look = user;
    if (iommu_is_meant(look->pages, page) && (page->is_busy || (look->pages->come_home && !is_home(page))))
        look->is_still = false;
}

bool iommu_holds_still(const struct iommu *iommu, const struct iommu_hold *pages)
{
    struct stillness look = {pages, true};
    directory_each(iommu->directory, look_for_moves, &look);
    return look.is_still;
}
