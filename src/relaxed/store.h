/* A cache of tags (cache/tags.h), and from when on each of its sectors is there. Threads that share one lock
 * the set that they are at; there is no order over all sets. */
#ifndef RELAXED_STORE_H
#define RELAXED_STORE_H

#include "base/host.h"
#include "base/mem.h"
#include "cache/tags.h"
#include "relaxed/relaxed.h"

enum { RELAXED_SECTOR = 32, RELAXED_SECTORS = 4 };

/* What tags do not say of a set. Each has cache lines of its own. */
struct relaxed_set {
    _Alignas(CACHE_LINE) _Atomic uint64_t lock;
    uint64_t ready[]; /* by way and sector: the cycle from which on it is there */
};

struct relaxed_store {
    struct tags *tags; /* NULL: there is no such cache */
    char *sets;        /* struct relaxed_set each */
    uint32_t set_bytes;
    uint32_t shift; /* a line has 1 << shift bytes */
    bool shared;    /* by threads: they lock sets */
    const struct relaxed_cache_spec *spec;
};

void relaxed_store_init(struct relaxed_store *store, const struct relaxed_cache_spec *spec, uint64_t bytes,
                        bool shared);
void relaxed_store_fini(struct relaxed_store *store);

/* Of another size, and empty. */
void relaxed_store_resize(struct relaxed_store *store, uint64_t bytes, bool shared);

static inline struct relaxed_set *relaxed_store_set(const struct relaxed_store *store, uint32_t set)
{
    return (struct relaxed_set *)(void *)(store->sets + (size_t)set * store->set_bytes);
}

static inline uint64_t *relaxed_store_ready(const struct relaxed_store *store, uint32_t slot)
{
    uint32_t set = tags_set_of_slot(store->tags, slot);
    return &relaxed_store_set(store, set)->ready[(slot - set * store->tags->ways) * RELAXED_SECTORS];
}

/* The host fetches what is known of the line's set, all at once. */
static inline void relaxed_store_prefetch(const struct relaxed_store *store, uint64_t line)
{
    uint32_t set = tags_set_of(store->tags, line);
    const char *tags = (const char *)tags_set(store->tags, set);
    host_prefetch_to_write(relaxed_store_set(store, set));
    for (uint32_t at = 0; at < store->tags->set_bytes; at += CACHE_LINE)
        host_prefetch_to_write(tags + at);
}

/* Locks the set that the line belongs to; unlock takes what it gives. */
static inline _Atomic uint64_t *relaxed_store_lock(struct relaxed_store *store, uint64_t line)
{
    if (!store->shared)
        return NULL;
    _Atomic uint64_t *lock = &relaxed_store_set(store, tags_set_of(store->tags, line))->lock;
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
        host_relax();
    return lock;
}

static inline void relaxed_store_unlock(_Atomic uint64_t *lock)
{
    if (lock)
        atomic_store_explicit(lock, 0, memory_order_release);
}

/* Of a cache without sectors: whether it has the line, which it has from now on. */
bool relaxed_store_touch(struct relaxed_store *store, uint64_t address);

#endif
