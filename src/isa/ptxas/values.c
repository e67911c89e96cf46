#include "ptxas/values.h"
#include "base/mem.h"

#include <string.h>

struct walk {
    struct values *values;
    uint32_t inst;
    uint32_t *at; /* by register: where its next reader goes */
};

static void see_count(void *context, uint32_t index, bool written)
{
    struct walk *walk = context;
    struct value *value = &walk->values->at[index];
    if (!written) {
        value->count++;
        return;
    }
    if (!value->writes++)
        value->maker = walk->inst;
    value->guarded |= walk->values->f->insts[walk->inst].guard >= 0;
}

static void see_reader(void *context, uint32_t index, bool written)
{
    struct walk *walk = context;
    if (!written)
        walk->values->readers[walk->at[index]++] = walk->inst;
}

void values_init(struct values *values, const struct ptx_function *f)
{
    *values = (struct values){.f = f};
    values->at = mem_alloc(f->register_count + 1, sizeof *values->at);
    values->number = mem_alloc(f->inst_count + 1, sizeof *values->number);
    struct walk walk = {.values = values};
    for (uint32_t r = 0; r < f->register_count; r++)
        values->at[r].maker = VALUES_NONE;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        walk.inst = i;
        values->number[i] = opcodes_find(&values->opcodes, f->insts[i].opcode);
        ptx_each_register(f, &f->insts[i], see_count, &walk);
    }
    walk.at = mem_alloc(f->register_count + 1, sizeof *walk.at);
    uint32_t total = 0;
    for (uint32_t r = 0; r < f->register_count; r++) {
        walk.at[r] = values->at[r].first = total;
        total += values->at[r].count;
    }
    values->readers = mem_alloc(total + 1, sizeof *values->readers);
    for (walk.inst = 0; walk.inst < f->inst_count; walk.inst++)
        ptx_each_register(f, &f->insts[walk.inst], see_reader, &walk);
    mem_free(walk.at);
}

void values_fini(struct values *values)
{
    mem_free(values->at);
    mem_free(values->readers);
    mem_free(values->number);
    opcodes_fini(&values->opcodes);
    *values = (struct values){0};
}

const struct ptx_operand *values_operand(const struct values *values, uint32_t inst, uint32_t i)
{
    static const struct ptx_operand none = {.kind = PTX_OP_SINK};
    const struct ptx_inst *at = &values->f->insts[inst];
    return i < at->count ? &values->f->operands[at->first + i] : &none;
}

uint32_t values_maker(const struct values *values, const struct ptx_operand *operand)
{
    if (operand->kind != PTX_OP_REGISTER)
        return VALUES_NONE;
    const struct value *value = &values->at[operand->index];
    return value->writes == 1 && !value->guarded ? value->maker : VALUES_NONE;
}

uint32_t values_result(const struct values *values, uint32_t inst)
{
    const struct ptx_operand *result = values_operand(values, inst, 0);
    if (result->kind != PTX_OP_REGISTER || !ptx_written_operands(values->f, &values->f->insts[inst]))
        return VALUES_NONE;
    return values_maker(values, result) == inst ? result->index : VALUES_NONE;
}
