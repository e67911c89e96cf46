/* What the machine's compiler (ptxas) makes of PTX, as far as time is concerned. PTX is not the machine's
 * code: addresses are folded into loads, products into sums, small branches become predicates, divisions
 * become subroutines, loads are moved ahead of what waits for them. Two passes follow it:
 *
 *   ptx_optimize   changes a module to what means the same, in the order and form that ptxas gives it
 *   machine_init   tells of each instruction which machine instructions it becomes, if any
 *
 * An instruction without steps is part of others, or only a name: its result is there when its sources are.
 * Before the steps of an instruction's own may be those of a place where threads meet (CONTROL) and of
 * parameters that are loaded for it (CONST, UNIFORM); the first of its own is then chained to them. */
#ifndef PTX_MACHINE_H
#define PTX_MACHINE_H

#include "ptx/flow.h"

/* Changes the functions of a module in place; before it is linked. */
void ptx_optimize(struct ptx_module *module);

struct machine {
    struct isa_step *steps; /* of all instructions, one after another */
    uint32_t *first;    /* by instruction, and one behind the last: steps[first[i]] to [first[i + 1] - 1] */
    uint32_t registers; /* that a thread needs: what ptxas -v says, as near as can be told */
};

/* `absorbed`, by instruction: products that are computed inside of the sums that take them (exec/contract.c),
 * so they become no step of their own; NULL: none. */
void machine_init(struct machine *machine, const struct ptx_function *function, const struct flow *flow,
                  const bool *absorbed);
void machine_fini(struct machine *machine);

/* Finds what is absorbed: `taken` tells of each sum the product it takes, plus 1, or 0. Nothing but sums that
 * take it reads such a product. */
void machine_absorbed(const struct ptx_function *function, const uint32_t *taken, bool *absorbed);

#endif
