/* Many runs as one experiment, read back: what `heddle caches --json` and `heddle study --json` wrote. */
#ifndef REPORT_EXPERIMENT_H
#define REPORT_EXPERIMENT_H

#include "report/json_read.h"

enum experiment_kind {
    EXPERIMENT_NONE,  /* it is something else: a run (report/runfile.h) */
    EXPERIMENT_SWEEP, /* of `heddle caches`: with --sweep, or of one configuration */
    EXPERIMENT_STUDY,
};

struct experiment {
    const char *path;
    const struct json_value *json;
    enum experiment_kind kind;
};

enum experiment_kind experiment_kind(const struct json_value *json);

/* False: members are missing without which nothing can be shown, and err says so. */
bool experiment_check(const struct experiment *experiment, struct err *err);

/* The configurations of a sweep: how many, and one. */
size_t experiment_configurations(const struct json_value *sweep);
const struct json_value *experiment_configuration(const struct json_value *sweep, size_t number);

#endif
