#include "engine/pool.h"
#include "base/mem.h"

enum { FIRST_CHUNK_EVENTS = 16, LARGEST_CHUNK_EVENTS = 1 << 14 };

void pool_init(struct pool *pool, size_t payload_bytes)
{
    *pool = (struct pool){.event_bytes = (sizeof(struct pooled) + payload_bytes + 7) & ~(size_t)7};
}

void pool_fini(struct pool *pool)
{
    for (size_t i = 0; i < pool->chunk_count; i++)
        mem_free(pool->chunks[i]);
    mem_free(pool->chunks);
}

void pool_grow(struct pool *pool)
{
    size_t events = max_u64(FIRST_CHUNK_EVENTS, min_u64(pool->events, LARGEST_CHUNK_EVENTS));
    char *chunk = mem_alloc_lines_unset(events, pool->event_bytes);
    mem_grow(pool->chunks, pool->chunk_count, pool->chunk_capacity);
    pool->chunks[pool->chunk_count++] = chunk;
    pool->events += events;
    for (size_t i = events; i-- > 0;)
        pool_give(pool, (struct pooled *)(chunk + i * pool->event_bytes));
}
