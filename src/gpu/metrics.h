/* Metrics of a launch, computed from counters, with the names of NVIDIA's profiler where it has one. A metric
 * is a row of metrics.def; JSON, `heddle stats`, heddle.h and docs/statistics.md are generated from the rows.
 * Names that begin with heddle__ are our own. */
#ifndef GPU_METRICS_H
#define GPU_METRICS_H

#include "core/spec.h"
#include "exec/exec.h"
#include "gpu/dispatch_spec.h"
#include "gpu/spec.h"
#include "gpu/stats.h"

/* What is known of a launch before it ran, and what functional execution counted. */
struct launch_facts {
    uint64_t grid[3], block[3];
    uint64_t registers, shared_static, shared_dynamic;
    uint64_t blocks_per_sm; /* that fit, and what each alone would allow: */
    uint64_t by_blocks, by_registers, by_shared, by_warps;
#define C(name) uint64_t name;
    LAUNCH_COUNTS(C)
#undef C
};

struct metric_source {
    const struct gpu_spec *gpu; /* as programs see it */
    const struct sm_spec *sm;
    const struct l2_spec *l2;
    const struct dram_spec *dram;
    const struct dispatch_spec *dispatch;
    uint32_t members; /* of a unified GPU: each has such an L2 and such memory; 0 is 1 */
    const struct launch_facts *launch;
    const struct gpu_kernel_stats *timing; /* NULL: it was not timed */
};

enum metric_section {
    METRIC_LAUNCH,  /* known of every launch */
    METRIC_COUNTED, /* of one that was not timed */
    METRIC_TIMED    /* of one that was */
};

struct metric_row {
    const char *name, *unit, *help;
    enum metric_section section;
    bool whole; /* a whole number */
};

extern const struct metric_row metric_rows[]; /* ends with a NULL name */

/* Whether this row says something of this launch. */
bool metric_applies(const struct metric_row *row, const struct metric_source *source);

/* The row of this name that applies, or NULL. */
const struct metric_row *metric_find(const struct metric_source *source, const char *name);

/* Of all rows, by their place; those that do not apply are 0. The caller frees them. */
double *metric_values(const struct metric_source *source);
double metric_value(const struct metric_source *source, const struct metric_row *row);

const char *metric_unit_name(enum isa_unit unit);
const char *stall_name(enum stall stall);
const char *stall_help(enum stall stall);

/* Percent of the time that units of this kind were busy, in cycles that an SM had a block in. */
double metric_unit_busy(const struct metric_source *source, enum isa_unit unit);

/* Launches of one kernel, as if they were one: counts and times are added. */
void metrics_sum(struct gpu_kernel_stats *sum, const struct gpu_kernel_stats *one);

#endif
