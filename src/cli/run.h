/* The program of `heddle run`: started, passed signals on to, and waited for. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "base/err.h"
#include "base/text.h"
#include "cli/shared_machine.h"
#include "cli/timeline_file.h"
#include "cli/run_cpu.h"
#include "cli/check.h"
#include "cli/timing.h"

struct run_request {
    char **words; /* the program and its arguments; ends in NULL */
    const char *threads, *stats, *csv, *stats_launches, *bounds, *limit, *trace_mem, *cpu;
    struct timing_request timing;
    struct check_request check;
    const char **cpu_settings; /* of --set; ends in NULL */
    size_t cpu_setting_count, cpu_setting_capacity;
    bool wants_help;
};

/* A program on its way: made by cmd_run_prepare, ended by cmd_run_clean. */
struct run {
    const struct run_request *request;
    char *path;                    /* of the program, as found */
    char *libraries;               /* the folder of ours */
    char *opencl;                  /* the folder of OpenCL's; or NULL */
    char *hip;                     /* the folder of HIP's */
    struct text identity;          /* what checkpoints know it by, where there are any */
    char *folder;                  /* where its processes leave their launches */
    int status;                    /* as a shell gives it */
    int signal;                    /* that ended it, or 0 */
    bool interrupted;              /* the user asked it to end */
    uint64_t first_line, end_line; /* launches that are kept one by one: to before the end */
    double wall_s, cpu_s;
    const struct system *system;    /* that was asked for */
    unsigned threads;               /* of a machine that its processes share */
    struct run_cpu *cpu;            /* the cores that it runs on, or NULL: on this machine's own */
    struct machine_picture picture; /* that the machine draws */
    struct shared_machine machine;  /* which is at: */
    struct text machine_path;
};

/* Finds the program and checks that it can run. False: err says why not, and run->status is the exit status.
 */
bool cmd_run_prepare(struct run *run, const struct run_request *request, const struct system *system,
                     unsigned threads, struct run_cpu *cpu, struct err *err);

/* Starts it, passes signals on to it, and waits for its end. */
bool cmd_run_wait(struct run *run, struct err *err);
void cmd_run_clean(struct run *run);

/* Whether `heddle run` would take these words (which end in NULL); adds all that the result depends on, but
 * for files that the program reads. */
bool cmd_run_check(int count, char **words, struct text *identity, struct err *err);

#endif
