/* A progress line on a terminal for whatever takes over a second: share done, rate, time left. Nothing is
 * written when stderr is no terminal. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what, *unit; /* "phold", "events" */
    bool terminal, shown;
    double start, last;
};

void progress_init(struct progress *progress, const char *what, const char *unit);

/* `share` is how much of all is done, 0 to 1 (below 0: not known); `count` how many units so far. Cheap to
 * call often. */
void progress_update(struct progress *progress, double share, uint64_t count);

/* Wipes the line. */
void progress_fini(struct progress *progress);

#endif
