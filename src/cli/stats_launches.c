#include "cli/stats_launches.h"
#include "cli/timing.h"

#include <string.h>

enum { KEPT = 10000 };

bool stats_launches_choose(const char *stats, const char *asked, uint64_t *first, uint64_t *end,
                           struct err *err)
{
    *first = 0;
    *end = stats ? KEPT : 0;
    if (!asked)
        return true;
    if (!stats)
        return err_set(err, "--stats-launches needs --stats FILE");
    if (!strcmp(asked, "all")) {
        *end = UINT64_MAX;
        return true;
    }
    if (!timing_launch_range("--stats-launches", asked, first, end, err))
        return false;
    *end = *end ? *end : UINT64_MAX;
    return true;
}
