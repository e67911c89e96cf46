/* Any bytes as PTX: refused with one line that names the place, or accepted as a module in which every number
 * points to something. */
#include "ptx/ptx.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "not so: %s\n", what);
        abort();
    }
}
#define REQUIRE_THAT(condition) require(condition, #condition)

static void check_operand(const struct ptx_function *function, const struct ptx_operand *operand)
{
    switch ((enum ptx_operand_kind)operand->kind) {
    case PTX_OP_REGISTER:
        REQUIRE_THAT(operand->index < function->register_count);
        break;
    case PTX_OP_SPECIAL:
        REQUIRE_THAT(operand->index < PTX_SPECIAL_COUNT);
        break;
    case PTX_OP_SYMBOL:
        REQUIRE_THAT(operand->index < function->symbol_count);
        break;
    case PTX_OP_LABEL:
        REQUIRE_THAT(operand->index < function->label_count);
        break;
    case PTX_OP_MEMORY:
    case PTX_OP_PAIR:
        REQUIRE_THAT(operand->count > 0);
        break;
    case PTX_OP_VECTOR:
    case PTX_OP_LIST:
    case PTX_OP_INTEGER:
    case PTX_OP_FLOAT:
    case PTX_OP_SINK:
        break;
    }
    REQUIRE_THAT(operand->first <= function->operand_count);
    REQUIRE_THAT(operand->count <= function->operand_count - operand->first);
    REQUIRE_THAT(operand->part >= -1 && operand->part <= PTX_PART_HALVES);
}

/* How many there are of what a symbol of this kind numbers. */
static uint32_t count_of(const struct ptx_module *module, const struct ptx_function *function,
                         enum ptx_symbol_kind kind)
{
    switch (kind) {
    case PTX_SYM_VARIABLE:
        return function->variable_count;
    case PTX_SYM_PARAM:
        return function->param_count;
    case PTX_SYM_RESULT:
        return function->result_count;
    case PTX_SYM_TABLE:
        return function->table_count;
    case PTX_SYM_PROTOTYPE:
        return function->prototype_count;
    case PTX_SYM_GLOBAL:
        return module->variable_count;
    case PTX_SYM_FUNCTION:
        return module->function_count;
    case PTX_SYM_COUNT:
        break;
    }
    return 0;
}

static void check_variable(const struct ptx_variable *variable)
{
    REQUIRE_THAT(variable->name && variable->alignment);
    for (size_t i = 0; i < variable->initial_count; i++) {
        const struct ptx_initial *initial = &variable->initials[i];
        REQUIRE_THAT(initial->bytes >= 1 && initial->bytes <= 8);
        REQUIRE_THAT(initial->offset < variable->bytes);
        REQUIRE_THAT(initial->bytes <= variable->bytes - initial->offset);
    }
}

static void check_function(const struct ptx_module *module, const struct ptx_function *function)
{
    REQUIRE_THAT(function->name);
    for (uint32_t i = 0; i < function->operand_count; i++)
        check_operand(function, &function->operands[i]);
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *inst = &function->insts[i];
        REQUIRE_THAT(*inst->opcode && inst->line && inst->loc <= function->loc_count);
        REQUIRE_THAT(inst->guard < (int64_t)function->register_count);
        REQUIRE_THAT(inst->first <= function->operand_count);
        REQUIRE_THAT(inst->count <= function->operand_count - inst->first);
    }
    for (uint32_t i = 0; i < function->label_count; i++)
        REQUIRE_THAT(function->labels[i].inst <= function->inst_count);
    for (uint32_t i = 0; i < function->symbol_count; i++) {
        const struct ptx_symbol *symbol = &function->symbols[i];
        REQUIRE_THAT(symbol->index < count_of(module, function, symbol->kind));
        REQUIRE_THAT((symbol->kind == PTX_SYM_VARIABLE) == (symbol->variable >= 0));
    }
    for (uint32_t i = 0; i < function->variable_count; i++)
        check_variable(&function->variables[i]);
    for (uint32_t i = 0; i < function->param_count; i++)
        check_variable(&function->params[i]);
    for (uint32_t i = 0; i < function->table_count; i++)
        REQUIRE_THAT(function->tables[i].count <= function->operand_count - function->tables[i].first);
}

static void check_module(const struct ptx_module *module)
{
    REQUIRE_THAT(module->target && module->address_bits == 64);
    for (uint32_t i = 0; i < module->variable_count; i++)
        check_variable(&module->variables[i]);
    for (uint32_t i = 0; i < module->function_count; i++)
        check_function(module, &module->functions[i]);
}

static void check_error(const char *text)
{
    REQUIRE_THAT(strncmp(text, "fuzz.ptx:", 9) == 0 && text[9] >= '1' && text[9] <= '9');
    REQUIRE_THAT(strstr(text, "found ") && strstr(text, ", expected "));
    REQUIRE_THAT(!strchr(text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct ptx_module *module = ptx_parse("fuzz.ptx", (const char *)data, size, &err);
    if (module)
        check_module(module);
    else
        check_error(err.text);
    ptx_free(module);
    return 0;
}
