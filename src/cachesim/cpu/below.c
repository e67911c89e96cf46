/* What L1s ask of the level below. */
#include "base/mem.h"
#include "cachesim/cpu/tile.h"

void walk_tell(const struct walk *walk, bool l2, uint64_t line, bool take)
{
    struct told_list *told = walk->told;
    mem_grow(told->at, told->count, told->capacity);
    told->at[told->count++] = (struct told){line, l2, take};
}

static void ask_slice(const struct walk *walk, uint32_t tile, uint64_t line, uint64_t when, uint32_t kind)
{
    const struct caches *caches = walk->caches;
    uint32_t slice = (uint32_t)(line % caches->plan.spec.tiles);
    struct shared_requests *asks = &walk->asks[(uint64_t)slice * caches->buckets / caches->plan.spec.tiles];
    mem_grow(asks->at, asks->count, asks->capacity);
    asks->at[asks->count++] = (struct shared_request){.line = line,
                                                      .when = when,
                                                      .tile = walk->first + tile,
                                                      .space = (walk->first + tile) / caches->plan.spec.snoop,
                                                      .kind = kind};
}

static void do_request(const struct walk *walk, const struct l2_request *request)
{
    const struct caches_plan *plan = &walk->caches->plan;
    uint64_t tag;
    uint32_t set = set_of(&plan->l2, request->line, &tag), tile = request->tile;
    struct coherent_group group =
        level_group(&plan->l2, walk->caches->l2, walk->l2_of, walk->first, walk->tiles, set);
    struct coherent_outcome outcome = coherent_access(&plan->l2, &group, tile, tag, request->kind,
                                                      set_seed(plan->spec.seed, 1, walk->first + tile, set));
    coherent_count(&group.counts[tile], request->kind, outcome);
    if (walk->told && outcome.asks)
        walk_tell(walk, true, request->line, request->kind != COHERENT_READ);
}

static void ask_private(const struct walk *walk, uint32_t tile, uint64_t line, uint32_t kind)
{
    const struct coherent_shape *l2 = &walk->caches->plan.l2;
    struct l2_queue *queue = walk->queue;
    uint64_t tag;
    if (queue->asked - queue->done == L2_AHEAD)
        do_request(walk, &queue->at[queue->done++ % L2_AHEAD]);
    queue->at[queue->asked++ % L2_AHEAD] = (struct l2_request){line, tile, kind};
    struct coherent_group group =
        level_group(l2, walk->caches->l2, walk->l2_of, walk->first + tile, 1, set_of(l2, line, &tag));
    walk_prefetch(l2, group.sets);
}

void walk_end(const struct walk *walk)
{
    for (struct l2_queue *queue = walk->queue; queue && queue->done < queue->asked; queue->done++)
        do_request(walk, &queue->at[queue->done % L2_AHEAD]);
}

/* `of`: the tile whose access it all comes from. */
static void ask(const struct walk *walk, uint32_t tile, uint32_t of, uint64_t l1_line, uint64_t when,
                uint32_t kind)
{
    const struct caches_plan *plan = &walk->caches->plan;
    uint64_t line = l1_line >> plan->l2_shift;
    if (plan->spec.machine == CACHES_PRIVATE)
        ask_private(walk, tile, line, kind);
    else if (kind != COHERENT_DISOWN) /* there is one copy of a line only */
        ask_slice(walk, of, line, when, kind);
}

__attribute__((noinline)) void walk_below(const struct walk *walk, uint32_t tile, uint64_t line,
                                          uint64_t when, struct coherent_outcome outcome)
{
    if (outcome.put_back)
        ask(walk, tile, tile, outcome.victim, when, COHERENT_PUT_BACK);
    if (outcome.given_by != COHERENT_NONE)
        ask(walk, outcome.given_by, tile, line, when, COHERENT_PUT_BACK);
    if (outcome.asks)
        ask(walk, tile, tile, line, when, outcome.below);
}
