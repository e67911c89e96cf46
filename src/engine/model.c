/* Builds a model: islands, components, ports, links; and checks that it can work. */
#include "engine/island.h"
#include "engine/away.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/zone.h"

#include <stdio.h>

enum { PAYLOAD_BYTES = 24, SLOWEST_LINK = 1000 /* B/s */ };
#define SAME_TIME_LIMIT UINT64_C(10000000)

/* ---- islands apart ---- */

static void touched(void *user, uint32_t owner)
{
    const struct engine *engine = user;
    const struct island *running = engine->running;
    BUG("island %s has touched memory of island %s", running ? running->name : "none",
        owner < engine->island_count ? engine->islands[owner]->name : "none");
}

void island_own(struct engine *engine, struct island *island)
{
    if (engine->spec.apart)
        zone_own(engine->spec.apart, island ? island->index : ZONE_NOBODY);
}

struct engine *engine_new(const struct engine_spec *spec)
{
    struct engine *engine = mem_alloc(1, sizeof *engine);
    engine->spec = *spec;
    if (!engine->spec.payload_bytes)
        engine->spec.payload_bytes = PAYLOAD_BYTES;
    if (!engine->spec.same_time_limit)
        engine->spec.same_time_limit = SAME_TIME_LIMIT;
    REQUIRE(engine->spec.payload_bytes <= UINT16_MAX);
    if (spec->apart)
        zone_on_touch(spec->apart, touched, engine);
    return engine;
}

static void island_free(struct island *island)
{
    pool_fini(&island->pool);
    queue_fini(&island->queue);
    mem_free(island->wakes);
    mem_free(island->failure);
    mem_free(island->name);
    mem_free(island);
}

static void component_free(struct component *component)
{
    for (uint32_t i = 0; i < component->port_count; i++) {
        mem_free(component->ports[i].credits);
        mem_free(component->ports[i].name);
    }
    mem_free(component->ports);
    mem_free(component->state);
    text_fini(&component->waits);
    mem_free(component->name);
    mem_free(component);
}

void engine_free(struct engine *engine)
{
    if (!engine)
        return;
    crew_free(engine->crew);
    for (size_t i = 0; i < engine->island_count; i++)
        island_free(engine->islands[i]);
    for (size_t i = 0; i < engine->component_count; i++)
        component_free(engine->components[i]);
    for (size_t i = 0; i < engine->link_count; i++) {
        mem_free(engine->links[i]->plugs);
        mem_free(engine->links[i]->name);
        mem_free(engine->links[i]);
    }
    mem_free(engine->kind_of);
    mem_free(engine->region_of);
    mem_free(engine->reach);
    mem_free(engine->islands);
    mem_free(engine->components);
    mem_free(engine->ports);
    mem_free(engine->links);
    mem_free(engine->failure);
    mem_free(engine);
}

struct island *engine_island(struct engine *engine, const char *name)
{
    REQUIRE(!engine->ready);
    REQUIRE(engine->island_count < 1u << ISLAND_BITS);
    REQUIRE(!engine->spec.apart || engine->island_count < zone_owners(engine->spec.apart));
    struct island *island = mem_alloc_lines(1, sizeof *island);
    island->engine = engine;
    island->index = (uint32_t)engine->island_count;
    island->order = (uint64_t)island->index << SEQUENCE_BITS;
    island->lookahead = TIME_NEVER;
    island->first_wake = TIME_NEVER;
    island->name = mem_text(name);
    island->region = engine->region;
    island->rank = engine->rank_now;
    island->is_here = island->rank == ranks_number(engine->spec.ranks);
    mem_grow(engine->islands, engine->island_count, engine->island_capacity);
    return engine->islands[engine->island_count++] = island;
}

void engine_region(struct engine *engine, uint32_t region)
{
    engine->region = region;
    engine->region_count = (uint32_t)max_u64(engine->region_count, region);
}

void engine_rank(struct engine *engine, uint32_t rank)
{
    REQUIRE(rank < ranks_count(engine->spec.ranks));
    engine->rank_now = rank;
}

bool island_is_here(const struct island *island)
{
    return island->is_here;
}

void engine_place(struct engine *engine, uint32_t island, uint32_t rank)
{
    REQUIRE(!engine->ready && island < engine->island_count && rank < ranks_count(engine->spec.ranks));
    engine->islands[island]->rank = rank;
    engine->islands[island]->is_here = rank == ranks_number(engine->spec.ranks);
}

uint32_t engine_island_count(const struct engine *engine)
{
    return (uint32_t)engine->island_count;
}

const char *engine_island_name(const struct engine *engine, uint32_t island)
{
    return engine->islands[island]->name;
}

uint64_t engine_island_ns(const struct engine *engine, uint32_t island)
{
    return (uint64_t)(engine->islands[island]->busy * 1e9);
}

void engine_spread(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->island_count; i++)
        engine_place(engine, i,
                     (uint32_t)((uint64_t)i * ranks_count(engine->spec.ranks) / engine->island_count));
}

static void add_port(struct engine *engine, struct component *component, const char *name, size_t length)
{
    struct port *port = &component->ports[component->port_count];
    port->component = component;
    port->island = component->island;
    port->index = (uint32_t)engine->port_count;
    port->number = component->port_count++;
    size_t bytes = strlen(component->name) + length + 2;
    port->name = mem_alloc(bytes, 1);
    snprintf(port->name, bytes, "%s.%.*s", component->name, (int)length, name);
    mem_grow(engine->ports, engine->port_count, engine->port_capacity);
    engine->ports[engine->port_count++] = port;
}

/* ---- calls that a component does not have ---- */

static void no_event(struct component *self, void *state, const struct event *event)
{
    (void)state;
    BUG("component %s has made an event (kind %u), but handles none", self->name, event->kind);
}

static void no_arrive(struct component *self, void *state, struct port *port)
{
    (void)state;
    BUG("a message has come to %s, but component %s handles none", port->name, self->name);
}

static void no_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    (void)self, (void)state, (void)port, (void)plug; /* it will try again by itself */
}

static void no_wake(struct component *self, void *state)
{
    (void)state;
    BUG("component %s has asked to be woken, but does not handle it", self->name);
}

static struct component_ops with_all_calls(struct component_ops ops)
{
    ops.event = ops.event ? ops.event : no_event;
    ops.arrive = ops.arrive ? ops.arrive : no_arrive;
    ops.ready = ops.ready ? ops.ready : no_ready;
    ops.wake = ops.wake ? ops.wake : no_wake;
    return ops;
}

struct component *engine_component(struct engine *engine, struct island *island, const char *name,
                                   const struct component_ops *ops, const void *spec, size_t state_bytes,
                                   const char *ports)
{
    REQUIRE(!engine->ready);
    island_own(engine, island);
    /* of another rank's, it is never touched: the host gives no pages for it */
    void *state = island->is_here ? mem_alloc_lines(1, state_bytes) : mem_alloc(1, state_bytes);
    island_own(engine, NULL);
    struct component *component = mem_alloc_lines(1, sizeof *component);
    *component = (struct component){.island = island,
                                    .ops = ops,
                                    .on = with_all_calls(*ops),
                                    .spec = spec,
                                    .state = state,
                                    .state_bytes = state_bytes,
                                    .wake_time = TIME_NEVER,
                                    .index = (uint32_t)engine->component_count,
                                    .name = mem_text(name)};
    mem_grow(engine->components, engine->component_count, engine->component_capacity);
    engine->components[engine->component_count++] = component;
    island->component_count++;

    size_t count = *ports != 0;
    for (const char *at = ports; *at; at++)
        count += *at == ',';
    component->ports = mem_alloc_lines(count, sizeof *component->ports);
    for (; count; count--) {
        size_t length = strcspn(ports, ",");
        add_port(engine, component, ports, length);
        ports += length + 1;
    }
    return component;
}

struct link *engine_link(struct engine *engine, const char *name, const struct link_spec *spec)
{
    REQUIRE(!engine->ready);
    struct link *link = mem_alloc_lines(1, sizeof *link);
    *link = (struct link){.engine = engine,
                          .spec = *spec,
                          .latency = spec->latency_ps,
                          .overhead_bytes = spec->overhead_bytes,
                          .credits = spec->credits,
                          .name = mem_text(name)};
    if (spec->bytes_per_s) {
        unsigned __int128 one_second = (unsigned __int128)PS_PER_SECOND << 32;
        link->ps_per_byte = (uint64_t)((one_second + spec->bytes_per_s / 2) / spec->bytes_per_s);
        link->ps_per_byte = max_u64(link->ps_per_byte, 1);
    }
    mem_grow(engine->links, engine->link_count, engine->link_capacity);
    return engine->links[engine->link_count++] = link;
}

/* The start of an error about a link: where it is described, and its name. */
static void link_error(const struct link *link, struct err *err)
{
    const char *where = link->spec.where;
    err_set(err, "%s%slink %s ", where ? where : "", where ? ": " : "", link->name);
}

bool link_plug(struct link *link, struct port *port, struct err *err)
{
    return link_plug_one_way(link, port, PORT_BOTH, err);
}

bool link_plug_one_way(struct link *link, struct port *port, enum port_way way, struct err *err)
{
    REQUIRE(!link->engine->ready);
    if (port->link) {
        const char *where = link->spec.where;
        return err_set(err, "%s%sport %s is connected twice: to link %s and to link %s", where ? where : "",
                       where ? ": " : "", port->name, port->link->name, link->name);
    }
    mem_grow(link->plugs, link->plug_count, link->plug_capacity);
    port->link = link;
    port->plug = (uint32_t)link->plug_count;
    port->way = way;
    link->plugs[link->plug_count++] =
        (struct link_plug){.port = port->index, .island = port->island->index, .way = way};
    return true;
}

static bool link_ready(struct link *link, struct err *err)
{
    struct engine *engine = link->engine;
    if (link->plug_count < 2) {
        link_error(link, err);
        err_add(err, "has %zu of the two ports or more that it must connect", link->plug_count);
        return false;
    }
    if (link->spec.bytes_per_s && link->spec.bytes_per_s < SLOWEST_LINK) {
        link_error(link, err);
        err_add(err, "has a bandwidth of %llu B/s: expected 0 (no limit) or at least %d",
                (unsigned long long)link->spec.bytes_per_s, SLOWEST_LINK);
        return false;
    }
    bool is_crossbar = link->plug_count > 2; /* between two, what leaves in turn arrives in turn */
    link->limits_out = link->ps_per_byte && link->spec.limits != LINK_IN;
    link->limits_in = link->ps_per_byte &&
                      (link->spec.limits == LINK_IN || (is_crossbar && link->spec.limits == LINK_BOTH));
    for (size_t i = 0; i < link->plug_count; i++) {
        struct island *island = engine->islands[link->plugs[i].island];
        struct port *port = engine->ports[link->plugs[i].port];
        size_t outside = 0;
        for (; outside < link->plug_count && link->plugs[outside].island == island->index; outside++)
            ;
        if (outside < link->plug_count) {
            if (!link->latency) {
                link_error(link, err);
                err_add(err,
                        "has latency 0 between the islands %s and %s: it must be above 0 (parts that talk "
                        "without "
                        "delay belong on one island)",
                        island->name, engine->islands[link->plugs[outside].island]->name);
                return false;
            }
        }
        if (link->credits) {
            port->credits = mem_alloc_lines(link->plug_count, sizeof *port->credits);
            for (size_t j = 0; j < link->plug_count; j++)
                port->credits[j] = link->credits;
        }
    }
    return true;
}

/* Of each island: the least latency of a link into it. */
static void find_lookahead(struct engine *engine)
{
    for (size_t i = 0; i < engine->island_count; i++)
        engine->islands[i]->lookahead = TIME_NEVER;
    for (size_t l = 0; l < engine->link_count; l++) {
        const struct link *link = engine->links[l];
        if (link->rests || link_is_inside(link))
            continue;
        for (size_t p = 0; p < link->plug_count; p++) {
            struct island *island = engine->islands[link->plugs[p].island];
            island->lookahead = min_u64(island->lookahead, link->latency);
        }
    }
}

void link_rest(struct link *link, bool rests)
{
    struct engine *engine = link->engine;
    if (link->rests == rests)
        return;
    link->rests = rests;
    for (size_t i = 0; i < link->plug_count; i++) /* who sends all the same is stopped */
        engine->ports[link->plugs[i].port]->way = rests ? PORT_RECEIVES : link->plugs[i].way;
    if (!engine->ready)
        return;
    find_lookahead(engine);
    engine_find_reach(engine);
    if (engine->crew)
        crew_renew(engine->crew);
}

static int by_name(const void *a, const void *b)
{
    const struct component *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Names are what random streams and results go by. */
static bool names_differ(const struct engine *engine, struct err *err)
{
    size_t count = engine->component_count, i = 1;
    const struct component **sorted = mem_alloc(count, sizeof *sorted);
    memcpy(sorted, engine->components, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
    while (i < count && by_name(&sorted[i - 1], &sorted[i]))
        i++;
    if (i < count)
        err_set(err, "two components have the name %s", sorted[i]->name);
    mem_free(sorted);
    return i >= count;
}

bool engine_ready(struct engine *engine, struct err *err)
{
    REQUIRE(!engine->ready);
    if (!engine->component_count)
        return err_set(err, "there is nothing to simulate: no component was described");
    if (!names_differ(engine, err))
        return false;
    for (size_t i = 0; i < engine->link_count; i++) {
        if (!link_ready(engine->links[i], err))
            return false;
    }
    find_lookahead(engine);
    for (size_t i = 0; i < engine->island_count; i++) {
        struct island *island = engine->islands[i];
        pool_init(&island->pool, engine->spec.payload_bytes);
        queue_init(&island->queue, island->lookahead);
        island->wakes = mem_alloc(island->component_count, sizeof *island->wakes);
    }
    engine_find_kinds(engine);
    if (ranks_count(engine->spec.ranks) > 1 && !away_check(engine, engine_shape(engine), err))
        return false;
    engine->ready = true;
    log_info("model: %zu islands, %zu components, %zu ports, %zu links", engine->island_count,
             engine->component_count, engine->port_count, engine->link_count);
    return true;
}

uint64_t engine_time(const struct engine *engine)
{
    return engine->time;
}

uint64_t engine_events(const struct engine *engine)
{
    uint64_t events = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        events += engine->islands[i]->events;
    return events;
}

uint64_t engine_windows(const struct engine *engine)
{
    return engine->windows;
}

uint64_t engine_island_windows(const struct engine *engine)
{
    return engine->island_windows;
}

uint64_t engine_state_digest(const struct engine *engine)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < engine->component_count; i++)
        digest = digest_bytes(digest, engine->components[i]->state, engine->components[i]->state_bytes);
    return digest;
}
