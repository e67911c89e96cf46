/* The effect of requests on a slot whose data is present: reads, writes, atomics, and forwarding to the home
 * slice. */
#include "mem/partition.h"
#include "mem/left_out.h"

uint64_t slice_occupy(const struct here *here, uint32_t slice, uint64_t takes)
{
    struct slice *it = &here->state->slices[slice];
    takes = max_u64(takes, here->shape->request_ps);
    here->state->count.l2_busy_ps += takes;
    it->free_at = max_u64(it->free_at, here->now) + takes;
    return it->free_at;
}

static struct memsys_reply reply_to(const struct head *head)
{
    return (struct memsys_reply){.line = head->request.line,
                                 .id = head->request.id,
                                 .sectors = head->request.sectors,
                                 .hit = head->hit};
}

static void read(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head)
{
    struct cache *cache = &here->spec->caches[slice];
    struct {
        struct memsys_reply reply;
        unsigned char data[MEM_LINE_MOST];
    } message = {.reply = reply_to(head)};
    uint32_t bytes = cache_pack(cache, cache_data(cache, slot), head->request.sectors, message.data);
    bytes += (uint32_t)sizeof message.reply;
    uint64_t ready = slice_occupy(here, slice, sector_count(head->request.sectors) * here->shape->sector_ps) +
                     here->shape->hit_ps;
    if (head->entry != slice)
        ready = partition_cross(here, slice, ready, bytes);
    partition_reply(here, head, ready, MEM_DATA, &message, bytes);
}

/* The counterpart wants a copy. */
static void give_copy(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head)
{
    struct cache *cache = &here->spec->caches[slice];
    memcpy(here->spec->payloads[head->work].at, cache_data(cache, slot), (size_t)1 << cache->line_shift);
    *copied(cache, slot) |= head->request.sectors;
    uint64_t through =
        slice_occupy(here, slice, sector_count(head->request.sectors) * here->shape->sector_ps) +
        here->shape->hit_ps;
    uint32_t bytes = memsys_message_bytes(MEM_DATA, head->request.sectors, 0);
    uint64_t arrives = partition_cross(here, slice, through, bytes);
    component_schedule(here->self, arrives - here->now, EVENT_FETCHED, &head->work, sizeof head->work);
}

/* Writes all sectors of a request. At home, they are kept until the line leaves; a copy is written through.
 */
static void write_sectors(struct cache *cache, uint32_t slot, const struct head *head,
                          const unsigned char *payload, enum cache_write how)
{
    for (uint32_t left = head->request.sectors; left; left &= left - 1) {
        struct memsys_write write;
        memcpy(&write, payload, sizeof write);
        payload += sizeof write;
        cache_write(cache, slot, (uint32_t)__builtin_ctz(left), write.mask, write.data, how);
    }
}

/* How long it takes a slice to write them: what is not whole is read and changed. */
static uint64_t writing_takes(const struct memsys_shape *shape, uint32_t sectors,
                              const unsigned char *payload)
{
    uint64_t takes = 0;
    for (uint32_t i = 0; i < sector_count(sectors); i++) {
        uint32_t mask;
        memcpy(&mask, payload + i * sizeof(struct memsys_write), sizeof mask);
        takes += mask == UINT32_MAX ? shape->sector_write_ps : shape->sector_partial_ps;
    }
    return takes;
}

/* A request goes on to home. What an atomic changes is not known here, so it is gone. */
static void pass_on(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head,
                    const unsigned char *payload)
{
    struct cache *cache = &here->spec->caches[slice];
    bool is_write = head->kind == MEM_WRITE;
    if (slot != TAGS_NONE) {
        if (is_write)
            write_sectors(cache, slot, head, payload, CACHE_ALLOCATE);
        else
            cache_invalidate(cache, slot, head->request.sectors);
        cache_drop_if_empty(cache, slot);
    }
    uint32_t work = head->work == NO_WORK ? work_keep(here, head, payload) : head->work;
    here->spec->works[work].head.hit = 1;
    uint32_t bytes = (uint32_t)sizeof head->request + work_payload_bytes(head);
    uint64_t through =
        slice_occupy(here, slice, is_write ? writing_takes(here->shape, head->request.sectors, payload) : 0);
    uint64_t arrives = partition_cross(here, slice, through, bytes);
    component_schedule(here->self, arrives - here->now, EVENT_AT_HOME, &work, sizeof work);
}

void slice_recall(const struct here *here, uint32_t slice, uint64_t key, uint32_t sectors)
{
    struct invalidate what = {
        .key = key | 1, .slice = (uint8_t)counterpart(here->spec, slice), .sectors = (uint8_t)sectors};
    uint64_t arrives =
        partition_cross(here, slice, here->now, memsys_message_bytes(MEM_INVALIDATE, sectors, 0));
    here->state->slices[slice].invalidated_at = arrives;
    here->state->count.l2_copies_invalidated++;
    if (!left_out(LEFT_OUT_COPIES))
        component_schedule(here->self, arrives - here->now, EVENT_INVALIDATE, &what, sizeof what);
}

/* Sectors of this slot change. What comes across has changed the copies there, or dropped them. */
static void recall_copies(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head)
{
    uint8_t *copies = copied(&here->spec->caches[slice], slot);
    uint32_t stale = *copies & head->request.sectors;
    if (head->entry != slice && head->kind == MEM_WRITE) {
        *copies |= head->request.sectors;
        return;
    }
    *copies &= (uint8_t)~stale;
    if (stale && head->entry == slice)
        slice_recall(here, slice, cache_line_in(&here->spec->caches[slice], slot), stale);
}

/* The reply to a write or atomic leaves when no stale copy can be read any more. A request from the other
 * partition has invalidated the copy there on its way. Its reply does not queue behind data that crosses: it
 * may be far ahead of it. */
static void reply_to_change(const struct here *here, uint32_t slice, const struct head *head, uint64_t at,
                            uint8_t kind, const void *payload, uint32_t bytes)
{
    const struct slice *it = &here->state->slices[slice];
    if (head->entry != slice) {
        at += here->shape->cross_ps;
        here->state->count.l2_cross_bytes += bytes;
    } else if (it->invalidated_at > here->now) {
        at = max_u64(at, it->invalidated_at + here->shape->cross_ps);
    }
    partition_reply(here, head, at, kind, payload, bytes);
}

static void write(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head,
                  const unsigned char *payload)
{
    uint64_t takes = writing_takes(here->shape, head->request.sectors, payload);
    write_sectors(&here->spec->caches[slice], slot, head, payload, CACHE_WRITE_BACK);
    recall_copies(here, slice, slot, head);
    struct memsys_reply reply = reply_to(head);
    uint64_t through = slice_occupy(here, slice, takes);
    reply_to_change(here, slice, head, through + here->shape->hit_ps, MEM_DONE, &reply, sizeof reply);
}

void memsys_atomic_wide(memsys_atomic_wide_fn *perform, uint8_t operation, void *at,
                        const unsigned char *payload, struct memsys_old olds[2])
{
    struct memsys_atom halves[2];
    uint64_t old[2];
    memcpy(halves, payload, sizeof halves);
    perform(operation, at, (uint64_t[2]){halves[0].operand, halves[1].operand},
            (uint64_t[2]){halves[0].compare, halves[1].compare}, old);
    for (uint32_t i = 0; i < COUNT_OF(old); i++)
        olds[i] = (struct memsys_old){.value = old[i], .lane = halves[i].lane};
}

static void atomic(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head,
                   const unsigned char *payload)
{
    const struct memsys_shape *shape = here->shape;
    struct cache *cache = &here->spec->caches[slice];
    uint32_t atoms = head->request.count & ~(uint32_t)MEM_WANTS_OLD, lanes = 0;
    REQUIRE(atoms <= MEM_ATOMS);
    struct {
        struct memsys_reply reply;
        struct memsys_old old[MEM_ATOMS];
    } message = {.reply = reply_to(head)};
    uint8_t of_word[MEM_LINE_MOST / 4] = {0}, most = 0;
    uint8_t operation = head->request.operation & (uint8_t)~MEM_ON_FLOATS;
    for (uint32_t i = 0; i < atoms; i++, lanes++) {
        struct memsys_atom atom;
        memcpy(&atom, payload + i * sizeof atom, sizeof atom);
        uint8_t same = ++of_word[atom.offset / 4];
        most = same > most ? same : most;
        void *at = cache_data(cache, slot) + atom.offset;
        if (atom.bytes == MEM_WIDE) {
            memsys_atomic_wide(shape->atomic_wide, operation, at, payload + i * sizeof atom, &message.old[i]);
            i++;
        } else {
            message.old[i] = (struct memsys_old){
                .value = shape->atomic(operation, at, atom.operand, atom.compare), .lane = atom.lane};
        }
        cache_changed(cache, slot, atom.offset, atom.bytes);
    }
    recall_copies(here, slice, slot, head);
    struct slice *it = &here->state->slices[slice];
    here->state->count.l2_atomics += lanes;
    bool wants_old = head->request.count & MEM_WANTS_OLD;
    uint64_t same = operation == head->request.operation ? shape->atomic_same_ps : shape->atomic_float_ps;
    /* lanes that go to one word make all of the warp's come one by one; there is no more to it if all do */
    uint64_t takes = lanes * (most > 1 || lanes == 1 ? same : shape->atomic_lane_ps);
    if (most < lanes)
        takes += sector_count(head->request.sectors) * shape->atomic_sector_ps;
    if (it->atomics_free_at > here->now)
        here->state->count.l2_atomic_wait_ps += lanes * (it->atomics_free_at - here->now);
    it->atomics_free_at = max_u64(it->atomics_free_at, here->now) + takes;
    uint64_t at = max_u64(it->atomics_free_at, slice_occupy(here, slice, 0)) + shape->atomic_ps;
    message.reply.count = (uint8_t)atoms;
    reply_to_change(here, slice, head, at, wants_old ? MEM_OLD : MEM_DONE, &message,
                    (uint32_t)(sizeof message.reply + (wants_old ? atoms * sizeof *message.old : 0)));
}

bool slice_perform(const struct here *here, uint32_t slice, uint32_t slot, const struct head *head,
                   const unsigned char *payload, bool moves_on)
{
    if (moves_on) {
        pass_on(here, slice, slot, head, payload);
        return true;
    }
    cache_touch(&here->spec->caches[slice], slot);
    switch ((enum memsys_kind)head->kind) {
    case MEM_READ:
        read(here, slice, slot, head);
        return false;
    case MEM_FETCH:
        give_copy(here, slice, slot, head);
        return true;
    case MEM_WRITE:
        write(here, slice, slot, head, payload);
        return false;
    case MEM_ATOMIC:
        atomic(here, slice, slot, head, payload);
        return false;
    default:
        BUG("a slice was asked to do \"%s\"", memsys_kind_name(head->kind));
    }
}
