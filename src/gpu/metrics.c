#include "gpu/metrics.h"
#include "base/bits.h"
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

static double scheduler_cycles(const struct gpu_kernel_stats *k)
{
    return (double)k->sm.cycles_active * k->schedulers_per_sm;
}

static double per_second(const struct gpu_kernel_stats *k, double count)
{
    return ratio(count, (double)(k->end_ps - k->start_ps) * 1e-12);
}

static uint64_t l1_sectors(const struct gpu_kernel_stats *k)
{
    return k->sm.l1_load_sectors + k->sm.l1_store_sectors + k->sm.l1_atomic_sectors + k->sm.l1_local_sectors;
}

static uint64_t l1_hits(const struct gpu_kernel_stats *k)
{
    return k->sm.l1_load_hits + k->sm.l1_store_hits + k->sm.l1_local_hits;
}

static uint64_t l2_sectors(const struct gpu_kernel_stats *k)
{
    return k->mem.l2_sectors_read + k->mem.l2_sectors_written + k->mem.l2_sectors_atomic;
}

/* As the profiler counts: what crosses to its home in the other half of L2 is looked up there, too. */
static uint64_t l2_lookups(const struct gpu_kernel_stats *k)
{
    return l2_sectors(k) + k->mem.l2_sectors_far;
}

static uint64_t l2_hits(const struct gpu_kernel_stats *k)
{
    return k->mem.l2_sectors_hit + k->mem.l2_sectors_far_hit;
}

static uint64_t dram_bytes(const struct gpu_kernel_stats *k)
{
    return k->mem.dram_bytes_read + k->mem.dram_bytes_written;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* By unit: the profiler's pipe that it counts as. */
static const char *const pipes[UNIT_COUNT] = {
#define U(P, S, id, name, place, result, busy, does, pipe, ...) pipe,
    ISA_UNITS(U, , )
#undef U
};

static uint64_t instructions_of_pipe(const struct metric_source *source, const char *pipe)
{
    uint64_t sum = 0;
    for (uint32_t unit = 0; unit < UNIT_COUNT; unit++)
        sum += strcmp(pipes[unit], pipe) ? 0 : source->timing->sm.by_unit[unit];
    return sum;
}

double metric_unit_busy(const struct metric_source *source, enum isa_unit unit)
{
    const struct gpu_kernel_stats *k = source->timing;
    struct unit_cost costs[UNIT_COUNT];
    sm_unit_costs(source->sm, costs);
    double own = 0, shared = 0; /* cycles */
    for (uint32_t other = 0; other < UNIT_COUNT; other++)
        if (costs[other].place == costs[unit].place) {
            own += (double)k->sm.by_unit[other] * costs[other].interval;
            own += other == UNIT_TENSOR ? (double)k->sm.product_cycles : 0;
            shared += (double)k->sm.by_unit[other] * costs[other].shared;
        }
    return larger(percent(own, scheduler_cycles(k)), percent(shared, (double)k->sm.cycles_active));
}

/* Of the pipe's units, the busiest. */
static double pipe_busy(const struct metric_source *source, const char *pipe)
{
    double most = 0;
    for (uint32_t unit = 0; unit < UNIT_COUNT; unit++)
        if (!strcmp(pipes[unit], pipe))
            most = larger(most, metric_unit_busy(source, (enum isa_unit)unit));
    return most;
}

static double members(const struct metric_source *source)
{
    return source->members ? source->members : 1;
}

/* Of the L2s of all members. */
static double slices(const struct metric_source *source)
{
    return (double)source->l2->slices * members(source);
}

static double time_ps(const struct gpu_kernel_stats *k)
{
    return (double)(k->end_ps - k->start_ps);
}

#define done(pipe) instructions_of_pipe(source, #pipe)
#define busy(pipe) pipe_busy(source, #pipe)

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
    const struct gpu_kernel_stats *k = source->timing;
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

/* ---- names ---- */

static const struct {
    const char *name, *help;
} stall_rows[] = {
#define X(name, help, words) {#name, help},
    STALLS(X)
#undef X
};

static const char *const unit_names[] = {
#define U(P, S, id, ...) #id,
    ISA_UNITS(U, , )
#undef U
};

const char *metric_unit_name(enum isa_unit unit)
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

/* ---- sums ---- */

STAT_TABLE(sm_rows, sm_counters, SM_COUNTERS);
STAT_TABLE(memsys_rows, memsys_counters, MEM_COUNTERS);

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

void metrics_sum(struct gpu_kernel_stats *sum, const struct gpu_kernel_stats *one)
{
    struct gpu_kernel_stats old = *sum;
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
    add_rows(&memsys_rows, &sum->mem, &old.mem);
    add_to(sum->sm.by_unit, old.sm.by_unit, UNIT_COUNT);
    sum->sm.product_cycles += old.sm.product_cycles;
    add_to(sum->sm.stalls, old.sm.stalls, STALL_COUNT);
    add_to(sum->sm.lanes_active, old.sm.lanes_active, COUNT_OF(old.sm.lanes_active));
}
