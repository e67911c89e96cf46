/* What was asked of `heddle caches`, and whether its options go together. */
#ifndef CLI_CACHES_CHECK_H
#define CLI_CACHES_CHECK_H

#include "cachesim/runs/runs.h"

struct caches_asked {
    struct caches_request request;
    const char *json, *plot, *evaluate; /* files, and the folder of an evaluation; or NULL */
    bool quick, device_told;
};

/* All that can be said before a trace is opened. */
bool cmd_caches_check_asked(const struct caches_asked *asked, struct err *err);

/* The same with --evaluate, whose machines and traces are its own. */
bool cmd_caches_check_evaluate(const struct caches_asked *asked, struct err *err);

#endif
