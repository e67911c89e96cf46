/* The components' counters as JSON. */
#include "engine/island.h"
#include "base/json.h"

uint64_t engine_stat_sum(const struct engine *engine, const struct component_ops *type, size_t offset)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < engine->component_count; i++) {
        const struct component *component = engine->components[i];
        sum += component->ops == type ? *(const uint64_t *)((const char *)component->state + offset) : 0;
    }
    return sum;
}

static void write_sums(const struct engine *engine, const struct component_ops *ops, struct json *json)
{
    uint64_t *sums = mem_alloc(ops->stats->count, sizeof *sums);
    for (size_t i = 0; i < engine->component_count; i++) {
        if (engine->components[i]->ops == ops)
            stat_add(ops->stats, engine->components[i]->state, sums);
    }
    json_object(json, ops->type);
    for (size_t i = 0; i < ops->stats->count; i++)
        json_u64(json, ops->stats->rows[i].name, sums[i]);
    json_end(json);
    mem_free(sums);
}

static bool first_of_its_type(const struct engine *engine, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (engine->components[i]->ops == engine->components[index]->ops)
            return false;
    }
    return true;
}

void engine_write_stats(const struct engine *engine, struct json *json)
{
    json_object(json, "sums");
    for (size_t i = 0; i < engine->component_count; i++) {
        if (engine->components[i]->ops->stats && first_of_its_type(engine, i))
            write_sums(engine, engine->components[i]->ops, json);
    }
    json_end(json);
    json_object(json, "components");
    for (size_t i = 0; i < engine->component_count; i++) {
        const struct component *component = engine->components[i];
        if (!component->ops->stats)
            continue;
        json_object(json, component->name);
        stat_write(component->ops->stats, component->state, json);
        json_end(json);
    }
    json_end(json);
}
