/* Counters of components. */
#include "engine/island.h"
#include "base/archive.h"

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

/* ---- over ranks ---- */

static void archive_counts(struct archive *archive, struct island *island)
{
    ARCHIVE_VALUE(archive, island->now);
    ARCHIVE_VALUE(archive, island->events);
    ARCHIVE_VALUE(archive, island->watch_digest);
}

bool engine_gather(struct engine *engine, struct err *err)
{
    uint32_t self = ranks_number(engine->spec.ranks), count = ranks_count(engine->spec.ranks);
    struct archive mine = archive_writer();
    struct text *all = mem_alloc(count, sizeof *all);
    for (size_t i = 0; i < engine->island_count; i++)
        if (engine->islands[i]->is_here)
            archive_counts(&mine, engine->islands[i]);
    for (size_t i = 0; i < engine->component_count; i++)
        if (engine->components[i]->island->is_here)
            archive_bytes(&mine, engine->components[i]->state, engine->components[i]->state_bytes);
    bool good = count == 1 || ranks_gather(engine->spec.ranks, &mine.text, all, false, err);
    for (uint32_t rank = 1; rank < count && good && !self; rank++) {
        struct archive from = archive_reader(all[rank].at, all[rank].length);
        for (size_t i = 0; i < engine->island_count; i++)
            if (engine->islands[i]->rank == rank)
                archive_counts(&from, engine->islands[i]);
        for (size_t i = 0; i < engine->component_count; i++)
            if (engine->components[i]->island->rank == rank)
                archive_bytes(&from, engine->components[i]->state, engine->components[i]->state_bytes);
    }
    for (uint32_t i = 0; i < count; i++)
        text_fini(&all[i]);
    mem_free(all);
    text_fini(&mine.text);
    return good;
}

struct ranks *engine_ranks(const struct engine *engine)
{
    return engine->spec.ranks;
}
