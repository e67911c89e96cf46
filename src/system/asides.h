/* What ranks tell the leading one while a machine runs (struct engine_asides), so that it can tell its caller
 * what happens on all of them. For this room only. */
#ifndef SYSTEM_ASIDES_H
#define SYSTEM_ASIDES_H

#include "system/parts.h"

struct asides;

/* NULL where the machine is on one rank. Ends before the machine does. */
struct asides *asides_new(struct local_machine *machine);
void asides_free(struct asides *asides);

const struct engine_asides *asides_of_run(const struct asides *asides); /* or NULL */

/* Who listens. Gives the probe for this rank's parts, which notes what happens; the leading rank tells the
 * listener of all that happens on all ranks, in the order of time, then of places (engine_moment). */
struct probe asides_listen(struct asides *asides, const struct probe *listener);
const struct probe *asides_listener(const struct asides *asides, const struct probe *otherwise);
void asides_flush(struct asides *asides); /* after a run: all of it was told */
bool asides_were_altered(const struct asides *asides);

/* A kernel begins: other ranks will tell its watch of what they see, or this one tells that of the leading
 * rank. */
void asides_begin(struct asides *asides, const struct task *task);

/* On the leading rank: adds what other ranks have told of a GPU's kernels. */
void asides_add_progress(const struct asides *asides, uint32_t gpu, struct gpu_progress *progress);

/* A kernel of this GPU begins or has ended: what was told is of no use any more. */
void asides_forget_progress(struct asides *asides, uint32_t gpu);

#endif
