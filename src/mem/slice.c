/* A slice: finds what is asked for, has requests wait for what is not there, and makes room.
 *
 * Requests for a line are done in the order they came in by. One that needs what is not there waits at the
 * miss of its line, and those behind it that touch the same sectors wait there too, be they reads or writes:
 * a load does not see what its own thread stores after it. At a copy of another slice's line, writes and
 * atomics do not wait: they go home behind the request for the copy, which is stale from then on; so do reads
 * that come after them. */
#include "mem/dram.h"

/* The offset of a line in the GPU's memory. */
static uint64_t offset_of(const struct partition_spec *spec, uint32_t slice, uint64_t key)
{
    const struct shape *shape = spec->shape;
    uint32_t home = key & 1 ? spec->global[counterpart(spec, slice)] : spec->global[slice];
    return map_line_number(&shape->map, (struct place){home, key >> 1}) * MEM_LINE;
}

/* The dirty sectors of a slot go to memory; which, is returned. */
static uint32_t clean(const struct partition_spec *spec, uint32_t slice, uint32_t slot)
{
    const struct store *store = &spec->stores[slice];
    uint16_t *dirty = tags_dirty(store->tags, slot);
    uint32_t sectors = *dirty;
    uint64_t offset = sectors ? offset_of(spec, slice, tags_line(store->tags, slot)) : 0;
    for (uint32_t left = sectors; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left);
        bool is_whole = *tags_valid(store->tags, slot) >> sector & 1;
        uint32_t whole = UINT32_MAX, *mask = is_whole ? &whole : &store->masks[slot * MEM_SECTORS + sector];
        home_write(&spec->shape->memory, offset + sector * MEM_SECTOR,
                   store->data + (size_t)slot * MEM_LINE + sector * MEM_SECTOR, *mask);
        *mask = 0;
    }
    *dirty = 0;
    return sectors;
}

static enum tags_priority priority_of(uint8_t policy)
{
    return policy == MEM_NORMAL ? TAGS_NORMAL : policy == MEM_EVICT_LAST ? TAGS_LAST : TAGS_FIRST;
}

/* A slot for a line that is not there, or TAGS_NONE when none can be had now. */
static uint32_t make_room(const struct here *here, uint32_t slice, uint64_t key, uint8_t policy)
{
    const struct store *store = &here->spec->stores[slice];
    uint32_t slot = tags_victim(store->tags, key);
    if (slot == TAGS_NONE)
        return TAGS_NONE;
    if (tags_holds(store->tags, slot)) {
        uint64_t old = tags_line(store->tags, slot);
        if (*tags_dirty(store->tags, slot)) {
            if (!here->shape->dram->room(here, slice, old >> 1))
                return TAGS_NONE;
            uint32_t sectors = clean(here->spec, slice, slot);
            here->state->count.l2_sectors_written_back += sector_count(sectors);
            here->shape->dram->write(here, slice, old >> 1, sectors);
        }
        if (*copied(store, slot))
            slice_recall(here, slice, old, *copied(store, slot));
        here->state->count.l2_evictions++;
    }
    tags_fill(store->tags, slot, key, priority_of(policy));
    return slot;
}

/* Sectors that must come before the request can be done. */
static uint32_t missing(const struct store *store, uint32_t slot, const struct head *head, bool is_home)
{
    bool looks = head->kind == MEM_READ || head->kind == WORK_FETCH || (head->kind == MEM_ATOMIC && is_home);
    if (!looks)
        return 0;
    return head->request.sectors & (slot == TAGS_NONE ? ~0u : ~(uint32_t)*tags_valid(store->tags, slot));
}

/* With what memory gives along with them. */
static uint32_t neighbours(const struct shape *shape, uint32_t sectors)
{
    uint32_t all = 0, some = (1u << shape->fill_sectors) - 1;
    for (uint32_t first = 0; first < MEM_SECTORS; first += shape->fill_sectors)
        all |= sectors >> first & some ? some << first : 0;
    return all;
}

/* Has the sectors come: from memory, or to a copy from home. */
static void fetch(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors, uint8_t policy)
{
    struct mshr_entry *miss = mshr_at(here->spec->stores[slice].misses, entry);
    bool is_home = !(miss->line & 1);
    sectors &= ~(uint32_t)miss->pending;
    if (!sectors)
        return;
    if (is_home)
        sectors = neighbours(here->shape, sectors) &
                  ~(uint32_t)(miss->pending | *tags_valid(here->spec->stores[slice].tags, miss->slot));
    miss->pending |= (uint16_t)sectors;
    if (is_home) {
        home_prefetch(&here->shape->memory, offset_of(here->spec, slice, miss->line));
        here->shape->dram->read(here, slice, miss->line >> 1, sectors, entry);
        return;
    }
    uint64_t offset = offset_of(here->spec, slice, miss->line);
    struct head head = {.request = {.line = physical_at(here->shape->home, offset).packed,
                                    .sectors = (uint8_t)sectors,
                                    .policy = policy},
                        .client = entry,
                        .work = NO_WORK,
                        .kind = WORK_FETCH,
                        .entry = (uint8_t)slice,
                        .hit = 1};
    uint32_t work = work_keep(here, &head, NULL);
    uint64_t arrives = partition_cross(here, slice, here->now, sizeof(struct mem_request));
    component_schedule(here->self, arrives - here->now, EVENT_AT_HOME, &work, sizeof work);
}

/* A new miss, with its slot; MSHR_NONE when there is no room for one. Copies leave room for what is at home
 * here, which they may wait for. */
static uint32_t begin(const struct here *here, uint32_t slice, uint64_t key, uint32_t slot, uint8_t policy)
{
    const struct store *store = &here->spec->stores[slice];
    bool is_copy = key & 1;
    if (store->misses->used == store->misses->entries)
        return MSHR_NONE;
    if (is_copy) {
        const struct tags_set *set = tags_set(store->tags, tags_set_of(store->tags, key));
        bool set_is_taken = set->generation == store->tags->generation &&
                            2 * (uint32_t)__builtin_popcountll(set->pinned) >= store->tags->ways;
        if (set_is_taken || 2 * here->state->slices[slice].copies_coming >= store->misses->entries)
            return MSHR_NONE;
    }
    if (slot == TAGS_NONE)
        slot = make_room(here, slice, key, policy);
    if (slot == TAGS_NONE)
        return MSHR_NONE;
    tags_pin(store->tags, slot);
    __builtin_prefetch(store->data + (size_t)slot * MEM_LINE, 1);
    __builtin_prefetch(store->data + (size_t)slot * MEM_LINE + MEM_LINE / 2, 1);
    uint32_t entry = mshr_add(store->misses, key);
    mshr_at(store->misses, entry)->slot = slot;
    here->state->slices[slice].copies_coming += is_copy;
    return entry;
}

static void end(const struct here *here, uint32_t slice, uint32_t entry)
{
    const struct store *store = &here->spec->stores[slice];
    const struct mshr_entry *miss = mshr_at(store->misses, entry);
    here->state->slices[slice].copies_coming -= miss->line & 1;
    tags_unpin(store->tags, miss->slot);
    *tags_valid(store->tags, miss->slot) &= (uint16_t)~miss->stale;
    if (!*tags_valid(store->tags, miss->slot) && !*tags_dirty(store->tags, miss->slot))
        tags_drop(store->tags, miss->slot);
    mshr_remove(store->misses, entry);
    here->state->freed = true;
}

/* What is on its way counts as a hit, as the profiler has it. Reads count where the SM asks, writes and
 * atomics where they are done; and all that comes across counts too. */
static void count(const struct here *here, uint32_t slice, const struct head *head, uint32_t absent)
{
    struct mem_counters *counters = &here->state->count;
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
    const struct store *store = &here->spec->stores[slice];
    uint32_t work = head->work == NO_WORK ? work_keep(here, head, payload) : head->work;
    mshr_at(store->misses, entry)->asked |= head->request.sectors;
    fetch(here, slice, entry, absent, head->request.policy);
    return mshr_wait(store->misses, entry, work);
}

/* The host's memory is not kept here. */
static bool pass_to_host(const struct here *here, const struct head *head, const unsigned char *payload)
{
    if (!work_room(here))
        return false;
    host_send(here, head, payload);
    return true;
}

/* A request passes the slice that its client asks. */
static void tell_pass(const struct here *here, uint32_t slice, const struct head *head, bool hit)
{
    if (!probe_wants(here->shape->probe, PROBE_REQUEST) || head->kind == WORK_FETCH)
        return;
    probe_tell(here->shape->probe, (struct probe_event){.kind = PROBE_REQUEST,
                                                        .phase = PROBE_PASSES,
                                                        .time_ps = here->now,
                                                        .id = (uint64_t)head->client << 32 | head->request.id,
                                                        .gpu = here->shape->home,
                                                        .place = here->spec->global[slice],
                                                        .stop = "l2",
                                                        .what = hit ? "hit" : "miss",
                                                        .address = head->request.line});
}

/* Bytes that memory gives pass, and may be altered. */
static void tell_read(const struct here *here, uint32_t slice, uint64_t offset, unsigned char *line)
{
    probe_tell(here->shape->probe,
               (struct probe_event){.kind = PROBE_REQUEST,
                                    .phase = PROBE_PASSES,
                                    .time_ps = here->now,
                                    .id = UINT64_MAX, /* several may wait for it */
                                    .gpu = here->shape->home,
                                    .place = here->spec->global[slice],
                                    .stop = "dram",
                                    .what = "read",
                                    .address = physical_at(here->shape->home, offset).packed,
                                    .data = line,
                                    .data_bytes = MEM_LINE});
}

bool slice_take(const struct here *here, uint32_t slice, const struct head *head,
                const unsigned char *payload)
{
    const struct store *store = &here->spec->stores[slice];
    if (UNLIKELY(is_at_host(head->request.line)))
        return pass_to_host(here, head, payload);
    struct place place =
        map_place(&here->shape->map, physical_offset(physical_unpack(head->request.line)) / MEM_LINE);
    bool is_home = place.slice == here->spec->global[slice];
    uint64_t key = place.index << 1 | !is_home;
    tags_prefetch(store->tags, tags_set_of(store->tags, key));
    uint32_t slot = tags_find(store->tags, key);
    uint32_t entry = store->misses->used ? mshr_find(store->misses, key) : MSHR_NONE;
    struct mshr_entry *miss = entry == MSHR_NONE ? NULL : mshr_at(store->misses, entry);
    bool moves_on = !is_home && (head->kind != MEM_READ || (miss && miss->stale & head->request.sectors));
    uint32_t absent = moves_on ? 0 : missing(store, slot, head, is_home);
    bool waits = absent || (miss && !moves_on && miss->asked & head->request.sectors);
    if ((waits || moves_on) && head->work == NO_WORK && !work_room(here))
        return false;
    if (moves_on && miss) {
        miss->stale |= head->request.sectors; /* for those who come; those who wait get what they asked for */
        slot = TAGS_NONE;
    }
    if (!waits) {
        if (slot == TAGS_NONE && head->kind == MEM_WRITE && !miss)
            slot = make_room(here, slice, key, head->request.policy);
        if (slot == TAGS_NONE && is_home)
            return false;
        if (!moves_on)
            count(here, slice, head, 0);
        tell_pass(here, slice, head, true);
        if (!slice_perform(here, slice, slot, head, payload, moves_on) && head->work != NO_WORK)
            work_free(here, head->work);
        return true;
    }
    if (entry == MSHR_NONE)
        entry = begin(here, slice, key, slot, head->request.policy);
    if (entry == MSHR_NONE)
        return false;
    count(here, slice, head, absent & ~(uint32_t)mshr_at(store->misses, entry)->pending);
    tell_pass(here, slice, head, false);
    REQUIRE(wait_for(here, slice, entry, head, payload, absent));
    return true;
}

/* Does what waits at a miss, in order, up to the first that needs more. */
static void go_on(const struct here *here, uint32_t slice, uint32_t entry, uint8_t hit)
{
    const struct store *store = &here->spec->stores[slice];
    struct mshr_entry *miss = mshr_at(store->misses, entry);
    bool is_home = !(miss->line & 1);
    while (miss->first != MSHR_NONE) {
        struct work *work = &here->spec->works[mshr_waiter(store->misses, miss->first)->who];
        uint32_t absent = missing(store, miss->slot, &work->head, is_home);
        if (absent) {
            fetch(here, slice, entry, absent, work->head.request.policy);
            return;
        }
        uint32_t number = mshr_next(store->misses, entry);
        work->head.hit = work->head.hit > hit ? work->head.hit : hit;
        if (!slice_perform(here, slice, miss->slot, &work->head, here->spec->payloads[number].at, false))
            work_free(here, number);
    }
    if (!miss->pending)
        end(here, slice, entry);
}

/* A sector that comes, but for the bytes that were written meanwhile. */
static void merge(const struct store *store, uint32_t slot, uint32_t sector, const unsigned char *bytes)
{
    unsigned char *data = store->data + (size_t)slot * MEM_LINE + sector * MEM_SECTOR;
    uint32_t *mask = &store->masks[slot * MEM_SECTORS + sector];
    for (uint32_t i = 0; i < MEM_SECTOR; i++)
        data[i] = *mask >> i & 1 ? data[i] : bytes[i];
    *mask = 0;
}

void slice_filled(const struct here *here, uint32_t slice, uint32_t entry, uint32_t sectors,
                  const unsigned char *data, uint8_t hit)
{
    const struct store *store = &here->spec->stores[slice];
    struct mshr_entry *miss = mshr_at(store->misses, entry);
    uint32_t slot = miss->slot;
    tags_prefetch(store->tags, tags_set_of_slot(store->tags, slot));
    uint16_t *valid = tags_valid(store->tags, slot);
    uint32_t partial = *tags_dirty(store->tags, slot) & ~(uint32_t)*valid;
    unsigned char line[MEM_LINE];
    if (!data) {
        uint64_t offset = offset_of(here->spec, slice, miss->line);
        home_read_line(&here->shape->memory, offset, line);
        if (probe_wants(here->shape->probe, PROBE_REQUEST))
            tell_read(here, slice, offset, line);
        data = line;
    }
    for (uint32_t left = sectors & ~(uint32_t)*valid; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left), at = sector * MEM_SECTOR;
        if (UNLIKELY(partial >> sector & 1))
            merge(store, slot, sector, data + at);
        else
            memcpy(store->data + (size_t)slot * MEM_LINE + at, data + at, MEM_SECTOR);
    }
    *valid |= (uint16_t)sectors;
    miss->pending &= (uint16_t)~sectors;
    go_on(here, slice, entry, hit);
}

void slice_invalidate(const struct here *here, const struct invalidate *what)
{
    const struct store *store = &here->spec->stores[what->slice];
    uint32_t slot = tags_find(store->tags, what->key);
    if (slot == TAGS_NONE)
        return;
    uint32_t entry = mshr_find(store->misses, what->key);
    if (entry != MSHR_NONE) {
        mshr_at(store->misses, entry)->stale |= what->sectors;
        return;
    }
    uint16_t *valid = tags_valid(store->tags, slot);
    *valid &= (uint16_t)~what->sectors;
    if (!*valid)
        tags_drop(store->tags, slot);
}

static void sync_slot(const struct partition_spec *spec, uint32_t slice, uint32_t slot, bool forget)
{
    const struct store *store = &spec->stores[slice];
    clean(spec, slice, slot);
    if (!forget)
        return;
    if (mshr_find(store->misses, tags_line(store->tags, slot)) == MSHR_NONE)
        tags_drop(store->tags, slot);
    else
        *tags_valid(store->tags, slot) = 0;
}

void slice_sync_line(const struct partition_spec *spec, uint32_t slice, uint64_t key, bool forget)
{
    uint32_t slot = tags_find(spec->stores[slice].tags, key);
    if (slot != TAGS_NONE)
        sync_slot(spec, slice, slot, forget);
}

void slice_sync(const struct partition_spec *spec, uint32_t slice, uint64_t first, uint64_t last, bool forget)
{
    const struct store *store = &spec->stores[slice];
    uint32_t slots = store->tags->sets * store->tags->ways;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if ((!forget && !*tags_dirty(store->tags, slot)) || !tags_holds(store->tags, slot))
            continue;
        uint64_t offset = offset_of(spec, slice, tags_line(store->tags, slot));
        if (offset >= first && offset <= last)
            sync_slot(spec, slice, slot, forget);
    }
}
