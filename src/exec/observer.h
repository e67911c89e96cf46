/* An observer of every instruction of a launch: with time, or without (stepwise.h). Blocks that a fault stops
 * do not end. */
#ifndef EXEC_OBSERVER_H
#define EXEC_OBSERVER_H

#include "exec/exec.h"
#include "base/text.h"
#include "isa/warp.h"

struct block;
struct observer {
    /* Takes the place of the kernel's: with a step of its own, which calls the kernel's. */
    const struct isa_ops *isa;
    /* Called by the thread that runs the block, which has `observed` for the observer. */
    void (*begins)(struct observer *observer, struct block *block);
    void (*ends)(struct observer *observer, struct block *block);
    /* Of a launch on several ranks (src/ranked), or NULL: adds what it has seen since the last time; and
     * takes what another one of this launch has seen. While no block runs. */
    void (*tell)(struct observer *observer, struct text *bytes);
    bool (*take)(struct observer *observer, const char *bytes, size_t count);
};

/* What runs the warps of a launch one instruction at a time. */
static inline const struct isa_ops *launch_isa(const struct launch *launch)
{
    return launch->observer ? launch->observer->isa : launch->kernel->isa;
}

#endif
