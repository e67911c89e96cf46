#include "cachesim/cpu/level.h"
#include "cachesim/cpu/tile.h"

void walk_run(const struct walk *walk, struct cursor *cursors)
{
    LEVEL_BEST(run_level)(walk, cursors, NULL);
}

void walk_run_items(const struct walk *walk, const struct items *items)
{
    LEVEL_BEST(run_level)(walk, NULL, items);
}
