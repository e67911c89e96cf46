/* What processes launched: read from the files that their drivers left (driver/driver.h), summed up for
 * people and written as JSON. */
#ifndef CLI_LAUNCHES_H
#define CLI_LAUNCHES_H

#include "base/err.h"
#include "base/names.h"
#include "base/text.h"
#include "driver/ledger.h"
#include "gpu/bottleneck.h"
#include "gpu/place_line.h"
#include "system/system.h"

#include <stdint.h>

struct timing_request;

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

/* Copies of one kind, and fills, in simulated time. */
struct copy_sum {
    uint64_t count, bytes;
    uint64_t busy_ps; /* in which one was under way, over all devices */
};

enum copy_kind {
#define K(name, words) COPIED_##name,
    COPY_KINDS(K)
#undef K
        COPIED_KINDS
};

struct launch_lines {
    struct launch_line *at;
    size_t count, capacity;
    struct place_list places; /* in code, that profiles name */
    struct copy_sum copies[COPIED_KINDS];
    uint64_t
        end_ps; /* simulated time until the last launch or copy ended, of the process that took longest */
};

/* All launches of all processes: those of a process in their order, and the processes ordered by what they
 * launched, not by when, so that it is the same in every run. */
bool launches_read(const char *folder, struct launch_lines *lines, struct err *err);
void launches_fini(struct launch_lines *lines);

/* What metrics of a launch are made from; `facts` is filled. */
struct metric_source launch_source(const struct launch_line *line, const struct system *system,
                                   struct launch_facts *facts);

/* Whether it ended by a mistake of its own, or by a limit. */
bool launch_failed(const struct launch_line *line);

/* How they came about, beside the launches. */
struct launch_run {
    const char *program;                 /* NULL: several, which have no time in common */
    char *const *arguments;              /* of the program, ends in NULL; or NULL */
    const struct launch_option *options; /* of a workload, ends in a NULL name; or NULL */
    const struct timing_request *request;
    const char *system_name;
    const struct system *system;
    bool timing;
    unsigned threads;
    double wall_s, cpu_s;
    int signal;          /* that ended it, or 0 */
    uint64_t hot_places; /* lines of profiles to show */
};

struct launch_option {
    const char *name;
    uint64_t value;
};

/* One line for the user ... */
void launches_summarize(const struct launch_lines *lines, const struct launch_run *run, struct text *text);
/* ... and in timing mode what bounds each kernel, a table, and places where warps waited. */
void launches_explain(const struct launch_lines *lines, const struct launch_run *run, struct text *text);

/* --stats FILE, as docs/stats.schema.json says. The layout gets another number when a reader of the last one
 * could be misled: when a member goes, or means something else. */
enum { STATS_LAYOUT = 2 };
bool launches_write(const struct launch_lines *lines, const struct launch_run *run, const char *path,
                    struct err *err);

#endif
