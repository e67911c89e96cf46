/* A cache of tags (cache/tags.h), and from when on each of its sectors is there. Threads that share one lock
 * the set that they are at; there is no order over all sets. */
#ifndef RELAXED_STORE_H
#define RELAXED_STORE_H

#include "base/host.h"
#include "cache/tags.h"
#include "relaxed/relaxed.h"

enum { RELAXED_SECTOR = 32, RELAXED_SECTORS = 4 };

struct relaxed_store {
    struct tags *tags;      /* NULL: there is no such cache */
    uint64_t *ready;        /* by slot and sector: the cycle */
    _Atomic uint8_t *locks; /* by set; NULL: one thread has it */
    uint32_t shift;         /* a line has 1 << shift bytes */
    uint32_t capacity;      /* slots that there is room for */
    const struct relaxed_cache_spec *spec;
};

void relaxed_store_init(struct relaxed_store *store, const struct relaxed_cache_spec *spec, uint64_t bytes,
                        bool shared);
void relaxed_store_fini(struct relaxed_store *store);

/* Of another size, and empty. */
void relaxed_store_resize(struct relaxed_store *store, uint64_t bytes, bool shared);

static inline uint64_t *relaxed_store_ready(const struct relaxed_store *store, uint32_t slot)
{
    return &store->ready[(size_t)slot * RELAXED_SECTORS];
}

/* Locks the set that the line belongs to; unlock takes what it gives. */
static inline _Atomic uint8_t *relaxed_store_lock(struct relaxed_store *store, uint64_t line)
{
    if (!store->locks)
        return NULL;
    _Atomic uint8_t *lock = &store->locks[tags_set_of(store->tags, line)];
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
        host_relax();
    return lock;
}

static inline void relaxed_store_unlock(_Atomic uint8_t *lock)
{
    if (lock)
        atomic_store_explicit(lock, 0, memory_order_release);
}

/* Of a cache without sectors: whether it has the line, which it has from now on. */
bool relaxed_store_touch(struct relaxed_store *store, uint64_t address);

#endif
