/* Managed memory over ranks (mem/apart.h), for the machine between runs. For this room only. In one process,
 * these do nothing. */
#ifndef SYSTEM_MANAGED_APART_H
#define SYSTEM_MANAGED_APART_H

#include "system/parts.h"

void machine_apart_fini(struct local_machine *machine);

/* Tells all who use managed memory where it is, in one process, too: GPUs have a copy, if it is apart. */
void machine_apart_place(struct local_machine *machine, struct home_range *ranges, uint32_t count);

/* What GPUs wrote comes to the program's memory: of pages that they hold, or that come to them. */
void machine_apart_fetch(struct local_machine *machine);

/* What the program changed since is given out to GPUs that hold such pages, or that they come to. */
void machine_apart_give(struct local_machine *machine);

/* The copy of these physical addresses is empty again, but for pages on the move; or all of it is, and nobody
 * has written to any. */
void machine_apart_clear(struct local_machine *machine, uint64_t at, uint64_t bytes);
void machine_apart_empty(struct local_machine *machine);

/* For checkpoints, which may be of one process, too. After one was read, all is given out. */
void machine_apart_archive(struct local_machine *machine, struct archive *archive);

/* All ranks get the leading one's list. */
void machine_apart_agree(struct local_machine *machine, struct managed_pages *pages);

/* On the leading rank: whether GPUs of others wrote to this page before the last fetch. Forgotten with
 * memsys_forget_writes. */
bool machine_apart_wrote(const struct local_machine *machine, uint64_t at);
void machine_apart_forget_writes(struct local_machine *machine);

#endif
