/* A four-ary heap of events ordered by (time, order). The order is a property of the event, not of its
 * insertion, so the next event never depends on threads or windows. */
#ifndef ENGINE_QUEUE_HEAP_H
#define ENGINE_QUEUE_HEAP_H

#include "base/mem.h"
#include "engine/pool.h"

struct queue_heap_entry {
    uint64_t time, order; /* the event's, here so that comparing needs no look at it */
    struct pooled *pooled;
};

struct queue_heap {
    struct queue_heap_entry *at;
    size_t count, capacity;
};

static inline int queue_heap_before(const struct queue_heap_entry *a, const struct queue_heap_entry *b)
{
    unsigned __int128 ka = (unsigned __int128)a->time << 64 | a->order;
    unsigned __int128 kb = (unsigned __int128)b->time << 64 | b->order;
    return ka < kb;
}

static inline void queue_heap_push(struct queue_heap *heap, struct pooled *pooled)
{
    struct queue_heap_entry entry = {pooled->event.time, pooled->event.order, pooled};
    mem_grow(heap->at, heap->count, heap->capacity);
    struct queue_heap_entry *at = heap->at;
    size_t hole = heap->count++;
    while (hole) {
        size_t parent = (hole - 1) / 4;
        if (!queue_heap_before(&entry, &at[parent]))
            break;
        at[hole] = at[parent];
        hole = parent;
    }
    at[hole] = entry;
}

/* The first child of `hole` in time, or `count` when it has none. */
static inline size_t queue_heap_first_child(const struct queue_heap_entry *at, size_t hole, size_t count)
{
    size_t child = 4 * hole + 1;
    if (child + 3 < count) {
        size_t left = child + (size_t)queue_heap_before(&at[child + 1], &at[child]);
        size_t right = child + 2 + (size_t)queue_heap_before(&at[child + 3], &at[child + 2]);
        return queue_heap_before(&at[right], &at[left]) ? right : left;
    }
    if (child >= count)
        return count;
    size_t best = child;
    for (size_t other = child + 1; other < count; other++)
        best = queue_heap_before(&at[other], &at[best]) ? other : best;
    return best;
}

/* The heap must not be empty. */
static inline struct pooled *queue_heap_pop(struct queue_heap *heap)
{
    struct queue_heap_entry *at = heap->at;
    struct pooled *first = at[0].pooled;
    size_t count = --heap->count, hole = 0;
    if (!count)
        return first;
    struct queue_heap_entry last = at[count];
    for (size_t child; (child = queue_heap_first_child(at, hole, count)) < count; hole = child) {
        if (!queue_heap_before(&at[child], &last))
            break;
        at[hole] = at[child];
    }
    at[hole] = last;
    return first;
}

#endif
