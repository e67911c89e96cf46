#include "base/stat.h"
#include "base/json.h"

static uint64_t counter(const struct stat_row *row, const void *state)
{
    return *(const uint64_t *)((const char *)state + row->offset);
}

void stat_write(const struct stat_table *table, const void *state, struct json *json)
{
    for (size_t i = 0; i < table->count; i++)
        json_u64(json, table->rows[i].name, counter(&table->rows[i], state));
}

void stat_add(const struct stat_table *table, const void *state, uint64_t *sums)
{
    for (size_t i = 0; i < table->count; i++)
        sums[i] += counter(&table->rows[i], state);
}
