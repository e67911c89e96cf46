/* One island: the event loop. */
#include "engine/island.h"
#include "engine/wakes.h"

inline void island_deliver(struct island *island, const struct event *event)
{
    REQUIRE(event->time >= island->limit); /* nothing arrives in the past: what all of this rests on */
    struct pooled *pooled = pool_take(&island->pool);
    pooled->event = *event;
    island_copy_payload(&pooled->event, event->payload, event->bytes);
    queue_push(&island->queue, pooled);
}

const struct island *engine_first_failure(const struct engine *engine)
{
    const struct island *first = NULL;
    for (size_t i = 0; i < engine->island_count; i++) {
        const struct island *island = engine->islands[i];
        if (island->failure && (!first || island->failed_at < first->failed_at))
            first = island;
    }
    return first;
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
    const struct engine *engine = island->engine;
    struct component *component = event->what == EVENT_OWN ? engine->components[event->target]
                                                           : engine->ports[event->target]->component;
    component_fail(
        component,
        "time stands still at %llu ps: island %s has handled %llu events without its moving on, the "
        "last one for %s (event kind %u)",
        (unsigned long long)event->time, island->name, (unsigned long long)island->same_time, component->name,
        event->kind);
}

/* What comes before every event. */
static inline void note_event(struct island *island, const struct event *event)
{
    island->events++;
    if (!island->watched)
        return;
    uint64_t word, digest = digest_word(island->watch_digest, event->time);
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

static bool __attribute__((noinline))
hook_allows(struct component *component, struct port *port, struct event *event)
{
    struct hook_context context = {.what = event ? event->what : EVENT_WAKE,
                                   .island = component->island->index,
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
        component->on.event(component, component->state, event);
    pool_give(&island->pool, pooled);
}

/* On a crossbar, messages from several plugs may come at once, but only one after the other can enter the
 * port: true when this one has to wait, and was queued again for its turn. */
static bool must_wait_its_turn(struct island *island, struct port *port, struct pooled *pooled)
{
    struct event *event = &pooled->event;
    struct serializer *in = &port->in;
    unsigned __int128 takes = (unsigned __int128)event->wire_bytes * port->link->ps_per_byte + in->fraction;
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

static void handle_message(struct island *island, struct pooled *pooled)
{
    struct event *event = &pooled->event;
    struct port *port = island->engine->ports[event->target];
    struct component *component = port->component;
    struct link *link = port->link;
    if (link->limits_in && event->what == EVENT_MESSAGE && must_wait_its_turn(island, port, pooled))
        return;
    note_event(island, event);
    if (UNLIKELY(component->hooks || port->hooks) && !hook_allows(component, port, event)) {
        if (link->credits)
            port_give_credit_back(port, event);
        pool_give(&island->pool, pooled);
        return;
    }
    port_enqueue(port, pooled);
    component->on.arrive(component, component->state, port);
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
            component->on.ready(component, component->state, port, event->from);
        }
    }
    pool_give(&island->pool, pooled);
}

static void handle_event(struct island *island, struct pooled *pooled)
{
    const struct event *event = &pooled->event;
    if (UNLIKELY(event->time == island->now))
        at_the_same_time(island, event);
    island->now = event->time;
    if (event->what == EVENT_OWN)
        handle_own(island, pooled);
    else if (event->what == EVENT_CREDIT)
        handle_credit(island, pooled);
    else
        handle_message(island, pooled);
}

static void handle_wake(struct island *island)
{
    island->now = island->first_wake;
    struct component *component = wakes_pop(island);
    if (!component->on.runs_ahead) {
        island->events++;
        if (island->watched)
            island->watch_digest =
                digest_word(digest_word(island->watch_digest, island->now), component->index);
    }
    if (LIKELY(!component->hooks) || hook_allows(component, NULL, NULL))
        component->on.wake(component, component->state);
}

/* Of one moment, events come first and wake-ups last. A failure sets the limit to 0. */
void island_run(struct island *island, uint64_t window_limit)
{
    island->limit = island->failure ? 0 : window_limit;
    island_find_bound(island);
    for (;;) {
        struct pooled *pooled = queue_pop(&island->queue, island->bound);
        if (pooled)
            handle_event(island, pooled);
        else if (island->first_wake < island->limit)
            handle_wake(island);
        else
            break;
    }
    REQUIRE(island->order >> SEQUENCE_BITS == island->index);
}
