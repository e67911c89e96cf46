/* Miss status holding registers: one entry for each line that was requested from the next level, with its
 * waiters. Pure and flat, like cache/tags.h: one block of bytes without pointers.
 *
 *   uint32_t entry = mshr_find(file, line);
 *   if (entry == MSHR_NONE)
 *       entry = mshr_add(file, line);                   // and ask the next level for it
 *   mshr_wait(file, entry, request);                    // some number of the owner's
 *   ...
 *   while (mshr_at(file, entry)->first != MSHR_NONE)
 *       answer(mshr_next(file, entry));                 // in the order they came in
 *   mshr_remove(file, entry);
 */
#ifndef CACHE_MSHR_H
#define CACHE_MSHR_H

#include "base/bits.h"

#include <stdbool.h>
#include <stddef.h>

enum { MSHR_NONE = UINT32_MAX, MSHR_LASTING = UINT32_MAX };

struct mshr_spec {
    uint32_t entries; /* lines at once */
    uint32_t waiters; /* over all entries */
};

struct mshr_entry {
    uint64_t line;
    uint32_t first, last; /* waiters */
    uint32_t next;        /* of one bucket; or free */
    uint32_t slot;        /* in the cache: the owner's */
    uint16_t asked;       /* sectors that waiters want: the owner's */
    uint16_t stale;       /* sectors that others have changed since: the owner's */
    uint16_t pending;     /* sectors under way: the owner's */
    uint32_t generation;  /* of the cache, in which it began; or MSHR_LASTING: the owner's */
};

struct mshr_waiter {
    uint32_t who, next;
};

/* The block begins with this; entries, waiters and buckets follow. */
struct mshr {
    uint32_t entries, waiters;
    uint32_t used, waiting; /* how many are taken */
    uint32_t free_entry, free_waiter;
    uint32_t bucket_shift;
    uint32_t waiters_begun, entries_begun; /* those from here on were never taken */
    uint64_t entries_at, waiters_at, buckets_at;
    uint64_t bytes; /* of the whole block */
};

/* Bytes of the block; and making one of zeroed memory of that size. */
size_t mshr_bytes(const struct mshr_spec *spec);
void mshr_init(struct mshr *file, const struct mshr_spec *spec);

struct mshr *mshr_new(const struct mshr_spec *spec);
void mshr_free(struct mshr *file);

/* Writes it, or reads it into one that was made by the same spec (base/archive.h). Waiters that are read are
 * below `who_most`, slots below `slots`. */
struct archive;
void mshr_archive(struct mshr *file, uint32_t who_most, uint32_t slots, struct archive *archive);

/* MSHR_NONE when all are taken. The line must not be there yet. */
uint32_t mshr_add(struct mshr *file, uint64_t line);

/* False when no waiter is left. */
bool mshr_wait(struct mshr *file, uint32_t entry, uint32_t who);

/* Takes the first waiter out and returns who it is. There must be one. */
uint32_t mshr_next(struct mshr *file, uint32_t entry);

/* With all its waiters. */
void mshr_remove(struct mshr *file, uint32_t entry);

static inline struct mshr_entry *mshr_at(const struct mshr *file, uint32_t entry)
{
    return (struct mshr_entry *)((char *)file + file->entries_at) + entry;
}

static inline struct mshr_waiter *mshr_waiter(const struct mshr *file, uint32_t waiter)
{
    return (struct mshr_waiter *)((char *)file + file->waiters_at) + waiter;
}

static inline uint32_t *mshr_bucket(const struct mshr *file, uint64_t line)
{
    return (uint32_t *)((char *)file + file->buckets_at) +
           (line * UINT64_C(0x9e3779b97f4a7c15) >> file->bucket_shift);
}

/* The line's entry, or MSHR_NONE. */
static inline uint32_t mshr_find(const struct mshr *file, uint64_t line)
{
    uint32_t entry = *mshr_bucket(file, line);
    while (entry != MSHR_NONE && mshr_at(file, entry)->line != line)
        entry = mshr_at(file, entry)->next;
    return entry;
}

#endif
