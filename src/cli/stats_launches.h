/* --stats-launches: which launches are written one by one; and what a driver in this process left of them. */
#ifndef CLI_STATS_LAUNCHES_H
#define CLI_STATS_LAUNCHES_H

#include "base/err.h"

#include <stdint.h>

#define STATS_LAUNCHES_OPTION                                                                                \
    {                                                                                                        \
        "--stats-launches", "all|N-M",                                                                       \
            "launches that --stats has one by one, counted from 0 (0-9999 unless told); sums have all"       \
    }

/* From the first to before the end. `asked` is the option's value, or NULL: the first 10,000 where there is a
 * file of statistics, and none else. */
bool stats_launches_choose(const char *stats, const char *asked, uint64_t *first, uint64_t *end,
                           struct err *err);

/* What is in the run folder, in words on stdout and, if json names a file, as JSON; *any: there were
 * launches. */
struct launch_run;
bool stats_launches_report(const char *folder, const struct launch_run *how, const char *json, bool *any,
                           struct err *err);

#endif
