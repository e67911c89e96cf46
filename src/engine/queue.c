#include "engine/queue.h"

#include <stdlib.h>

enum { SLOTS_TO_A_WINDOW = 8, WIDEST_SLOT_SHIFT = 13 };

void queue_init(struct queue *queue, uint64_t window_ps)
{
    uint64_t width = max_u64(window_ps / SLOTS_TO_A_WINDOW, 1);
    unsigned shift = 63u - (unsigned)__builtin_clzll(width);
    *queue = (struct queue){.slot_shift = shift < WIDEST_SLOT_SHIFT ? shift : WIDEST_SLOT_SHIFT};
}

void queue_fini(struct queue *queue)
{
    mem_free(queue->near.at);
    mem_free(queue->far.at);
}

void queue_push_heap(struct queue *queue, struct pooled *pooled)
{
    uint64_t slot = pooled->event.time >> queue->slot_shift;
    queue_heap_push(slot <= queue->slot ? &queue->near : &queue->far, pooled);
}

static bool some_came_near(const struct queue *queue)
{
    return queue->far.count && (queue->far.at[0].time >> queue->slot_shift) - queue->slot < QUEUE_BUCKETS;
}

/* Brings in events that were too far away for a bucket. */
static void __attribute__((noinline)) bring_near(struct queue *queue)
{
    while (some_came_near(queue))
        queue_push(queue, queue_heap_pop(&queue->far));
}

struct pooled *queue_advance(struct queue *queue, uint64_t limit)
{
    if (UNLIKELY(!queue->filled)) { /* skip to the first that is far away */
        if (!queue->far.count || queue->far.at[0].time >= limit)
            return NULL;
        queue->slot = queue->far.at[0].time >> queue->slot_shift;
        bring_near(queue);
        return queue_heap_pop(&queue->near);
    }
    uint64_t slot = queue_next_slot(queue);
    if (slot << queue->slot_shift >= limit)
        return NULL;
    struct pooled **bucket = &queue->buckets[slot % QUEUE_BUCKETS], *first = *bucket;
    queue->slot = slot;
    queue->filled ^= UINT64_C(1) << slot % QUEUE_BUCKETS;
    *bucket = NULL;
    if (UNLIKELY(some_came_near(queue)))
        bring_near(queue);
    /* the first in time need not go through the heap; most often it is alone */
    for (struct pooled *at = first->next, *next; at; at = next) {
        struct pooled *later = at;
        next = at->next;
        if (queue_before(&at->event, &first->event)) {
            later = first;
            first = at;
        }
        queue_heap_push(&queue->near, later);
    }
    if (first->event.time < limit)
        return first;
    queue_heap_push(&queue->near, first);
    return NULL;
}

uint64_t queue_next_time(const struct queue *queue)
{
    if (queue->near.count)
        return queue->near.at[0].time;
    if (!queue->filled)
        return queue->far.count ? queue->far.at[0].time : TIME_NEVER;
    uint64_t first = TIME_NEVER;
    for (const struct pooled *at = queue->buckets[queue_next_slot(queue) % QUEUE_BUCKETS]; at; at = at->next)
        first = min_u64(first, at->event.time);
    return first;
}

/* Calls for every event in no particular order; returns their number. */
static size_t gather(const struct queue *queue, const struct pooled **list)
{
    size_t count = 0;
    for (size_t i = 0; i < queue->near.count; i++, count++) {
        if (list)
            list[count] = queue->near.at[i].pooled;
    }
    for (size_t i = 0; i < queue->far.count; i++, count++) {
        if (list)
            list[count] = queue->far.at[i].pooled;
    }
    for (unsigned i = 0; i < QUEUE_BUCKETS; i++) {
        for (const struct pooled *at = queue->buckets[i]; at; at = at->next, count++) {
            if (list)
                list[count] = at;
        }
    }
    return count;
}

size_t queue_count(const struct queue *queue)
{
    return gather(queue, NULL);
}

static int by_time_and_order(const void *a, const void *b)
{
    const struct event *x = &(*(const struct pooled *const *)a)->event,
                       *y = &(*(const struct pooled *const *)b)->event;
    return queue_before(x, y) ? -1 : queue_before(y, x);
}

void queue_list(const struct queue *queue, const struct pooled **list)
{
    qsort(list, gather(queue, list), sizeof *list, by_time_and_order);
}
