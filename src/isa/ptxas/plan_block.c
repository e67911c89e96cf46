/* Patterns that ptxas recognizes within a basic block, independent of register names: a selection that is a
 * minimum, divisors whose reciprocal is already known, chains of 64-bit sums. */
#include "ptxas/plan.h"

#include <string.h>

enum { LOOK_AHEAD = 16, DIVISORS_MOST = 8, LITERALS_MOST = 8 };

struct look {
    uint32_t index;
    bool reads, writes;
};

static void see_register(void *context, uint32_t index, bool written)
{
    struct look *look = context;
    if (index == look->index)
        *(written ? &look->writes : &look->reads) = true;
}

static struct look look_at(const struct plan *plan, uint32_t i, uint32_t index)
{
    struct look look = {.index = index};
    ptx_each_register(plan->f, &plan->f->insts[i], see_register, &look);
    return look;
}

static uint32_t block_end(const struct plan *plan, uint32_t i)
{
    const struct flow_block *block = &plan->flow->blocks[plan->flow->block_of[i]];
    return block->first + block->count;
}

/* The next instruction of the block that reads the register, if it is near and the only one: it writes the
 * register itself, or nobody else reads it. Else VALUES_NONE. */
static uint32_t only_reader(const struct plan *plan, uint32_t i, uint32_t index)
{
    uint32_t end = block_end(plan, i);
    for (uint32_t k = i + 1; k < end && k <= i + LOOK_AHEAD; k++) {
        struct look look = look_at(plan, k, index);
        if (look.reads)
            return look.writes || plan->values.at[index].count == 1 ? k : VALUES_NONE;
        if (look.writes)
            return VALUES_NONE;
    }
    return VALUES_NONE;
}

static bool same_operand(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == PTX_OP_REGISTER ? a->index == b->index
                                      : a->kind == PTX_OP_INTEGER && a->value == b->value;
}

static bool unchanged(const struct plan *plan, uint32_t from, uint32_t to, const struct ptx_operand *operand)
{
    for (uint32_t k = from + 1; operand->kind == PTX_OP_REGISTER && k < to; k++)
        if (look_at(plan, k, operand->index).writes)
            return false;
    return true;
}

static bool orders_integers(const struct opcode *opcode)
{
    return !strcmp(opcode->text, "setp.lt.s32") || !strcmp(opcode->text, "setp.lt.u32") ||
           !strcmp(opcode->text, "setp.le.s32") || !strcmp(opcode->text, "setp.le.u32") ||
           !strcmp(opcode->text, "setp.gt.s32") || !strcmp(opcode->text, "setp.gt.u32") ||
           !strcmp(opcode->text, "setp.ge.s32") || !strcmp(opcode->text, "setp.ge.u32");
}

/* A comparison of two integers, and a choice between the same two by it. */
static void find_minimum(struct plan *plan, uint32_t i)
{
    const struct values *values = &plan->values;
    const struct ptx_operand *result = values_operand(values, i, 0), *a = values_operand(values, i, 1),
                             *b = values_operand(values, i, 2);
    if (!orders_integers(values_opcode(values, i)) || result->kind != PTX_OP_REGISTER)
        return;
    uint32_t by = only_reader(plan, i, result->index);
    if (by == VALUES_NONE || values_opcode(values, by)->kind != KIND_SELECT ||
        plan->f->insts[by].guard >= 0 || strcmp(plan->steps[by], "A") != 0)
        return;
    const struct ptx_operand *x = values_operand(values, by, 1), *y = values_operand(values, by, 2);
    bool same = (same_operand(a, x) && same_operand(b, y)) || (same_operand(a, y) && same_operand(b, x));
    if (same && unchanged(plan, i, by, a) && unchanged(plan, i, by, b))
        plan->steps[i] = "";
}

/* Sums of 64 bits in a row are done two at a time, by sums of three; where the same is added twice, only the
 * upper halves are (seen in one loop only, the microbenchmark's). */
static bool find_sums(struct plan *plan, uint32_t i)
{
    const struct values *values = &plan->values;
    const struct ptx_operand *result = values_operand(values, i, 0);
    if (values_opcode(values, i)->kind != KIND_ADD64 || strcmp(plan->steps[i], "A/A") != 0 ||
        result->kind != PTX_OP_REGISTER || plan->f->insts[i].guard >= 0)
        return false;
    uint32_t by = only_reader(plan, i, result->index);
    if (by == VALUES_NONE || values_opcode(values, by)->kind != KIND_ADD64 ||
        strcmp(plan->steps[by], "A/A") != 0 || plan->f->insts[by].guard >= 0)
        return false;
    const struct ptx_operand *added = values_operand(values, i, 2), *then = values_operand(values, by, 2);
    if (!same_operand(values_operand(values, by, 1), result))
        then = values_operand(values, by, 1);
    plan->steps[i] = same_operand(added, then) ? "A" : "";
    plan->steps[by] = STEPS_SUM_64;
    return true;
}

/* Divisors whose reciprocal is at hand. */
struct divisors {
    uint32_t index[DIVISORS_MOST];
    bool is_signed[DIVISORS_MOST];
    uint32_t count;
};

static const struct {
    const char *text, *steps;
} again[] = {
    {"div.s32", "A/AQ/AIIA?I/IA?IIA"},
    {"rem.s32", "A/AQIIA?IA?IIA"},
    {"div.u32", "QIIA?I/AA?IA"},
    {"rem.u32", "QIIA?IA?IA"},
};

static void forget_written(void *context, uint32_t index, bool written)
{
    struct divisors *known = context;
    for (uint32_t k = 0; written && k < known->count;)
        if (known->index[k] == index) {
            known->count--;
            known->index[k] = known->index[known->count];
            known->is_signed[k] = known->is_signed[known->count];
        } else {
            k++;
        }
}

static bool is_known(struct divisors *known, uint32_t index, bool is_signed)
{
    for (uint32_t k = 0; k < known->count; k++)
        if (known->index[k] == index && known->is_signed[k] == is_signed)
            return true;
    uint32_t at = known->count < DIVISORS_MOST ? known->count++ : 0;
    known->index[at] = index;
    known->is_signed[at] = is_signed;
    return false;
}

static void find_divisor(struct plan *plan, uint32_t i, struct divisors *known)
{
    const char *text = values_opcode(&plan->values, i)->text;
    const struct ptx_operand *by = values_operand(&plan->values, i, 2);
    for (size_t k = 0; by->kind == PTX_OP_REGISTER && k < sizeof again / sizeof *again; k++)
        if (!strcmp(text, again[k].text) && is_known(known, by->index, text[4] == 's'))
            plan->steps[i] = again[k].steps;
}

/* Numbers that a block has in registers. */
struct literals {
    uint64_t value[LITERALS_MOST];
    uint32_t count;
};

static bool is_literal(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OP_INTEGER || operand->kind == PTX_OP_FLOAT;
}

/* An instruction has room for one number: of two, one is moved to a register before. */
static void find_literals(struct plan *plan, uint32_t i, struct literals *literals)
{
    const struct ptx_operand *factor = values_operand(&plan->values, i, 2);
    bool is_integer = !strcmp(plan->steps[i], "I"), is_float = !strcmp(plan->steps[i], "F");
    if ((!is_integer && !is_float) || !is_literal(factor) || !is_literal(values_operand(&plan->values, i, 3)))
        return;
    for (uint32_t k = 0; k < literals->count; k++)
        if (literals->value[k] == factor->value)
            return;
    literals->value[literals->count < LITERALS_MOST ? literals->count++ : 0] = factor->value;
    plan->steps[i] = is_integer ? "AI" : "AF";
}

void plan_block(struct plan *plan)
{
    struct divisors known = {.count = 0};
    struct literals literals = {.count = 0};
    uint32_t block = UINT32_MAX;
    bool was_sum = false;
    for (uint32_t i = 0; i < plan->f->inst_count; i++) {
        if (plan->flow->block_of[i] != block)
            known.count = literals.count = 0;
        block = plan->flow->block_of[i];
        if (plan->dead[i] || !plan->steps[i][0])
            continue;
        find_minimum(plan, i);
        was_sum = !was_sum && find_sums(plan, i);
        find_divisor(plan, i, &known);
        find_literals(plan, i, &literals);
        if (known.count)
            ptx_each_register(plan->f, &plan->f->insts[i], forget_written, &known);
    }
}
