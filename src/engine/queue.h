/* The event queue of an island. Time is divided into slots, a few to a window. The events of the current slot
 * are in a heap. Those of the next 63 slots are in unsorted buckets, one for each slot, where an insertion
 * takes three instructions. Later events are in a second heap. When a slot begins, its bucket is emptied into
 * the first heap, which therefore stays small. Events leave in the same order as from one big heap; the width
 * of a slot affects only the speed. */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include "engine/queue_heap.h"

enum { QUEUE_BUCKETS = 64 };

struct queue {
    struct queue_heap near;                /* events of slot `slot` and before */
    uint64_t slot;                         /* the slot that runs */
    uint64_t filled;                       /* bit i: bucket i is not empty */
    unsigned slot_shift;                   /* a slot is 2^slot_shift ps */
    struct queue_heap far;                 /* events of slot + QUEUE_BUCKETS and later */
    struct pooled *buckets[QUEUE_BUCKETS]; /* events of slot s are in s % QUEUE_BUCKETS */
};

void queue_init(struct queue *queue, uint64_t window_ps);
void queue_fini(struct queue *queue);

/* For an event that belongs into no bucket. */
void queue_push_heap(struct queue *queue, struct pooled *pooled);

static inline void queue_push(struct queue *queue, struct pooled *pooled)
{
    uint64_t slot = pooled->event.time >> queue->slot_shift;
    if (UNLIKELY(slot - queue->slot - 1 >= QUEUE_BUCKETS - 1)) {
        queue_push_heap(queue, pooled);
        return;
    }
    struct pooled **bucket = &queue->buckets[slot % QUEUE_BUCKETS];
    pooled->next = *bucket;
    *bucket = pooled;
    queue->filled |= UINT64_C(1) << slot % QUEUE_BUCKETS;
}

/* Makes the next slot that has events the one that runs, if it begins before `limit`; takes its first event
 * out and returns it, if that is before `limit`. */
struct pooled *queue_advance(struct queue *queue, uint64_t limit);

/* Takes the first event out and returns it, if it is before `limit`. */
static inline struct pooled *queue_pop(struct queue *queue, uint64_t limit)
{
    if (!queue->near.count)
        return queue_advance(queue, limit);
    return queue->near.at[0].time < limit ? queue_heap_pop(&queue->near) : NULL;
}

/* The time of the first event; TIME_NEVER when there is none. */
uint64_t queue_next_time(const struct queue *queue);

/* The next slot with events in a bucket; there must be one. */
static inline uint64_t queue_next_slot(const struct queue *queue)
{
    uint64_t next = queue->slot + 1;
    uint64_t from_next = queue->filled >> next % QUEUE_BUCKETS | queue->filled << -next % QUEUE_BUCKETS;
    return next + (unsigned)__builtin_ctzll(from_next);
}

/* A time that no event is before; quicker than queue_next_time. */
static inline uint64_t queue_quiet_until(const struct queue *queue)
{
    if (queue->near.count)
        return queue->near.at[0].time;
    if (queue->filled)
        return queue_next_slot(queue) << queue->slot_shift;
    return queue->far.count ? queue->far.at[0].time : TIME_NEVER;
}

size_t queue_count(const struct queue *queue);

/* All events, in the order they will happen in; `list` has room for queue_count. */
void queue_list(const struct queue *queue, const struct pooled **list);

#endif
