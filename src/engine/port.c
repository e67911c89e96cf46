/* The functions of a port: sending, and receiving what arrived. */
#include "engine/island.h"

bool port_is_here(const struct port *port)
{
    return port->island->is_here;
}

uint32_t port_island(const struct port *port)
{
    return port->island->index;
}

uint32_t port_number(const struct port *port)
{
    return port->number;
}

uint32_t port_plug(const struct port *port)
{
    return port->plug;
}

uint32_t port_plugs(const struct port *port)
{
    return port->link ? (uint32_t)port->link->plug_count : 0;
}

uint32_t port_fill(const struct port *port)
{
    return port->fill;
}

uint32_t port_room(const struct port *port, uint32_t to)
{
    REQUIRE(port->link && to < port->link->plug_count);
    return port->credits ? port->credits[to] : UINT32_MAX;
}

uint64_t port_free_at(const struct port *port)
{
    return port->out.free_at;
}

/* Puts an event with these fields into the queue of this island or the mail to another. */
static inline __attribute__((always_inline)) void put(struct island *island, uint32_t destination,
                                                      const struct event *fields, const void *payload)
{
    REQUIRE(island->worker); /* between runs nothing can be sent: see engine_post */
    if (destination == island->index)
        island_put(island, fields, payload);
    else
        island_write_event(crew_append(island->worker, destination, fields), fields, payload);
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
                        uint16_t bytes, uint32_t wire_bytes)
{
    struct island *island = port->island;
    struct link *link = port->link;
    if (port->credits)
        port->credits[to]--;
    uint64_t leaves = island->now + delay;
    REQUIRE(leaves >= island->now);
    if (link->limits_out)
        leaves = serialize(&port->out, leaves, wire_bytes, link->ps_per_byte);
    uint64_t arrives = leaves + link->latency;
    REQUIRE(arrives >= leaves);
    put(island, link->plugs[to].island,
        &(struct event){.time = arrives,
                        .order = island->order++,
                        .target = link->plugs[to].port,
                        .from = port->plug,
                        .what = EVENT_MESSAGE,
                        .kind = kind,
                        .bytes = bytes,
                        .wire_bytes = wire_bytes},
        payload);
    return true;
}

static bool __attribute__((noinline))
send_past_hooks(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
                uint16_t bytes, uint32_t wire_bytes)
{
    struct island *island = port->island;
    struct pooled *copy = pool_take(&island->pool);
    copy->event = (struct event){.time = island->now,
                                 .target = port->link->plugs[to].port,
                                 .from = port->plug,
                                 .what = EVENT_MESSAGE,
                                 .kind = kind,
                                 .bytes = bytes,
                                 .wire_bytes = wire_bytes};
    island_copy_payload(&copy->event, payload, bytes);
    struct hook_context context = {.point = HOOK_SEND,
                                   .what = EVENT_MESSAGE,
                                   .island = island->index,
                                   .time = island->now,
                                   .component = port->component,
                                   .port = port,
                                   .to = to,
                                   .event = &copy->event,
                                   .delay = delay};
    bool goes = hooks_call(port->hooks, &context);
    context.point = HOOK_CROSS;
    if (goes && hooks_call(port->link->hooks, &context))
        send(port, to, max_u64(delay, context.delay), copy->event.kind, copy->event.payload, bytes,
             wire_bytes);
    pool_give(&island->pool, copy);
    return true; /* a message lost on its way has been sent all the same */
}

inline bool port_send_sized(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
                            uint16_t bytes, uint32_t wire_bytes)
{
    struct link *link = port->link;
    REQUIRE(link && to < link->plug_count && to != port->plug);
    REQUIRE(port->way != PORT_RECEIVES && link->plugs[to].way != PORT_SENDS);
    REQUIRE(bytes <= link->engine->spec.payload_bytes);
    if (port->credits && !port->credits[to]) {
        port->waits_for = to + 1;
        return false;
    }
    if (UNLIKELY(port->hooks || link->hooks))
        return send_past_hooks(port, to, delay, kind, payload, bytes, wire_bytes);
    return send(port, to, delay, kind, payload, bytes, wire_bytes);
}

inline bool port_send(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
                      uint16_t bytes)
{
    REQUIRE(port->link);
    return port_send_sized(port, to, delay, kind, payload, bytes, bytes + port->link->overhead_bytes);
}

const struct event *port_head(const struct port *port)
{
    return port->head ? &port->head->event : NULL;
}

void port_give_credit_back(struct port *port, const struct event *event)
{
    struct island *island = port->island;
    struct link *link = port->link;
    static const uint64_t nothing; /* a credit has no payload; gcc wants room for one of the common size */
    put(island, link->plugs[event->from].island,
        &(struct event){.time = island->now + link->latency,
                        .order = island->order++,
                        .target = link->plugs[event->from].port,
                        .from = port->plug,
                        .what = EVENT_CREDIT},
        &nothing);
}

inline void port_pop(struct port *port)
{
    struct pooled *pooled = port->head;
    REQUIRE(pooled);
    port->head = pooled->next;
    port->fill--;
    if (port->link->credits)
        port_give_credit_back(port, &pooled->event);
    pool_give(&port->island->pool, pooled);
}
