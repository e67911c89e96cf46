/* Bytes of GPUs' memory, on their way between the rank that has them and the leader. All ranks call these,
 * with the same machine and the same addresses; so no word of who has what is sent. */
#ifndef SYSTEM_OWNED_H
#define SYSTEM_OWNED_H

#include "ranks/ranks.h"
#include "system/machine.h"

/* The leader gets what is at these virtual addresses, or gives it to who has it. */
bool owned_fetch(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err);
bool owned_bring(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err);

#endif
