#include "cli/stats_launches.h"
#include "cli/timing.h"
#include "report/launches/launches.h"

#include <stdio.h>
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

bool stats_launches_report(const char *folder, const struct launch_run *how, const char *json, bool *any,
                           struct err *err)
{
    struct launches lines = {0};
    struct text words = {0};
    bool good = launches_read(folder, &lines, err);
    *any = lines.count;
    launches_explain(&lines, how, &words);
    if (words.length)
        fputs(words.at, stdout);
    if (good && json)
        good = launches_write(&lines, how, json, err);
    good = good && launches_are_whole(&lines, folder, err);
    text_fini(&words);
    launches_fini(&lines);
    return good;
}
