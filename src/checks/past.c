#include "checks/past.h"
#include "base/mem.h"

enum { CHUNK = 1024, VISITS_MOST = 4096 };

struct chunk {
    struct chunk *next;
    struct past nodes[CHUNK];
};

struct past_pool {
    struct chunk *chunks;
    size_t used; /* of the first */
    uint64_t searches;
    struct past *stack[VISITS_MOST + 2];
};

struct past_pool *past_pool_new(void)
{
    struct past_pool *pool = mem_alloc(1, sizeof *pool);
    pool->used = CHUNK;
    return pool;
}

void past_pool_free(struct past_pool *pool)
{
    for (struct chunk *chunk = pool->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        mem_free(chunk);
    }
    mem_free(pool);
}

struct past *past_add(struct past_pool *pool, const struct past *of)
{
    if (pool->used == CHUNK) {
        struct chunk *chunk = mem_alloc(1, sizeof *chunk);
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->used = 0;
    }
    struct past *made = &pool->chunks->nodes[pool->used++];
    *made = *of;
    made->mark = 0;
    made->is_shared = false;
    if (made->first)
        made->first->is_shared = true;
    if (made->second)
        made->second->is_shared = true;
    return made;
}

struct past *past_join(struct past_pool *pool, struct past *newer, struct past *older)
{
    if (!newer || !older || newer == older)
        return newer ? newer : older;
    if (newer->first == older || newer->second == older)
        return newer;
    if (older->first == newer || older->second == newer)
        return older;
    return past_add(pool, &(struct past){.block = PAST_NOBODY, .first = newer, .second = older});
}

static bool knows(const struct past *past, uint64_t block, uint32_t warp, uint32_t lane, uint32_t stamp)
{
    if (past->block != block)
        return false;
    return stamp < past->base || (warp == past->warp && (stamp < past->warp_base ||
                                                         (past->lanes >> lane & 1 && stamp < past->stamp)));
}

bool past_has(struct past_pool *pool, struct past *past, uint64_t asks, uint64_t block, uint32_t warp,
              uint32_t lane, uint32_t stamp)
{
    uint64_t search = ++pool->searches;
    size_t depth = 0, visits = 0;
    if (past)
        pool->stack[depth++] = past;
    while (depth) {
        struct past *now = pool->stack[--depth];
        if (now->mark == search || (now->narrow && now->block != asks))
            continue;
        now->mark = search;
        if (++visits == VISITS_MOST || knows(now, block, warp, lane, stamp))
            return true;
        if (now->second && depth < VISITS_MOST)
            pool->stack[depth++] = now->second;
        if (now->first && depth < VISITS_MOST)
            pool->stack[depth++] = now->first;
    }
    return false;
}
