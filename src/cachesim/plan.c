#include "cachesim/plan.h"

static bool is_power(uint64_t n)
{
    return n && !(n & (n - 1));
}

static bool check_shape(const struct cache_shape *shape, const char *name, struct err *err)
{
    if (!is_power(shape->line_bytes) || shape->line_bytes < 16 || shape->line_bytes > 4096)
        return err_set(err, "%s: lines of %u bytes: a power of two from 16 to 4096 was expected", name,
                       shape->line_bytes);
    if (shape->ways < 1 || shape->ways > REPLACE_WAYS_MOST)
        return err_set(err, "%s: %u ways: 1 to %d were expected", name, shape->ways, REPLACE_WAYS_MOST);
    uint64_t lines = shape->bytes / shape->line_bytes;
    if (!lines || shape->bytes % shape->line_bytes)
        return err_set(err, "%s: %llu bytes are not whole lines of %u", name,
                       (unsigned long long)shape->bytes, shape->line_bytes);
    if (lines % shape->ways)
        return err_set(err, "%s: %llu lines cannot be divided into sets of %u ways", name,
                       (unsigned long long)lines, shape->ways);
    if (lines / shape->ways > 1 << 28)
        return err_set(err, "%s: %llu sets are more than Heddle can have (2^28)", name,
                       (unsigned long long)(lines / shape->ways));
    return true;
}

bool caches_check(const struct caches_spec *spec, struct err *err)
{
    if (spec->tiles < 1 || spec->tiles > CACHES_TILES_MOST)
        return err_set(err, "%u tiles: 1 to %d were expected", spec->tiles, CACHES_TILES_MOST);
    if (spec->snoop < 1 || spec->tiles % spec->snoop)
        return err_set(err, "%u tiles cannot be divided into groups of %u that snoop on each other",
                       spec->tiles, spec->snoop);
    if (!check_shape(&spec->l1, "L1", err))
        return false;
    if (spec->machine == CACHES_L1)
        return true;
    if (spec->l2.line_bytes < spec->l1.line_bytes)
        return err_set(err, "L2: its lines (%u bytes) are smaller than the L1's (%u)", spec->l2.line_bytes,
                       spec->l1.line_bytes);
    return check_shape(&spec->l2, "L2", err);
}

static void plan_shape(struct coherent_shape *shape, const struct cache_shape *from,
                       const struct caches_spec *spec)
{
    *shape = (struct coherent_shape){.sets = (uint32_t)(from->bytes / from->line_bytes / from->ways),
                                     .ways = from->ways,
                                     .policy = spec->policy};
    coherent_plan(shape);
}

void caches_plan(struct caches_plan *plan, const struct caches_spec *spec)
{
    *plan = (struct caches_plan){.spec = *spec, .groups = spec->tiles / spec->snoop};
    plan_shape(&plan->l1, &spec->l1, spec);
    plan->l1_bytes = (uint64_t)plan->l1.sets * plan->l1.set_bytes;
    plan->l1_shift = lowest_bit(spec->l1.line_bytes);
    uint64_t sets = plan->l1.sets;
    if (spec->machine != CACHES_L1) {
        plan_shape(&plan->l2, &spec->l2, spec);
        plan->l2_bytes = (uint64_t)plan->l2.sets * plan->l2.set_bytes;
        plan->l2_shift = lowest_bit(spec->l2.line_bytes) - plan->l1_shift;
        plan->l2.wide = plan->l2_shift;
        uint64_t below =
            spec->machine == CACHES_SHARED ? (uint64_t)spec->tiles * plan->l2.sets : plan->l2.sets;
        sets = plan->l2_shift ? 1 : sets | below; /* the L2's sets must fall apart likewise */
    }
    plan->parts = 1u << lowest_bit(sets);
}
