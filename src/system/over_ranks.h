/* A machine whose islands are on several ranks. All ranks have the same machine and are called alike; each
 * runs its own islands. What the code between runs looks at becomes known to all after each run, here. For
 * this room only. */
#ifndef SYSTEM_OVER_RANKS_H
#define SYSTEM_OVER_RANKS_H

#include "system/parts.h"

/* Before GPUs are made: which ranks they are on. */
bool machine_plan(struct local_machine *machine, struct err *err);

/* What it took to simulate each island, on all ranks, and what passed over links: a file of loads.h, on the
 * rank that leads. All ranks call it. machine_keep_load: the machine is made anew. */
bool machine_gather_load(struct local_machine *machine, const char *path, struct err *err);
void machine_keep_load(struct local_machine *machine);

/* After a run. */
void machine_share(struct local_machine *machine);

/* The lines of a page, from its holder to its home: read on the ranks that have them there, written on those
 * that have them here. */
struct page;
typedef void machine_read_line_fn(void *user, uint32_t holder, uint64_t line, unsigned char *bytes);
typedef void machine_write_line_fn(void *user, uint64_t line, unsigned char *bytes);
void machine_move_lines(struct local_machine *machine, struct page *page, uint32_t holder,
                        machine_read_line_fn *read, machine_write_line_fn *write, void *user);

/* Whether this is one of several ranks; and the one that leads, where the program and the host's memory are.
 */
bool machine_is_spread(const struct local_machine *machine);
bool machine_leads(const struct local_machine *machine);

/* Heaps of malloc in kernels: the part of each SM is known where the SM is. When no kernel of a GPU runs any
 * more, what SMs gave back of others' parts is free. Before the host runs a kernel itself, the leading rank
 * gets all parts; before the next one in time, the others get them back. */
void machine_settle_heap(struct local_machine *machine, struct gpu_slot *gpu);
void machine_lead_heaps(struct local_machine *machine);
void machine_spread_heaps(struct local_machine *machine);

#endif
