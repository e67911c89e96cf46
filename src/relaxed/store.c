#include "relaxed/store.h"

#include <stddef.h>

void relaxed_store_init(struct relaxed_store *store, const struct relaxed_cache_spec *spec, uint64_t bytes,
                        bool shared)
{
    *store = (struct relaxed_store){.spec = spec, .shift = (uint32_t)__builtin_ctz(spec->line)};
    relaxed_store_resize(store, bytes, shared);
}

void relaxed_store_fini(struct relaxed_store *store)
{
    tags_free(store->tags);
    mem_free(store->sets);
}

void relaxed_store_resize(struct relaxed_store *store, uint64_t bytes, bool shared)
{
    const struct relaxed_cache_spec *spec = store->spec;
    uint64_t lines = bytes >> store->shift;
    uint32_t ways = (uint32_t)min_u64(spec->ways, max_u64(lines, 1)), sets = (uint32_t)(lines / ways);
    if (store->tags && sets == store->tags->sets && ways == store->tags->ways) {
        tags_drop_all(store->tags);
        return;
    }
    relaxed_store_fini(store);
    store->tags = NULL;
    store->sets = NULL;
    if (!sets)
        return;
    store->tags = tags_new(&(struct tags_spec){.sets = sets,
                                               .ways = ways,
                                               .policy = spec->policy,
                                               .scattered = spec->scattered,
                                               .hashed = spec->hashed,
                                               .seed = 1});
    size_t used = offsetof(struct relaxed_set, ready) + ways * RELAXED_SECTORS * sizeof(uint64_t);
    store->set_bytes = (uint32_t)((used + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    store->sets = mem_alloc_lines(sets, store->set_bytes);
    store->shared = shared;
}

bool relaxed_store_touch(struct relaxed_store *store, uint64_t address)
{
    uint64_t line = address >> store->shift;
    _Atomic uint64_t *lock = relaxed_store_lock(store, line);
    uint32_t slot = tags_find(store->tags, line);
    bool has = slot != TAGS_NONE;
    if (has) {
        tags_touch(store->tags, slot);
    } else {
        slot = tags_victim(store->tags, line);
        tags_fill(store->tags, slot, line, TAGS_NORMAL);
    }
    relaxed_store_unlock(lock);
    return has;
}
