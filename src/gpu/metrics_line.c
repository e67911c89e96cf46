#include "gpu/metrics_line.h"
#include "gpu/metrics.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every number that is no counter of a row. */
#define OTHER_NUMBERS(N)                                                                                     \
    N(start_ps)                                                                                              \
    N(end_ps)                                                                                                \
    N(cycles)                                                                                                \
    N(clock_hz)                                                                                              \
    N(sm_count)                                                                                              \
    N(warps_per_sm)                                                                                          \
    N(schedulers_per_sm)                                                                                     \
    N(sms_used)                                                                                              \
    N(busiest_sm_cycles)                                                                                     \
    N(idlest_sm_cycles)                                                                                      \
    N(busiest_sm_instructions)

STAT_TABLE(sm_rows, sm_counters, SM_COUNTERS);
STAT_TABLE(mem_rows, mem_counters, MEM_COUNTERS);

static void add_numbers(struct text *line, const char *name, const uint64_t *numbers, size_t count)
{
    text_add(line, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        text_add(line, "%s%llu", i ? "," : "", (unsigned long long)numbers[i]);
    text_add(line, "]");
}

static void add_counters(struct text *line, const char *name, const struct stat_table *table,
                         const void *state)
{
    uint64_t numbers[128] = {0};
    REQUIRE(table->count <= sizeof numbers / sizeof *numbers);
    stat_add(table, state, numbers);
    add_numbers(line, name, numbers, table->count);
}

void metrics_line_add(struct text *line, const struct kernel_stats *stats)
{
#define N(name) stats->name,
    const uint64_t others[] = {OTHER_NUMBERS(N)};
#undef N
    add_numbers(line, "timing", others, sizeof others / sizeof *others);
    add_counters(line, "sm", &sm_rows, &stats->sm);
    add_counters(line, "mem", &mem_rows, &stats->mem);
    add_numbers(line, "units", stats->sm.by_unit, UNIT_COUNT);
    add_numbers(line, "stalls", stats->sm.stalls, STALL_COUNT);
    add_numbers(line, "lanes", stats->sm.lanes_active, 33);
}

static bool read_numbers(const char *line, const char *name, uint64_t *numbers, size_t count)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, ",\"%s\":[", name);
    const char *at = strstr(line, quoted);
    if (!at)
        return false;
    at += strlen(quoted);
    for (size_t i = 0; i < count; i++) {
        char *end;
        numbers[i] = strtoull(at, &end, 10);
        if (end == at || *end != (i + 1 < count ? ',' : ']'))
            return false;
        at = end + 1;
    }
    return true;
}

static bool read_counters(const char *line, const char *name, const struct stat_table *table, void *state)
{
    uint64_t numbers[128];
    if (!read_numbers(line, name, numbers, table->count))
        return false;
    for (size_t i = 0; i < table->count; i++)
        memcpy((char *)state + table->rows[i].offset, &numbers[i], sizeof *numbers);
    return true;
}

bool metrics_line_read(const char *line, struct kernel_stats *stats)
{
#define N(name) 0,
    uint64_t others[] = {OTHER_NUMBERS(N)};
#undef N
    *stats = (struct kernel_stats){0};
    if (!read_numbers(line, "timing", others, sizeof others / sizeof *others) ||
        !read_counters(line, "sm", &sm_rows, &stats->sm) ||
        !read_counters(line, "mem", &mem_rows, &stats->mem) ||
        !read_numbers(line, "units", stats->sm.by_unit, UNIT_COUNT) ||
        !read_numbers(line, "stalls", stats->sm.stalls, STALL_COUNT) ||
        !read_numbers(line, "lanes", stats->sm.lanes_active, 33))
        return false;
    size_t i = 0;
#define N(name) stats->name = others[i++];
    OTHER_NUMBERS(N)
#undef N
    return true;
}

/* ---- sums ---- */

static void add_to(uint64_t *sum, const uint64_t *one, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += one[i];
}

static void add_rows(const struct stat_table *table, void *sum, const void *one)
{
    for (size_t i = 0; i < table->count; i++)
        *(uint64_t *)((char *)sum + table->rows[i].offset) +=
            *(const uint64_t *)((const char *)one + table->rows[i].offset);
}

void metrics_sum(struct kernel_stats *sum, const struct kernel_stats *one)
{
    struct kernel_stats old = *sum;
    *sum = *one; /* what is no count is that of the last one */
    sum->profile = NULL;
    sum->profile_count = 0;
    sum->start_ps = 0;
    sum->end_ps = old.end_ps + (one->end_ps - one->start_ps);
    sum->cycles += old.cycles;
    sum->sms_used = old.sms_used > one->sms_used ? old.sms_used : one->sms_used;
    sum->busiest_sm_cycles += old.busiest_sm_cycles;
    sum->idlest_sm_cycles += old.idlest_sm_cycles;
    sum->busiest_sm_instructions += old.busiest_sm_instructions;
    add_rows(&sm_rows, &sum->sm, &old.sm);
    add_rows(&mem_rows, &sum->mem, &old.mem);
    add_to(sum->sm.by_unit, old.sm.by_unit, UNIT_COUNT);
    add_to(sum->sm.stalls, old.sm.stalls, STALL_COUNT);
    add_to(sum->sm.lanes_active, old.sm.lanes_active, 33);
}
