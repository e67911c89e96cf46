/* The pending wake-ups of an island: a heap of its components by (time, index), each at most once. If an
 * earlier wake-up is requested, the pending one is moved forward, so nothing accumulates however often a
 * component asks. */
#ifndef ENGINE_WAKES_H
#define ENGINE_WAKES_H

#include "engine/island.h"

static inline bool wake_before(const struct component *a, const struct component *b)
{
    return a->wake_time < b->wake_time || (a->wake_time == b->wake_time && a->index < b->index);
}

static inline void wakes_put(struct island *island, uint32_t place, struct component *component)
{
    island->wakes[place] = component;
    component->wake_place = place;
}

static inline void wakes_note_first(struct island *island)
{
    island->first_wake = island->wake_count ? island->wakes[0]->wake_time : TIME_NEVER;
    island_find_bound(island);
}

/* The component's wake_time has come closer, or it is new in the heap (its place is the end then). */
static inline void wakes_rise(struct island *island, struct component *component)
{
    uint32_t place = component->wake_place;
    for (uint32_t parent; place; place = parent) {
        parent = (place - 1) / 2;
        if (!wake_before(component, island->wakes[parent]))
            break;
        wakes_put(island, place, island->wakes[parent]);
    }
    wakes_put(island, place, component);
    wakes_note_first(island);
}

static inline void wakes_add(struct island *island, struct component *component)
{
    component->wake_place = island->wake_count++;
    wakes_rise(island, component);
}

/* Takes the first one out; there must be one. */
static inline struct component *wakes_pop(struct island *island)
{
    struct component *first = island->wakes[0];
    struct component *last = island->wakes[--island->wake_count];
    uint32_t place = 0, count = island->wake_count;
    for (uint32_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && wake_before(island->wakes[child + 1], island->wakes[child]))
            child++;
        if (!wake_before(island->wakes[child], last))
            break;
        wakes_put(island, place, island->wakes[child]);
    }
    if (count)
        wakes_put(island, place, last);
    wakes_note_first(island);
    first->wake_time = TIME_NEVER;
    return first;
}

#endif
