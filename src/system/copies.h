/* Copies and fills as tasks of a machine: queues, orders to DMA engines, and ends. For this room only.
 *
 * Each direction of a GPU does one copy at a time. A copy without interference takes the time that the
 * description gives (a latency, and its bytes at the bandwidth), so its end is planned when it begins. If it
 * is late, because kernels use the same links and memory, the machine checks again every COPY_LATE_PS. */
#ifndef SYSTEM_COPIES_H
#define SYSTEM_COPIES_H

#include "system/parts.h"

enum { COPY_LATE_PS = 100 * 1000 };

/* Tells the engines of the copies among machine->waiting that can begin now. */
void copies_begin(struct local_machine *machine);

/* A copy whose planned end is here: true when all is there. Else it has another end. */
bool copies_take_end(struct local_machine *machine, struct task *task);

/* Some copy is on its way; one that takes the simulator as long as a small kernel. */
bool copies_run(const struct local_machine *machine);
bool copies_are_long(const struct local_machine *machine);

/* Checkpoints: what the machine has of a copy that is on its way, beside its engine; and of one that ended,
 * which replayed moves its bytes at once. */
void copies_archive(struct local_machine *machine, struct task *task, struct archive *archive);
void copies_archive_ended(const struct local_machine *machine, const struct task *task,
                          struct archive *archive);

#endif
