/* The line on a terminal that shows how far a simulated kernel is. */
#ifndef DRIVER_WATCH_H
#define DRIVER_WATCH_H

#include "base/progress.h"

struct launch;
struct machine_progress;

struct watch {
    struct progress line;
    char what[160];
    char kernel[64];
};

void watch_init(struct watch *watch, bool wanted);
void watch_fini(struct watch *watch);                              /* wipes the line */
void watch_task(struct watch *watch, const struct launch *launch); /* one begins; NULL: a copy */
void watch_show(void *user, const struct machine_progress *progress);

#endif
