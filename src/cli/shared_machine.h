/* The machine of `heddle run --shared`, in a process of its own: all processes of the program attach to it.
 */
#ifndef CLI_SHARED_MACHINE_H
#define CLI_SHARED_MACHINE_H

#include "base/err.h"
#include "system/system.h"

#include <sys/types.h>

struct shared_machine {
    pid_t process; /* 0: none */
};

/* Returns when programs can attach at this path. `waits`: time never passes without one that is silent. */
bool shared_machine_start(struct shared_machine *machine, const char *path, const struct system *system,
                          unsigned threads, bool waits, struct err *err);
void shared_machine_end(struct shared_machine *machine);

#endif
