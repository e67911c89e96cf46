/* `heddle validate`: the points of bench/points.def and points_gcn3.def, and the curves of curves_gcn3.def,
 * in the model, beside what a real GPU gave. */
#ifndef VALIDATE_VALIDATE_H
#define VALIDATE_VALIDATE_H

#include "base/err.h"
#include "base/text.h"
#include "report/cell.h"
#include "system/system.h"
#include "workloads/run.h"

#include <regex.h>
#include <stdio.h>

/* What is compared of a point: QUANTITY(id, name in JSON, title, differences are in points of percent, the
 * least that a real GPU must have given, aim: a text). */
#define QUANTITIES(Q)                                                                                        \
    Q(CYCLES, "cycles", "cycles", false, 1, "20%")                                                           \
    Q(INSTRUCTIONS, "warp_instructions", "warp instructions", false, 1, "10%")                               \
    Q(L1_HIT, "l1_hit_rate", "L1 hit rate", true, 0, "5 points")                                             \
    Q(L2_HIT, "l2_hit_rate", "L2 hit rate", true, 0, "5 points")                                             \
    Q(DRAM_BYTES, "dram_bytes", "DRAM bytes", false, 1 << 16, "10%")

enum quantity {
#define Q(id, ...) QUANTITY_##id,
    QUANTITIES(Q)
#undef Q
        QUANTITY_COUNT
};

struct quantity_row {
    const char *name, *title;
    bool in_points;
    double least;
    const char *aim;
};

extern const struct quantity_row quantity_rows[];

struct point_row {
    const char *name, *workload, *options;
};

/* A microbenchmark over one of its options, which counts something: `across`. */
struct curve_row {
    const char *name, *title, *across, *workload, *options, *over;
};

struct figure {
    char name[48];
    double measured, model; /* NAN: not known */
};

enum { POINT_FIGURES_MOST = 12 };

struct point {
    const struct point_row *row;
    const struct curve_row *curve;                          /* that it is a point of; or NULL */
    double at;                                              /* on that curve */
    bool micro;                                             /* a microbenchmark */
    double measured[QUANTITY_COUNT], model[QUANTITY_COUNT]; /* NAN: not known */
    uint64_t launches_measured, launches;
    struct figure figures[POINT_FIGURES_MOST];
    size_t figure_count;
    bool ran;        /* in the model, to its end, with the right result */
    char wrong[400]; /* else why not; "" when it was not tried */
};

struct made_row; /* of a point that is not in a table: one of a curve */

struct validation {
    struct point *points;
    size_t count, capacity;
    struct made_row **made;
    size_t made_count, made_capacity;
    regex_t only; /* names that are wanted */
    bool has_only;
    bool profiled;                 /* a profiler measured the GPU: cycles, counters, empty caches */
    size_t too_long, not_measured; /* points left out */
    struct text machine;           /* what was measured, as the file of counters says */
    struct system system;
    const char *system_name;
    const char *picture; /* the name of the SVG, for the page beside it; or NULL */
    struct text command; /* that makes the same again */
};

/* Percent, or points of percent; NAN when one side is not known or too small to compare. */
double point_error(const struct point *point, enum quantity quantity);
double figure_error(const struct figure *figure); /* percent */

/* ---- the points (validate_points.c) ---- */

/* Those whose names match, and whose workloads have code for the system's GPU. */
bool validation_select(struct validation *validation, const char *regex, struct err *err);
bool validation_wants(const struct validation *validation, const char *name);
struct point *validation_add(struct validation *validation, const struct point_row *row);

void validation_fini(struct validation *validation);

/* Values of the workload's options at this point. A BUG if bench/points.def is wrong. */
const struct workload *point_options(const struct point_row *row, uint64_t values[WORKLOAD_OPTIONS_MOST]);

/* Leaves out points that were not measured, and those with more warp instructions (0: none of these). If no
 * profiler measured the GPU, microbenchmarks stay: those that were not measured are the model's alone. */
void validation_limit(struct validation *validation, uint64_t most);

/* ---- what a real GPU gave (validate_measured.c) ---- */

/* From counters.csv and figures.csv of the folder, or from curves.csv and figures.csv. NULL: the folder under
 * bench that has the system's name, or else h200; of HEDDLE_HOME or of the sources. */
bool measured_read(struct validation *validation, const char *folder, struct err *err);

/* ---- curves (validate_curves.c) ---- */

extern const struct curve_row curve_rows[]; /* ends in an empty one */

/* The point of a curve at this place, whose figure was measured. Nothing, if it is not wanted. False: there
 * is no such curve. */
bool curve_add(struct validation *validation, const char *name, uint64_t at, double measured);
void curve_rows_free(struct validation *validation);

/* What came of a curve. A line a + b * at through its points, by least squares, has the slope b. */
struct curve_sum {
    size_t count;                       /* points that ran */
    double mean;                        /* of absolute errors, in percent */
    double slope_measured, slope_model; /* nanoseconds */
    double slope_error;                 /* percent */
};
struct curve_sum curve_sum(const struct validation *validation, const struct curve_row *row);

/* ---- the model (validate_run.c) ---- */

enum { VALIDATE_JOBS_MOST = 256 };

struct validation_run {
    const char *system;          /* the model, by its name or file */
    const char *const *settings; /* that change it; ends in NULL, or NULL */
    unsigned threads, jobs;      /* threads of a point; points at a time */
    bool profiled;               /* as a profiler does: every launch finds empty caches */
    bool no_progress;
    const _Atomic int *interrupt; /* when it is set, the run ends soon */
};

/* Runs all, each in a process of its own. */
void validation_run(struct validation *validation, const struct validation_run *how);

/* ---- errors of all (validate_summary.c) ---- */

enum { WORST_MOST = 15 };

struct error_sum {
    size_t count;
    double mean;                         /* of absolute values */
    double correlation, correlation_log; /* of cycles */
};

struct summary {
    struct error_sum workloads[QUANTITY_COUNT], all[QUANTITY_COUNT];
    size_t points_workloads, points_all, failed;
    size_t figures, within_5, within_10;
    double figures_mean; /* of absolute errors, in percent */
    size_t slopes;       /* of curves */
    double slopes_mean;
    struct {
        const struct point *point;
        const struct figure *figure;
    } worst[WORST_MOST]; /* the worst first */
    size_t worst_count;
};

void summary_make(struct summary *summary, const struct validation *validation);

/* ---- telling it (validate_tell.c, _markdown.c, _json.c, _svg.c) ---- */

void validation_print(const struct validation *validation, const struct summary *summary, FILE *stream);
void validation_markdown(const struct validation *validation, const struct summary *summary, FILE *stream);
void validation_json(const struct validation *validation, const struct summary *summary, FILE *stream);
void validation_svg(const struct validation *validation, const struct summary *summary, FILE *stream);

/* The same of a GPU that no profiler measured: curves and figures (validate_curves_tell.c, _curves_svg.c). */
void curves_print(const struct validation *validation, const struct summary *summary, FILE *stream);
void curves_markdown(const struct validation *validation, const struct summary *summary, FILE *stream);
void curves_svg(const struct validation *validation, FILE *stream);

/* Pieces that several texts have. A cell for a number that is not known is "-". */
char *validate_cell_count(char cell[CELL], double value);  /* 1,234,567 */
char *validate_cell_figure(char cell[CELL], double value); /* four digits */
char *validate_cell_error(char cell[CELL], double error, bool in_points);
char *validate_cell_mean(char cell[CELL], const struct error_sum *sum, bool in_points);
char *validate_cell_correlation(char cell[CELL], double correlation);
void validate_print_figure(const struct point *point, const struct figure *figure, FILE *stream);
void validate_print_left_out(const struct validation *validation, const struct summary *summary,
                             FILE *stream);

#endif
