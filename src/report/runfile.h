/* A run as `heddle run --stats FILE` and `heddle bench --json FILE` wrote it, read back:
 * docs/stats.schema.json. */
#ifndef REPORT_RUNFILE_H
#define REPORT_RUNFILE_H

#include "report/json_read.h"

/* Of the layout: it gets another number when a reader of the last one could be misled, as a member goes, or
 * means something else. */
enum { STATS_LAYOUT = 2 };

struct runfile {
    const char *path;
    struct json_value *json;
};

/* Ends with runfile_fini. False: it is no run, or of another layout, and err says so. */
bool runfile_read(struct runfile *run, const char *path, struct err *err);

/* The same of a value that was read already, which stays the caller's. */
bool runfile_check(const struct json_value *json, const char *path, struct err *err);
void runfile_fini(struct runfile *run);

/* "mode" is "timing". */
bool runfile_is_timed(const struct runfile *run);

#endif
