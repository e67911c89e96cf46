/* The component of an island: receives requests from ports and events, and sends replies. */
#include "mem/dram.h"

static struct here where(struct component *self, void *state)
{
    const struct partition_spec *spec = component_spec(self);
    return (struct here){self, state, spec, spec->shape, component_now(self)};
}

/* The SMs of a GPC have one port together. Each slice has an even share of it, and sends ahead of it by no
 * more than a burst; nobody need ask the others. Gives when a reply leaves. */
static uint64_t pass_gpc(const struct here *here, uint32_t slice, uint32_t client, uint64_t at,
                         uint32_t bytes)
{
    const struct memsys_shape *shape = here->shape;
    uint64_t *paid_at = &here->state->slices[slice].gpc_paid_at[shape->gpc_of[client]];
    uint64_t takes = (bytes + shape->overhead_bytes) * shape->gpc_byte_fs / 1000;
    *paid_at = max_u64(*paid_at, at) + takes;
    return max_u64(at, *paid_at - min_u64(*paid_at, takes + shape->gpc_burst_ps));
}

void partition_reply(const struct here *here, const struct head *head, uint64_t at, uint8_t kind,
                     const void *payload, uint32_t bytes)
{
    uint64_t distance = here->spec->distance_ps[head->client * here->spec->here + head->entry];
    if (here->shape->gpc_byte_fs && here->shape->gpc_of[head->client] != NO_GPC)
        at = pass_gpc(here, head->entry, head->client, at, bytes);
    struct port *port = component_port(here->self, here->spec->here + head->entry);
    bool is_sm = LIKELY(head->client < here->shape->clients_of_sms); /* others' ports are wide enough */
    REQUIRE(port_send_sized(port, head->client, at - here->now + distance, kind, payload, (uint16_t)bytes,
                            is_sm ? bytes + here->shape->overhead_bytes : 0));
}

uint64_t partition_cross(const struct here *here, uint32_t slice, uint64_t ready, uint32_t bytes)
{
    struct slice *it = &here->state->slices[slice];
    if (ready > it->cross_free_at) {
        it->cross_free_at = ready;
        it->cross_fs = 0;
    }
    uint64_t takes = bytes * here->shape->cross_byte_fs + it->cross_fs;
    it->cross_free_at += takes / 1000;
    it->cross_fs = takes % 1000;
    here->state->count.l2_cross_bytes += bytes;
    return it->cross_free_at + here->shape->cross_ps;
}

/* ---- works ---- */

bool work_room(const struct here *here)
{
    return here->state->works_free > here->spec->works_kept;
}

uint32_t work_keep(const struct here *here, const struct head *head, const unsigned char *payload)
{
    uint32_t number = here->state->free_work;
    if (UNLIKELY(number == NO_WORK)) {
        number = here->state->works_begun++;
        REQUIRE(number < here->spec->work_count);
        here->spec->works[number].next = NO_WORK;
    }
    struct work *work = &here->spec->works[number];
    here->state->free_work = work->next;
    here->state->works_free--;
    work->head = *head;
    work->head.work = number;
    uint32_t bytes = work_payload_bytes(head);
    if (bytes)
        memcpy(here->spec->payloads[number].at, payload, bytes);
    return number;
}

void work_free(const struct here *here, uint32_t number)
{
    here->spec->works[number].next = here->state->free_work;
    here->spec->works[number].head.work = NO_WORK;
    here->state->free_work = number;
    here->state->works_free++;
    here->state->freed = true;
}

/* ---- what comes in ---- */

/* A request that the gateway forwards says so at its end. */
static uint64_t origin_of(const struct memsys_shape *shape, const struct event *event, uint32_t id)
{
    return LIKELY(event->from != shape->gateway) ? probe_request_id(shape->home, event->from, id)
                                                 : memsys_origin(event->payload, event->bytes);
}

/* What has to do with pages that move: orders, and requests that wait for one. */
static bool takes_part(const struct here *here, uint32_t slice, struct head *head, const struct event *event)
{
    const unsigned char *payload = event->payload + sizeof head->request;
    if (head->kind == MEM_RECALL || head->kind == MEM_GRANT) {
        pages_take_order(here, head, payload);
        return true;
    }
    head->origin = origin_of(here->shape, event, head->request.id);
    return pages_hold(here, slice, head, payload, false);
}

static void take_requests(const struct here *here, uint32_t slice)
{
    struct port *port = component_port(here->self, slice);
    struct slice *it = &here->state->slices[slice];
    it->blocked = false;
    for (const struct event *event; (event = port_head(port)); port_pop(port)) {
        struct head head = {
            .client = event->from, .work = NO_WORK, .kind = event->kind, .entry = (uint8_t)slice};
        memcpy(&head.request, event->payload, sizeof head.request);
        if (UNLIKELY(here->spec->pages != NULL) &&
            (head.kind >= MEM_WANT || pages_move(here->shape, head.request.line)) &&
            takes_part(here, slice, &head, event))
            continue;
        head.origin = origin_of(here->shape, event, head.request.id);
        if (!slice_take(here, slice, &head, event->payload + sizeof head.request)) {
            it->blocked = true;
            here->state->waiting |= UINT64_C(1) << slice;
            return;
        }
        here->state->count.l2_requests++;
    }
}

/* Works that came across and found no room, in order. */
static void take_late(const struct here *here, uint32_t slice)
{
    struct slice *it = &here->state->slices[slice];
    while (it->late_first != NO_WORK) {
        struct work *work = &here->spec->works[it->late_first];
        uint32_t next = work->next;
        if (!slice_take(here, slice, &work->head, here->spec->payloads[it->late_first].at))
            return;
        it->late_first = next;
    }
}

/* Room has come: those who wait for some try again, as long as that makes more. */
static void retry(const struct here *here)
{
    while (here->state->freed) {
        here->state->freed = false;
        if (UNLIKELY(here->spec->pages != NULL))
            pages_go_on(here);
        for (uint64_t left = here->state->waiting; left; left &= left - 1) {
            uint32_t slice = (uint32_t)__builtin_ctzll(left);
            bool blocked = here->state->slices[slice].blocked;
            here->state->waiting &= ~(UINT64_C(1) << slice);
            take_late(here, slice);
            if (blocked)
                take_requests(here, slice);
            if (here->state->slices[slice].late_first != NO_WORK)
                here->state->waiting |= UINT64_C(1) << slice;
        }
    }
}

static void partition_arrive(struct component *self, void *state, struct port *port)
{
    struct here here = where(self, state);
    uint32_t slice = port_number(port);
    if (slice == 2 * here.spec->here)
        hostmem_replied(&here, port);
    else if (!here.state->slices[slice].blocked)
        take_requests(&here, slice);
    if (here.state->freed)
        retry(&here);
}

static void at_home(const struct here *here, uint32_t number)
{
    struct work *work = &here->spec->works[number];
    uint32_t slice = counterpart(here->spec, work->head.entry);
    struct slice *it = &here->state->slices[slice];
    if (it->late_first == NO_WORK && slice_take(here, slice, &work->head, here->spec->payloads[number].at))
        return;
    work->next = NO_WORK;
    if (it->late_first == NO_WORK)
        it->late_first = number;
    else
        here->spec->works[it->late_last].next = number;
    it->late_last = number;
    here->state->waiting |= UINT64_C(1) << slice;
}

static void fetched(const struct here *here, uint32_t number)
{
    const struct work *work = &here->spec->works[number];
    slice_filled(here, work->head.entry, work->head.client, work->head.request.sectors,
                 here->spec->payloads[number].at, work->head.hit);
    work_free(here, number);
}

static void partition_event(struct component *self, void *state, const struct event *event)
{
    struct here here = where(self, state);
    uint32_t work;
    struct filled filled;
    struct invalidate stale;
    switch ((enum partition_event)event->kind) {
    case EVENT_AT_HOME:
        memcpy(&work, event->payload, sizeof work);
        at_home(&here, work);
        break;
    case EVENT_FETCHED:
        memcpy(&work, event->payload, sizeof work);
        fetched(&here, work);
        break;
    case EVENT_INVALIDATE:
        memcpy(&stale, event->payload, sizeof stale);
        slice_invalidate(&here, &stale);
        break;
    case EVENT_FILLED:
        memcpy(&filled, event->payload, sizeof filled);
        slice_filled(&here, filled.slice, filled.entry, filled.sectors, NULL, 2);
        break;
    case EVENT_DRAM:
        here.shape->dram->event(&here, event->payload);
        break;
    }
    if (here.state->freed)
        retry(&here);
}

static void partition_start(struct component *self, void *state)
{
    struct here here = where(self, state);
    struct partition *partition = state;
    for (uint32_t i = 0; i < here.spec->here; i++)
        partition->slices[i].late_first = NO_WORK;
    partition->free_work = NO_WORK;
    partition->works_free = here.spec->work_count;
}

static bool partition_waits(const struct component *self, const void *state, struct text *text)
{
    const struct partition *partition = state;
    const struct partition_spec *spec = component_spec(self);
    uint32_t under_way = spec->work_count - partition->works_free;
    size_t parked = spec->pages ? spec->pages->parked_count + spec->pages->recall_count : 0;
    if (under_way)
        text_add(text, "data for %u requests", under_way);
    if (parked)
        text_add(text, "%spages for %zu requests", under_way ? ", " : "", parked);
    return under_way || parked;
}

STAT_TABLE(partition_stats, memsys_counters, MEM_COUNTERS); /* which the state begins with */

const struct component_ops partition_ops = {.type = "memory",
                                            .start = partition_start,
                                            .arrive = partition_arrive,
                                            .event = partition_event,
                                            .waits = partition_waits,
                                            .archive = partition_archive,
                                            .stats = &partition_stats};
