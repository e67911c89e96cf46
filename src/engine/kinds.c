/* Kinds of islands: those that are plugged into the same links in the same way. A message between two kinds,
 * possibly through others, has a minimum latency, which may be much longer than the shortest link: an SM can
 * influence another SM's island only through memory. window.c uses this. */
#include "engine/island.h"

#include <stdlib.h>

struct plugged {
    uint32_t link, way;
};

static int in_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct plugged)); /* any order will do */
}

/* Every plug of every link, those of an island side by side; from[i]: where those of island i begin. */
static struct plugged *list_plugs(const struct engine *engine, size_t *from)
{
    for (size_t l = 0; l < engine->link_count; l++)
        for (size_t p = 0; p < engine->links[l]->plug_count; p++)
            from[engine->links[l]->plugs[p].island + 1]++;
    for (size_t i = 0; i < engine->island_count; i++)
        from[i + 1] += from[i];
    struct plugged *all = mem_alloc(from[engine->island_count], sizeof *all);
    size_t *next = mem_alloc(engine->island_count, sizeof *next);
    for (size_t l = 0; l < engine->link_count; l++)
        for (size_t p = 0; p < engine->links[l]->plug_count; p++) {
            const struct link_plug *plug = &engine->links[l]->plugs[p];
            all[from[plug->island] + next[plug->island]++] = (struct plugged){(uint32_t)l, plug->way};
        }
    for (size_t i = 0; i < engine->island_count; i++)
        qsort(all + from[i], from[i + 1] - from[i], sizeof *all, in_order);
    mem_free(next);
    return all;
}

static bool are_alike(const struct plugged *all, const size_t *from, size_t a, size_t b)
{
    size_t count = from[a + 1] - from[a];
    return count == from[b + 1] - from[b] && !memcmp(all + from[a], all + from[b], count * sizeof *all);
}

/* Beyond, finding how far each may run would take longer than running. */
enum { KINDS_MOST = 512 };

/* Numbers the kinds. */
static void sort_islands(struct engine *engine)
{
    size_t *from = mem_alloc(engine->island_count + 1, sizeof *from);
    struct plugged *all = list_plugs(engine, from);
    size_t *first = mem_alloc(engine->island_count + 1, sizeof *first), count = 0; /* island of each kind */
    for (size_t i = 0; i < engine->island_count && count <= KINDS_MOST; i++) {
        size_t kind = count; /* the last ones first: islands alike were made one after the other */
        while (kind && !are_alike(all, from, first[kind - 1], i))
            kind--;
        if (!kind) {
            first[count++] = i;
            kind = count;
        }
        engine->kind_of[i] = (uint32_t)kind - 1;
    }
    mem_free(first);
    mem_free(all);
    mem_free(from);
    engine->kind_count = (uint32_t)count;
}

/* A kind with islands of several regions is of none. */
static void find_regions(struct engine *engine)
{
    enum { NOT_KNOWN = UINT32_MAX };
    engine->region_of = mem_alloc(engine->kind_count + 1, sizeof *engine->region_of);
    for (uint32_t k = 0; k < engine->kind_count; k++)
        engine->region_of[k] = NOT_KNOWN;
    for (size_t i = 0; i < engine->island_count; i++) {
        uint32_t *region = &engine->region_of[engine->kind_of[i]];
        bool fits = *region == NOT_KNOWN || *region == engine->islands[i]->region;
        *region = fits ? engine->islands[i]->region : 0;
    }
}

static uint64_t *reach(struct engine *engine, uint32_t from, uint32_t to)
{
    return &engine->reach[(size_t)from * engine->kind_count + to];
}

static void add_way(struct engine *engine, const struct link *link, const struct link_plug *a,
                    const struct link_plug *b)
{
    uint64_t *least = reach(engine, engine->kind_of[a->island], engine->kind_of[b->island]);
    bool goes = a->way != PORT_RECEIVES && b->way != PORT_SENDS;
    bool credit = link->credits && b->way != PORT_RECEIVES && a->way != PORT_SENDS;
    if (goes || credit)
        *least = min_u64(*least, link->latency);
}

/* One plug of each kind and way stands for all of them. */
static void add_link(struct engine *engine, const struct link *link)
{
    bool *seen = mem_alloc((size_t)engine->kind_count * PORT_WAYS, sizeof *seen);
    const struct link_plug **some = mem_alloc(link->plug_count + 1, sizeof *some);
    size_t count = 0;
    for (size_t p = 0; p < link->plug_count; p++) {
        const struct link_plug *plug = &link->plugs[p];
        bool *is_seen = &seen[(size_t)engine->kind_of[plug->island] * PORT_WAYS + plug->way];
        if (!*is_seen)
            some[count++] = plug;
        *is_seen = true;
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            add_way(engine, link, some[a], some[b]);
    mem_free(some);
    mem_free(seen);
}

void engine_find_kinds(struct engine *engine)
{
    engine->kind_of = mem_alloc(engine->island_count + 1, sizeof *engine->kind_of);
    sort_islands(engine);
    if (engine->kind_count > KINDS_MOST) { /* one kind, which may get a message at once */
        memset(engine->kind_of, 0, engine->island_count * sizeof *engine->kind_of);
        engine->kind_count = 1;
        engine->are_kinds_unknown = true;
    }
    find_regions(engine);
    engine->reach = mem_alloc((size_t)engine->kind_count * engine->kind_count + 1, sizeof *engine->reach);
    engine_find_reach(engine);
}

void engine_find_reach(struct engine *engine)
{
    uint32_t count = engine->kind_count;
    if (engine->are_kinds_unknown)
        return;
    for (size_t i = 0; i < (size_t)count * count; i++)
        engine->reach[i] = TIME_NEVER;
    for (size_t l = 0; l < engine->link_count; l++)
        if (!engine->links[l]->rests && !link_is_inside(engine->links[l]))
            add_link(engine, engine->links[l]);
    for (uint32_t by = 0; by < count; by++)
        for (uint32_t a = 0; a < count; a++)
            for (uint32_t b = 0; b < count; b++)
                *reach(engine, a, b) = min_u64(*reach(engine, a, b),
                                               add_saturating(*reach(engine, a, by), *reach(engine, by, b)));
}
