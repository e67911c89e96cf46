/* A model of NVIDIA's assembler (ptxas), as far as results and timing are concerned. PTX is not machine code:
 * addresses are folded into loads, products into sums, small branches become predicates, divisions become
 * subroutines, loads are moved ahead of their uses (ptx/assembler.h).
 *
 * The steps of an instruction may be preceded by those of a reconvergence point (CONTROL) and of parameters
 * that are loaded for it (CONST, UNIFORM); its own first step is then chained to them. */
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
