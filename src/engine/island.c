/* One island: its pool of events, its queue, and the loop that everything happens in. */
#include "engine/island.h"

#include <stdarg.h>
#include <stdio.h>

/* Payloads are short, and most are one word. */
static inline void copy_payload(struct event *event, const void *payload, uint16_t bytes)
{
    if (LIKELY(bytes == 8))
        memcpy(event->payload, payload, 8);
    else if (bytes)
        memcpy(event->payload, payload, bytes);
}

inline void island_deliver(struct island *island, const struct event *event)
{
    struct pooled *pooled = pool_take(&island->pool);
    pooled->event = *event;
    copy_payload(&pooled->event, event->payload, event->bytes);
    queue_push(&island->queue, pooled);
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

/* An event at the same time as the one before: they are counted, lest time stand still for ever. */
static void at_the_same_time(struct island *island, const struct event *event)
{
    if (island->same_time_at != event->time) {
        island->same_time_at = event->time;
        island->same_time = 0;
    }
    if (LIKELY(++island->same_time <= island->engine->spec.same_time_limit))
        return;
    bool own = event->what == EVENT_OWN || event->what == EVENT_WAKE;
    const struct engine *engine = island->engine;
    struct component *component =
        own ? engine->components[event->target] : engine->ports[event->target]->component;
    component_fail(
        component,
        "time stands still at %llu ps: island %s has handled %llu events without its moving on, the "
        "last one for %s (%s %u)",
        (unsigned long long)event->time, island->name, (unsigned long long)island->same_time, component->name,
        event->what == EVENT_WAKE ? "wake-up" : "event kind", event->kind);
}

static inline void watch(struct island *island, const struct event *event)
{
    uint64_t digest =
        digest_word(island->watch_digest, event->time ^ (uint64_t)island->index << SEQUENCE_BITS);
    uint64_t word;
    memcpy(&word, &event->target, sizeof word); /* and what, kind, bytes */
    digest = digest_word(digest, word);
    if (LIKELY(event->bytes == 8)) {
        memcpy(&word, event->payload, 8);
        digest = digest_word(digest, word);
    } else if (event->bytes) {
        digest = digest_bytes(digest, event->payload, event->bytes);
    }
    island->watch_digest = digest;
}

/* What comes before every event. */
static inline void note_event(struct island *island, const struct event *event)
{
    island->events++;
    if (island->watched)
        watch(island, event);
}

static bool __attribute__((noinline))
hook_allows(struct component *component, struct port *port, struct event *event)
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

static void handle_own(struct island *island, struct pooled *pooled)
{
    struct event *event = &pooled->event;
    struct component *component = island->engine->components[event->target];
    note_event(island, event);
    if (LIKELY(!component->hooks) || hook_allows(component, NULL, event))
        component->ops->event(component, component->state, event);
    pool_give(&island->pool, pooled);
}

/* On a crossbar, messages from several plugs may come at once, but only one after the other can enter the
 * port: true when this one has to wait, and was queued again for its turn. */
static bool must_wait_its_turn(struct island *island, struct port *port, struct pooled *pooled)
{
    struct event *event = &pooled->event;
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
    queue_push(&island->queue, pooled);
    return true;
}

static void give_credit_back(struct port *port, const struct event *event);

static void handle_message(struct island *island, struct pooled *pooled)
{
    struct event *event = &pooled->event;
    struct port *port = island->engine->ports[event->target];
    struct component *component = port->component;
    struct link *link = port->link;
    if (link->shared && link->ps_per_byte && event->what == EVENT_MESSAGE &&
        must_wait_its_turn(island, port, pooled))
        return;
    note_event(island, event);
    if (UNLIKELY(component->hooks || port->hooks) && !hook_allows(component, port, event)) {
        give_credit_back(port, event);
        pool_give(&island->pool, pooled);
        return;
    }
    port_enqueue(port, pooled);
    component->ops->arrive(component, component->state, port);
}

static void handle_credit(struct island *island, struct pooled *pooled)
{
    struct event *event = &pooled->event;
    struct port *port = island->engine->ports[event->target];
    struct component *component = port->component;
    note_event(island, event);
    if (LIKELY(!component->hooks) || hook_allows(component, port, event)) {
        port->credits[event->from]++;
        if (port->waits_for) {
            port->waits_for = 0;
            component->ops->ready(component, component->state, port);
        }
    }
    pool_give(&island->pool, pooled);
}

static void handle_wake(struct island *island, struct pooled *pooled)
{
    struct event *event = &pooled->event;
    struct component *component = island->engine->components[event->target];
    if (component->wake_time == event->time) { /* else an earlier wake-up was asked for after this one */
        component->wake_time = TIME_NEVER;
        note_event(island, event);
        if (LIKELY(!component->hooks) || hook_allows(component, NULL, event))
            component->ops->wake(component, component->state);
    }
    pool_give(&island->pool, pooled);
}

void island_run(struct island *island, uint64_t limit)
{
    island->limit = limit;
    for (struct pooled *pooled; (pooled = queue_pop(&island->queue, island->limit));) {
        const struct event *event = &pooled->event;
        if (UNLIKELY(event->time == island->now))
            at_the_same_time(island, event);
        island->now = event->time;
        if (event->what == EVENT_OWN)
            handle_own(island, pooled);
        else if (event->what == EVENT_WAKE)
            handle_wake(island, pooled);
        else if (event->what == EVENT_CREDIT)
            handle_credit(island, pooled);
        else
            handle_message(island, pooled);
    }
}

/* ---- what a component can do ---- */

uint64_t component_now(const struct component *self)
{
    return self->island->now;
}

uint64_t component_horizon(const struct component *self)
{
    return min_u64(self->island->limit, queue_quiet_until(&self->island->queue));
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

/* Writes the event where it is to be: fields stored and then copied as a whole would stall the host's
 * pipeline. */
static inline void write_event(struct event *event, const struct event *fields, const void *payload)
{
    event->time = fields->time;
    event->order = fields->order;
    event->target = fields->target;
    event->what = fields->what;
    event->kind = fields->kind;
    event->bytes = fields->bytes;
    event->from = fields->from;
    event->spare = 0;
    copy_payload(event, payload, fields->bytes);
}

/* Puts an event with these fields into the queue of this island or the mail to another. */
static inline __attribute__((always_inline)) void put(struct island *island, uint32_t destination,
                                                      const struct event *fields, const void *payload)
{
    if (destination == island->index) {
        struct pooled *pooled = pool_take(&island->pool);
        write_event(&pooled->event, fields, payload);
        queue_push(&island->queue, pooled);
    } else {
        write_event(worker_append(island->worker, destination, fields), fields, payload);
    }
}

inline void component_schedule(struct component *self, uint64_t delay, uint8_t kind, const void *payload,
                               uint16_t bytes)
{
    struct island *island = self->island;
    REQUIRE(bytes <= island->engine->spec.payload_bytes);
    put(island, island->index,
        &(struct event){.time = island->now + delay,
                        .order = island->order++,
                        .target = self->index,
                        .what = EVENT_OWN,
                        .kind = kind,
                        .bytes = bytes},
        payload);
}

inline void component_wake(struct component *self, uint64_t time)
{
    struct island *island = self->island;
    REQUIRE(time > island->now || !island->engine->started);
    if (time >= self->wake_time)
        return;
    self->wake_time = time;
    put(island, island->index,
        &(struct event){
            .time = time, .order = ORDER_WAKE | self->index, .target = self->index, .what = EVENT_WAKE},
        "");
}

void component_fail(struct component *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    island_fail(self->island, format, args);
    va_end(args);
}

void engine_watch(struct engine *engine)
{
    REQUIRE(engine->ready && !engine->started);
    engine->watched = true;
    for (size_t i = 0; i < engine->island_count; i++)
        engine->islands[i]->watched = true;
}

uint64_t engine_watch_digest(const struct engine *engine)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        digest = digest_word(digest, engine->islands[i]->watch_digest);
    return digest;
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
static uint64_t __attribute__((noinline))
serialize(struct serializer *out, uint64_t time, uint64_t bytes, uint64_t ps_per_byte)
{
    if (time > out->free_at)
        *out = (struct serializer){.free_at = time};
    unsigned __int128 takes = (unsigned __int128)bytes * ps_per_byte + out->fraction;
    out->free_at += (uint64_t)(takes >> 32);
    out->fraction = (uint32_t)takes;
    return out->free_at;
}

static inline bool send(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
                        uint16_t bytes)
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
                        .order = island->order++,
                        .target = link->plugs[to].port,
                        .from = port->plug,
                        .what = EVENT_MESSAGE,
                        .kind = kind,
                        .bytes = bytes},
        payload);
    return true;
}

static bool __attribute__((noinline)) send_past_hooks(struct port *port, uint32_t to, uint64_t delay,
                                                      uint8_t kind, const void *payload, uint16_t bytes)
{
    struct island *island = port->island;
    struct pooled *copy = pool_take(&island->pool);
    copy->event = (struct event){.time = island->now, .from = port->plug, .kind = kind, .bytes = bytes};
    copy_payload(&copy->event, payload, bytes);
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
    pool_give(&island->pool, copy);
    return true; /* a message lost on its way has been sent all the same */
}

inline bool port_send(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
                      uint16_t bytes)
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
                        .order = island->order++,
                        .target = link->plugs[event->from].port,
                        .from = port->plug,
                        .what = EVENT_CREDIT},
        "");
}

inline void port_pop(struct port *port)
{
    struct pooled *pooled = port->head;
    REQUIRE(pooled);
    port->head = pooled->next;
    port->fill--;
    give_credit_back(port, &pooled->event);
    pool_give(&port->island->pool, pooled);
}
