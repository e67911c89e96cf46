/* What processes launched: read from the files that their drivers left (driver/driver.h), summed up for
 * people and written as JSON. */
#ifndef CLI_LAUNCHES_H
#define CLI_LAUNCHES_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "gpu/bottleneck.h"
#include "system/system.h"

#include <stdint.h>

/* Each number of a line is a row. */
#define LAUNCH_NUMBERS(N)                                                                                    \
    N(launch)                                                                                                \
    N(device)                                                                                                \
    N(stream)                                                                                                \
    N(registers)                                                                                             \
    N(shared_bytes)                                                                                          \
    N(dynamic_shared_bytes)                                                                                  \
    N(blocks_per_sm)                                                                                         \
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
    bool timed, interrupted;
    struct kernel_stats timing;
    struct metric_place *places; /* where warps waited longest first */
    size_t place_count, place_capacity;
};

struct launch_lines {
    struct launch_line *at;
    size_t count, capacity;
    struct names wheres; /* of places */
};

/* All launches of all processes: those of a process in their order, and the processes ordered by what they
 * launched, not by when, so that it is the same in every run. */
bool launches_read(const char *folder, struct launch_lines *lines, struct err *err);
void launches_fini(struct launch_lines *lines);

/* What metrics of a launch are made from; `facts` is filled. */
struct metric_source launch_source(const struct launch_line *line, const struct system *system,
                                   struct launch_facts *facts);

/* How they came about, beside the launches. */
struct launch_run {
    const char *program, *system_name;
    const struct system *system;
    bool timing;
    unsigned threads;
    double wall_s, cpu_s;
    int signal;          /* that ended it, or 0 */
    uint64_t hot_places; /* lines of profiles to show */
};

/* One line for the user ... */
void launches_summarize(const struct launch_lines *lines, const struct launch_run *run, struct text *text);
/* ... and in timing mode what bounds each kernel, a table, and places where warps waited. */
void launches_explain(const struct launch_lines *lines, const struct launch_run *run, struct text *text);

/* --stats FILE */
bool launches_write(const struct launch_lines *lines, const struct launch_run *run, const char *path,
                    struct err *err);

#endif
