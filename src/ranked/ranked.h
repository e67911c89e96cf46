/* A machine on several ranks (ranks/ranks.h). Rank 0 leads: its program uses the machine as any other
 * (struct machine_ops). The other ranks follow: they have the same machine (system/over_ranks.h), with the
 * islands that are theirs, and make each call that the leader makes.
 *
 * The leader tells them of each call by an order; code, images and tasks are sent as to a machine in another
 * process (mailbox/letters.h). Bytes of a GPU's memory are at the rank that has the GPU. They are fetched
 * when the program is about to read them, and brought back when it has changed them. */
#ifndef RANKED_RANKED_H
#define RANKED_RANKED_H

#include "ranks/ranks.h"
#include "system/machine.h"

/* The leader's side. One machine at a time. */
struct machine *ranked_new(struct ranks *ranks, const struct system *system,
                           const struct machine_options *options, struct err *err);

/* No other machine will be made: the others' ranked_follow returns. */
void ranked_dismiss(struct ranks *ranks);

/* Of a process that ends while others may still call the machine: the others are dismissed, and no call does
 * anything any more. */
void ranked_leave(struct machine *machine);

/* The others' side: follows until it is dismissed. False: err says what went wrong. */
bool ranked_follow(struct ranks *ranks, struct err *err);

#endif
