/* Statistics. One row of a table names a counter: it makes the field in a component's state, the JSON member
 * and the documentation. Counters are uint64_t, so that sums are exact and the same in any order.
 *
 *   #define SM_STATS(X, S) X(S, requests, "messages", "requests sent to memory")
 *   struct sm { SM_STATS(STAT_FIELD, sm) ... };
 *   STAT_TABLE(sm_stats, sm, SM_STATS);
 */
#ifndef BASE_STAT_H
#define BASE_STAT_H

#include <stddef.h>
#include <stdint.h>

struct stat_row {
    const char *name, *unit, *help;
    size_t offset; /* of the counter in the state */
};

struct stat_table {
    const struct stat_row *rows;
    size_t count;
};

#define STAT_FIELD(S, name, unit, help) uint64_t name;
#define STAT_ROW(S, name, unit, help)   {#name, unit, help, offsetof(struct S, name)},
#define STAT_TABLE(variable, S, STATS)                                                                       \
    static const struct stat_row variable##_rows[] = {STATS(STAT_ROW, S)};                                   \
    static const struct stat_table variable = {variable##_rows,                                              \
                                               sizeof variable##_rows / sizeof *variable##_rows}

static inline uint64_t stat_value(const struct stat_row *row, const void *state)
{
    return *(const uint64_t *)((const char *)state + row->offset);
}

/* Adds the counters of a state to sums[0..count). */
void stat_add(const struct stat_table *table, const void *state, uint64_t *sums);

#endif
