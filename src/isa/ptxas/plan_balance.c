/* Chooses the unit for instructions that several units can execute. */
#include "ptxas/plan.h"

#include <string.h>

/* Counters that are the same in all lanes are kept once for the warp. */
static void keep_once(struct plan *plan, uint32_t i)
{
    const struct ptx_operand *result = values_operand(&plan->values, i, 0);
    uint8_t kind = values_opcode(&plan->values, i)->kind;
    bool can = kind == KIND_ADD || kind == KIND_SUB || kind == KIND_SHL;
    if (can && result->kind == PTX_OP_REGISTER && plan->values.at[result->index].writes > 1 &&
        !plan->varies[result->index] && !strcmp(plan->steps[i], "A"))
        plan->steps[i] = "U";
}

/* A sum of two, a shift and sum, a move, the upper half of a long sum can as well be done by the unit that
 * multiplies. */
static const char *as_product(const struct plan *plan, uint32_t i)
{
    const struct opcode *opcode = values_opcode(&plan->values, i);
    if (opcode->kind == KIND_ADD64 && !strcmp(plan->steps[i], "A/A"))
        return "A/I";
    if (strcmp(plan->steps[i], "A") != 0)
        return NULL;
    if (opcode->kind == KIND_MOVE || opcode->kind == KIND_SHL)
        return "I";
    if (opcode->kind != KIND_ADD && opcode->kind != KIND_SUB)
        return NULL;
    for (uint32_t k = 1; k <= 2; k++) {
        uint32_t maker = values_maker(&plan->values, values_operand(&plan->values, i, k));
        if (maker != VALUES_NONE && !plan->steps[maker][0] &&
            (values_opcode(&plan->values, maker)->kind == KIND_ADD ||
             values_opcode(&plan->values, maker)->kind == KIND_SUB))
            return NULL; /* three are added */
    }
    return "I";
}

/* ptxas spreads what both can do over the two units. */
static void balance_block(struct plan *plan, const struct flow_block *block)
{
    uint32_t sums = 0, products = 0;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        if (as_product(plan, i))
            continue;
        for (const char *at = plan->steps[i]; *at; at++) {
            sums += *at == 'A';
            products += *at == 'I' || *at == 'F' || *at == 'H' || *at == 'Q';
        }
    }
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const char *other = as_product(plan, i);
        if (!other)
            continue;
        bool takes = sums >= products;
        sums += !takes || other[0] == 'A';
        products += takes;
        if (takes)
            plan->steps[i] = other;
    }
}

void plan_balance(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->f->inst_count; i++)
        keep_once(plan, i);
    for (uint32_t b = 0; b < plan->flow->block_count; b++)
        balance_block(plan, &plan->flow->blocks[b]);
}
