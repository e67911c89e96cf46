/* --stats-launches: which launches `run` and workloads write one by one. */
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

#endif
