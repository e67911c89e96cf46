#include "paging/thrashing.h"
#include "base/archive.h"
#include "base/mem.h"

enum { EVENTS_MOST = 1000 }; /* beyond it nothing is counted */

void thrashing_init(struct thrashing *thrashing, const struct thrashing_rule *rule)
{
    *thrashing = (struct thrashing){.rule = *rule};
}

void thrashing_fini(struct thrashing *thrashing)
{
    index_fini(&thrashing->numbers);
    mem_free(thrashing->blocks);
}

/* ---- blocks and pages ---- */

static struct thrashing_block *block_of(const struct thrashing *thrashing, uint64_t at)
{
    uint32_t number = index_find(&thrashing->numbers, at >> SUBTREE_BLOCK_SHIFT);
    return number == INDEX_NONE ? NULL : &thrashing->blocks[number];
}

static struct thrashing_block *block_new(struct thrashing *thrashing, uint64_t at)
{
    struct thrashing_block *block = block_of(thrashing, at);
    if (block)
        return block;
    size_t number = index_add(&thrashing->numbers, at >> SUBTREE_BLOCK_SHIFT);
    mem_grow(thrashing->blocks, number, thrashing->capacity);
    thrashing->blocks[number] = (struct thrashing_block){.mover = PAGE_NOBODY};
    return &thrashing->blocks[number];
}

static uint32_t page_number(uint64_t at)
{
    return (uint32_t)(at >> SUBTREE_PAGE_SHIFT) % SUBTREE_PAGES;
}

/* NULL: nobody watches it. */
static struct thrashing_page *page_of(const struct thrashing *thrashing, uint64_t at)
{
    struct thrashing_block *block = block_of(thrashing, at);
    return block && block->is_watched ? &block->pages[page_number(at)] : NULL;
}

static void reset_page(struct thrashing_page *page)
{
    *page = (struct thrashing_page){.favoured = PAGE_NOBODY};
}

static void watch(struct thrashing_block *block)
{
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++)
        reset_page(&block->pages[i]);
    block->is_watched = true;
}

static bool thrashes(const struct thrashing *thrashing, const struct thrashing_page *page)
{
    return page->events >= thrashing->rule.events;
}

/* ---- moves ---- */

static void count_move(const struct thrashing *thrashing, struct thrashing_block *block, uint64_t at,
                       uint64_t now)
{
    struct thrashing_page *page = &block->pages[page_number(at)];
    uint64_t before = page->moved_at;
    page->moved_at = now;
    if (!before)
        return;
    if (now - before <= thrashing->rule.lapse) {
        page->events += page->events < EVENTS_MOST;
        if (thrashes(thrashing, page))
            block->thrashed_at = now;
    } else if (thrashes(thrashing, page) && !page->pinned_until) {
        reset_page(page);
    }
}

void thrashing_moved(struct thrashing *thrashing, uint64_t at, uint32_t processor, uint64_t now)
{
    if (!thrashing->rule.on)
        return;
    struct thrashing_block *block = block_new(thrashing, at);
    bool is_suspect =
        block->moved_at && block->mover != processor && now - block->moved_at <= thrashing->rule.lapse;
    if (!block->is_watched && is_suspect)
        watch(block);
    if (block->is_watched)
        count_move(thrashing, block, at, now);
    block->moved_at = now;
    block->mover = processor;
}

void thrashing_forget(struct thrashing *thrashing, uint64_t at)
{
    struct thrashing_page *page = page_of(thrashing, at);
    if (page)
        reset_page(page);
}

/* ---- wants ---- */

static bool some_are_pinned(const struct thrashing_block *block)
{
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++)
        if (block->pages[i].pinned_until)
            return true;
    return false;
}

static bool is_forgiven(const struct thrashing *thrashing, struct thrashing_block *block, uint64_t now)
{
    if (!block->thrashed_at || now - block->thrashed_at <= thrashing->rule.epoch ||
        block->resets >= thrashing->rule.resets || some_are_pinned(block))
        return false;
    *block = (struct thrashing_block){.mover = PAGE_NOBODY, .resets = block->resets + 1};
    return true;
}

/* One processor need not wait, in turn. */
static void choose_favoured(struct thrashing_page *page, uint32_t processor, uint64_t now, uint64_t nap)
{
    if (now > page->throttled_until) {
        page->throttled_until = now + nap;
        page->favoured = page->favoured == processor ? (uint8_t)PAGE_NOBODY : (uint8_t)processor;
    } else if (page->favoured == PAGE_NOBODY) {
        page->favoured = (uint8_t)processor;
    }
}

static enum thrashing_hint throttle(struct thrashing_page *page, uint32_t processor)
{
    if (!(page->throttled >> processor & 1))
        page->throttles += page->throttles < EVENTS_MOST;
    page->throttled |= UINT64_C(1) << processor;
    return THRASHING_THROTTLE;
}

static enum thrashing_hint decide(const struct thrashing_rule *rule, struct thrashing_page *page,
                                  uint32_t processor, uint64_t now)
{
    if (page->pinned_until)
        return THRASHING_PIN;
    if (processor != page->favoured)
        return throttle(page, processor);
    if (page->throttles < rule->throttles)
        return THRASHING_NONE;
    page->pinned_until = rule->pin ? now + rule->pin : UINT64_MAX;
    page->throttled = page->throttles = 0;
    page->throttled_until = 0;
    return THRASHING_PIN;
}

enum thrashing_hint thrashing_ask(struct thrashing *thrashing, uint64_t at, uint32_t processor, uint64_t now)
{
    const struct thrashing_rule *rule = &thrashing->rule;
    struct thrashing_page *page = page_of(thrashing, at);
    if (!rule->on || !page || is_forgiven(thrashing, block_of(thrashing, at), now) ||
        !thrashes(thrashing, page))
        return THRASHING_NONE;
    if (page->throttled >> processor & 1) {
        if (now < page->throttled_until && processor != page->favoured)
            return THRASHING_THROTTLE;
        page->throttled &= ~(UINT64_C(1) << processor);
        page->throttled_until = page->throttled ? page->throttled_until : 0;
    }
    if (now - page->moved_at > rule->lapse && !page->pinned_until)
        return THRASHING_NONE;
    choose_favoured(page, processor, now, rule->nap);
    return decide(rule, page, processor, now);
}

uint64_t thrashing_nap_end(const struct thrashing *thrashing, uint64_t at)
{
    const struct thrashing_page *page = page_of(thrashing, at);
    return page ? page->throttled_until : 0;
}

bool thrashing_is_on(const struct thrashing *thrashing, uint64_t at)
{
    const struct thrashing_page *page = page_of(thrashing, at);
    return page && thrashes(thrashing, page);
}

bool thrashing_is_pinned(const struct thrashing *thrashing, uint64_t at)
{
    const struct thrashing_page *page = page_of(thrashing, at);
    return page && page->pinned_until;
}

void thrashing_pin(struct thrashing *thrashing, uint64_t at, uint64_t until)
{
    struct thrashing_page *page = page_of(thrashing, at);
    if (page)
        page->pinned_until = until;
}

bool thrashing_has_pins(const struct thrashing *thrashing)
{
    for (size_t i = 0; i < thrashing->numbers.count; i++)
        if (some_are_pinned(&thrashing->blocks[i]))
            return true;
    return false;
}

size_t thrashing_count(const struct thrashing *thrashing)
{
    return thrashing->numbers.count;
}

uint64_t thrashing_block_at(const struct thrashing *thrashing, size_t number)
{
    return thrashing->numbers.keys[number] << SUBTREE_BLOCK_SHIFT;
}

uint32_t thrashing_unpin(struct thrashing *thrashing, size_t number, uint64_t now)
{
    struct thrashing_block *block = &thrashing->blocks[number];
    uint32_t pages = 0;
    for (uint32_t i = 0; block->is_watched && i < SUBTREE_PAGES; i++) {
        if (!block->pages[i].pinned_until || block->pages[i].pinned_until > now)
            continue;
        pages |= UINT32_C(1) << i;
        reset_page(&block->pages[i]);
    }
    return pages;
}

void thrashing_archive(struct thrashing *thrashing, struct archive *archive)
{
    index_archive(&thrashing->numbers, archive);
    if (archive->reading && archive->good) {
        mem_free(thrashing->blocks);
        thrashing->capacity = thrashing->numbers.count + 1;
        thrashing->blocks = mem_alloc(thrashing->capacity, sizeof *thrashing->blocks);
    }
    archive_bytes(archive, thrashing->blocks, thrashing->numbers.count * sizeof *thrashing->blocks);
}
