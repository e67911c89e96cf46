/* `heddle study`: experiments of many runs. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "base/err.h"
#include "system/machine.h"
#include "workloads/run.h"

#include <stdio.h>

/* A workload, large enough that its time is not that of its start. */
struct study_row {
    const char *workload, *options;
};

enum { STUDY_ROWS = 7 };
extern const struct study_row study_rows[STUDY_ROWS];

struct study_how {
    const char *system;          /* name or file */
    const char *const *settings; /* that change it; ends in NULL, or NULL */
    const char *only;            /* a regular expression for the names of workloads; NULL: all */
    unsigned threads_most;
    unsigned repeats; /* of each run that is timed; the fastest counts */
    bool no_progress;
    const _Atomic int *interrupt; /* when it is set, the study ends soon */
};

/* Calls `make` for each row that is wanted, and shows how far it is; an error if none is. */
typedef bool study_make_fn(void *user, const struct study_row *row, const struct study_how *how,
                           struct err *err);
bool study_each(const struct study_how *how, study_make_fn *make, void *user, struct err *err);

struct study_run {
    unsigned threads;
    bool is_timed;
    const struct machine_windows *windows; /* or NULL */
    double seconds;                        /* what came of it: of the host, in kernels */
    uint64_t instructions, cycles;         /* of all launches */
};
bool study_run(const struct study_row *row, const struct study_how *how, struct study_run *run,
               struct err *err);

/* ---- events that can run at once (study_events.c) ---- */

struct study_window {
    uint64_t time_ps, islands;
};

struct study_events {
    struct study_events_run {
        const struct study_row *row;
        struct study_window *windows; /* those of the engine */
        size_t count, capacity;
        double mean;
        uint64_t least, median, most;
    } runs[STUDY_ROWS];
    size_t count;
    const char *system;
};

bool study_events_make(struct study_events *study, const struct study_how *how, struct err *err);
void study_events_print(const struct study_events *study, FILE *f);
void study_events_svg(const struct study_events *study, FILE *f);
void study_events_fini(struct study_events *study);

/* ---- threads (study_threads.c) ---- */

enum { STUDY_COUNTS_MOST = 9, STUDY_MODES = 2 }; /* 1 to 256 threads; functional, timed */

struct study_threads {
    unsigned threads[STUDY_COUNTS_MOST]; /* 1, 2, 4, ... */
    size_t counts;
    struct study_threads_run {
        const struct study_row *row;
        double seconds[STUDY_MODES][STUDY_COUNTS_MOST];
    } runs[STUDY_ROWS];
    size_t count;
    const char *system;
};

extern const char *const study_modes[STUDY_MODES];

bool study_threads_make(struct study_threads *study, const struct study_how *how, struct err *err);

/* How much faster than one thread; of run `count`: the geometric mean of all. */
double study_speedup(const struct study_threads *study, size_t run, int mode, size_t threads);
void study_threads_print(const struct study_threads *study, FILE *f);
void study_threads_svg(const struct study_threads *study, FILE *f);

#endif
