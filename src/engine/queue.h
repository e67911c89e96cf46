/* The event queue of an island: a heap with four children to a node, ordered by (time, order). The order is a property
 * of the event, not of when it was put in, so what comes out next never depends on threads or windows. */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include "base/mem.h"

#include <stdint.h>

struct queue_entry {
    uint64_t time, order;
    uintptr_t what; /* a struct event, or a struct component with the lowest bit set: a wake-up */
};

struct queue {
    struct queue_entry *at;
    size_t count, capacity;
};

static inline int queue_before(const struct queue_entry *a, const struct queue_entry *b)
{
    unsigned __int128 ka = (unsigned __int128)a->time << 64 | a->order;
    unsigned __int128 kb = (unsigned __int128)b->time << 64 | b->order;
    return ka < kb;
}

static inline void queue_push(struct queue *queue, struct queue_entry entry)
{
    mem_grow(queue->at, queue->count, queue->capacity);
    struct queue_entry *at = queue->at;
    size_t hole = queue->count++;
    while (hole) {
        size_t parent = (hole - 1) / 4;
        if (!queue_before(&entry, &at[parent]))
            break;
        at[hole] = at[parent];
        hole = parent;
    }
    at[hole] = entry;
}

/* The queue must not be empty. */
static inline struct queue_entry queue_pop(struct queue *queue)
{
    struct queue_entry *at = queue->at;
    struct queue_entry top = at[0], last = at[--queue->count];
    size_t count = queue->count, hole = 0;
    for (;;) {
        size_t child = 4 * hole + 1, best = child;
        if (child + 3 < count) {
            size_t left = child + (size_t)queue_before(&at[child + 1], &at[child]);
            size_t right = child + 2 + (size_t)queue_before(&at[child + 3], &at[child + 2]);
            best = queue_before(&at[right], &at[left]) ? right : left;
        } else if (child < count) {
            for (size_t other = child + 1; other < count; other++)
                best = queue_before(&at[other], &at[best]) ? other : best;
        } else {
            break;
        }
        if (!queue_before(&at[best], &last))
            break;
        at[hole] = at[best];
        hole = best;
    }
    at[hole] = last; /* when the queue is now empty this writes the old place again: harmless */
    return top;
}

#endif
