/* Which instructions let blocks of a launch learn of each other. */
#ifndef PTX_RUN_MEET_H
#define PTX_RUN_MEET_H

#include "ptx/ptx.h"

/* Whether the order of blocks may be seen by this instruction. `read`, by register: it is read somewhere. */
bool meet_is_ordered(const struct ptx_function *f, const struct ptx_inst *inst, const uint8_t *read);

/* Whether others may see what it does, or it what others do, in a program without races: atomics, accesses
 * that are volatile or synchronize, fences, functions whose calls have an order. */
bool meet_others(const struct ptx_function *f, const struct ptx_inst *inst);

#endif
