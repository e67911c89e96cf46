#include "base/stat.h"

void stat_add(const struct stat_table *table, const void *state, uint64_t *sums)
{
    for (size_t i = 0; i < table->count; i++)
        sums[i] += stat_value(&table->rows[i], state);
}
