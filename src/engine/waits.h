/* What components say themselves that they wait for. For this folder only. */
#ifndef ENGINE_WAITS_H
#define ENGINE_WAITS_H

#include "base/text.h"
#include "engine/island.h"

/* Whether it waits, by its own word, or, of one on another rank, as was told. */
static inline bool waits_of(const struct component *component, struct text *what)
{
    if (!component->island->is_here) {
        if (component->waits.at)
            text_add_bytes(what, component->waits.at, component->waits.length);
        return component->waits.at;
    }
    return component->on.waits && component->on.waits(component, component->state, what);
}

#endif
