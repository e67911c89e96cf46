#include "gpu/metrics.h"
#include "base/json.h"
#include "base/mem.h"

#include <string.h>

/* ---- what values are made of ---- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double percent(double a, double b)
{
    return 100 * ratio(a, b);
}

static uint64_t product(const uint64_t sides[3])
{
    return sides[0] * sides[1] * sides[2];
}

static uint64_t block_warps(const struct launch_facts *l, const struct gpu_spec *g)
{
    return (product(l->block) + g->warp_lanes - 1) / g->warp_lanes;
}

static double scheduler_cycles(const struct kernel_stats *k)
{
    return (double)k->sm.cycles_active * k->schedulers_per_sm;
}

static double per_second(const struct kernel_stats *k, double count)
{
    return ratio(count, (double)(k->end_ps - k->start_ps) * 1e-12);
}

static uint64_t l1_sectors(const struct kernel_stats *k)
{
    return k->sm.l1_load_sectors + k->sm.l1_store_sectors + k->sm.l1_atomic_sectors + k->sm.l1_local_sectors;
}

static uint64_t l1_hits(const struct kernel_stats *k)
{
    return k->sm.l1_load_hits + k->sm.l1_store_hits + k->sm.l1_local_hits;
}

static uint64_t l2_sectors(const struct kernel_stats *k)
{
    return k->mem.l2_sectors_read + k->mem.l2_sectors_written + k->mem.l2_sectors_atomic;
}

/* As the profiler counts: what crosses to its home in the other half of L2 is looked up there, too. */
static uint64_t l2_lookups(const struct kernel_stats *k)
{
    return l2_sectors(k) + k->mem.l2_sectors_far;
}

static uint64_t l2_hits(const struct kernel_stats *k)
{
    return k->mem.l2_sectors_hit + k->mem.l2_sectors_far_hit;
}

static uint64_t dram_bytes(const struct kernel_stats *k)
{
    return k->mem.dram_bytes_read + k->mem.dram_bytes_written;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Of a unit, and of all that take its place. */
static uint64_t instructions_of_pipe(const struct metric_source *source, enum isa_unit pipe)
{
    struct unit_cost costs[UNIT_COUNT];
    uint64_t sum = 0;
    sm_unit_costs(source->sm, costs);
    for (uint32_t unit = 0; unit < UNIT_COUNT; unit++)
        sum += costs[unit].pipe == pipe ? source->timing->sm.by_unit[unit] : 0;
    return sum;
}

double metric_unit_busy(const struct metric_source *source, enum isa_unit unit)
{
    const struct kernel_stats *k = source->timing;
    struct unit_cost costs[UNIT_COUNT];
    sm_unit_costs(source->sm, costs);
    double own = 0, shared = 0; /* cycles */
    for (uint32_t other = 0; other < UNIT_COUNT; other++)
        if (costs[other].pipe == costs[unit].pipe) {
            own += (double)k->sm.by_unit[other] * costs[other].interval;
            shared += (double)k->sm.by_unit[other] * costs[other].shared;
        }
    return larger(percent(own, scheduler_cycles(k)), percent(shared, (double)k->sm.cycles_active));
}

static double time_ps(const struct kernel_stats *k)
{
    return (double)(k->end_ps - k->start_ps);
}

#define done(name) instructions_of_pipe(source, UNIT_##name)
#define busy(name) metric_unit_busy(source, UNIT_##name)

/* ---- rows ---- */

const struct metric_row metric_rows[] = {
#define COUNT(section, name, unit, help, ...) {name, unit, help, METRIC_##section, true},
#define RATIO(section, name, unit, help, ...) {name, unit, help, METRIC_##section, false},
#include "gpu/metrics.def"
#undef COUNT
#undef RATIO
    {NULL, NULL, NULL, METRIC_LAUNCH, false},
};

enum { ROW_COUNT = sizeof metric_rows / sizeof *metric_rows - 1 };

static bool applies(enum metric_section section, const struct metric_source *source)
{
    return section == METRIC_LAUNCH || (section == METRIC_TIMED) == (source->timing != NULL);
}

bool metric_applies(const struct metric_row *row, const struct metric_source *source)
{
    return applies(row->section, source);
}

/* Of all rows; those that do not apply stay as they are. */
static void evaluate(const struct metric_source *source, double values[ROW_COUNT])
{
    const struct launch_facts *l = source->launch;
    const struct kernel_stats *k = source->timing;
    const struct gpu_spec *g = source->gpu;
    size_t row = 0;
#define COUNT(section, name, unit, help, ...)                                                                \
    if (applies(METRIC_##section, source))                                                                   \
        values[row] = (double)(__VA_ARGS__);                                                                 \
    row++;
#define RATIO COUNT
#include "gpu/metrics.def"
#undef COUNT
#undef RATIO
}

const struct metric_row *metric_find(const struct metric_source *source, const char *name)
{
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        if (metric_applies(row, source) && strcmp(row->name, name) == 0)
            return row;
    }
    return NULL;
}

double *metric_values(const struct metric_source *source)
{
    double *values = mem_alloc(ROW_COUNT, sizeof *values);
    evaluate(source, values);
    return values;
}

double metric_value(const struct metric_source *source, const struct metric_row *row)
{
    double values[ROW_COUNT] = {0};
    evaluate(source, values);
    return values[row - metric_rows];
}

/* ---- JSON ---- */

void metrics_write(const struct metric_source *source, struct json *json)
{
    double values[ROW_COUNT] = {0};
    evaluate(source, values);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (metric_applies(&metric_rows[i], source) && metric_rows[i].whole)
            json_u64(json, metric_rows[i].name, (uint64_t)values[i]);
        else if (metric_applies(&metric_rows[i], source))
            json_real(json, metric_rows[i].name, values[i]);
    }
}

static const struct {
    const char *name, *help;
} stall_rows[] = {
#define X(name, help, words) {#name, help},
    STALLS(X)
#undef X
};

static const char *const unit_names[] = {
#define U(name) #name,
    ISA_UNITS(U)
#undef U
};

const char *unit_name(enum isa_unit unit)
{
    return unit_names[unit];
}

const char *stall_name(enum stall stall)
{
    return stall_rows[stall].name;
}

const char *stall_help(enum stall stall)
{
    return stall_rows[stall].help;
}

void metrics_write_tables(const struct kernel_stats *stats, struct json *json)
{
    json_object(json, "instructions_by_unit");
    for (int i = 0; i < UNIT_COUNT; i++)
        json_u64(json, unit_names[i], stats->sm.by_unit[i]);
    json_end(json);
    json_object(json, "stall_cycles");
    for (int i = 0; i < STALL_COUNT; i++)
        json_u64(json, stall_rows[i].name, stats->sm.stalls[i]);
    json_end(json);
    json_array(json, "active_lanes");
    for (uint32_t i = 0; i <= stats->warp_lanes; i++)
        json_u64(json, NULL, stats->sm.lanes_active[i]);
    json_end(json);
}
