/* Pages that move, as slices see them. A request whose page is not here, or not here to write to, is parked:
 * it waits outside of the slice's queues, so that what brings pages is never behind what waits for them.
 * Requests for one line keep their order. */
#include "base/mem.h"
#include "mem/dram.h"
#include "mem/left_out.h"

enum left_out left_out_now = LEFT_OUT_NOTHING;

static enum page_right needed(const struct head *head)
{
    return memsys_kinds[head->kind].changes ? PAGE_WRITE : PAGE_READ;
}

static bool is_in_page(uint64_t line, uint64_t at, uint32_t shift)
{
    return (line ^ at) >> shift == 0;
}

bool pages_are_far(const struct here *here, uint64_t line)
{
    return !physical_is_managed(line) || rights_of(&here->spec->pages->rights, line) == PAGE_FAR;
}

void pages_write_managed(const struct partition_spec *spec, uint64_t offset, const unsigned char *sector,
                         uint32_t mask)
{
    struct index *written = &spec->pages->written;
    if (index_find(written, offset >> MANAGED_PAGE_SHIFT) == INDEX_NONE)
        index_add(written, offset >> MANAGED_PAGE_SHIFT);
    if (UNLIKELY(spec->shape->apart != NULL))
        news_add(&spec->pages->news, offset, mask);
    home_write(&spec->shape->managed, offset, sector, mask);
}

/* What GPUs of this rank have already, and maybe read now, is not written again. */
void pages_take_apart(const struct partition_spec *spec, const struct memsys_request *request,
                      const unsigned char *payload)
{
    const struct memsys_shape *shape = spec->shape;
    uint64_t offset = physical_offset(physical_unpack(request->line));
    uint32_t turn = apart_turn(shape->apart, request);
    for (uint32_t left = request->sectors; left; left &= left - 1, payload += sizeof(struct memsys_write)) {
        uint64_t at = offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR;
        struct memsys_write write;
        unsigned char before[MEM_SECTOR];
        memcpy(&write, payload, sizeof write);
        home_read(&shape->managed, at, before);
        if (apart_is_old(shape->apart, at, turn))
            continue;
        if (memcmp(before, write.data, MEM_SECTOR) != 0)
            home_write(&shape->managed, at, write.data, UINT32_MAX);
        if (write.mask)
            news_add(&spec->pages->news, at, write.mask);
    }
}

struct apart_tail pages_apart_tail(const struct partition_spec *spec, const struct memsys_request *request)
{
    struct apart_tail tail = {.turn = spec->shape->apart->turn};
    uint64_t offset = physical_offset(physical_unpack(request->line));
    uint32_t count = 0;
    for (uint32_t left = request->sectors; left; left &= left - 1)
        tail.masks[count++] =
            news_of(&spec->pages->news, offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR);
    return tail;
}

/* ---- requests that wait ---- */

static bool line_is_parked(const struct pages_here *pages, uint64_t line, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (pages->parked[i].head.request.line == line)
            return true;
    return false;
}

/* Whether one that is parked has asked for as much already: of the smallest page there can be. */
static bool is_wanted(const struct pages_here *pages, uint64_t line, enum page_right right)
{
    for (size_t i = pages->parked_count; i-- > 0;)
        if (is_in_page(pages->parked[i].head.request.line, line, PAGE_UNIT_SHIFT) &&
            needed(&pages->parked[i].head) >= right)
            return true;
    return false;
}

static void want(const struct here *here, uint32_t slice, uint64_t line, enum page_right right)
{
    struct {
        struct memsys_request request;
        struct memsys_page page;
    } message = {.request = {.line = line}, .page = {.right = (uint8_t)right}};
    struct head to_pager = {.client = here->shape->pager, .entry = (uint8_t)slice};
    partition_reply(here, &to_pager, here->now, MEM_WANT, &message, sizeof message);
}

static void park(const struct here *here, uint32_t slice, const struct head *head,
                 const unsigned char *payload, bool is_pushed)
{
    struct pages_here *pages = here->spec->pages;
    mem_grow(pages->parked, pages->parked_count, pages->parked_capacity);
    struct parked *one = &pages->parked[pages->parked_count++];
    *one = (struct parked){.head = *head, .slice = slice, .is_pushed = is_pushed};
    memcpy(one->payload, payload, work_payload_bytes(head));
    pages->pushes_parked += is_pushed;
}

bool pages_hold(const struct here *here, uint32_t slice, const struct head *head,
                const unsigned char *payload, bool is_pushed)
{
    const struct pages_here *pages = here->spec->pages;
    uint64_t line = head->request.line;
    if (head->request.policy == MEM_MOVED || !pages_move(here->shape, line))
        return false;
    bool may = rights_of(&pages->rights, line) >= needed(head);
    if (may && !line_is_parked(pages, line, pages->parked_count))
        return false;
    if (!may && !is_wanted(pages, line, needed(head)))
        want(here, slice, line, needed(head));
    park(here, slice, head, payload, is_pushed);
    return true;
}

/* Whether a parked request could be done. */
static bool unpark(const struct here *here, size_t number)
{
    const struct pages_here *pages = here->spec->pages;
    const struct parked *one = &pages->parked[number];
    if (rights_of(&pages->rights, one->head.request.line) < needed(&one->head) ||
        line_is_parked(pages, one->head.request.line, number))
        return false;
    if (one->is_pushed) {
        around_take_pushed(here, one->slice, &one->head, one->payload);
        return true;
    }
    if (!slice_take(here, one->slice, &one->head, one->payload)) {
        here->spec->pages->has_refused = true;
        return false;
    }
    here->state->count.l2_requests++;
    return true;
}

/* In order. What stays moves up, so that a line's earlier requests are always found before it. */
static void try_parked(const struct here *here)
{
    struct pages_here *pages = here->spec->pages;
    size_t left = 0, count = pages->parked_count;
    pages->has_refused = false;
    for (size_t i = 0; i < count; i++) {
        if (left != i)
            pages->parked[left] = pages->parked[i];
        if (!unpark(here, left))
            left++;
        else
            pages->pushes_parked -= pages->parked[left].is_pushed;
    }
    pages->parked_count = left;
}

/* ---- recalls ---- */

/* Whether requests for a page that were let in are not done yet. */
static bool is_under_way(const struct here *here, uint64_t at, uint32_t shift)
{
    const struct partition_spec *spec = here->spec;
    for (uint32_t i = 0; i < here->state->works_begun; i++)
        if (spec->works[i].head.work == i && is_in_page(spec->works[i].head.request.line, at, shift))
            return true;
    for (uint32_t slice = 0; slice < spec->here; slice++) {
        const struct mshr *misses = spec->caches[slice].misses;
        for (uint32_t entry = 0; misses->used && entry < misses->entries; entry++) {
            uint64_t key = mshr_at(misses, entry)->line;
            uint64_t line = local_physical(spec->shape, slice_line_offset(spec, slice, key)).packed;
            if (is_in_page(line, at, shift) && mshr_find(misses, key) == entry)
                return true;
        }
    }
    return false;
}

/* Drops a line, after what is dirty in it went to memory. Gives when that has taken it. */
static uint64_t drop(const struct here *here, uint32_t slice, uint32_t slot)
{
    struct cache *cache = &here->spec->caches[slice];
    uint64_t key = cache_line_in(cache, slot), done = here->now;
    uint32_t dirty = *cache_dirty(cache, slot);
    if (dirty) {
        done = here->shape->dram->pass(here, slice, key >> 1, dirty, true);
        slice_occupy(here, slice, sector_count(dirty) * here->shape->sector_ps);
    }
    slice_sync_line(here->spec, slice, key, true);
    return done;
}

/* Of a small page, lines are looked for one by one. */
static uint64_t drop_lines(const struct here *here, uint64_t at, uint32_t shift)
{
    const struct memsys_shape *shape = here->shape;
    const struct partition_spec *spec = here->spec;
    uint64_t done = here->now, end = at + (UINT64_C(1) << shift);
    for (uint64_t line = at; line < end; line += UINT64_C(1) << shape->line_shift) {
        struct map_place place = map_place(&shape->map, local_offset(shape, line) >> shape->line_shift);
        uint32_t in_side = place.slice % shape->per_side - spec->first_pair;
        for (uint32_t slice = in_side; in_side < spec->pairs && slice < spec->here; slice += spec->pairs) {
            uint64_t key = place.index << 1 | (spec->global[slice] != place.slice);
            uint32_t slot = cache_find(&spec->caches[slice], key);
            if (slot != TAGS_NONE)
                done = max_u64(done, drop(here, slice, slot));
        }
    }
    return done;
}

static uint64_t drop_page(const struct here *here, uint64_t at, uint32_t shift)
{
    enum { SMALL_SHIFT = 18 };
    uint64_t done = here->now;
    if (shift <= SMALL_SHIFT)
        return drop_lines(here, at, shift);
    for (uint32_t slice = 0; slice < here->spec->here; slice++) {
        const struct cache *cache = &here->spec->caches[slice];
        for (uint32_t slot = 0; slot < cache_slots(cache); slot++) {
            if (!cache_holds(cache, slot))
                continue;
            uint64_t offset = slice_line_offset(here->spec, slice, cache_line_in(cache, slot));
            if (is_in_page(local_physical(here->shape, offset).packed, at, shift))
                done = max_u64(done, drop(here, slice, slot));
        }
    }
    return done;
}

static bool give_up(const struct here *here, const struct recall *recall)
{
    uint64_t at = recall->head.request.line, done = here->now;
    if (!left_out(LEFT_OUT_UNDER_WAY) && is_under_way(here, at, recall->page.shift))
        return false;
    if (recall->page.right == PAGE_NONE)
        done = drop_page(here, at, recall->page.shift);
    struct {
        struct memsys_reply reply;
        struct memsys_page page;
    } message = {.reply = {.line = at, .id = recall->head.request.id}, .page = recall->page};
    if (!left_out(LEFT_OUT_DROPPED))
        partition_reply(here, &recall->head, done, MEM_DROPPED, &message, sizeof message);
    return true;
}

/* A page leaves before the slices had room for all who waited for it: these want it once more. */
static void want_again(const struct here *here, uint64_t at, uint32_t shift)
{
    const struct pages_here *pages = here->spec->pages;
    for (size_t i = 0; i < pages->parked_count; i++) {
        const struct parked *one = &pages->parked[i];
        uint64_t line = one->head.request.line;
        if (is_in_page(line, at, shift) && rights_of(&pages->rights, line) < needed(&one->head))
            want(here, one->slice, line, needed(&one->head));
    }
}

void pages_take_order(const struct here *here, const struct head *head, const unsigned char *payload)
{
    struct pages_here *pages = here->spec->pages;
    struct recall order = {.head = *head};
    memcpy(&order.page, payload, sizeof order.page);
    if (head->kind == MEM_GRANT || !left_out(LEFT_OUT_RIGHTS))
        rights_set(&pages->rights, head->request.line, order.page.shift, order.page.right);
    if (head->kind == MEM_GRANT) {
        try_parked(here);
        return;
    }
    if (pages->has_refused)
        want_again(here, head->request.line, order.page.shift);
    if (give_up(here, &order))
        return;
    mem_grow(pages->recalls, pages->recall_count, pages->recall_capacity);
    pages->recalls[pages->recall_count++] = order;
}

void pages_go_on(const struct here *here)
{
    struct pages_here *pages = here->spec->pages;
    size_t left = 0;
    for (size_t i = 0; i < pages->recall_count; i++)
        if (!give_up(here, &pages->recalls[i]))
            pages->recalls[left++] = pages->recalls[i];
    pages->recall_count = left;
    if (pages->has_refused)
        try_parked(here);
}
