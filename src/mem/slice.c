/* A slice: looks up lines, makes requests wait for missing data, and evicts lines.
 *
 * Requests for a line are performed in the order of arrival. A request with missing data waits at the miss of
 * its line, and later requests for the same sectors wait there too, both reads and writes: a load does not
 * see what its own thread stores after it. At a copy of another slice's line, writes and atomics do not wait.
 * They follow the request for the copy to the home slice, and the copy is stale from then on; later reads
 * follow them. */
#include "mem/behind.h"

uint64_t slice_line_offset(const struct partition_spec *spec, uint32_t slice, uint64_t key)
{
    const struct memsys_shape *shape = spec->shape;
    uint32_t home = key_is_copy(key) ? spec->global[counterpart(spec, slice)] : spec->global[slice];
    return map_line_number(&shape->map, (struct map_place){home, key >> 1}) << shape->line_shift;
}

/* The dirty sectors of a slot go to memory; which, is returned. */
static uint32_t clean(const struct partition_spec *spec, uint32_t slice, uint32_t slot)
{
    struct cache_victim dirty = cache_take_dirty(&spec->caches[slice], slot);
    uint64_t offset = dirty.sectors ? slice_line_offset(spec, slice, dirty.line) : 0;
    for (uint32_t left = dirty.sectors; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left), at = sector * MEM_SECTOR;
        held_write(spec, offset + at, dirty.data + at, dirty.masks[sector]);
    }
    return dirty.sectors;
}

static enum tags_priority priority_of(uint8_t policy)
{
    return policy == MEM_NORMAL ? TAGS_NORMAL : policy == MEM_EVICT_LAST ? TAGS_LAST : TAGS_FIRST;
}

/* A slot for a line that is not there, or TAGS_NONE when none can be had now. */
static uint32_t make_room(const struct here *here, uint32_t slice, uint64_t key, uint8_t policy)
{
    struct cache *cache = &here->spec->caches[slice];
    uint32_t slot = cache_victim(cache, key);
    if (slot == TAGS_NONE)
        return TAGS_NONE;
    if (cache_holds(cache, slot)) {
        uint64_t old = cache_line_in(cache, slot);
        if (*cache_dirty(cache, slot)) {
            if (!behind_room(here, slice, old >> 1))
                return TAGS_NONE;
            uint32_t sectors = clean(here->spec, slice, slot);
            here->state->count.l2_sectors_written_back += sector_count(sectors);
            behind_write(here, slice, old >> 1, sectors);
        }
        if (*copied(cache, slot))
            slice_recall(here, slice, old, *copied(cache, slot));
        here->state->count.l2_evictions++;
    }
    cache_place(cache, slot, key, priority_of(policy));
    if (here->spec->pages && slice_line_offset(here->spec, slice, key) >= MANAGED_FROM)
        here->spec->pages->managed[slice * here->spec->pages->managed_words + slot / 64] |= UINT64_C(1)
                                                                                            << slot % 64;
    return slot;
}

/* Sectors that must come before the request can be done. */
static uint32_t missing(const struct cache *cache, uint32_t slot, const struct head *head, bool is_home)
{
    const struct memsys_kind_row *kind = &memsys_kinds[head->kind];
    return kind->reads && (is_home || !kind->changes) ? cache_missing(cache, slot, head->request.sectors) : 0;
}

/* With what memory gives along with them. */
static uint32_t neighbours(const struct memsys_shape *shape, uint32_t sectors)
{
    uint32_t all = 0, some = (1u << shape->fill_sectors) - 1;
    for (uint32_t first = 0; first < MEM_SECTORS_MOST; first += shape->fill_sectors)
        all |= sectors >> first & some ? some << first : 0;
    return all;
}

/* Has the sectors come: from memory, or to a copy from home. */
static void fetch(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors,
                  const struct head *whose)
{
    struct cache *cache = &here->spec->caches[slice];
    const struct mshr_entry *miss = cache_miss_at(cache, entry);
    sectors = cache_ask(cache, entry, sectors);
    if (!sectors)
        return;
    if (!key_is_copy(miss->line)) {
        uint32_t beside = cache_missing(cache, miss->slot, neighbours(here->shape, sectors));
        sectors |= cache_ask(cache, entry, beside);
        uint64_t at = slice_line_offset(here->spec, slice, miss->line);
        if (LIKELY(at < AWAY_FROM))
            home_prefetch(&here->shape->memory, at);
        behind_read(here, slice, miss->line >> 1, sectors, entry);
        return;
    }
    uint64_t offset = slice_line_offset(here->spec, slice, miss->line);
    struct head head = {.request = {.line = local_physical(here->shape, offset).packed,
                                    .sectors = (uint8_t)sectors,
                                    .policy = whose->request.policy},
                        .origin = whose->origin,
                        .client = entry,
                        .work = NO_WORK,
                        .kind = MEM_FETCH,
                        .entry = (uint8_t)slice,
                        .hit = 1};
    uint32_t work = work_keep(here, &head, NULL);
    uint64_t arrives = partition_cross(here, slice, here->now, memsys_message_bytes(MEM_FETCH, sectors, 0));
    component_schedule(here->self, arrives - here->now, EVENT_AT_HOME, &work, sizeof work);
}

/* A new miss, with its slot; MSHR_NONE when there is no room for one. Copies leave room for what is at home
 * here, which they may wait for. */
static uint32_t begin(const struct here *here, uint32_t slice, uint64_t key, uint32_t slot, uint8_t policy)
{
    struct cache *cache = &here->spec->caches[slice];
    bool is_copy = key_is_copy(key);
    if (cache_is_busy(cache))
        return MSHR_NONE;
    if (is_copy && (2 * cache_ways_under_way(cache, key) >= cache->tags->ways ||
                    2 * here->state->slices[slice].copies_coming >= cache->misses->entries))
        return MSHR_NONE;
    if (slot == TAGS_NONE)
        slot = make_room(here, slice, key, policy);
    if (slot == TAGS_NONE)
        return MSHR_NONE;
    here->state->slices[slice].copies_coming += is_copy;
    return cache_begin(cache, key, slot, false);
}

static void end(const struct here *here, uint32_t slice, uint32_t entry)
{
    struct cache *cache = &here->spec->caches[slice];
    here->state->slices[slice].copies_coming -= key_is_copy(cache_miss_at(cache, entry)->line);
    cache_end(cache, entry);
    here->state->freed = true;
}

/* What is on its way counts as a hit, as the profiler has it. Reads count where the SM asks, writes and
 * atomics where they are done; and all that comes across counts too. */
static void count(const struct here *here, uint32_t slice, const struct head *head, uint32_t absent)
{
    struct memsys_counters *counters = &here->state->count;
    uint64_t sectors = sector_count(head->request.sectors);
    if (head->entry != slice) {
        counters->l2_sectors_far += sectors;
        counters->l2_sectors_far_hit += sectors - sector_count(absent);
    }
    if (head->kind == MEM_READ)
        counters->l2_sectors_read += sectors;
    else if (head->kind == MEM_WRITE)
        counters->l2_sectors_written += sectors;
    else if (head->kind == MEM_ATOMIC)
        counters->l2_sectors_atomic += sectors;
    else
        return;
    counters->l2_sectors_hit += sectors - sector_count(absent);
}

static bool wait_for(const struct here *here, uint32_t slice, uint32_t entry, const struct head *head,
                     const unsigned char *payload, uint32_t absent)
{
    struct cache *cache = &here->spec->caches[slice];
    uint32_t work = head->work == NO_WORK ? work_keep(here, head, payload) : head->work;
    cache_miss_at(cache, entry)->asked |= head->request.sectors;
    fetch(here, slice, entry, absent, head);
    return cache_wait(cache, entry, work);
}

static void tell_pass(const struct here *here, uint32_t slice, const struct head *head, const char *what)
{
    if (probe_wants(here->shape->probe, PROBE_REQUEST))
        slice_tell_pass(here, slice, head, what);
}

/* The host's memory is not kept here. */
static bool pass_to_host(const struct here *here, uint32_t slice, const struct head *head,
                         const unsigned char *payload)
{
    if (!work_room(here))
        return false;
    tell_pass(here, slice, head, "forwarded");
    hostmem_send(here, head, payload);
    return true;
}

bool slice_take(const struct here *here, uint32_t slice, const struct head *head,
                const unsigned char *payload)
{
    struct cache *cache = &here->spec->caches[slice];
    if (UNLIKELY(head->request.line >> PHYSICAL_HOME_SHIFT >= HOME_MANAGED) &&
        head->request.policy != MEM_MOVED && pages_are_far(here, head->request.line))
        return pass_to_host(here, slice, head, payload);
    if (UNLIKELY(head->request.policy >= MEM_AROUND)) {
        around_take(here, slice, head, payload);
        return true;
    }
    struct map_place place = map_place(&here->shape->map, local_offset(here->shape, head->request.line) >>
                                                              here->shape->line_shift);
    bool is_home = place.slice == here->spec->global[slice];
    uint64_t key = place.index << 1 | !is_home;
    cache_prefetch(cache, key);
    uint32_t slot = cache_find(cache, key), entry = cache_miss(cache, key);
    struct mshr_entry *miss = entry == MSHR_NONE ? NULL : cache_miss_at(cache, entry);
    bool changes = memsys_kinds[head->kind].changes;
    bool moves_on = !is_home && (changes || (miss && miss->stale & head->request.sectors));
    uint32_t absent = moves_on ? 0 : missing(cache, slot, head, is_home);
    bool waits = absent || (miss && !moves_on && miss->asked & head->request.sectors);
    if ((waits || moves_on) && head->work == NO_WORK && !work_room(here))
        return false;
    if (moves_on && miss) {
        miss->stale |= head->request.sectors; /* for those who come; those who wait get what they asked for */
        slot = TAGS_NONE;
    }
    if (!waits) {
        if (slot == TAGS_NONE && changes && !memsys_kinds[head->kind].reads && !miss)
            slot = make_room(here, slice, key, head->request.policy);
        if (slot == TAGS_NONE && is_home)
            return false;
        if (!moves_on)
            count(here, slice, head, 0);
        tell_pass(here, slice, head, moves_on ? "forwarded" : "hit");
        if (!slice_perform(here, slice, slot, head, payload, moves_on) && head->work != NO_WORK)
            work_free(here, head->work);
        return true;
    }
    if (entry == MSHR_NONE)
        entry = begin(here, slice, key, slot, head->request.policy);
    if (entry == MSHR_NONE)
        return false;
    count(here, slice, head, absent & ~(uint32_t)cache_miss_at(cache, entry)->pending);
    tell_pass(here, slice, head, "miss");
    REQUIRE(wait_for(here, slice, entry, head, payload, absent));
    return true;
}

/* Does what waits at a miss, in order, up to the first that needs more. */
static void go_on(const struct here *here, uint32_t slice, uint32_t entry, uint8_t hit)
{
    struct cache *cache = &here->spec->caches[slice];
    const struct mshr_entry *miss = cache_miss_at(cache, entry);
    bool is_home = !key_is_copy(miss->line);
    while (miss->first != MSHR_NONE) {
        struct work *work = &here->spec->works[mshr_waiter(cache->misses, miss->first)->who];
        uint32_t absent = missing(cache, miss->slot, &work->head, is_home);
        if (absent) {
            fetch(here, slice, entry, absent, &work->head);
            return;
        }
        uint32_t number = mshr_next(cache->misses, entry);
        work->head.hit = work->head.hit > hit ? work->head.hit : hit;
        if (!slice_perform(here, slice, miss->slot, &work->head, here->spec->payloads[number].at, false))
            work_free(here, number);
    }
    if (!miss->pending)
        end(here, slice, entry);
}

void slice_filled(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors,
                  const unsigned char *data, uint8_t hit)
{
    struct cache *cache = &here->spec->caches[slice];
    uint64_t key = cache_miss_at(cache, entry)->line;
    unsigned char line[MEM_LINE_MOST];
    cache_prefetch(cache, key);
    if (!data) {
        uint64_t offset = slice_line_offset(here->spec, slice, key);
        held_read_line(here->spec, offset, line);
        if (probe_wants(here->shape->probe, PROBE_REQUEST))
            slice_tell_fill(here, slice, entry, sectors, offset, line);
        data = line;
    }
    cache_fill(cache, entry, sectors, data);
    go_on(here, slice, entry, hit);
}

void slice_invalidate(const struct here *here, const struct invalidate *what)
{
    struct cache *cache = &here->spec->caches[what->slice];
    uint32_t slot = cache_find(cache, what->key), entry = cache_miss(cache, what->key);
    if (slot == TAGS_NONE)
        return;
    if (entry != MSHR_NONE) {
        cache_miss_at(cache, entry)->stale |= what->sectors;
        return;
    }
    cache_invalidate(cache, slot, what->sectors);
    cache_drop_if_empty(cache, slot);
}

static void sync_slot(const struct partition_spec *spec, uint32_t slice, uint32_t slot, bool forget)
{
    clean(spec, slice, slot);
    if (forget)
        cache_drop(&spec->caches[slice], slot);
}

void slice_sync_line(const struct partition_spec *spec, uint32_t slice, uint64_t key, bool forget)
{
    uint32_t slot = cache_find(&spec->caches[slice], key);
    if (slot != TAGS_NONE)
        sync_slot(spec, slice, slot, forget);
}

bool slice_waits_for(const struct partition_spec *spec, uint32_t slice, uint64_t key)
{
    return cache_miss(&spec->caches[slice], key) != MSHR_NONE;
}

void slice_sync(const struct partition_spec *spec, uint32_t slice, uint64_t first, uint64_t last, bool forget)
{
    const struct cache *cache = &spec->caches[slice];
    uint32_t slots = cache_slots(cache);
    for (uint32_t slot = 0; slot < slots; slot++) {
        if ((!forget && !*cache_dirty(cache, slot)) || !cache_holds(cache, slot))
            continue;
        uint64_t offset = slice_line_offset(spec, slice, cache_line_in(cache, slot));
        if (offset >= first && offset <= last)
            sync_slot(spec, slice, slot, forget);
    }
}

/* Slots that were given to others since are left out from now on. */
void slice_each_managed(const struct partition_spec *spec, uint32_t slice, slice_managed_fn *call, void *user)
{
    const struct cache *cache = &spec->caches[slice];
    uint64_t *words = spec->pages->managed + (size_t)slice * spec->pages->managed_words;
    for (uint32_t word = 0; word < spec->pages->managed_words; word++) {
        for (uint64_t left = words[word]; left; left &= left - 1) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(left);
            uint64_t offset = slot < cache_slots(cache) && cache_holds(cache, slot)
                                  ? slice_line_offset(spec, slice, cache_line_in(cache, slot))
                                  : 0;
            if (offset >= MANAGED_FROM)
                call(user, spec, slice, slot, offset);
            else
                words[word] &= ~(left & -left);
        }
    }
}

static void sync_managed(void *user, const struct partition_spec *spec, uint32_t slice, uint32_t slot,
                         uint64_t offset)
{
    (void)user, (void)offset;
    clean(spec, slice, slot);
}

void slice_sync_managed(const struct partition_spec *spec, uint32_t slice)
{
    slice_each_managed(spec, slice, sync_managed, NULL);
}
