/* Bytes of GPUs' memory, on their way between the rank that has them and the leader. All ranks call these,
 * with the same machine and the same addresses; so no word of who has what is sent. */
#ifndef SYSTEM_BYTES_H
#define SYSTEM_BYTES_H

#include "ranks/ranks.h"
#include "system/machine.h"

/* The leader gets what is at these virtual addresses, or gives it to who has it. */
bool bytes_fetch(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err);
bool bytes_bring(struct ranks *ranks, struct machine *machine, uint64_t at, uint64_t bytes, struct err *err);

#endif
