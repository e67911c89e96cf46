/* Tasks of a machine: how kernels and copies begin and end, and what a fault or a limit stops. (What copies
 * do is in copies.h.) For this room only. */
#ifndef SYSTEM_TASKS_H
#define SYSTEM_TASKS_H

#include "system/parts.h"

/* The task begins, or waits for a slot of its GPU, or for its turn. */
void tasks_begin(struct local_machine *machine, struct task *task);

/* All that has ended by now is told, and what waited for it begins. True: some task is over. */
bool tasks_finish(struct local_machine *machine);

/* When a kernel will have taken too long; and those that have fail. True: some did. */
uint64_t tasks_first_limit(const struct local_machine *machine);
bool tasks_stop_late(struct local_machine *machine);

/* Whether a fault stopped a GPU that was not made anew yet. */
bool tasks_stopped_gpu(const struct local_machine *machine);

#endif
