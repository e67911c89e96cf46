/* Runs beside each other: kernel by kernel what changed, and which causes moved with it. And a run beside
 * what a real GPU's profiler measured. Kernels are matched by name, launches of a kernel by shape and in
 * their order (pairing.h). */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include "base/text.h"
#include "gpu/metrics.h"
#include "report/json.h"
#include "report/ncu/ncu.h"
#include "report/runfile.h"

/* ---- two runs ---- */

struct compared_metric {
    const struct metric_row *row;
    double before, after; /* of a launch, on average */
    double change;        /* percent; of 0: infinite */
};

struct compared_kernel {
    struct text name;                /* in both; of one that was renamed, both names */
    struct text shape;               /* grid and block, where launches of the kernel have several; or empty */
    size_t launches;                 /* in both: pairs */
    double before, after;            /* ns of all of these; or instructions, where there is no time */
    double change;                   /* percent */
    struct text why;                 /* what moved with it, in words */
    size_t worst;                    /* the pair that changed most, */
    double worst_change;             /* and by how much: percent */
    struct compared_metric *metrics; /* those that changed, most first */
    size_t metric_count;
};

struct comparison {
    const struct runfile *before, *after;
    bool timed;
    double total_before, total_after;
    struct compared_kernel *kernels; /* the largest change of time first */
    size_t kernel_count, kernel_capacity;
    struct text *settings, *only; /* lines: what differs in the systems, and what is in one run alone */
    size_t setting_count, setting_capacity, only_count, only_capacity;
};

void comparison_make(struct comparison *comparison, const struct runfile *before,
                     const struct runfile *after);
void comparison_fini(struct comparison *comparison);
void comparison_tell(const struct comparison *comparison, struct text *text);
void comparison_write(const struct comparison *comparison,
                      struct json_writer *json); /* an element of a list */

/* ---- a run and a measurement ---- */

struct measured_point {
    const char *kernel; /* and which of its launches, from 0 */
    size_t launch;
    double real, model;
};

struct measured_metric {
    const struct metric_row *row;
    struct measured_point *points;
    size_t count, capacity;
    double mean_error;  /* percent of the measured value; of percentages, in points */
    double correlation; /* NAN: there is none */
};

struct measurement {
    const char *path;
    const struct runfile *run;
    struct measured_metric *metrics; /* in the order of their rows */
    size_t metric_count, pairs;
    struct text *only; /* lines: what is in one of them alone */
    size_t only_count, only_capacity;
};

/* False: they have no kernel in common. */
bool measure_run(struct measurement *measurement, const struct runfile *run, const struct ncu_table *table,
                 const char *path, struct err *err);
void measure_fini(struct measurement *measurement);
void measure_tell(const struct measurement *measurement, struct text *text);
void measure_write(const struct measurement *measurement,
                   struct json_writer *json); /* the member "measured" */

/* ---- for both ---- */

struct launch_list { /* of a kernel, in their order */
    const struct json_value **at;
    size_t count, capacity;
};
void comparison_launches(const struct runfile *run, const char *kernel, struct launch_list *list);

/* "+3.1 %"; "new" from 0 */
void comparison_change_tell(double change, struct text *text);
double comparison_change(double before, double after); /* percent; INFINITY from 0 */
void comparison_value_tell(double value, const char *unit, struct text *text);

#endif
