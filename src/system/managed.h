/* Managed memory that moves on demand (mem/uvm.h), for the machine between runs. For this room only. Where
 * there is none, these do nothing.
 *
 * The program's CPU uses managed memory at its address, and nothing tells of that. So what kernels wrote is
 * brought there whenever one has ended. Before one begins, and when nothing runs any more, pages that GPUs
 * hold are compared with what they were before: those that changed, and that no GPU wrote to, are the host's
 * again.
 */
#ifndef SYSTEM_MANAGED_H
#define SYSTEM_MANAGED_H

#include "system/parts.h"

void machine_managed_fini(struct local_machine *machine);

/* A kernel or a prefetch has ended; and one is about to begin. */
void machine_managed_settle(struct local_machine *machine);
void machine_managed_take_back(struct local_machine *machine);

/* The program has a kernel, a copy or a prefetch begin. */
void machine_managed_turn(struct local_machine *machine);

/* For checkpoints: what GPUs may have written is noted; and what is known of pages. */
void machine_managed_note_writes(struct local_machine *machine);
void machine_managed_archive(struct local_machine *machine, struct archive *archive);

/* The machine is about to be made anew: no GPU holds pages any more. */
void machine_managed_leave(struct local_machine *machine);

/* A copy has changed memory of the host. */
void machine_managed_changed(struct local_machine *machine, const struct task *task);

/* The program allocated memory, freed or advised it, or a GPU has more or less room. */
void machine_managed_order(struct local_machine *machine, const struct managed_order *order);

/* Prefetches. */
void machine_managed_begin_prefetch(struct local_machine *machine, struct task *task);
bool machine_managed_has_prefetched(struct local_machine *machine,
                                    struct task *task); /* or sets when to ask again */

#endif
