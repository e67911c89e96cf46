/* A run as `heddle run --stats FILE` and `heddle bench --json FILE` wrote it, read back:
 * docs/stats.schema.json. */
#ifndef REPORT_RUN_FILE_H
#define REPORT_RUN_FILE_H

#include "report/json_read.h"

/* Of the layout: it gets another number when a reader of the last one could be misled, as a member goes, or
 * means something else. */
enum { STATS_LAYOUT = 2 };

struct run_file {
    const char *path;
    struct json_value *json;
};

/* Ends with run_file_fini. False: it is no run, or of another layout, and err says so. */
bool run_file_read(struct run_file *run, const char *path, struct err *err);

/* The same of a value that was read already, which stays the caller's. */
bool run_file_check(const struct json_value *json, const char *path, struct err *err);
void run_file_fini(struct run_file *run);

/* "mode" is "timing". */
bool run_file_is_timed(const struct run_file *run);

#endif
