/* The passes of ptxas_optimize. */
#ifndef PTXAS_OPTIMIZE_PARTS_H
#define PTXAS_OPTIMIZE_PARTS_H

#include "ptxas/plan.h"
#include "ptxas/rewrite.h"

/* What a pass works on, made anew for each. */
struct pass {
    struct ptx_module *module;
    struct ptx_function *f;
    struct flow flow;
    struct plan plan;
    uint32_t *entries; /* by block: edges that lead to it */
};

void pass_init(struct pass *pass, struct ptx_module *module, struct ptx_function *f);
void pass_fini(struct pass *pass);

/* Machine instructions of a stretch of instructions. */
uint32_t pass_steps(const struct pass *pass, uint32_t first, uint32_t end);

/* Whether the products that these instructions make stay among themselves: one instruction writes each, and
 * it is read between first and end alone. So contraction (contract.c) does not see what is done around
 * them. */
bool pass_products_stay(const struct pass *pass, uint32_t first, uint32_t end);

void optimize_exits(struct ptx_function *f); /* optimize_branch.c */
bool optimize_branches(struct ptx_module *module,
                       struct ptx_function *f); /* optimize_branch.c: whether it changed it */
void optimize_loops(struct ptx_module *module, struct ptx_function *f);   /* optimize_loop.c */
void optimize_vectors(struct ptx_module *module, struct ptx_function *f); /* optimize_vector.c */

#endif
