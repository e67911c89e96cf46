/* The parts of `heddle run`: a program that is started, watched and waited for, and what it launched. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "base/err.h"
#include "base/text.h"
#include "system/system.h"

#include <stdint.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 }; /* as shells have it */

/* ---- the program (run_program.c) ---- */

struct run_request {
    char **words; /* the program and its arguments; ends in NULL */
    const char *system, *threads, *stats, *bounds, *limit;
    bool wants_help;
};

/* A program on its way: made by run_prepare, ended by run_clean. */
struct run {
    const struct run_request *request;
    char *path;      /* of the program, as found */
    char *libraries; /* the folder of ours */
    char *folder;    /* where its processes leave their launches */
    int status;      /* as a shell gives it */
    int signal;      /* that ended it, or 0 */
    double wall_s, cpu_s;
};

/* Finds the program and checks that it can run. False: err says why not, and run->status is the exit status.
 */
bool run_prepare(struct run *run, const struct run_request *request, struct err *err);

/* Starts it, passes signals on to it, and waits for its end. */
bool run_wait(struct run *run, struct err *err);
void run_clean(struct run *run);

/* ---- what it launched (run_report.c) ---- */

/* A launch, as the driver writes it down (driver/driver.h). Each number is a row. */
#define LAUNCH_NUMBERS(N)                                                                                    \
    N(launch)                                                                                                \
    N(device)                                                                                                \
    N(stream)                                                                                                \
    N(registers)                                                                                             \
    N(shared_bytes)                                                                                          \
    N(dynamic_shared_bytes)                                                                                  \
    N(result)                                                                                                \
    N(warp_instructions)                                                                                     \
    N(thread_instructions)                                                                                   \
    N(thread_instructions_pred_on)                                                                           \
    N(branches)                                                                                              \
    N(divergent_branches)                                                                                    \
    N(warps)                                                                                                 \
    N(threads)

struct launch_line {
    char *kernel;
    uint64_t grid[3], block[3];
#define N(name) uint64_t name;
    LAUNCH_NUMBERS(N)
#undef N
};

struct launch_lines {
    struct launch_line *at;
    size_t count, capacity;
};

/* All launches of all processes: those of a process in their order, and the processes ordered by what they
 * launched, not by when, so that it is the same in every run. */
bool launches_read(const char *folder, struct launch_lines *lines, struct err *err);
void launches_fini(struct launch_lines *lines);

/* One line for the user. */
void launches_summarize(const struct launch_lines *lines, const struct run *run, struct text *text);
bool launches_write(const struct launch_lines *lines, const struct run *run, const struct system *system,
                    const char *path, struct err *err);

#endif
