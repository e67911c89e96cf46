/* Which variable of shared memory an access is of, where the text of the program leaves no doubt: its address
 * is made of the variable's, by additions and the like. */
#include "exec/place.h"
#include "ptx_run/code.h"
#include "ptx_run/isa.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* What a register may hold, of all values that are written to it. */
enum holding { HOLDS_NOTHING, HOLDS_NUMBER, HOLDS_ADDRESS, HOLDS_ANY };

struct held {
    enum holding what;
    const struct ptx_variable *variable; /* of an address: in it, or behind */
};

struct search {
    const struct ptx_function *function;
    const struct ptx_module *module;
    struct held *registers;
    const struct ptx_inst *writer; /* that is looked at */
    bool changed;
};

static struct held join(struct held a, struct held b)
{
    if (a.what == HOLDS_NOTHING || b.what == HOLDS_NOTHING)
        return a.what == HOLDS_NOTHING ? b : a;
    if (a.what == b.what && a.variable == b.variable)
        return a;
    return (struct held){HOLDS_ANY, NULL};
}

static struct held sum(struct held a, struct held b)
{
    if (a.what == HOLDS_NOTHING || b.what == HOLDS_NOTHING) /* not known yet */
        return (struct held){HOLDS_NOTHING, NULL};
    if (a.what == HOLDS_NUMBER || b.what == HOLDS_NUMBER)
        return a.what == HOLDS_NUMBER ? b : a;
    return (struct held){HOLDS_ANY, NULL};
}

static const struct ptx_variable *variable_of(const struct search *search, uint32_t symbol)
{
    const struct ptx_symbol *name = &search->function->symbols[symbol];
    const struct ptx_variable *variable =
        name->kind == PTX_SYM_VARIABLE ? &search->function->variables[name->index]
        : name->kind == PTX_SYM_GLOBAL ? &search->module->variables[name->index]
                                       : NULL;
    return variable && variable->space == PTX_SHARED ? variable : NULL;
}

static struct held operand_holds(const struct search *search, const struct ptx_operand *operand)
{
    const struct ptx_variable *variable;
    switch (operand->kind) {
    case PTX_OP_REGISTER:
        return search->registers[operand->index];
    case PTX_OP_SYMBOL:
        variable = variable_of(search, operand->index);
        return (struct held){variable ? HOLDS_ADDRESS : HOLDS_NUMBER, variable};
    case PTX_OP_INTEGER:
        return (struct held){HOLDS_NUMBER, NULL};
    default:
        return (struct held){HOLDS_ANY, NULL};
    }
}

static const struct ptx_operand *operand_of(const struct search *search, const struct ptx_inst *inst,
                                            uint32_t i)
{
    return &search->function->operands[inst->first + i];
}

static struct held all_operands(const struct search *search, const struct ptx_inst *inst, uint32_t count,
                                struct held (*with)(struct held a, struct held b))
{
    struct held all = operand_holds(search, operand_of(search, inst, 1));
    for (uint32_t i = 2; i < count; i++)
        all = with(all, operand_holds(search, operand_of(search, inst, i)));
    return all;
}

/* What an instruction writes. */
static struct held result_of(const struct search *search, const struct ptx_inst *inst)
{
    static const char *const same[] = {"mov", "cvta", "cvt"}, *const sums[] = {"add", "sub", "mad"};
    for (size_t i = 0; i < COUNT_OF(same); i++)
        if (ptx_is(inst, same[i]) && inst->count == 2)
            return operand_holds(search, operand_of(search, inst, 1));
    for (size_t i = 0; i < COUNT_OF(sums); i++)
        if (ptx_is(inst, sums[i]) && inst->count >= 3)
            return all_operands(search, inst, inst->count, sum);
    if (ptx_is(inst, "selp") && inst->count == 4)
        return all_operands(search, inst, 3, join);
    if (ptx_is(inst, "ld") || ptx_is(inst, "mul") || ptx_is(inst, "shl") || ptx_is(inst, "shr"))
        return (struct held){HOLDS_NUMBER, NULL};
    return (struct held){HOLDS_ANY, NULL}; /* an address that was masked, say */
}

static void see_register(void *context, uint32_t index, bool written)
{
    struct search *search = context;
    struct held *held = &search->registers[index], before = *held;
    if (!written)
        return;
    *held = join(before, result_of(search, search->writer));
    search->changed |= held->what != before.what;
}

static void fill(const struct ptx_kernel *kernel, const struct ptx_variable *variable,
                 struct code_variable *to)
{
    for (size_t i = 0; i < kernel->shared_count; i++)
        if (kernel->shared[i].variable == variable)
            *to = (struct code_variable){.name = variable->name,
                                         .at = kernel->shared[i].at,
                                         .bytes = variable->bytes ? variable->bytes : UINT64_MAX};
}

/* The memory that an instruction accesses. */
static void find_of(const struct search *search, const struct ptx_kernel *kernel, const struct ptx_inst *inst,
                    struct code_variable *to)
{
    for (uint32_t i = 0; i < inst->count; i++) {
        const struct ptx_operand *operand = operand_of(search, inst, i);
        if (operand->kind != PTX_OP_MEMORY || !operand->count)
            continue;
        struct held held = operand_holds(search, &search->function->operands[operand->first]);
        if (held.what == HOLDS_ADDRESS)
            fill(kernel, held.variable, to);
        return;
    }
}

static bool is_access(const struct ptx_inst *inst)
{
    return ptx_is(inst, "ld") || ptx_is(inst, "st") || ptx_is(inst, "atom") || ptx_is(inst, "red");
}

void ptx_find_shared(const struct kernel *base, const struct isa_code *isa,
                     struct code_variable *by_instruction)
{
    const struct ptx_kernel *kernel = ptx_kernel_of(base);
    const struct code *code = NULL;
    for (size_t i = 0; i < kernel->program->function_count; i++)
        if (kernel->codes[i] && &kernel->codes[i]->isa == isa)
            code = kernel->codes[i];
    if (!code)
        return;
    const struct ptx_function *function = code->function;
    struct search search = {.function = function,
                            .module = code->module,
                            .registers = mem_alloc(function->register_count + 1, sizeof *search.registers),
                            .changed = true};
    while (search.changed) {
        search.changed = false;
        for (uint32_t i = 0; i < function->inst_count; i++) {
            search.writer = &function->insts[i];
            ptx_each_register(function, search.writer, see_register, &search);
        }
    }
    for (uint32_t i = 0; i < function->inst_count; i++)
        if (is_access(&function->insts[i]))
            find_of(&search, kernel, &function->insts[i], &by_instruction[i]);
    mem_free(search.registers);
}
