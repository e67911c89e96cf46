/* Copies at a slice: they bypass the L2 and access the memory of the line's home. A read returns, and writes
 * back, what the L2 has of the line; a write drops it. Neither allocates in the L2 or waits for a miss,
 * because a miss reads memory when its data arrives. So a copy is never delayed by misses of kernels. */
#include "mem/dram.h"

static struct map_place place_of(const struct memsys_shape *shape, uint64_t line)
{
    return map_place(&shape->map, local_offset(shape, line) >> shape->line_shift);
}

/* What is dirty of the line goes to memory. Gives the slot that it is in, or TAGS_NONE. */
static uint32_t clean(const struct here *here, uint32_t slice, uint64_t key)
{
    const struct cache *cache = &here->spec->caches[slice];
    uint32_t slot = cache_find(cache, key);
    uint32_t dirty = slot == TAGS_NONE ? 0 : *cache_dirty(cache, slot);
    if (dirty) {
        here->shape->dram->pass(here, slice, key >> 1, dirty, true);
        slice_sync_line(here->spec, slice, key, false);
    }
    return slot;
}

/* What the L2 has all of does not come from memory. */
static void tell_read(const struct here *here, uint32_t slice, const struct head *head, uint32_t absent,
                      unsigned char *data, uint32_t bytes)
{
    slice_tell_pass(here, slice, head, absent ? "miss" : "hit");
    if (absent)
        slice_tell_dram(here, slice, head, "read", data, bytes);
}

/* Whether a line of managed memory moves, and with its bytes. */
static bool is_apart(const struct memsys_shape *shape, const struct memsys_request *request)
{
    return shape->apart && request->policy == MEM_MOVED && physical_is_managed(request->line);
}

static void read(const struct here *here, uint32_t slice, uint64_t index, const struct head *head)
{
    const struct memsys_request *request = &head->request;
    const struct memsys_shape *shape = here->shape;
    uint64_t offset = local_offset(shape, request->line);
    uint32_t slot = clean(here, slice, index << 1);
    uint32_t absent = cache_missing(&here->spec->caches[slice], slot, request->sectors);
    struct {
        struct memsys_reply reply;
        unsigned char data[MEM_LINE_MOST + sizeof(struct apart_tail)];
    } message = {
        .reply = {
            .line = request->line, .id = request->id, .sectors = request->sectors, .hit = absent ? 2 : 0}};
    uint32_t bytes = 0;
    for (uint32_t left = request->sectors; left; left &= left - 1, bytes += MEM_SECTOR)
        held_read(here->spec, offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR, message.data + bytes);
    if (probe_wants(shape->probe, PROBE_REQUEST))
        tell_read(here, slice, head, absent, message.data, bytes);
    if (UNLIKELY(is_apart(shape, request))) {
        struct apart_tail tail = pages_apart_tail(here->spec, request);
        memcpy(message.data + bytes, &tail, sizeof tail);
        bytes += (uint32_t)sizeof tail;
    }
    uint64_t ready = slice_occupy(here, slice, sector_count(request->sectors) * shape->sector_ps);
    if (absent)
        ready = max_u64(ready,
                        shape->dram->pass(here, slice, index, absent, false) + here->spec->dram->latency_ps);
    partition_reply(here, head, ready + shape->hit_ps, MEM_DATA, &message,
                    (uint32_t)sizeof message.reply + bytes);
}

/* Sectors go to memory. Gives when the channel has taken them: it holds some that it has no time for yet. */
static uint64_t keep(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors)
{
    uint64_t passed = here->shape->dram->pass(here, slice, index, sectors, true);
    uint64_t ahead = here->shape->dram_spec->writes * here->spec->dram->sector_fs / 1000;
    return passed - min_u64(passed, ahead);
}

/* Gives when memory has taken it; and when the slice has. */
static uint64_t write(const struct here *here, uint32_t slice, uint64_t index, const struct head *head,
                      const unsigned char *payload, uint64_t *through)
{
    const struct memsys_request *request = &head->request;
    const struct cache *cache = &here->spec->caches[slice];
    uint64_t offset = local_offset(here->shape, request->line), key = index << 1;
    uint32_t slot = clean(here, slice, key);
    if (probe_wants(here->shape->probe, PROBE_REQUEST))
        slice_tell_dram(here, slice, head, "write", NULL, 0);
    if (slot != TAGS_NONE) {
        if (*copied(cache, slot))
            slice_recall(here, slice, key, *copied(cache, slot));
        *copied(cache, slot) = 0;
        slice_sync_line(here->spec, slice, key, true);
    }
    bool stays = request->policy == MEM_MOVED && physical_is_managed(request->line); /* bytes are there, */
    if (UNLIKELY(is_apart(here->shape, request)))                                    /* or kept by turns */
        pages_take_apart(here->spec, request, payload);
    for (uint32_t left = stays ? 0 : request->sectors; left;
         left &= left - 1, payload += sizeof(struct memsys_write)) {
        struct memsys_write write;
        memcpy(&write, payload, sizeof write);
        held_write(here->spec, offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR, write.data, write.mask);
    }
    *through = slice_occupy(here, slice, sector_count(request->sectors) * here->shape->sector_write_ps);
    return keep(here, slice, index, request->sectors);
}

void around_take(const struct here *here, uint32_t slice, const struct head *head,
                 const unsigned char *payload)
{
    struct map_place place = place_of(here->shape, head->request.line);
    REQUIRE(place.slice == here->spec->global[slice]); /* copies ask home: memsys_copy_target */
    if (head->kind == MEM_READ) {
        read(here, slice, place.index, head);
        return;
    }
    uint64_t through;
    uint64_t taken = write(here, slice, place.index, head, payload, &through);
    through = max_u64(through, taken);
    uint64_t invalidated_at = here->state->slices[slice].invalidated_at;
    if (invalidated_at > here->now) /* nobody reads a stale copy of the line when this is acknowledged */
        through = max_u64(through, invalidated_at + here->shape->cross_ps);
    struct memsys_reply reply = {
        .line = head->request.line, .id = head->request.id, .sectors = head->request.sectors};
    partition_reply(here, head, through + here->shape->hit_ps, MEM_DONE, &reply, sizeof reply);
}

void around_take_pushed(const struct here *here, uint32_t slice, const struct head *head,
                        const unsigned char *payload)
{
    struct map_place place = place_of(here->shape, head->request.line);
    uint64_t through;
    uint64_t taken = write(here, slice, place.index, head, payload, &through);
    taken = max_u64(taken, here->state->slices[slice].invalidated_at); /* nor can a stale copy be read */
    here->state->pushed_until = max_u64(here->state->pushed_until, taken);
}

void around_pushed(const struct here *here, const struct event *event)
{
    struct head head = {.origin = PROBE_NO_ID, .work = NO_WORK, .kind = MEM_WRITE};
    memcpy(&head.request, event->payload, sizeof head.request);
    struct map_place place = place_of(here->shape, head.request.line);
    uint32_t per_side = here->shape->per_side, side = place.slice >= per_side;
    uint32_t slice = side * here->spec->pairs + place.slice - side * per_side - here->spec->first_pair;
    const unsigned char *payload = event->payload + sizeof head.request;
    if (!here->spec->pages || !pages_hold(here, slice, &head, payload, true))
        around_take_pushed(here, slice, &head, payload);
}
