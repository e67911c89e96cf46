#include "cachesim/cpu/tile.h"

/* What the processor at hand can run. */
static run_fn *best_level(void)
{
#ifdef CACHESIM_X86_LEVELS
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return run_level_v3;
#endif
    return run_level_v1;
}

void walk_run(const struct walk *walk, struct cursor *cursors)
{
    best_level()(walk, cursors, NULL);
}

void walk_run_items(const struct walk *walk, const struct items *items)
{
    best_level()(walk, NULL, items);
}
