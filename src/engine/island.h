/* The data structures of islands, components, ports and links. For the engine's own files only. */
#ifndef ENGINE_ISLAND_H
#define ENGINE_ISLAND_H

#include "base/bits.h"
#include "engine/engine.h"
#include "engine/mail.h"
#include "engine/queue.h"
#include "base/text.h"
#include "ranks/ranks.h"

/* order = 20 bits: source island | 44 bits: sequence */
enum { SEQUENCE_BITS = 44, ISLAND_BITS = 20 };

struct island {
    struct queue queue;
    struct pool pool;
    uint64_t now, limit; /* limit: nothing from outside arrives before it in this window */
    uint64_t order;      /* of the next event it makes: its index, then a sequence number */
    uint64_t events;
    uint64_t same_time, same_time_at; /* how many events there were at one time, and when */
    struct crew_worker *worker;       /* who runs it in this window; NULL between runs */
    struct component **wakes;         /* those that have asked to be woken: a heap, see wakes.h */
    uint32_t wake_count, component_count;
    uint64_t first_wake;
    uint64_t bound; /* events before it may be handled: within the window, and not behind the first wake-up */
    struct engine *engine;
    uint32_t index, region;
    uint32_t rank; /* that has it; and whether this is that one */
    bool is_here;
    bool watched;          /* keep watch_digest */
    uint64_t watch_digest; /* over all events so far */
    double busy;           /* seconds that it ran, if that is measured */
    uint64_t lookahead;    /* the least latency of a link into it */
    char *name;
    struct err *failure; /* NULL while all is well */
    uint64_t failed_at;
};

struct component {
    struct island *island;
    void *state;
    struct component_ops on; /* as given, with calls that are a bug where there were none */
    struct hook *hooks;
    struct port *ports;
    uint64_t wake_time;  /* TIME_NEVER when none is asked for */
    uint32_t wake_place; /* in the island's heap */
    uint32_t index, port_count;
    const struct component_ops *ops;
    const void *spec;
    size_t state_bytes;
    char *name;
    struct text waits; /* of one on another rank: what it waits for, in the report of a stall */
};

/* A pipe with a fixed time per byte; fractions of a picosecond are carried over, so nothing drifts. */
struct serializer {
    uint64_t free_at;
    uint32_t fraction; /* of a picosecond, Q0.32 */
};

struct port {
    struct component *component;
    struct island *island;
    struct link *link;
    struct pooled *head, *tail; /* messages that arrived and wait */
    uint32_t fill;
    uint32_t index, number, plug;
    uint32_t way;       /* enum port_way */
    uint32_t *credits;  /* left, by plug of the link; NULL when unlimited */
    uint32_t waits_for; /* the plug that refused a message, plus one; 0 when none did */
    struct serializer out, in;
    struct hook *hooks;
    char *name;
} __attribute__((aligned(CACHE_LINE)));

struct link {
    uint64_t latency;
    uint64_t ps_per_byte; /* Q32.32; 0: no limit */
    struct link_plug {
        uint32_t port, island;
        uint32_t way; /* enum port_way */
    } * plugs;
    uint32_t overhead_bytes, credits;
    bool limits_out, limits_in; /* what leaves, and what arrives, is serialized */
    bool rests;                 /* link_rest */
    struct hook *hooks;
    size_t plug_count, plug_capacity;
    struct engine *engine;
    char *name;
    struct link_spec spec;
};

struct engine {
    struct engine_spec spec;
    struct island **islands;
    struct component **components;
    struct port **ports;
    struct link **links;
    size_t island_count, island_capacity, component_count, component_capacity;
    size_t port_count, port_capacity, link_count, link_capacity;
    bool ready, started;
    uint64_t time; /* all before it has happened */
    uint64_t windows, island_windows;
    uint32_t *kind_of; /* by island: see kinds.c */
    uint32_t kind_count;
    bool are_kinds_unknown;        /* there are too many: all are one, which may get a message at once */
    uint32_t rank_now;             /* of islands that are made now */
    uint32_t region, region_count; /* likewise; the last of all */
    uint32_t *region_of;           /* by kind */
    uint64_t *reach; /* [from kind][to kind]: the least time from an island of one to one of the other */
    _Atomic uint64_t stop_at; /* of this run: component_stop */
    struct err *failure;      /* NULL while all is well */
    struct crew *crew;        /* threads and what they share; see window.c */
    bool watched;
    const struct island *running; /* where they are apart, or run by_moment; or NULL */
};

/* Puts a message at the end of the port's queue. */
static inline void port_enqueue(struct port *port, struct pooled *pooled)
{
    pooled->next = NULL;
    if (port->head)
        port->tail->next = pooled;
    else
        port->head = pooled;
    port->tail = pooled;
    port->fill++;
}

/* To be called when limit or first_wake has changed. */
static inline void island_find_bound(struct island *island)
{
    island->bound = island->first_wake < island->limit ? island->first_wake + 1 : island->limit;
}

/* When something happens on the island next. */
static inline uint64_t island_next_time(const struct island *island)
{
    return min_u64(queue_next_time(&island->queue), island->first_wake);
}

/* Payloads are short, and most are one word. */
static inline void island_copy_payload(struct event *event, const void *payload, uint16_t bytes)
{
    if (LIKELY(bytes == 8))
        memcpy(event->payload, payload, 8);
    else if (bytes)
        memcpy(event->payload, payload, bytes);
}

/* Writes the event in place: storing fields and then copying the whole event would stall the host's pipeline.
 */
static inline void island_write_event(struct event *event, const struct event *fields, const void *payload)
{
    event->time = fields->time;
    event->order = fields->order;
    event->target = fields->target;
    event->what = fields->what;
    event->kind = fields->kind;
    event->bytes = fields->bytes;
    event->from = fields->from;
    event->wire_bytes = fields->wire_bytes;
    island_copy_payload(event, payload, fields->bytes);
}

/* Puts an event with these fields into the queue of this island. */
static inline __attribute__((always_inline)) void island_put(struct island *island,
                                                             const struct event *fields, const void *payload)
{
    struct pooled *pooled = pool_take(&island->pool);
    island_write_event(&pooled->event, fields, payload);
    queue_push(&island->queue, pooled);
}

/* Puts an event that came by mail into the queue. */
void island_deliver(struct island *island, const struct event *event);

/* Handles all that happens before `limit`. */
void island_run(struct island *island, uint64_t limit);

/* The island whose failure counts: the earliest, and of these the first; NULL when there is none. */
const struct island *engine_first_failure(const struct engine *engine);

/* port.c: gives the credit back that the message took, on a link that has them. */
void port_give_credit_back(struct port *port, const struct event *event);

/* hook.c: true when the event is to go on. */
bool hooks_call(struct hook *hooks, struct hook_context *context);

/* stall.c: true, with a report, when something waits although nothing will happen any more. */
bool engine_is_stalled(struct engine *engine, struct err *err);

/* checkpoint.c: a digest of what must be alike in models that have the same state. */
uint64_t engine_shape(const struct engine *engine);

/* All its plugs are on one island. */
static inline bool link_is_inside(const struct link *link)
{
    size_t same = 0;
    while (same < link->plug_count && link->plugs[same].island == link->plugs[0].island)
        same++;
    return same == link->plug_count;
}

/* kinds.c: sorts the islands by what they are plugged into; and finds how soon they can influence each other,
 * again whenever a link begins or ends to rest. */
void engine_find_kinds(struct engine *engine);
void engine_find_reach(struct engine *engine);

/* window.c: room in the mail to an island. */
struct event *crew_append(struct crew_worker *worker, uint32_t island, const struct event *header);
void crew_free(struct crew *crew);
void crew_renew(struct crew *crew); /* between runs: how far islands are apart has changed */

#endif
