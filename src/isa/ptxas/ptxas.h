/* What NVIDIA's assembler (ptxas) makes of PTX, as far as results and time are concerned. PTX is not the
 * machine's code: addresses are folded into loads, products into sums, small branches become predicates,
 * divisions become subroutines, loads are moved ahead of what waits for them (ptx/assembler.h).
 *
 * Before the steps of an instruction's own may be those of a place where threads meet (CONTROL) and of
 * parameters that are loaded for it (CONST, UNIFORM); the first of its own is then chained to them. */
#ifndef PTXAS_PTXAS_H
#define PTXAS_PTXAS_H

#include "ptx/assembler.h"

extern const struct ptx_assembler ptxas;

/* Its functions. */
void ptxas_optimize(struct ptx_module *module);
void ptxas_contract(const struct ptx_function *function, const struct flow *flow, struct ptx_taken *taken);
void ptxas_assemble(struct ptx_machine_code *code, const struct ptx_function *function,
                    const struct flow *flow, const struct ptx_taken *taken);

#endif
