/* Atomic operations of a warp on one address. If the address is provably the same for all lanes, ptxas lets
 * one lane perform the operation for all (seen in the code it generates for sm_90). The operands are combined
 * first (REDUX, or, for a sum of equal ones, the number of lanes), and a vote selects the lane. With a
 * result, it is sent back to all lanes (SHFL), and each adds the operands of the lanes before it; only sums
 * of equal operands are merged in this case. Floats, 64 bits, and all other operations are not changed. */
#include "ptxas/plan.h"
#include "base/bits.h"

static const struct form {
    bool returns, same, times; /* operands: the same for all lanes; and not just 1 */
    const char *steps;
    const char *again; /* in the same block, where who does it is known already */
} forms[] = {
    {false, false, false, "CA/R VUA!L", "CA!L"},
    {false, true, false, "V/RUA C!L", "!L"},
    {false, true, true, "V/RUA CI!L", "I!L"},
    {true, true, false, "V/RCA C!L/R/A/C/W/A", "!L/W/A"},
    {true, true, true, "V/RCA CI!L/R/A/C/W/I", "I!L/W/I"},
};

static bool is_of_words(const struct opcode *opcode)
{
    return opcode->vector == 1 &&
           (opcode->type == PTX_s32 || opcode->type == PTX_u32 || opcode->type == PTX_b32);
}

static bool has_any(const char *opcode, const char *const *modifiers)
{
    for (; *modifiers; modifiers++)
        if (ptx_opcode_has(opcode, *modifiers))
            return true;
    return false;
}

static bool may_merge(const struct opcode *opcode)
{
    static const char *const merging[] = {"add", "min", "max", "and", "or", "xor", NULL};
    static const char *const ordering[] = {"acquire", "release", "acq_rel", "async", NULL};
    return opcode->kind == KIND_ATOMIC && is_of_words(opcode) && has_any(opcode->text, merging) &&
           !has_any(opcode->text, ordering);
}

static bool is_one(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OP_INTEGER && operand->value == 1;
}

/* Shared memory counts lanes by itself (ATOMS.POPC.INC). */
static bool counts_in_shared(const struct opcode *opcode, const struct ptx_operand *operand, bool returns)
{
    return opcode->space == PTX_SHARED && !returns && is_one(operand) && ptx_opcode_has(opcode->text, "add");
}

static const struct form *form_of(const struct plan *plan, uint32_t i)
{
    const struct ptx_inst *inst = &plan->f->insts[i];
    const struct opcode *opcode = values_opcode(&plan->values, i);
    uint32_t at = ptx_written_operands(plan->f, inst);
    const struct ptx_operand *result = values_operand(&plan->values, i, 0);
    const struct ptx_operand *address = values_operand(&plan->values, i, at);
    const struct ptx_operand *operand = values_operand(&plan->values, i, at + 1);
    bool returns = at && result->kind == PTX_OP_REGISTER && plan->values.at[result->index].count;
    if (!may_merge(opcode) || plan_operand_varies(plan, address) ||
        counts_in_shared(opcode, operand, returns))
        return NULL;
    bool same = ptx_opcode_has(opcode->text, "add") && !plan_operand_varies(plan, operand);
    bool times = same && !is_one(operand);
    for (size_t k = 0; k < COUNT_OF(forms); k++)
        if (forms[k].returns == returns && forms[k].same == same && forms[k].times == times)
            return &forms[k];
    return NULL;
}

/* What a function gets from who calls it may differ. */
void plan_merge(struct plan *plan)
{
    uint32_t known_in = UINT32_MAX; /* the block whose lanes have voted */
    for (uint32_t i = 0; plan->f->is_kernel && i < plan->f->inst_count; i++) {
        const struct form *form = plan->dead[i] ? NULL : form_of(plan, i);
        if (!form)
            continue;
        uint32_t block = plan->flow->block_of[i];
        bool guarded = plan->f->insts[i].guard >= 0;
        plan->steps[i] = block == known_in && !guarded ? form->again : form->steps;
        if (!guarded)
            known_in = block;
    }
}
