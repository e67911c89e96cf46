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

void driver_watch_init(struct driver_watch *watch, bool wanted);
void driver_watch_fini(struct driver_watch *watch); /* wipes the line */
void driver_watch_task(struct driver_watch *watch,
                       const struct launch *launch); /* one begins; NULL: a copy */
void driver_watch_show(void *user, const struct machine_progress *progress);

/* Without time: how many blocks have begun. */
void driver_watch_begun(struct driver_watch *watch, const struct launch *launch, uint64_t begun,
                        uint64_t instructions);

#endif
