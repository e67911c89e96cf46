/* The functions that a component can call, and those that the engine offers for a component from outside. */
#include "engine/island.h"
#include "engine/wakes.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

uint64_t component_now(const struct component *self)
{
    return self->island->now;
}

uint64_t component_horizon(const struct component *self)
{
    const struct island *island = self->island;
    REQUIRE(self->on.runs_ahead);
    uint64_t others = min_u64(island->first_wake, queue_quiet_until(&island->queue));
    return max_u64(min_u64(island->limit, others),
                   island->now + 1); /* the moment itself is this component's */
}

const void *component_spec(const struct component *self)
{
    return self->spec;
}

void *component_state(const struct component *self)
{
    return self->state;
}

size_t component_state_bytes(const struct component *self)
{
    return self->state_bytes;
}

const struct component_ops *component_type(const struct component *self)
{
    return self->ops;
}

uint32_t component_ports(const struct component *self)
{
    return self->port_count;
}

const char *component_name(const struct component *self)
{
    return self->name;
}

uint32_t component_island(const struct component *self)
{
    return self->island->index;
}

bool component_is_here(const struct component *self)
{
    return self->island->is_here;
}

uint32_t component_rank(const struct component *self)
{
    return self->island->rank;
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

static inline void schedule(struct component *self, uint64_t time, uint8_t kind, const void *payload,
                            uint16_t bytes)
{
    struct island *island = self->island;
    REQUIRE(time >= island->now && bytes <= island->engine->spec.payload_bytes);
    island_put(island,
               &(struct event){.time = time,
                               .order = island->order++,
                               .target = self->index,
                               .what = EVENT_OWN,
                               .kind = kind,
                               .bytes = bytes},
               payload);
}

inline void component_schedule(struct component *self, uint64_t delay, uint8_t kind, const void *payload,
                               uint16_t bytes)
{
    schedule(self, self->island->now + delay, kind, payload, bytes);
}

void engine_post(struct engine *engine, struct component *component, uint64_t time, uint8_t kind,
                 const void *payload, uint16_t bytes)
{
    REQUIRE(engine->ready && time >= engine->time);
    if (component->island->is_here) /* else its rank is called, too */
        schedule(component, time, kind, payload, bytes);
}

inline void component_wake(struct component *self, uint64_t time)
{
    struct island *island = self->island;
    REQUIRE(time > island->now || !island->engine->started);
    if (time >= self->wake_time)
        return;
    bool asked = self->wake_time != TIME_NEVER;
    self->wake_time = time;
    if (asked)
        wakes_rise(island, self);
    else
        wakes_add(island, self);
}

void component_stop(struct component *self, uint64_t time)
{
    _Atomic uint64_t *stop_at = &self->island->engine->stop_at;
    uint64_t old = atomic_load_explicit(stop_at, memory_order_relaxed);
    REQUIRE(time >= self->island->now + engine_widest_window(self->island->engine));
    while (time < old && !atomic_compare_exchange_weak_explicit(stop_at, &old, time, memory_order_relaxed,
                                                                memory_order_relaxed))
        ;
}

void component_fail(struct component *self, const char *format, ...)
{
    struct island *island = self->island;
    if (island->failure)
        return;
    va_list args;
    va_start(args, format);
    island->failure = mem_alloc(1, sizeof *island->failure);
    island->failed_at = island->now;
    island->limit = 0; /* nothing more happens on it */
    island_find_bound(island);
    vsnprintf(island->failure->text, sizeof island->failure->text, format, args);
    va_end(args);
}

void engine_watch(struct engine *engine)
{
    REQUIRE(engine->ready && !engine->started);
    engine->watched = true;
    for (size_t i = 0; i < engine->island_count; i++) {
        engine->islands[i]->watched = true;
        engine->islands[i]->watch_digest = i; /* which island it is counts, too */
    }
}

uint64_t engine_watch_digest(const struct engine *engine)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        digest = digest_word(digest, engine->islands[i]->watch_digest);
    return digest;
}
