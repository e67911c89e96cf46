/* What a machine shows of itself to people, as JSON; and what they may ask of it. Of a machine that
 * machine_new made, while it stands still: between calls, or in its windows' call. */
#ifndef SYSTEM_VIEW_H
#define SYSTEM_VIEW_H

#include "base/text.h"
#include "system/machine.h"

/* Members of an object: time, kernels, SMs, slices, links, who waits for whom. */
void machine_show_state(struct machine *machine, struct text *json);

/* The cycle of the SMs' clock that it shows. */
uint64_t machine_shown_cycle(struct machine *machine);

/* How far kernels were when somebody looked before. */
struct machine_seen {
    uint64_t tasks, ended, instructions; /* sums over kernels that run */
    uint64_t cycle, issue_cycle;         /* since when no block has ended, and no instruction was issued */
};

/* Elements of a list: what goes on, and why it takes so long, in sentences. */
void machine_explain(struct machine *machine, struct machine_seen *seen, struct text *json);

/* An object: the counters of a component, its ports, and where the warps of an SM are. */
bool machine_show_component(struct machine *machine, const char *name, struct text *json, struct err *err);

/* In the windows' call: a checkpoint is written when that returns, and the run goes on. Between calls it is
 * written at once. */
bool machine_wish_checkpoint(struct machine *machine, bool in_window, struct err *err);

#endif
