/* The event storage of an island. Events come from chunks that never move (a handler may hold an event while
 * it creates others), and return to a free list: in the steady state nothing is allocated. */
#ifndef ENGINE_POOL_H
#define ENGINE_POOL_H

#include "base/bits.h"
#include "engine/engine.h"

struct pooled {
    struct pooled *next; /* in a bucket of the queue, in a port, or among the unused */
    struct event event;
};

struct pool {
    struct pooled *unused;
    size_t event_bytes; /* of each, with the largest payload */
    size_t events;      /* in all */
    void **chunks;
    size_t chunk_count, chunk_capacity;
};

static inline bool queue_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void pool_init(struct pool *pool, size_t payload_bytes);
void pool_fini(struct pool *pool);
void pool_grow(struct pool *pool);

static inline struct pooled *pool_take(struct pool *pool)
{
    if (UNLIKELY(!pool->unused))
        pool_grow(pool);
    struct pooled *pooled = pool->unused;
    pool->unused = pooled->next;
    return pooled;
}

static inline void pool_give(struct pool *pool, struct pooled *pooled)
{
    pooled->next = pool->unused;
    pool->unused = pooled;
}

#endif
