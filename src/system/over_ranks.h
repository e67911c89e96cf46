/* A machine whose islands are on several ranks. All ranks have the same machine and are called alike; each
 * runs its own islands. What the code between runs looks at becomes known to all after each run, here. For
 * this room only. */
#ifndef SYSTEM_OVER_RANKS_H
#define SYSTEM_OVER_RANKS_H

#include "system/parts.h"

/* Before the engine is ready: where islands are. */
bool machine_place(struct local_machine *machine, struct err *err);

/* After a run. */
void machine_share(struct local_machine *machine);

/* Whether this is one of several ranks; and the one that leads, where the program and the host's memory are.
 */
bool machine_is_spread(const struct local_machine *machine);
bool machine_leads(const struct local_machine *machine);

#endif
