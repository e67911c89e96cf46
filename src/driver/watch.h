/* The line on a terminal that shows how far a kernel is. */
#ifndef DRIVER_WATCH_H
#define DRIVER_WATCH_H

#include "base/progress.h"

#include <stdint.h>

struct launch;
struct machine_progress;

struct driver_watch {
    struct progress line;
    char what[160];
    char kernel[64];
};

void watch_init(struct driver_watch *watch, bool wanted);
void watch_fini(struct driver_watch *watch);                              /* wipes the line */
void watch_task(struct driver_watch *watch, const struct launch *launch); /* one begins; NULL: a copy */
void watch_show(void *user, const struct machine_progress *progress);

/* Without time: how many blocks have begun. */
void watch_begun(struct driver_watch *watch, const struct launch *launch, uint64_t begun,
                 uint64_t instructions);

#endif
