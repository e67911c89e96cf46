/* Runs of the relaxed simulator over a trace: on a system that a description gives, repeated, beside the
 * exact replay, as text and as JSON. */
#ifndef RELAXED_RUNS_RUNS_H
#define RELAXED_RUNS_RUNS_H

#include "relaxed/relaxed.h"
#include "system/system.h"

#include <stdio.h>

/* ---- a description (describe.c) ---- */

/* False: it has something that the relaxed simulator does not have. */
bool relaxed_describe(const struct system *system, struct relaxed_spec *spec, struct err *err);
bool relaxed_describe_launch(const struct system *system, const struct itrace *trace, size_t launch,
                             struct relaxed_fit *fit, struct err *err);

/* ---- runs (runs.c) ---- */

struct relaxed_how {
    const char *system_name;     /* or a file */
    const char *const *settings; /* that change it; ends in NULL, or NULL */
    const struct system *system; /* all of that, loaded */
    struct relaxed_options options;
    unsigned repeats;             /* at least 1 */
    const struct choice *kernels; /* launches of the trace; NULL: all */
    bool compare_exact;
    unsigned exact_threads;
};

/* A launch, over all repeats. */
struct relaxed_runs_launch {
    size_t number;  /* in the trace */
    uint64_t exact; /* cycles; 0: not known */
    double cycles;  /* mean */
    uint64_t least, most;
};

struct relaxed_runs {
    const struct itrace *trace;
    const char *folder;
    struct relaxed_how how;
    struct relaxed_runs_launch *launches;
    size_t launch_count;
    struct relaxed_result *sums; /* of all launches, by repeat */
    double exact_seconds;        /* of the host; 0: not run */
    uint64_t exact_cycles;
};

bool relaxed_runs_make(struct relaxed_runs *runs, struct itrace_reader *reader, const char *folder,
                       const struct relaxed_how *how, struct err *err);
void relaxed_runs_fini(struct relaxed_runs *runs);

struct relaxed_figure { /* over repeats */
    double mean, least, most, deviation;
};
struct relaxed_figure relaxed_runs_figure(const struct relaxed_runs *runs,
                                          double (*of)(const struct relaxed_result *result));
double relaxed_cycles(const struct relaxed_result *result);
double relaxed_ipc(const struct relaxed_result *result);
double relaxed_wall(const struct relaxed_result *result);
double relaxed_l1_rate(const struct relaxed_result *result); /* hits of lookups; NaN: there were none */
double relaxed_l2_rate(const struct relaxed_result *result);
double relaxed_constant_rate(const struct relaxed_result *result);
double relaxed_code_rate(const struct relaxed_result *result);
/* Misses of all caches together, of lookups of all. */
double relaxed_miss_rate(const struct relaxed_result *result);
/* Part of all time of threads. */
double relaxed_time_share(const struct relaxed_result *result, enum relaxed_share share);

/* The mean over launches of how far cycles are from exact ones, in parts of these; NaN: not compared. */
double relaxed_runs_error(const struct relaxed_runs *runs);

extern const char *const relaxed_class_names[RELAXED_CLASS_COUNT];
extern const char *const relaxed_memory_names[RELAXED_MEMORIES];
extern const char *const relaxed_time_names[RELAXED_TIMES];

/* ---- telling (tell.c) ---- */

void relaxed_runs_print(const struct relaxed_runs *runs, FILE *f);
bool relaxed_runs_write(const struct relaxed_runs *runs, const char *path, struct err *err); /* JSON */

#endif
