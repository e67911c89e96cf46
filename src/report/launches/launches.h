/* What processes launched: read from the files that their drivers left (driver/ledger_format.h), summed up
 * for people and written as JSON. */
#ifndef LAUNCHES_LAUNCHES_H
#define LAUNCHES_LAUNCHES_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "driver/ledger_format.h"
#include "driver/ledger_places.h"
#include "report/explain/bottleneck.h"
#include "system/machine.h"
#include "system/system.h"

#include <stdint.h>

struct json_writer;
struct launch_run;

/* A launch by itself. */
struct launch_one {
    const char *kernel;
    struct launch_numbers numbers;
    bool timed, interrupted;
    struct gpu_kernel_stats timing;
    struct metric_place *places; /* where warps waited longest first */
    size_t place_count, place_capacity;
};

/* All launches of one kernel: those that were timed, or those that were not. */
struct launch_kernel {
    char *name;
    struct launch_one longest;
    uint64_t launches, interrupted, failed;
    uint64_t sums;  /* of processes and modules that these are of */
    uint64_t error; /* of the first that failed; of several processes, the smallest */
#define C(name) uint64_t name;
    LAUNCH_COUNTS(C)
#undef C
    struct gpu_kernel_stats sum;
    struct metric_place *places;
    size_t place_count, place_capacity;
};

struct launch_file; /* of one process: launches one by one */

/* Samples over time of one process: those of GPUs, by time; those of links and of pages that move, by part.
 */
struct launch_series {
    struct text file;
    struct machine_sample *samples;
    struct machine_part_sample *parts;
    size_t sample_count, sample_capacity, part_count, part_capacity;
};

struct launches {
    struct launch_kernel *kernels; /* by name */
    size_t kernel_count, kernel_capacity;
    uint64_t count;            /* launches of all kernels */
    struct launch_file *files; /* of launches that were kept one by one, in order */
    size_t file_count, file_capacity;
    struct ledger_place_list places; /* that profiles name */
    struct copy_sum copies[COPIED_KINDS];
    struct link_sum *links; /* of the fabric, or NULL */
    size_t link_count;
    struct launch_series series; /* of the process that has most */
    uint64_t busy_ns;            /* of the host, in which a launch was under way; all processes added up */
    uint64_t
        end_ps; /* simulated time until the last launch or copy ended, of the process that took longest */
    uint64_t lost_entries, lost_sums; /* launches that found no room in the folder */
    int loss;                         /* why: errno */
};

/* All launches of all processes. */
bool launches_read(const char *folder, struct launches *lines, struct err *err);
void launches_fini(struct launches *lines);

/* Those that were kept one by one: those of a process in their order, and the processes ordered by what they
 * launched, not by when, so that it is the same in every run. A line lasts until the call for it ends. */
void launches_each(const struct launches *lines, void (*take)(void *user, const struct launch_one *line),
                   void *user);

/* How many those are. */
uint64_t launches_kept(const struct launches *lines);

/* False: some found no room, and err says so. */
bool launches_are_whole(const struct launches *lines, const char *folder, struct err *err);

/* ---- launches_series.c ---- */

bool launches_read_series(const char *path, struct launches *lines, struct err *err);
void launches_series_fini(struct launch_series *series);
void launches_write_series(const struct launches *lines, const struct launch_run *run,
                           struct json_writer *json);

/* ---- launches_sums.c ---- */

/* Adds the sums of one process. */
bool launches_read_sums(const char *path, struct launches *lines, struct err *err);
void launches_sort_sums(struct launches *lines);

/* What metrics of a launch are made from; `facts` is filled. */
struct metric_source launches_source(const struct launch_one *line, const struct system *system,
                                     struct launch_facts *facts);
/* The same of all launches of a kernel; what a launch is like is that of the longest. */
struct metric_source launches_kernel_source(const struct launch_kernel *kernel, const struct system *system,
                                            struct launch_facts *facts);

/* Adds what bounds it, in words. */
void launches_kernel_why(const struct launch_kernel *kernel, const struct system *system, struct text *text);

/* Whether it ended by a mistake of its own, or by a limit. */
bool launches_failed(const struct launch_one *line);

/* How they came about, beside the launches. */
struct launch_run {
    const char *program;                 /* NULL: several, which have no time in common */
    char *const *arguments;              /* of the program, ends in NULL; or NULL */
    const struct launch_option *options; /* of a workload, ends in a NULL name; or NULL */
    const char *kernels;                 /* those that are timed, as it was asked for; or NULL */
    uint64_t max_cycles;                 /* of a kernel; 0: no limit was asked for */
    bool cold_caches;
    uint64_t series_cycles; /* of a sample over time; 0: there are none */
    const char *system_name;
    const struct system *system;
    bool timing;
    unsigned threads;
    double wall_s, cpu_s;
    int signal;                                 /* that ended it, or 0 */
    int exit_status;                            /* else */
    bool interrupted;                           /* the user ended it */
    uint64_t first_line, end_line;              /* launches that were kept one by one */
    uint64_t hot_places;                        /* lines of profiles to show */
    const struct launch_option *guest, *region; /* counts of a guest (heddle boot) and of its region of
                                                   interest; or NULL */
    void (*more)(const void *user, struct json_writer *json); /* adds to the JSON; or NULL */
    const void *user;
};

struct launch_option {
    const char *name;
    uint64_t value;
};

/* One line for the user ... */
void launches_summarize(const struct launches *lines, const struct launch_run *run, struct text *text);
/* ... and in timing mode what bounds each kernel, a table, and places where warps waited. */
void launches_explain(const struct launches *lines, const struct launch_run *run, struct text *text);

/* --stats FILE, as docs/stats.schema.json says. */
bool launches_write(struct launches *lines, const struct launch_run *run, const char *path, struct err *err);

/* --csv FILE: in the layout of ncu's raw page. */
bool launches_write_csv(const struct launches *lines, const struct launch_run *run, const char *path,
                        struct err *err);

#endif
