/* Counters of components. */
#include "engine/island.h"

uint64_t engine_stat_sum(const struct engine *engine, const struct component_ops *type, size_t offset)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < engine->component_count; i++) {
        const struct component *component = engine->components[i];
        sum += component->ops == type ? *(const uint64_t *)((const char *)component->state + offset) : 0;
    }
    return sum;
}

size_t engine_component_count(const struct engine *engine)
{
    return engine->component_count;
}

const struct component *engine_component_at(const struct engine *engine, size_t index)
{
    return engine->components[index];
}
