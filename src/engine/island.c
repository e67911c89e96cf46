/* One island: its pool of events, its queue, and the loop that everything happens in. */
#include "engine/island.h"

#include <stdarg.h>
#include <stdio.h>

enum { FIRST_CHUNK_EVENTS = 64, LARGEST_CHUNK_EVENTS = 1 << 14 };

/* Chunks never move: a handler may hold an event while it makes others. */
void island_grow_pool(struct island *island)
{
    size_t events = max_u64(FIRST_CHUNK_EVENTS, min_u64(island->pool_events, LARGEST_CHUNK_EVENTS));
    size_t bytes_each = island->engine->event_bytes;
    char *chunk = mem_alloc_lines(events, bytes_each);
    mem_grow(island->chunks, island->chunk_count, island->chunk_capacity);
    island->chunks[island->chunk_count++] = chunk;
    island->pool_events += (uint32_t)events;
    for (size_t i = events; i-- > 0;)
        island_give_event(island, (struct pooled *)(chunk + i * bytes_each));
}

struct pooled *island_take_event(struct island *island)
{
    if (UNLIKELY(!island->unused))
        island_grow_pool(island);
    struct pooled *pooled = island->unused;
    island->unused = pooled->next;
    return pooled;
}

void island_deliver(struct island *island, const struct event *event)
{
    struct pooled *pooled = island_take_event(island);
    memcpy(&pooled->event, event, mail_bytes_of(event));
    queue_push(&island->queue,
               (struct queue_entry){.time = event->time, .order = event->order, .what = (uintptr_t)&pooled->event});
}

void island_fail(struct island *island, const char *format, va_list args)
{
    if (island->failure)
        return;
    char what[sizeof island->failure->text];
    vsnprintf(what, sizeof what, format, args);
    island->failure = mem_alloc(1, sizeof *island->failure);
    island->failed_at = island->now;
    err_set(island->failure, "%s", what);
    island->limit = 0; /* the loop ends after this event */
}

static void __attribute__((cold, noinline)) time_stands_still(struct component *component, const struct event *event)
{
    component_fail(component, "time stands still at %llu ps: island %s has handled %llu events without its moving on, the "
                   "last one for %s (%s %u)",
                   (unsigned long long)component->island->now, component->island->name,
                   (unsigned long long)component->island->same_time, component->name,
                   event ? "event kind" : "wake-up", event ? event->kind : 0u);
}

static inline void count_event(struct island *island, struct component *component, const struct event *event)
{
    island->events++;
    if (UNLIKELY(++island->same_time > island->engine->spec.same_time_limit))
        time_stands_still(component, event);
}

static bool __attribute__((noinline)) hook_allows(struct component *component, struct port *port, struct event *event)
{
    struct hook_context context = {.island = component->island->index,
                                   .time = component->island->now,
                                   .component = component,
                                   .port = port,
                                   .event = event};
    if (port && port->hooks && event->what != EVENT_CREDIT) {
        context.point = HOOK_ARRIVE;
        if (!hooks_call(port->hooks, &context))
            return false;
    }
    context.point = HOOK_HANDLE;
    return hooks_call(component->hooks, &context);
}

static void handle_own(struct island *island, struct event *event)
{
    struct component *component = island->engine->components[event->target];
    count_event(island, component, event);
    if (LIKELY(!component->hooks) || hook_allows(component, NULL, event))
        component->ops->event(component, component->state, event);
    island_give_event(island, pooled_of(event));
}

/* On a crossbar, messages from several plugs may come at once, but only one after the other can enter the port:
 * true when this one has to wait, and was queued again for its turn. */
static bool must_wait_its_turn(struct island *island, struct port *port, struct event *event)
{
    struct link *link = port->link;
    struct serializer *in = &port->in;
    unsigned __int128 bytes = event->bytes + link->overhead_bytes;
    unsigned __int128 takes = bytes * link->ps_per_byte + in->fraction;
    uint64_t whole = in->free_at + (uint64_t)(takes >> 32);
    if (whole <= event->time) {
        *in = (struct serializer){.free_at = event->time};
        return false;
    }
    *in = (struct serializer){.free_at = whole, .fraction = (uint32_t)takes};
    event->time = whole;
    event->what = EVENT_RECEIVED;
    queue_push(&island->queue,
               (struct queue_entry){.time = whole, .order = event->order, .what = (uintptr_t)event});
    return true;
}

static void give_credit_back(struct port *port, const struct event *event);

static void handle_message(struct island *island, struct event *event)
{
    struct port *port = island->engine->ports[event->target];
    struct component *component = port->component;
    struct link *link = port->link;
    if (link->shared && link->ps_per_byte && event->what == EVENT_MESSAGE && must_wait_its_turn(island, port, event))
        return;
    count_event(island, component, event);
    struct pooled *pooled = pooled_of(event);
    if (UNLIKELY(component->hooks || port->hooks) && !hook_allows(component, port, event)) {
        give_credit_back(port, event);
        island_give_event(island, pooled);
        return;
    }
    port_enqueue(port, pooled);
    component->ops->arrive(component, component->state, port);
}

static void handle_credit(struct island *island, struct event *event)
{
    struct port *port = island->engine->ports[event->target];
    struct component *component = port->component;
    count_event(island, component, event);
    if (LIKELY(!component->hooks) || hook_allows(component, port, event)) {
        port->credits[event->from]++;
        if (port->waits_for) {
            port->waits_for = 0;
            component->ops->ready(component, component->state, port);
        }
    }
    island_give_event(island, pooled_of(event));
}

static void handle_wake(struct island *island, struct component *component, uint64_t time)
{
    if (component->wake_time != time)
        return; /* an earlier wake-up was asked for after this one, and has been */
    component->wake_time = TIME_NEVER;
    count_event(island, component, NULL);
    if (LIKELY(!component->hooks) || hook_allows(component, NULL, NULL))
        component->ops->wake(component, component->state);
}

void island_run(struct island *island, uint64_t limit)
{
    struct queue *queue = &island->queue;
    island->limit = limit;
    while (queue->count && queue->at[0].time < island->limit) {
        struct queue_entry entry = queue_pop(queue);
        if (entry.time != island->now) {
            island->now = entry.time;
            island->same_time = 0;
        }
        if (entry.what & 1) {
            handle_wake(island, (struct component *)(entry.what - 1), entry.time);
            continue;
        }
        struct event *event = (struct event *)entry.what;
        switch ((enum event_what)event->what) {
        case EVENT_OWN:
            handle_own(island, event);
            break;
        case EVENT_MESSAGE:
        case EVENT_RECEIVED:
            handle_message(island, event);
            break;
        case EVENT_CREDIT:
            handle_credit(island, event);
            break;
        default:
            BUG("event of unknown sort %u", event->what);
        }
    }
}

/* ---- what a component can do ---- */

uint64_t component_now(const struct component *self)
{
    return self->island->now;
}

uint64_t component_horizon(const struct component *self)
{
    return min_u64(self->island->limit, island_next_time(self->island));
}

const void *component_spec(const struct component *self)
{
    return self->spec;
}

void *component_state(const struct component *self)
{
    return self->state;
}

const char *component_name(const struct component *self)
{
    return self->name;
}

uint32_t component_island(const struct component *self)
{
    return self->island->index;
}

uint64_t component_seed(const struct component *self)
{
    return self->island->engine->spec.seed;
}

struct port *component_port(const struct component *self, uint32_t number)
{
    REQUIRE(number < self->port_count);
    return &self->ports[number];
}

static inline void fill_event(struct event *event, const struct event *header, const void *payload)
{
    *event = *header;
    if (header->bytes)
        memcpy(event->payload, payload, header->bytes);
}

/* Into the queue of the component's own island. */
static inline void put_here(struct island *island, const struct event *header, const void *payload)
{
    struct pooled *pooled = island_take_event(island);
    fill_event(&pooled->event, header, payload);
    queue_push(&island->queue,
               (struct queue_entry){.time = header->time, .order = header->order, .what = (uintptr_t)&pooled->event});
}

static inline void put(struct island *island, uint32_t destination, const struct event *header, const void *payload)
{
    if (destination == island->index)
        put_here(island, header, payload);
    else
        fill_event(worker_append(island->worker, destination, header), header, payload);
}

void component_schedule(struct component *self, uint64_t delay, uint8_t kind, const void *payload, uint16_t bytes)
{
    struct island *island = self->island;
    REQUIRE(bytes <= island->engine->spec.payload_bytes);
    put_here(island,
             &(struct event){.time = island->now + delay,
                             .order = island_order(island),
                             .target = self->index,
                             .what = EVENT_OWN,
                             .kind = kind,
                             .bytes = bytes},
             payload);
}

void component_wake(struct component *self, uint64_t time)
{
    REQUIRE(time > self->island->now || !self->island->engine->started);
    if (time >= self->wake_time)
        return;
    self->wake_time = time;
    queue_push(&self->island->queue,
               (struct queue_entry){.time = time, .order = ORDER_WAKE | self->index, .what = (uintptr_t)self | 1});
}

void component_fail(struct component *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    island_fail(self->island, format, args);
    va_end(args);
}

/* ---- what a port can do ---- */

uint32_t port_number(const struct port *port)
{
    return port->number;
}

uint32_t port_plug(const struct port *port)
{
    return port->plug;
}

uint32_t port_fill(const struct port *port)
{
    return port->fill;
}

uint64_t port_free_at(const struct port *port)
{
    return port->out.free_at;
}

/* When the last of `bytes` leaves that start to leave at `time` or when the pipe is free. */
static uint64_t serialize(struct serializer *out, uint64_t time, uint64_t bytes, uint64_t ps_per_byte)
{
    if (time > out->free_at)
        *out = (struct serializer){.free_at = time};
    unsigned __int128 takes = (unsigned __int128)bytes * ps_per_byte + out->fraction;
    out->free_at += (uint64_t)(takes >> 32);
    out->fraction = (uint32_t)takes;
    return out->free_at;
}

static bool send(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload, uint16_t bytes)
{
    struct island *island = port->island;
    struct link *link = port->link;
    if (port->credits)
        port->credits[to]--;
    uint64_t leaves = island->now + delay;
    if (link->ps_per_byte)
        leaves = serialize(&port->out, leaves, (uint64_t)bytes + link->overhead_bytes, link->ps_per_byte);
    put(island, link->plugs[to].island,
        &(struct event){.time = leaves + link->latency,
                        .order = island_order(island),
                        .target = link->plugs[to].port,
                        .from = port->plug,
                        .what = EVENT_MESSAGE,
                        .kind = kind,
                        .bytes = bytes},
        payload);
    return true;
}

static bool __attribute__((noinline)) send_past_hooks(struct port *port, uint32_t to, uint64_t delay, uint8_t kind,
                                                      const void *payload, uint16_t bytes)
{
    struct island *island = port->island;
    struct pooled *copy = island_take_event(island);
    fill_event(&copy->event, &(struct event){.time = island->now, .from = port->plug, .kind = kind, .bytes = bytes},
               payload);
    struct hook_context context = {.point = HOOK_SEND,
                                   .island = island->index,
                                   .time = island->now,
                                   .component = port->component,
                                   .port = port,
                                   .event = &copy->event,
                                   .delay = delay};
    bool goes = hooks_call(port->hooks, &context);
    context.point = HOOK_CROSS;
    if (goes && hooks_call(port->link->hooks, &context))
        send(port, to, max_u64(delay, context.delay), copy->event.kind, copy->event.payload, bytes);
    island_give_event(island, copy);
    return true; /* a message lost on its way has been sent all the same */
}

bool port_send(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload, uint16_t bytes)
{
    struct link *link = port->link;
    REQUIRE(link && to < link->plug_count && to != port->plug);
    REQUIRE(bytes <= link->engine->spec.payload_bytes);
    if (port->credits && !port->credits[to]) {
        port->waits_for = to + 1;
        return false;
    }
    if (UNLIKELY(port->hooks || link->hooks))
        return send_past_hooks(port, to, delay, kind, payload, bytes);
    return send(port, to, delay, kind, payload, bytes);
}

const struct event *port_head(const struct port *port)
{
    return port->head ? &port->head->event : NULL;
}

static void give_credit_back(struct port *port, const struct event *event)
{
    struct island *island = port->island;
    struct link *link = port->link;
    if (!link->credits)
        return;
    put(island, link->plugs[event->from].island,
        &(struct event){.time = island->now + link->latency,
                        .order = island_order(island),
                        .target = link->plugs[event->from].port,
                        .from = port->plug,
                        .what = EVENT_CREDIT},
        "");
}

void port_pop(struct port *port)
{
    struct pooled *pooled = port->head;
    REQUIRE(pooled);
    port->head = pooled->next;
    port->fill--;
    give_credit_back(port, &pooled->event);
    island_give_event(port->island, pooled);
}
