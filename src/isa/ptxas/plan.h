/* The parts of ptxas_assemble: what each finds out about a function, for the others. */
#ifndef PTXAS_PLAN_H
#define PTXAS_PLAN_H

#include "ptxas/ptxas.h"
#include "ptxas/values.h"

/* A sum of 64 bits that only one unit can do: of three, or with a shift. */
#define STEPS_SUM_64 "A/A1"

struct plan {
    const struct ptx_function *f;
    const struct flow *flow;
    struct values values;
    const char **steps; /* by instruction: as in opcodes.c; "" when it is folded away */
    bool *dead;         /* by instruction: nobody needs its result */
    bool *varies;       /* by register: differs from lane to lane of a warp, as far as can be told */
    uint8_t *opens; /* by instruction: how many places where threads meet again are set up behind it (BSSY) */
    uint8_t *pairs, *words; /* by instruction: parameters of 64 and 32 bits that are loaded for it */
    uint8_t *closes;        /* by instruction: how many threads meet before it (BSYNC) */
};

void plan_init(struct plan *plan, const struct ptx_function *f, const struct flow *flow, const bool *absorbed,
               bool narrow);
void plan_fini(struct plan *plan);

void plan_dead(struct plan *plan);   /* plan_dead.c: fills dead */
void plan_narrow(struct plan *plan); /* plan_narrow.c: opcodes of 64 bits become ones of 32 */
void plan_varies(struct plan *plan); /* plan_diverge.c: fills varies, opens and closes */
bool plan_operand_varies(const struct plan *plan, const struct ptx_operand *operand);
void plan_fold(struct plan *plan, const bool *absorbed); /* plan_fold.c: fills steps */
bool plan_is_param(const struct plan *plan, uint32_t i); /* whether it loads one of the kernel's */
void plan_merge(struct plan *plan);                      /* plan_merge.c: changes steps */
void plan_block(struct plan *plan);                      /* plan_block.c: changes steps */
void plan_balance(struct plan *plan);                    /* plan_balance.c: changes steps */
void plan_params(struct plan *plan);                     /* plan_params.c: fills pairs and words */
int32_t *plan_loops(const struct flow *flow); /* by block: in how many loops it is; the caller's to free */
uint32_t plan_registers(const struct plan *plan); /* plan_registers.c */

#endif
